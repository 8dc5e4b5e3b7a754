import type { Db, Tx } from './database';
import type { AccountRow, TransactionRow } from './tables';

/** Transactions that are inconsistent or need attention: ids, at most 100 of each. */
interface TransactionTrouble {
  /** A signed attempt is undecided, and has no envelope in flight. */
  readonly withoutEnvelope: readonly string[];
  /** Budget is reserved without an execution. */
  readonly reserved: readonly string[];
  /** Executions that continue at a balance of the relayer, in wei; the highest that any of them needs. */
  readonly awaiting: readonly { readonly networkId: number; readonly count: number; readonly wei: bigint }[];
}

const MAX_IDS = 100;

/** Finds those that have lasted for `seconds`. */
export async function findTransactionTrouble(db: Db | Tx, seconds: number): Promise<TransactionTrouble> {
  const before = db.raw('now() - make_interval(secs => ?)', [seconds]);
  const withoutEnvelope: string[] = await db('chain_attempts as c')
    .whereIn('c.kind', ['transaction', 'cancellation'])
    .where({ 'c.outcome': null })
    .where('c.created_at', '<', before)
    .whereNotExists(
      db('chain_envelopes as e')
        .whereRaw('e.attempt_id = c.id')
        .where((live) => live.whereNull('e.outcome').orWhere('e.outcome', 'mined')),
    )
    // What a cancellation is to take the nonce of needs no envelope of its own.
    .whereNotExists(
      db('chain_attempts as other')
        .join('chain_envelopes as e', 'e.attempt_id', 'other.id')
        .whereRaw('other.account_id = c.account_id AND other.network_id = c.network_id')
        .whereRaw('other.safe_nonce = c.safe_nonce AND other.id <> c.id')
        .where((live) => live.whereNull('e.outcome').orWhere('e.outcome', 'mined')),
    )
    .orderBy('c.id')
    .limit(MAX_IDS)
    .pluck('c.transaction_id');
  const reserved: string[] = await db('policy_usage as u')
    .join('approvals as a', 'a.id', 'u.transaction_id')
    .where({ 'u.status': 'reserved' })
    .whereRaw(`a.execution_status IS DISTINCT FROM 'processing'`)
    .orderBy('u.id')
    .limit(MAX_IDS)
    .pluck('a.id');
  const awaiting = await db('transactions')
    .join('approvals', 'approvals.id', 'transactions.id')
    .where({ closed_at: null, execution_status: 'failed' })
    .whereNotNull('awaits_relayer_wei')
    .groupBy('network_id')
    .orderBy('network_id')
    .select<(Pick<TransactionRow, 'network_id'> & { count: number; wei: string })[]>(
      'network_id',
      db.raw('count(*)::integer AS count, max(awaits_relayer_wei) AS wei'),
    );
  return {
    withoutEnvelope: [...new Set(withoutEnvelope)],
    reserved,
    awaiting: awaiting.map(({ network_id, count, wei }) => ({
      networkId: Number(network_id),
      count,
      wei: BigInt(wei),
    })),
  };
}

/** An account on a network, and the nonce that follows the last one that is explained: signed, or recorded as unknown. */
interface ExplainedNonce {
  readonly organizationId: string;
  readonly accountId: string;
  readonly address: string;
  readonly next: bigint;
}

/** The accounts on a network, most recently signed first; at most `limit`. */
export async function explainedNonces(
  db: Db | Tx,
  networkId: number,
  limit: number,
): Promise<ExplainedNonce[]> {
  const rows = await db('account_networks as n')
    .join('accounts as a', 'a.id', 'n.account_id')
    .leftJoin('chain_attempts as c', (on) =>
      on.on('c.account_id', 'a.id').on('c.network_id', 'n.network_id').onNotNull('c.safe_nonce'),
    )
    .where({ 'n.network_id': networkId })
    .groupBy('a.id', 'a.address', 'a.organization_id')
    .orderByRaw('max(c.id) DESC NULLS LAST, a.id')
    .limit(limit)
    .select<(Pick<AccountRow, 'id' | 'address' | 'organization_id'> & { next: bigint })[]>(
      'a.id',
      'a.address',
      'a.organization_id',
      db.raw(
        `greatest(coalesce(max(c.safe_nonce) + 1, 0), coalesce((SELECT max(u.safe_nonce) + 1 FROM unknown_executions u
          WHERE u.account_id = a.id AND u.network_id = ?), 0)) AS next`,
        [networkId],
      ),
    );
  return rows.map((row) => ({
    organizationId: row.organization_id,
    accountId: row.id,
    address: row.address,
    next: row.next,
  }));
}

/** The nonces of a relayer's undecided envelopes, lowest first. */
export async function undecidedNonces(
  db: Db | Tx,
  networkId: number,
  relayerAddress: string,
): Promise<number[]> {
  const nonces = await db('chain_envelopes')
    .distinct('relayer_nonce')
    .where({ network_id: BigInt(networkId), relayer_address: relayerAddress, outcome: null })
    .orderBy('relayer_nonce')
    .pluck('relayer_nonce');
  return nonces.map(Number);
}
