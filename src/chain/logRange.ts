import { hexToBigInt, isHex, numberToHex } from 'viem';
import type { RpcRequest } from './jsonRpc';

/** The blocks that an eth_getLogs asks for. */
interface LogRange {
  readonly from: bigint;
  readonly to: bigint;
  /** How many they are. */
  readonly blocks: bigint;
}

interface LogFilter {
  readonly fromBlock?: unknown;
  readonly toBlock?: unknown;
}

/** The range of an eth_getLogs that names its first and its last block; undefined of other requests. */
export function logRange({ method, params }: RpcRequest): LogRange | undefined {
  if (method !== 'eth_getLogs') return undefined;
  const [{ fromBlock, toBlock } = {}] = params as readonly LogFilter[];
  if (!isHex(fromBlock) || !isHex(toBlock)) return undefined;
  const [from, to] = [hexToBigInt(fromBlock), hexToBigInt(toBlock)];
  return { from, to, blocks: to - from + 1n };
}

/** Two requests for the halves of a range, the earlier one first. */
export function halvesOf(request: RpcRequest, { from, to, blocks }: LogRange): [RpcRequest, RpcRequest] {
  const [filter, ...rest] = request.params as readonly LogFilter[];
  const middle = from + blocks / 2n;
  const part = (fromBlock: bigint, toBlock: bigint): RpcRequest => ({
    ...request,
    params: [{ ...filter, fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) }, ...rest],
  });
  return [part(from, middle - 1n), part(middle, to)];
}
