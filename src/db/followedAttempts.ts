import {
  type Attempt,
  type EnvelopePayload,
  type EnvelopePayloadRow,
  OF_OTHER_TABLES,
  selectAttempts,
  selectSigned,
  toAttempt,
  toEnvelopePayload,
} from './attempts';
import type { Db } from './database';
import {
  type Envelope,
  type EnvelopeJson,
  envelopeFromJson,
  envelopeJson,
  type UnsentEnvelope,
} from './envelopes';
import { queryRows, type Statement } from './rows';

/** An envelope and what it carries; undefined where a restored backup has lost it. */
export async function findEnvelopePayload(
  db: Db,
  envelopeId: bigint,
): Promise<(EnvelopePayload & { readonly envelope: Envelope }) | undefined> {
  const [row] = (await selectSigned(db)
    .join('chain_envelopes as e', 'e.attempt_id', 'chain_attempts.id')
    .select(db.raw(`${envelopeJson} AS envelope, (${UNSENT}), ${OF_OTHER_TABLES}`))
    .where({ 'e.id': envelopeId })) as (EnvelopePayloadRow &
    UnsentColumn & { readonly envelope: EnvelopeJson })[];
  return (
    row && { ...toEnvelopePayload(row), envelope: { ...envelopeFromJson(row.envelope), unsent: row.unsent } }
  );
}

/** Records how many confirmations an attempt has, where that is not what was noted. */
export function noteConfirmations(
  db: Db,
  { id, confirmations: noted }: Pick<Attempt, 'id' | 'confirmations'>,
  confirmations: number,
): readonly Statement[] {
  if (noted === confirmations) return [];
  return [db('chain_attempts').where({ id, outcome: null }).update({ confirmations })];
}

/** The envelope `e` as `UnsentEnvelope`, in JSON; without a row where it was sent. */
const UNSENT = `SELECT json_build_object('kind', c.kind, 'organizationId', c.organization_id,
    'networkId', c.network_id, 'transactionId', c.transaction_id, 'safeNonce', c.safe_nonce::text,
    'transactionHash', e.transaction_hash, 'relayerAddress', e.relayer_address, 'version', a.version,
    'sequence', o.projected_sequence::text,
    'sentBefore', EXISTS (SELECT FROM chain_envelopes other
      WHERE other.attempt_id = e.attempt_id AND other.id <> e.id AND other.sent_at IS NOT NULL)) AS unsent
  FROM chain_attempts c
  LEFT JOIN approvals a ON a.id = c.transaction_id
  LEFT JOIN organizations o ON o.id = a.organization_id
  WHERE c.id = e.attempt_id AND e.sent_at IS NULL`;

interface UnsentColumn {
  readonly unsent: UnsentEnvelope | null;
}

/** An envelope with what its sending is recorded with; null where it was sent. */
export async function readUnsent(db: Db, id: bigint): Promise<UnsentEnvelope | null> {
  const sql = `SELECT u.unsent FROM chain_envelopes e CROSS JOIN LATERAL (${UNSENT}) u WHERE e.id = ?`;
  const [row] = await queryRows<UnsentColumn>(db, sql, [String(id)]);
  return row ? row.unsent : null;
}

/** Records that an envelope was sent; only the first time counts. */
export function markSent(db: Db, id: bigint): Statement {
  return db('chain_envelopes').where({ id, sent_at: null }).update({ sent_at: db.fn.now() });
}

/** Decided attempts of a network. */
export interface DecidedRange {
  readonly networkId: number;
  /** Of blocks above this one. */
  readonly above?: bigint;
  /** Of blocks up to this one. */
  readonly upTo?: bigint;
  /** Recorded at this time or later. */
  readonly since?: Date;
}

/** The decided attempts of a range, after another one in their order: highest block first. */
export async function decidedAttempts(
  db: Db,
  range: DecidedRange & { readonly below?: Pick<Attempt, 'id' | 'blockNumber'>; readonly limit: number },
): Promise<Attempt[]> {
  const query = selectAttempts(db)
    .where({ network_id: BigInt(range.networkId) })
    .whereNotNull('block_number')
    .orderBy([
      { column: 'block_number', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(range.limit);
  if (range.above !== undefined) query.where('block_number', '>', range.above);
  if (range.upTo !== undefined) query.where('block_number', '<=', range.upTo);
  if (range.since !== undefined) query.where('decided_at', '>=', range.since);
  if (range.below) {
    query.whereRaw('(block_number, id) < (?, ?)', [String(range.below.blockNumber), String(range.below.id)]);
  }
  return (await query).map(toAttempt);
}
