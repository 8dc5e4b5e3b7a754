import { concatHex, type Hex, keccak256, numberToHex, padHex, toEventSelector } from 'viem';
import { type RpcProxy, startRpcProxy } from './rpcProxy';

interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

const IS_VALID_SIGNATURE = '1626ba7e';
const DECIMALS = '313ce567';
/** What the call around `isValidSignature` returns: success, the size, the value. */
const answering = (value: Hex) =>
  concatHex([
    numberToHex(1, { size: 32 }),
    numberToHex(32, { size: 32 }),
    padHex(value, { dir: 'right', size: 32 }),
  ]);
const ACCEPTED = answering(`0x${IS_VALID_SIGNATURE}`);
const NOT_ACCEPTED = answering('0xffffffff');
const SOME_CODE: Hex = '0x60006000fd';
const SUCCESS = toEventSelector('ExecutionSuccess(bytes32,uint256)');
const FAILURE = toEventSelector('ExecutionFailure(bytes32,uint256)');

/** What answers with logs. */
const LOGS = ['eth_getLogs', 'eth_getTransactionReceipt'];

type Lies = Pick<LyingRpc, 'accepting' | 'refusing' | 'decimals' | 'withholding' | 'failing'>;

/** The lie about a request; undefined where the truth serves the attacker as well. */
function lieAbout(
  { accepting, refusing, decimals, withholding }: Lies,
  { method, params = [] }: RpcRequest,
): Hex | undefined {
  if (withholding && method === 'eth_sendRawTransaction') return keccak256(params[0] as Hex);
  const asked = JSON.stringify(params).toLowerCase();
  const concerns = (hex: string) => asked.includes(hex.slice(2).toLowerCase());
  const [token] = Object.entries(decimals).filter(([address]) => concerns(address));
  if (token && method === 'eth_call' && asked.includes(DECIMALS)) {
    return concatHex([1, 32, token[1]].map((word) => numberToHex(word, { size: 32 })));
  }
  if (refusing.some(concerns) && method === 'eth_call') return NOT_ACCEPTED;
  if (!accepting.some(concerns)) return undefined;
  if (method === 'eth_getCode') return SOME_CODE;
  return method === 'eth_call' && asked.includes(IS_VALID_SIGNATURE) ? ACCEPTED : undefined;
}

/** An RPC endpoint of an attacker. */
export interface LyingRpc extends RpcProxy {
  /** There is code at these addresses, it says, and they accept every signature. The rest is the truth. */
  accepting: readonly string[];
  /** No contract accepts these signatures, it says. */
  refusing: readonly Hex[];
  /** How many decimals these tokens have, it says. */
  decimals: Readonly<Record<string, number>>;
  /** It accepts transactions, and sends none on. */
  withholding: boolean;
  /** Every execution of an account has failed, it says. */
  failing: boolean;
}

/** Starts an endpoint that passes everything on to a real one, until it lies. */
export async function startLyingRpc(realUrl: string): Promise<LyingRpc> {
  const liar: Lies = { accepting: [], refusing: [], decimals: {}, withholding: false, failing: false };
  const proxy = await startRpcProxy(realUrl, async (body, pass) => {
    const asked = JSON.parse(body) as RpcRequest;
    const lie = lieAbout(liar, asked);
    if (lie !== undefined) return JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: lie });
    const truth = await pass();
    return liar.failing && LOGS.includes(asked.method) ? truth.replaceAll(SUCCESS, FAILURE) : truth;
  });
  return Object.assign(liar, proxy);
}
