import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { concatHex, type Hex, keccak256, numberToHex, padHex, toEventSelector } from 'viem';

interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

const IS_VALID_SIGNATURE = '1626ba7e';
const DECIMALS = '313ce567';
/** What the call around `isValidSignature` returns when the contract accepts: success, the size, the magic value. */
const ACCEPTED = concatHex([
  numberToHex(1, { size: 32 }),
  numberToHex(32, { size: 32 }),
  padHex(`0x${IS_VALID_SIGNATURE}`, { dir: 'right', size: 32 }),
]);
const SOME_CODE: Hex = '0x60006000fd';
const SUCCESS = toEventSelector('ExecutionSuccess(bytes32,uint256)');
const FAILURE = toEventSelector('ExecutionFailure(bytes32,uint256)');

/** What answers with logs. */
const LOGS = ['eth_getLogs', 'eth_getTransactionReceipt'];

type Lies = Pick<LyingRpc, 'accepting' | 'decimals' | 'withholding' | 'failing'>;

/** The lie about a request; undefined where the truth serves the attacker as well. */
function lieAbout(
  { accepting, decimals, withholding }: Lies,
  { method, params = [] }: RpcRequest,
): Hex | undefined {
  if (withholding && method === 'eth_sendRawTransaction') return keccak256(params[0] as Hex);
  const asked = JSON.stringify(params).toLowerCase();
  const concerns = (address: string) => asked.includes(address.slice(2).toLowerCase());
  const [token] = Object.entries(decimals).filter(([address]) => concerns(address));
  if (token && method === 'eth_call' && asked.includes(DECIMALS)) {
    return concatHex([1, 32, token[1]].map((word) => numberToHex(word, { size: 32 })));
  }
  if (!accepting.some(concerns)) return undefined;
  if (method === 'eth_getCode') return SOME_CODE;
  return method === 'eth_call' && asked.includes(IS_VALID_SIGNATURE) ? ACCEPTED : undefined;
}

/** An RPC endpoint of an attacker. */
export interface LyingRpc {
  readonly url: string;
  readonly host: string;
  /** There is code at these addresses, it says, and they accept every signature. The rest is the truth. */
  accepting: readonly string[];
  /** How many decimals these tokens have, it says. */
  decimals: Readonly<Record<string, number>>;
  /** It accepts transactions, and sends none on. */
  withholding: boolean;
  /** Every execution of an account has failed, it says. */
  failing: boolean;
  stop(): Promise<void>;
}

/** Starts an endpoint that passes everything on to a real one, until it lies. */
export async function startLyingRpc(realUrl: string): Promise<LyingRpc> {
  const liar: Lies = { accepting: [], decimals: {}, withholding: false, failing: false };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const asked = JSON.parse(body) as RpcRequest;
    const lie = lieAbout(liar, asked);
    const text =
      lie === undefined
        ? await fetch(realUrl, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
          })
            .then((answer) => answer.text())
            .then((truth) =>
              liar.failing && LOGS.includes(asked.method) ? truth.replaceAll(SUCCESS, FAILURE) : truth,
            )
        : JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: lie });
    response.setHeader('content-type', 'application/json').end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(liar, {
    host,
    url: `http://${host}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
