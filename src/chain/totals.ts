import { type Address, erc20Abi, formatUnits } from 'viem';
import { chunksOf } from '../domain/chunks';
import type { Asset } from '../domain/transactionText';
import { mapLimit } from '../mapLimit';
import { assetOf, CHAIN_ID_MS, nativeToken } from './balances';
import { blockTime } from './blockTime';
import { ask, assertChainId, type ChainClient, ChainUnavailable } from './clients';
import type { ListedToken } from './tokenList';

/** What some accounts hold together of one asset, at one block. */
interface Total {
  readonly networkId: number;
  readonly asset: Asset;
  /** In the smallest unit, decimal digits. */
  readonly rawAmount: string;
  /** In whole units; in the smallest one where the token reports no decimals. */
  readonly displayAmount: string;
  /** How many of them hold some of it. */
  readonly accounts: number;
  readonly blockNumber: number;
  /** Time of the block: ISO 8601. */
  readonly blockAt: string;
  /** When it was read: ISO 8601. */
  readonly readAt: string;
}

/** What is not in the totals. */
interface MissingBalances {
  readonly networkId: number;
  /** null: of every asset. */
  readonly assetId: string | null;
  /** Of how many accounts. */
  readonly accounts: number;
  /** The network does not answer; the balance cannot be read; there are more than are read. */
  readonly reason: 'unavailable' | 'failed' | 'limit';
}

/** Totals, and what they lack. */
export interface Totals {
  readonly totals: readonly Total[];
  readonly missing: readonly MissingBalances[];
}

/** Accounts, and assets, of a network that are read at most. */
const MOST_ACCOUNTS = 250;
const MOST_ASSETS = 50;
/** Accounts in one call of a token, and requests to a network at once. */
const ACCOUNTS_PER_CALL = 100;
const REQUESTS_AT_ONCE = 8;
/** What was not asked for by then is not read, in milliseconds. */
const TIME_LIMIT_MS = 10_000;

/** A block that balances are read at. */
interface At {
  readonly number: bigint;
  readonly blockAt: string;
  readonly deadline: number;
}

const nothing = (accounts: readonly Address[]): null[] => accounts.map(() => null);

/** The native currency that accounts hold; null where it cannot be read. */
async function nativeBalances(
  { rpc }: ChainClient,
  accounts: readonly Address[],
  { number: blockNumber, deadline }: At,
): Promise<(bigint | null)[]> {
  const found: (bigint | null)[] = nothing(accounts);
  await mapLimit(REQUESTS_AT_ONCE, [...accounts.entries()], async ([i, address]) => {
    if (performance.now() > deadline) return;
    found[i] = await rpc.getBalance({ address, blockNumber }).catch(() => null);
  });
  return found;
}

/** The same in a call for each: a network may not run code that is not deployed. */
async function oneByOne(
  rpc: ChainClient['rpc'],
  token: ListedToken,
  accounts: readonly Address[],
  { number: blockNumber, deadline }: At,
): Promise<(bigint | null)[]> {
  const found: (bigint | null)[] = nothing(accounts);
  const call = {
    address: token.address as Address,
    abi: erc20Abi,
    functionName: 'balanceOf',
    blockNumber,
  } as const;
  await mapLimit(REQUESTS_AT_ONCE, [...accounts.entries()], async ([i, account]) => {
    if (performance.now() > deadline) return;
    found[i] = await rpc.readContract({ ...call, args: [account] }).catch(() => null);
  });
  return found;
}

/**
 * What accounts hold of a token, a hundred in a call: each token has calls of its own, so that one that uses all the gas spoils no
 * other. Null where it cannot be read. Source: Multicall3, whose code goes with the call.
 */
async function tokenBalances(
  { rpc }: ChainClient,
  token: ListedToken,
  accounts: readonly Address[],
  at: At,
): Promise<(bigint | null)[]> {
  const { number: blockNumber, deadline } = at;
  const found: (bigint | null)[] = [];
  for (const some of chunksOf(accounts, ACCOUNTS_PER_CALL)) {
    if (performance.now() > deadline) {
      found.push(...nothing(some));
      continue;
    }
    const contracts = some.map(
      (account) =>
        ({
          address: token.address as Address,
          abi: erc20Abi,
          functionName: 'balanceOf',
          args: [account],
        }) as const,
    );
    const results = await rpc
      .multicall({ contracts, allowFailure: true, deployless: true, batchSize: 0, blockNumber })
      .catch(() => undefined);
    const read = results?.map((one) => (one.status === 'success' ? one.result : null)) ?? nothing(some);
    found.push(...(read.some((one) => one !== null) ? read : await oneByOne(rpc, token, some, at)));
  }
  return found;
}

/** Those of a network that does not answer, of so many accounts. */
export const noTotals = (networkId: number, accounts: number): Totals => ({
  totals: [],
  missing: [{ networkId, assetId: null, accounts, reason: 'unavailable' }],
});

/**
 * Reads what accounts hold together on one network, at its newest block: a bounded number of accounts, of assets and of requests.
 * Never throws for what a network answers.
 */
export async function readNetworkTotals(
  chain: ChainClient,
  accounts: readonly Address[],
  tokens: readonly ListedToken[],
  { timeLimitMs = TIME_LIMIT_MS }: { readonly timeLimitMs?: number } = {},
): Promise<Totals> {
  const { network } = chain;
  const { id: networkId } = network;
  const native = nativeToken(network);
  const missing: MissingBalances[] = [];
  const lacks = (assetId: string | null, count: number, reason: MissingBalances['reason']) => {
    if (count > 0) missing.push({ networkId, assetId, accounts: count, reason });
  };
  let at: At;
  try {
    await assertChainId(chain, { withinMs: CHAIN_ID_MS });
    const { number, timestamp } = await ask(chain, (rpc) => rpc.getBlock());
    const blockAt = blockTime(chain, number, timestamp).toISOString();
    at = { number, blockAt, deadline: performance.now() + timeLimitMs };
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return noTotals(networkId, accounts.length);
  }
  const read = accounts.slice(0, MOST_ACCOUNTS);
  lacks(null, accounts.length - read.length, 'limit');
  const assets = [native, ...tokens.filter((token) => token.networkId === networkId)];
  for (const asset of assets.slice(MOST_ASSETS)) lacks(assetOf(asset).id, read.length, 'limit');
  const totals: Total[] = [];
  // One after the other: a request of many shares the network with others.
  for (const token of assets.slice(0, MOST_ASSETS)) {
    const balances =
      token === native ? await nativeBalances(chain, read, at) : await tokenBalances(chain, token, read, at);
    const known = balances.filter((one) => one !== null);
    const asset = assetOf(token);
    lacks(asset.id, balances.length - known.length, 'failed');
    const sum = known.reduce((all, one) => all + one, 0n);
    if (known.length === 0) continue;
    totals.push({
      networkId,
      asset,
      rawAmount: String(sum),
      displayAmount: formatUnits(sum, token.decimals ?? 0),
      accounts: known.filter((one) => one > 0n).length,
      blockNumber: Number(at.number),
      blockAt: at.blockAt,
      readAt: new Date().toISOString(),
    });
  }
  return { totals, missing };
}
