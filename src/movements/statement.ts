import type { Address } from 'viem';
import { type BalanceAt, balanceAt, lastBlockBefore } from '../chain/balanceAt';
import { type ChainClient, type ChainClients, ChainUnavailable, networkLabel } from '../chain/clients';
import { readRange } from '../chain/movementReading';
import { movementSource, movementSourceInParts } from '../chain/movementSource';
import type { ListedToken } from '../chain/tokenList';
import type { Account } from '../db/accounts';
import type { Db } from '../db/database';
import {
  type AccountScan,
  type AssetBlocks,
  listAccountScans,
  listMovedTokens,
  sumMovements,
} from '../db/movementSums';
import { findStoredMovements, movementIds } from '../db/movements';
import { listPolicyTokens } from '../db/policies';
import { max, min } from '../domain/bigint';
import { ZERO_ADDRESS } from '../domain/movement';
import type { BlockRange } from '../domain/movementReading';
import { accept, type Result, refuse } from '../domain/refusal';
import { balanceAfter, findUnexplained, type MovementSums, type Unexplained } from '../domain/statement';
import { storeReading } from './movementChanges';

/** What statements are made with. */
export interface StatementDeps {
  readonly db: Db;
  readonly chains: ChainClients;
  readonly tokens: readonly ListedToken[];
}

/** The times of a statement: blocks at or after `from`, and before `to`. Absent: from the first one, up to the last that is read. */
export interface Period {
  readonly from?: Date;
  readonly to?: Date;
}

/** Why a balance is not compared: of a token that returns none, of a node without state of the past, of one that does not answer. */
type Unproved = 'unreadable' | 'pruned' | 'unavailable';

/** The statement of one asset on one network. */
export interface AssetStatement {
  readonly networkId: number;
  /** The zero address for the native currency. */
  readonly tokenAddress: string;
  /** The blocks of the period; the balances are those at the end of the block before the first, and of the last. */
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly sums: MovementSums;
  readonly movements: number;
  /** null: not known. */
  readonly opening: bigint | null;
  readonly closing: bigint | null;
  /** What the balance is more than opening and movements say; null where it is not compared. */
  readonly difference: bigint | null;
  /** The difference in its blocks. */
  readonly unexplained: readonly Unexplained[];
  readonly unproved?: Unproved;
}

/** Blocks of one network of an account. */
interface Scope {
  readonly account: Account;
  readonly chain: ChainClient;
  /** Above this block, up to the other. */
  readonly above: bigint;
  readonly upTo: bigint;
}

/** More blocks are not read again at once. */
const MOST_READ_AGAIN = 50_000n;

/** Reads blocks of an account again. Returns whether anything was not known. */
async function readAgain(
  { db, tokens }: StatementDeps,
  { account, chain, upTo }: Scope,
  range: BlockRange,
): Promise<boolean> {
  if (range.to - range.from >= MOST_READ_AGAIN) return false;
  const networkId = chain.network.id;
  const { id, organizationId, address } = account;
  const read = await readRange(movementSourceInParts(chain), {
    accounts: [{ id, organizationId, address: address as Address }],
    ...{ range, confirmedTo: upTo, accountsAtOnce: 1 },
    idOf: movementIds(networkId),
    stored: (within, ids) => findStoredMovements(db, { networkId, accountIds: [id], ...within }, ids),
  });
  const listed = tokens.flatMap((token) => (token.networkId === networkId ? [token.address] : []));
  const stored = await db.transaction((tx) =>
    storeReading(tx, { networkId, listed, isAnnounced: () => true }, read),
  );
  return stored.added + stored.changed + stored.reversed > 0;
}

/** Compares an asset with the chain. Throws ChainUnavailable. */
async function proveAsset(deps: StatementDeps, scope: Scope, tokenAddress: string): Promise<AssetStatement> {
  const { account, chain, above, upTo } = scope;
  const blocks = { accountId: account.id, networkId: chain.network.id, tokenAddress, above };
  const { sums, count } = await sumMovements(deps.db, { ...blocks, upTo });
  const shown = {
    ...{ networkId: chain.network.id, tokenAddress, fromBlock: above + 1n, toBlock: upTo },
    ...{ sums, movements: count, opening: null, closing: null, difference: null, unexplained: [] },
  };
  const token = tokenAddress === ZERO_ADDRESS ? null : (tokenAddress as Address);
  const at = (block: bigint): Promise<BalanceAt> =>
    balanceAt(chain, { account: account.address as Address, token, block });
  // Before the first block there was nothing.
  const opening: BalanceAt = above < 0n ? { kind: 'read', amount: 0n } : await at(above);
  if (opening.kind !== 'read') return { ...shown, unproved: opening.kind };
  const closing = await at(upTo);
  if (closing.kind !== 'read') return { ...shown, opening: opening.amount, unproved: closing.kind };
  const difference = closing.amount - balanceAfter(opening.amount, sums);
  const proved = { ...shown, opening: opening.amount, closing: closing.amount, difference };
  if (difference === 0n) return proved;
  const unexplained = await findUnexplained({ from: above, to: upTo, deviation: difference }, (block) =>
    deviationAt(deps.db, { ...blocks, upTo: block }, opening.amount, () => at(block)),
  );
  return { ...proved, unexplained };
}

async function deviationAt(
  db: Db,
  blocks: AssetBlocks,
  opening: bigint,
  read: () => Promise<BalanceAt>,
): Promise<bigint | null> {
  const balance = await read();
  if (balance.kind !== 'read') return null;
  return balance.amount - balanceAfter(opening, (await sumMovements(db, blocks)).sums);
}

/** The same; what no movement explains is read again first: an answer of a node may have lacked it. */
async function provedAgain(deps: StatementDeps, scope: Scope, tokenAddress: string): Promise<AssetStatement> {
  const first = await proveAsset(deps, scope, tokenAddress);
  let isKnownBetter = false;
  for (const { fromBlock: from, toBlock: to } of first.unexplained) {
    if (await readAgain(deps, scope, { from, to })) isKnownBetter = true;
  }
  return isKnownBetter ? proveAsset(deps, scope, tokenAddress) : first;
}

/** An asset of a network that does not answer. */
async function unprovedAsset(
  db: Db,
  { account, chain, above, upTo }: Scope,
  tokenAddress: string,
): Promise<AssetStatement> {
  const networkId = chain.network.id;
  const { sums, count } = await sumMovements(db, {
    accountId: account.id,
    networkId,
    tokenAddress,
    above,
    upTo,
  });
  return {
    ...{ networkId, tokenAddress, fromBlock: above + 1n, toBlock: upTo, sums, movements: count },
    ...{ opening: null, closing: null, difference: null, unexplained: [], unproved: 'unavailable' },
  };
}

/** Why a period is not read yet on a network; undefined where it is. */
function unread(
  { nextBlock, untilBlock, block, blockAt }: AccountScan,
  chain: ChainClient,
  { to }: Period,
): string | undefined {
  const name = networkLabel(chain);
  if (block === null || blockAt === null) return `no movement is read on ${name} yet`;
  if (nextBlock < untilBlock)
    return `the past of the account on ${name} is read up to block ${nextBlock - 1n} of ${untilBlock - 1n}`;
  if (to !== undefined && blockAt < to)
    return `movements on ${name} are read up to block ${block}, of ${blockAt.toISOString()}`;
  return undefined;
}

async function scopeOf(
  account: Account,
  chain: ChainClient,
  scan: AccountScan,
  { from, to }: Period,
): Promise<Scope> {
  const source = movementSource(chain);
  const newest = scan.block ?? 0n;
  const before = (time: Date) => lastBlockBefore(source, time, newest);
  const first = scan.fromBlock - 1n;
  const upTo = to === undefined ? newest : min(await before(to), newest);
  const above = from === undefined ? first : max(await before(from), first);
  return { account, chain, above: min(above, max(upTo, first)), upTo: max(upTo, first) };
}

async function assetsOf(
  { db }: StatementDeps,
  { account, chain }: Pick<Scope, 'account' | 'chain'>,
): Promise<string[]> {
  const networkId = chain.network.id;
  const [moved, named] = await Promise.all([
    listMovedTokens(db, { accountId: account.id, networkId }),
    listPolicyTokens(db, account.organizationId, account.id),
  ]);
  const own = named.flatMap((token) => (token.networkId === networkId ? [token.address] : []));
  return [ZERO_ADDRESS, ...new Set([...moved, ...own])];
}

/** Compares the assets of an account in blocks of a network. One that does not answer is `unproved`. */
export async function stateNetwork(deps: StatementDeps, scope: Scope): Promise<AssetStatement[]> {
  const statements: AssetStatement[] = [];
  for (const token of await assetsOf(deps, scope)) {
    try {
      statements.push(await provedAgain(deps, scope, token));
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      statements.push(await unprovedAsset(deps.db, scope, token));
    }
  }
  return statements;
}

/**
 * The statement of an account: what moved of each asset in a period, and whether it adds up to the balances on chain. Refuses a
 * period that is not read yet, or whose blocks cannot be found now, with `conflict`.
 */
export async function readStatement(
  deps: StatementDeps,
  account: Account,
  period: Period,
): Promise<Result<readonly AssetStatement[]>> {
  const scans = new Map((await listAccountScans(deps.db, account.id)).map((scan) => [scan.networkId, scan]));
  const scopes: Promise<Scope>[] = [];
  for (const networkId of account.networkIds) {
    const chain = deps.chains.get(networkId);
    if (!chain) continue;
    const scan = scans.get(networkId);
    const reason = scan
      ? unread(scan, chain, period)
      : `no movement of the account is read on ${networkLabel(chain)} yet`;
    if (reason !== undefined || !scan) return refuse('conflict', `the period is not read yet: ${reason}`);
    scopes.push(scopeOf(account, chain, scan, period));
  }
  try {
    const found = await Promise.all(scopes);
    return accept((await Promise.all(found.map((scope) => stateNetwork(deps, scope)))).flat());
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return refuse('conflict', `the blocks of the period cannot be found now: ${error.message}`);
  }
}
