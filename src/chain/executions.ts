import { type Address, type Hex, type Log, pad, toEventSelector } from 'viem';
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
  /** What contracts logged while the inner call ran, without what other executions of the account logged meanwhile. */
  readonly logs: readonly ChainLog[];
}

/** A log as receipts hold it. */
export type ChainLog = Pick<Log<bigint, number, false>, 'address' | 'topics' | 'data'>;

const BEGUN = toEventSelector(
  'SafeMultiSigTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes,bytes)',
);
const SUCCESS = toEventSelector('ExecutionSuccess(bytes32,uint256)');
const FAILURE = toEventSelector('ExecutionFailure(bytes32,uint256)');
const TRANSFER = toEventSelector('Transfer(address,address,uint256)');

/** Blocks per eth_getLogs; nodes refuse more, or answer too slowly. */
const BLOCKS_AT_ONCE = 1_000n;

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

/** True when a token emitted a Transfer from the account. Source: ERC-20. */
export function hasTransferFrom(logs: readonly ChainLog[], token: Address, account: Address): boolean {
  const from = pad(account, { size: 32 }).toLowerCase();
  return logs.some(
    ({ address, topics }) =>
      isSameAddress(address, token) && topics[0] === TRANSFER && topics[1]?.toLowerCase() === from,
  );
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
  return { ...found, transactionHash, blockNumber, blockHash };
}

/**
 * Finds the first execution with one of these hashes, in anyone's transaction, from a block on. Throws
 * ChainUnavailable.
 */
export async function findExecution(
  chain: ChainClient,
  input: { account: Address; safeTxHashes: readonly Hex[]; fromBlock: bigint; toBlock: bigint },
): Promise<Execution | null> {
  const { account, safeTxHashes, toBlock } = input;
  const address = account;
  for (let from = input.fromBlock; from <= toBlock; from += BLOCKS_AT_ONCE) {
    const to = from + BLOCKS_AT_ONCE - 1n < toBlock ? from + BLOCKS_AT_ONCE - 1n : toBlock;
    const logs = await ask(chain, (rpc) =>
      rpc.request({
        method: 'eth_getLogs',
        params: [
          {
            address,
            topics: [[SUCCESS, FAILURE], [...safeTxHashes]],
            fromBlock: `0x${from.toString(16)}`,
            toBlock: `0x${to.toString(16)}`,
          },
        ],
      }),
    );
    for (const { topics, transactionHash } of logs) {
      const [, safeTxHash] = topics;
      if (!safeTxHash || !transactionHash) continue;
      const found = await executionInTransaction(chain, { account, safeTxHash, transactionHash });
      if (found) return found;
    }
  }
  return null;
}
