import { chunksOf } from '../domain/chunks';
import type { IdentifiedMovement, MovementStatus } from '../domain/movement';
import type { StoredMovement } from '../domain/movementReading';
import type { Db, Tx } from './database';
import { derivedId } from './ids';
import { execute, queryRows } from './rows';

/** The ids of movements on a network, by their content. */
export const movementIds =
  (networkId: number) =>
  (content: string): string =>
    derivedId('mov', `${networkId}/${content}`);

interface StoredColumns {
  readonly id: string;
  readonly transactionHash: string;
  readonly status: MovementStatus;
  readonly number: bigint;
  readonly hash: string;
}

const STORED = `SELECT id, transaction_hash AS "transactionHash", status, block_number AS number, block_hash AS hash
  FROM movements WHERE network_id = :networkId`;
/** Ids that one statement names. */
const IDS_AT_ONCE = 5_000;

/**
 * The stored movements of accounts in a range of blocks, and those with one of these ids, wherever they are: some of them twice
 * where there are many.
 */
export async function findStoredMovements(
  db: Db,
  at: {
    readonly networkId: number;
    readonly accountIds: readonly string[];
    readonly from: bigint;
    readonly to: bigint;
  },
  ids: readonly string[],
): Promise<StoredMovement[]> {
  const { networkId, accountIds, from, to } = at;
  const [first = [], ...others] = chunksOf(ids, IDS_AT_ONCE);
  const read = [
    await queryRows<StoredColumns>(
      db,
      `${STORED} AND ((block_number BETWEEN :from AND :to AND account_id = ANY(:accountIds)) OR id = ANY(:ids))`,
      { networkId, from: String(from), to: String(to), accountIds: [...accountIds], ids: first },
    ),
  ];
  for (const more of others) {
    read.push(await queryRows<StoredColumns>(db, `${STORED} AND id = ANY(:ids)`, { networkId, ids: more }));
  }
  return read.flat().map(({ number, hash, ...movement }) => ({ ...movement, block: { number, hash } }));
}

/** Movements in one statement: the text of more would hold up whatever else the process does. */
const WRITTEN_AT_ONCE = 1_000;

/** What `write` returns for movements, a part of them at a time. */
async function inParts(
  movements: readonly MovementToStore[],
  write: (part: readonly MovementToStore[]) => Promise<NotedMovement[]>,
): Promise<NotedMovement[]> {
  const noted: NotedMovement[][] = [];
  for (const part of chunksOf(movements, WRITTEN_AT_ONCE)) noted.push(await write(part));
  return noted.flat();
}

/** A movement to be stored, in a state. */
export interface MovementToStore extends IdentifiedMovement {
  readonly status: MovementStatus;
  readonly time: Date;
}

/** A movement that was stored, added or changed. */
export interface NotedMovement {
  readonly id: string;
  readonly organizationId: string;
  readonly accountId: string;
  readonly status: MovementStatus;
  readonly blockNumber: bigint;
  /** Of a verified asset, and more than nothing. */
  readonly counts: boolean;
}

const NOTED = `m.id, m.organization_id AS "organizationId", m.account_id AS "accountId", m.status,
  m.block_number AS "blockNumber", m.verified AND m.amount > 0 AS counts`;

/**
 * Our transaction that a movement belongs to: that of the execution during which it was logged, or else of the envelope that it
 * is in. Parameters of the row `v`, and the account `a`.
 */
const OUR_TRANSACTION = `coalesce(
    (SELECT c.transaction_id FROM chain_attempts c
      WHERE c.safe_tx_hash = v."safeTxHash" AND c.organization_id = a.organization_id),
    (SELECT c.transaction_id FROM chain_envelopes e JOIN chain_attempts c ON c.id = e.attempt_id
      WHERE e.transaction_hash = v."transactionHash" AND c.organization_id = a.organization_id))`;

/** Whether a policy of the organization names a token, or has named it. */
const NAMED_BY_POLICY = (organization: string, network: string, token: string) => `EXISTS (
    SELECT FROM policies p WHERE p.organization_id = ${organization} AND (p.definition->>'networkId')::bigint = ${network}
      AND lower(p.definition->'tokenTransferCondition'->>'tokenAddress') = lower(${token}))`;

function rowsOf(movements: readonly MovementToStore[]): string {
  return JSON.stringify(
    movements.map((movement, place) => ({
      place,
      id: movement.id,
      accountId: movement.accountId,
      direction: movement.direction,
      kind: movement.kind,
      cause: movement.cause,
      tokenAddress: movement.tokenAddress,
      tokenId: movement.tokenId === null ? null : String(movement.tokenId),
      amount: String(movement.amount),
      counterparty: movement.counterparty,
      transactionHash: movement.transactionHash,
      logIndex: movement.logIndex,
      blockNumber: String(movement.block.number),
      blockHash: movement.block.hash,
      blockAt: movement.time.toISOString(),
      status: movement.status,
      safeTxHash: movement.safeTxHash,
    })),
  );
}

const RECORDS = `jsonb_to_recordset(:rows::jsonb) AS v (id text, "accountId" text, direction text, kind text,
  cause text, "tokenAddress" text, "tokenId" numeric, amount numeric, counterparty text, "transactionHash" text,
  "logIndex" bigint, "blockNumber" bigint, "blockHash" text, "blockAt" timestamptz, status text, "safeTxHash" text, place integer)`;

/** Stores new movements of a network. `listed`: the checksummed addresses of tokens that are verified for everybody. */
export function insertMovements(
  tx: Tx,
  networkId: number,
  movements: readonly MovementToStore[],
  listed: readonly string[],
): Promise<NotedMovement[]> {
  return inParts(movements, async (part) => {
    const bindings = { rows: rowsOf(part), networkId, listed: [...listed] };
    await execute(
      tx,
      `INSERT INTO seen_tokens (network_id, address)
    SELECT DISTINCT :networkId::bigint, v."tokenAddress" FROM ${RECORDS} WHERE v.kind <> 'native'
    ON CONFLICT DO NOTHING`,
      bindings,
    );
    return queryRows<NotedMovement>(
      tx,
      `WITH m AS (INSERT INTO movements (id, organization_id, account_id, network_id, direction, kind, cause, token_address, token_id,
        amount, counterparty, transaction_hash, log_index, block_number, block_hash, block_at, status, transaction_id, verified)
      SELECT v.id, a.organization_id, a.id, :networkId, v.direction, v.kind, v.cause, v."tokenAddress", v."tokenId", v.amount,
        v.counterparty, v."transactionHash", v."logIndex", v."blockNumber", v."blockHash", v."blockAt", v.status,
        ${OUR_TRANSACTION},
        v.kind = 'native' OR v."tokenAddress" = ANY(:listed)
          OR ${NAMED_BY_POLICY('a.organization_id', ':networkId', 'v."tokenAddress"')}
      FROM ${RECORDS} JOIN accounts a ON a.id = v."accountId" ORDER BY v.place
      ON CONFLICT (id) DO NOTHING RETURNING *)
    SELECT ${NOTED} FROM m ORDER BY m.sequence`,
      bindings,
    );
  });
}

/** Records that stored movements are in another block, or confirmed, or found again. */
export function updateMovements(tx: Tx, movements: readonly MovementToStore[]): Promise<NotedMovement[]> {
  return inParts(movements, (part) =>
    queryRows<NotedMovement>(
      tx,
      `WITH m AS (UPDATE movements o SET log_index = v."logIndex", block_number = v."blockNumber", block_hash = v."blockHash",
        block_at = v."blockAt", status = v.status, updated_at = now(),
        transaction_id = coalesce(o.transaction_id, ${OUR_TRANSACTION})
      FROM ${RECORDS} JOIN accounts a ON a.id = v."accountId" WHERE o.id = v.id RETURNING o.*)
    SELECT ${NOTED} FROM m ORDER BY m.block_at, m.sequence`,
      { rows: rowsOf(part) },
    ),
  );
}

/** Records that the blocks of movements are no longer on the chain. */
export async function reverseMovements(
  tx: Tx,
  reversed: readonly StoredMovement[],
): Promise<NotedMovement[]> {
  if (reversed.length === 0) return [];
  const ids = reversed.map(({ id }) => id);
  return queryRows<NotedMovement>(
    tx,
    `WITH m AS (UPDATE movements SET status = 'reversed', updated_at = now() WHERE id = ANY(?) AND status <> 'reversed' RETURNING *)
    SELECT ${NOTED} FROM m ORDER BY m.block_at, m.sequence`,
    [ids],
  );
}

/** Movements that an entry of the audit log is about. */
export interface AnnouncedMovements {
  readonly position: bigint;
  readonly status: MovementStatus;
  readonly ids: readonly string[];
}

/**
 * Records which entries of the audit log say of movements that they came in, and that they are no longer there. One that is
 * confirmed in another block has come in already.
 */
export async function noteAnnounced(tx: Tx, announced: readonly AnnouncedMovements[]): Promise<void> {
  const rows = announced.flatMap(({ position, status, ids }) =>
    status === 'pending' ? [] : ids.map((id) => ({ id, status, position: String(position) })),
  );
  for (const part of chunksOf(rows, WRITTEN_AT_ONCE)) {
    await execute(
      tx,
      `UPDATE movements m SET
      confirmed_position = CASE v.status WHEN 'confirmed' THEN v.position ELSE m.confirmed_position END,
      reversed_position = CASE v.status WHEN 'reversed' THEN v.position ELSE m.reversed_position END
    FROM jsonb_to_recordset(:rows::jsonb) AS v (id text, status text, position bigint)
    WHERE m.id = v.id AND m.direction = 'in' AND CASE v.status
      WHEN 'confirmed' THEN m.confirmed_position IS NULL OR m.reversed_position > m.confirmed_position
      ELSE m.confirmed_position > coalesce(m.reversed_position, 0) END`,
      { rows: JSON.stringify(part) },
    );
  }
}

/** Marks the movements of tokens as verified that are listed now, or that a policy names. Returns how many there are. */
export function verifyMovements(db: Db, networkId: number, listed: readonly string[]): Promise<number> {
  return execute(
    db,
    `UPDATE movements m SET verified = true, updated_at = now() FROM (
      SELECT DISTINCT u.organization_id, u.token_address FROM movements u
      WHERE u.network_id = :networkId AND NOT u.verified AND (u.token_address = ANY(:listed)
        OR lower(u.token_address) IN (SELECT lower(p.definition->'tokenTransferCondition'->>'tokenAddress') FROM policies p
          WHERE p.organization_id = u.organization_id AND (p.definition->>'networkId')::bigint = :networkId))
    ) AS known
    WHERE m.network_id = :networkId AND NOT m.verified AND m.organization_id = known.organization_id
      AND m.token_address = known.token_address`,
    { networkId, listed: [...listed] },
  );
}

/** Tokens that have not been asked for what they are, at most so many. */
export async function listUnreadTokens(db: Db, networkId: number, limit: number): Promise<string[]> {
  return db('seen_tokens')
    .where({ network_id: BigInt(networkId), read_at: null })
    .limit(limit)
    .pluck('address');
}

/** Records what a token says of itself. */
export async function noteToken(
  db: Db,
  at: { readonly networkId: number; readonly address: string },
  facts: { readonly symbol: string; readonly name: string | null; readonly decimals: number | null },
): Promise<void> {
  await db('seen_tokens')
    .where({ network_id: BigInt(at.networkId), address: at.address })
    .update({ ...facts, read_at: db.raw('now()') });
}
