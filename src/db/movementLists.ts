import type { Db, Tx } from './database';
import { queryRows } from './rows';
import type { MovementRow } from './tables';

/** A movement, with what its token says of itself. */
export interface ListedMovement
  extends Omit<MovementRow, 'network_id' | 'block_number' | 'log_index' | 'amount'> {
  readonly network_id: bigint;
  readonly block_number: bigint;
  readonly log_index: bigint;
  readonly amount: string;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
  /** Its place in the list: by the time of its block, then as it was found. */
  readonly position: bigint;
}

/** The filter of a list of movements. */
export interface MovementFilter {
  readonly organizationId: string;
  readonly accountId?: string;
  readonly networkId?: number;
  /** Checksummed; the zero address for the native currency. */
  readonly tokenAddress?: string;
  readonly direction?: MovementRow['direction'];
  /** Checksummed. */
  readonly counterparty?: string;
  readonly status?: MovementRow['status'];
  readonly transactionId?: string;
  /** In the smallest unit. */
  readonly minimum?: string;
  /** Absent: all. */
  readonly verified?: boolean;
  /** Inclusive. */
  readonly from?: Date;
  /** Exclusive. */
  readonly to?: Date;
  readonly order: 'newest' | 'oldest';
  /** Only those behind this position, in the order of the list. */
  readonly after?: bigint;
  readonly limit: number;
}

const SEQUENCE_BITS = 64n;

const positionOf = ({ block_at: at, sequence }: Pick<MovementRow, 'block_at' | 'sequence'>) =>
  (BigInt(at.getTime()) << SEQUENCE_BITS) | sequence;

/** Movements of an organization, a page at a time. */
export async function listMovements(db: Db | Tx, filter: MovementFilter): Promise<ListedMovement[]> {
  const { order, after, limit, from, to, minimum } = filter;
  const [direction, behind] = order === 'newest' ? (['desc', '<'] as const) : (['asc', '>'] as const);
  const equal = {
    'm.organization_id': filter.organizationId,
    'm.account_id': filter.accountId,
    'm.network_id': filter.networkId,
    'm.token_address': filter.tokenAddress,
    'm.direction': filter.direction,
    'm.counterparty': filter.counterparty,
    'm.status': filter.status,
    'm.transaction_id': filter.transactionId,
    'm.verified': filter.verified,
  };
  const given = Object.entries(equal).filter(([, value]) => value !== undefined);
  const query = db
    .select('m.*', 't.symbol', 't.name', 't.decimals')
    .from('movements as m')
    .leftJoin('seen_tokens as t', { 't.network_id': 'm.network_id', 't.address': 'm.token_address' })
    .where(Object.fromEntries(given))
    .orderBy([
      { column: 'm.block_at', order: direction },
      { column: 'm.sequence', order: direction },
    ])
    .limit(limit);
  if (minimum !== undefined) query.where('m.amount', '>=', minimum);
  if (from !== undefined) query.where('m.block_at', '>=', from);
  if (to !== undefined) query.where('m.block_at', '<', to);
  if (after !== undefined) {
    const at = new Date(Number(after >> SEQUENCE_BITS));
    const sequence = String(BigInt.asUintN(Number(SEQUENCE_BITS), after));
    query.whereRaw(`(m.block_at, m.sequence) ${behind} (?, ?)`, [at, sequence]);
  }
  const rows: Omit<ListedMovement, 'position'>[] = await query;
  return rows.map((row) => ({ ...row, position: positionOf(row) }));
}

/** What came in, with the account that has it. */
export interface IncomingMovement extends Omit<ListedMovement, 'position'> {
  readonly accountName: string;
  readonly accountAddress: string;
}

/**
 * What an entry of the audit log says has come in, or is no longer there, oldest first: not what the organization has sent itself,
 * and of a confirmation not what was reversed since. `from`: only in blocks of that time or later.
 */
export function listIncoming(
  db: Db,
  {
    organizationId,
    position,
    status,
    from,
    limit,
  }: {
    readonly organizationId: string;
    readonly position: bigint;
    readonly status: 'confirmed' | 'reversed';
    readonly from: Date;
    readonly limit: number;
  },
): Promise<IncomingMovement[]> {
  const isConfirmed = status === 'confirmed';
  return queryRows<IncomingMovement>(
    db,
    `SELECT m.*, t.symbol, t.name, t.decimals, a.name AS "accountName", a.address AS "accountAddress"
    FROM movements m JOIN accounts a ON a.id = m.account_id
    LEFT JOIN seen_tokens t ON t.network_id = m.network_id AND t.address = m.token_address
    WHERE m.organization_id = :organizationId AND m.block_at >= :from
      AND ${isConfirmed ? 'm.confirmed_position' : 'm.reversed_position'} = :position
      ${isConfirmed ? `AND m.status <> 'reversed' AND m.confirmed_position > coalesce(m.reversed_position, 0)` : ''}
      AND NOT EXISTS (SELECT FROM accounts o WHERE o.organization_id = m.organization_id AND o.address = m.counterparty)
    ORDER BY m.block_at, m.sequence LIMIT :limit`,
    { organizationId, position: String(position), from, limit },
  );
}

/** What a token says of itself. */
export interface SeenToken {
  readonly networkId: number;
  readonly address: string;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
}

/** What tokens say of themselves, of those that were asked. */
export async function findSeenTokens(
  db: Db | Tx,
  tokens: readonly { readonly networkId: number; readonly tokenAddress: string }[],
): Promise<SeenToken[]> {
  const rows = await db('seen_tokens')
    .whereIn(
      ['network_id', 'address'],
      tokens.map(({ networkId, tokenAddress }) => [networkId, tokenAddress]),
    )
    .select('network_id', 'address', 'symbol', 'name', 'decimals');
  return rows.map(({ network_id: networkId, ...token }) => ({ networkId: Number(networkId), ...token }));
}
