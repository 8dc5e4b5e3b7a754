import type { Db, Tx } from './database';
import { IS_TAKEN } from './destinations';
import { queryRows } from './rows';
import type { ChannelRow } from './tables';

/** What a destination that people read has besides. */
export interface Channel {
  /** Of its destination: chn_… */
  readonly id: string;
  /** Whose own address it is; null: one of the organization. */
  readonly memberId: string | null;
  readonly occasions: readonly string[];
  /** Of Telegram. */
  readonly chatId: string | null;
  /** Mail only: until then nothing is sent but the code. */
  readonly confirmedAt: Date | null;
  readonly codeHash: Buffer | null;
  readonly codeExpiresAt: Date | null;
  /** How often a wrong code was given. */
  readonly codeAttempts: number;
}

function channel(row: ChannelRow): Channel {
  return {
    id: row.destination_id,
    memberId: row.member_id,
    occasions: row.occasions,
    chatId: row.chat_id,
    confirmedAt: row.confirmed_at,
    codeHash: row.code_hash,
    codeExpiresAt: row.code_expires_at,
    codeAttempts: row.code_attempts,
  };
}

/** Stores the columns of a new channel; its destination is stored apart. */
export async function insertChannel(
  tx: Tx,
  {
    id,
    memberId,
    occasions,
    chatId,
    codeHash,
  }: Omit<Channel, 'confirmedAt' | 'codeExpiresAt' | 'codeAttempts'>,
  codeSeconds: number,
): Promise<void> {
  await tx('channels').insert({
    destination_id: id,
    member_id: memberId,
    occasions: [...occasions],
    chat_id: chatId,
    code_hash: codeHash,
    code_expires_at: codeHash && tx.raw('now() + make_interval(secs => ?)', [codeSeconds]),
  });
}

/** The columns of channels, by the ids of their destinations. */
export async function listChannels(
  db: Db | Tx,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Channel>> {
  const rows = await db('channels').whereIn('destination_id', [...ids]);
  return new Map(rows.map((row) => [row.destination_id, channel(row)]));
}

/** The columns of a channel, of the destination with this id; undefined for another kind of destination. */
export async function findChannel(db: Db | Tx, id: string): Promise<Channel | undefined> {
  const row = await db('channels').where({ destination_id: id }).first();
  return row && channel(row);
}

/** Sets what a channel is for. */
export async function setOccasions(tx: Tx, id: string, occasions: readonly string[]): Promise<void> {
  await tx('channels')
    .where({ destination_id: id })
    .update({ occasions: [...occasions] });
}

/** Gives an address another code, with which it is confirmed. False where it is confirmed, or not there any more. */
export async function setCode(tx: Tx, id: string, codeHash: Buffer, codeSeconds: number): Promise<boolean> {
  const set = await tx('channels')
    .where({ destination_id: id, confirmed_at: null })
    .update({
      code_hash: codeHash,
      code_expires_at: tx.raw('now() + make_interval(secs => ?)', [codeSeconds]),
      code_attempts: 0,
    });
  return set > 0;
}

/**
 * Tries a code: the right one confirms the address and is used up; a wrong one counts, and after `maxAttempts` none is right. An
 * expired one is wrong.
 */
export async function tryCode(
  tx: Tx,
  id: string,
  { codeHash, maxAttempts }: { readonly codeHash: Buffer; readonly maxAttempts: number },
): Promise<boolean> {
  const [row] = await queryRows<{ confirmed: boolean }>(
    tx,
    `WITH tried AS (
       SELECT destination_id, code_hash = :codeHash AND code_expires_at > now() AND code_attempts < :maxAttempts AS is_right
       FROM channels WHERE destination_id = :id AND code_hash IS NOT NULL FOR UPDATE)
     UPDATE channels c SET
       confirmed_at = CASE WHEN is_right THEN now() ELSE c.confirmed_at END,
       code_hash = CASE WHEN is_right THEN NULL ELSE c.code_hash END,
       code_attempts = c.code_attempts + CASE WHEN is_right THEN 0 ELSE 1 END
     FROM tried WHERE c.destination_id = tried.destination_id RETURNING is_right AS confirmed`,
    { id, codeHash, maxAttempts },
  );
  return row?.confirmed === true;
}

/** Who a channel is for, as things are now. */
interface ChannelAudience {
  readonly organization: string;
  /** Null: the organization's own. */
  readonly member: { readonly id: string; readonly isAdmin: boolean } | null;
  /** Its member is not one any more. */
  readonly isGone: boolean;
}

/** Who a channel is for now, and when it got messages within so many ms (ms since 1970). */
export async function readAudience(
  db: Db,
  id: string,
  windowMs: number,
): Promise<(ChannelAudience & { readonly sentAt: readonly number[]; readonly now: number }) | undefined> {
  const [row] = await queryRows<{
    organization: string;
    memberId: string | null;
    isAdmin: boolean;
    isGone: boolean;
    sentAt: number[];
    now: number;
  }>(
    db,
    `SELECT o.name AS organization, c.member_id AS "memberId",
       EXISTS (SELECT FROM admin_set_members a WHERE a.member_id = c.member_id) AS "isAdmin",
       c.member_id IS NOT NULL AND NOT EXISTS (SELECT FROM members m WHERE m.id = c.member_id AND m.removed_at IS NULL) AS "isGone",
       ARRAY(SELECT (extract(epoch FROM t.created_at) * 1000)::float8 FROM delivery_attempts t
         WHERE t.destination_id = c.destination_id AND t.reason = 'event' AND ${IS_TAKEN}
           AND t.created_at > now() - make_interval(secs => :windowMs / 1000.0)) AS "sentAt",
       (extract(epoch FROM now()) * 1000)::float8 AS now
     FROM channels c JOIN destinations d ON d.id = c.destination_id JOIN organizations o ON o.id = d.organization_id
     WHERE c.destination_id = :id`,
    { id, windowMs },
  );
  if (!row) return undefined;
  const { organization, memberId, isAdmin, isGone, sentAt, now } = row;
  return { organization, member: memberId === null ? null : { id: memberId, isAdmin }, isGone, sentAt, now };
}
