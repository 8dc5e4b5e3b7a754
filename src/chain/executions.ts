import {
  type Address,
  decodeAbiParameters,
  type Hex,
  type Log,
  parseAbiParameters,
  type TransactionReceipt,
  toEventSelector,
} from 'viem';
import { isSameAddress } from '../domain/address';
import { ask, type ChainClient, receiptOf } from './clients';

/** An execution of an account in a block, in anyone's transaction. */
export interface Execution {
  /** success: the inner call succeeded; failure: it reverted, and the account's nonce is used all the same. */
  readonly kind: 'success' | 'failure';
  readonly safeTxHash: Hex;
  readonly transactionHash: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  /** Of the transaction. */
  readonly receipt: TransactionReceipt;
  /** What contracts logged while the inner call ran, without what other executions of the account logged meanwhile. */
  readonly logs: readonly ChainLog[];
}

/** A log as receipts hold it. */
export type ChainLog = Pick<Log<bigint, number, false>, 'address' | 'topics' | 'data'>;

const BEGUN_PARAMETERS = parseAbiParameters(
  'address, uint256, bytes, uint8, uint256, uint256, uint256, address, address, bytes, bytes',
);
const BEGUN = toEventSelector(
  `SafeMultiSigTransaction(${BEGUN_PARAMETERS.map(({ type }) => type).join(',')})`,
);
const SUCCESS = toEventSelector('ExecutionSuccess(bytes32,uint256)');
const FAILURE = toEventSelector('ExecutionFailure(bytes32,uint256)');

/** Blocks per eth_getLogs; nodes refuse more, or answer too slowly. */
export const BLOCKS_AT_ONCE = 1_000n;

/**
 * The executions of an account in the logs of one transaction, in the order in which they ended. Several may follow
 * each other (in a third party's multicall), and one may be nested in another (its inner call sent it).
 */
export function executionsIn(
  account: Address,
  logs: readonly ChainLog[],
): readonly Pick<Execution, 'kind' | 'safeTxHash' | 'logs'>[] {
  const open: ChainLog[][] = [];
  const found: Pick<Execution, 'kind' | 'safeTxHash' | 'logs'>[] = [];
  for (const log of logs) {
    const [topic, safeTxHash] = log.topics;
    const own = isSameAddress(log.address, account);
    if (own && topic === BEGUN) {
      open.push([]);
    } else if (own && safeTxHash !== undefined && (topic === SUCCESS || topic === FAILURE)) {
      found.push({ kind: topic === SUCCESS ? 'success' : 'failure', safeTxHash, logs: open.pop() ?? [] });
    } else {
      open.at(-1)?.push(log);
    }
  }
  return found;
}

/** The execution with that hash in one transaction; null when it is not in it. Throws ChainUnavailable. */
export async function executionInTransaction(
  chain: ChainClient,
  input: { account: Address; safeTxHash: Hex; transactionHash: Hex },
): Promise<Execution | null> {
  const { account, safeTxHash, transactionHash } = input;
  const receipt = await receiptOf(chain, transactionHash);
  const found = receipt && executionsIn(account, receipt.logs).find((one) => one.safeTxHash === safeTxHash);
  if (!receipt || !found) return null;
  const { blockNumber, blockHash } = receipt;
  return { ...found, transactionHash, blockNumber, blockHash, receipt };
}

/** Reads the logs of an account, or of several, with one of these topics, in pieces that nodes answer. */
function accountLogs(
  chain: ChainClient,
  {
    account,
    topics,
    from,
    to,
  }: { account: Address | Address[]; topics: (Hex | Hex[])[]; from: bigint; to: bigint },
) {
  return ask(chain, (rpc) =>
    rpc.request({
      method: 'eth_getLogs',
      params: [
        { address: account, topics, fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` },
      ],
    }),
  );
}

/**
 * The nonce that an execution used, from its SafeMultiSigTransaction log; undefined where it is malformed: whoever has
 * the key of an account can have it log anything. Source: SafeL2 1.4.1.
 */
function nonceIn(data: Hex): bigint | undefined {
  try {
    const [, , , , , , , , , , additionalInfo] = decodeAbiParameters(BEGUN_PARAMETERS, data);
    const [nonce] = decodeAbiParameters([{ type: 'uint256' }], additionalInfo);
    return nonce;
  } catch {
    return undefined;
  }
}

/** The nonces that executions of an account used in one transaction, with their hashes; one may be nested in another. */
export function noncesIn(
  account: Address,
  logs: readonly ChainLog[],
): (readonly [nonce: bigint, safeTxHash: Hex])[] {
  const open: (bigint | undefined)[] = [];
  return logs
    .filter(({ address }) => isSameAddress(address, account))
    .flatMap(({ topics: [topic, safeTxHash], data }) => {
      if (topic === BEGUN) open.push(nonceIn(data));
      if (safeTxHash === undefined || (topic !== SUCCESS && topic !== FAILURE)) return [];
      const nonce = open.pop();
      return nonce === undefined ? [] : [[nonce, safeTxHash] as const];
    });
}

/** What an account logged when executions of it began, from the newest block back, in pieces that nodes answer. */
export async function* startLogsBackwards(
  chain: ChainClient,
  account: Address,
  { fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint },
) {
  for (let to = toBlock; to >= fromBlock; to -= BLOCKS_AT_ONCE) {
    const first = to - BLOCKS_AT_ONCE + 1n;
    yield accountLogs(chain, { account, topics: [BEGUN], from: first > fromBlock ? first : fromBlock, to });
  }
}

/**
 * Finds the execution that used a nonce of an account, in anyone's transaction, from the newest block back to
 * `fromBlock`. Throws ChainUnavailable.
 */
export async function executionAtNonce(
  chain: ChainClient,
  { account, nonce, ...blocks }: { account: Address; nonce: bigint; fromBlock: bigint; toBlock: bigint },
): Promise<Execution | null> {
  for await (const logs of startLogsBackwards(chain, account, blocks)) {
    const own = logs.find(({ data }) => nonceIn(data) === nonce);
    if (!own?.transactionHash) continue;
    const { transactionHash } = own;
    const receipt = await receiptOf(chain, transactionHash);
    const used = noncesIn(account, receipt?.logs ?? []).find(([other]) => other === nonce);
    return used ? executionInTransaction(chain, { account, safeTxHash: used[1], transactionHash }) : null;
  }
  return null;
}

/** A chain may be shorter after a reorganization: this many blocks before the recorded one are searched as well. */
const LOOK_BACK_BLOCKS = 256n;

/** The first block to search for what was signed when the head of the chain was at a block. */
export function firstSearched(signedAt: bigint): bigint {
  return signedAt > LOOK_BACK_BLOCKS ? signedAt - LOOK_BACK_BLOCKS : 0n;
}

/** An execution that was looked up by its hash. */
export interface FoundExecution extends Pick<Execution, 'kind' | 'safeTxHash' | 'blockNumber' | 'blockHash'> {
  readonly account: Address;
}

/**
 * Finds the executions with these hashes in at most BLOCKS_AT_ONCE blocks, of several accounts, in one request. Throws
 * ChainUnavailable.
 */
export async function executionsWith(
  chain: ChainClient,
  input: { accounts: readonly Address[]; safeTxHashes: readonly Hex[]; from: bigint; to: bigint },
): Promise<FoundExecution[]> {
  const { accounts, safeTxHashes, from, to } = input;
  const topics = [[SUCCESS, FAILURE], [...safeTxHashes]];
  const logs = await accountLogs(chain, { account: [...accounts], topics, from, to });
  return logs.flatMap(({ address: account, topics: [topic, safeTxHash], ...of }): FoundExecution[] => {
    if (!safeTxHash || !of.blockNumber || !of.blockHash) return [];
    const kind = topic === SUCCESS ? 'success' : 'failure';
    return [{ account, kind, safeTxHash, blockNumber: BigInt(of.blockNumber), blockHash: of.blockHash }];
  });
}
