import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { concatHex, type Hex, numberToHex, padHex } from 'viem';

interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

const IS_VALID_SIGNATURE = '1626ba7e';
/** What the call around `isValidSignature` returns when the contract accepts: success, the size, the magic value. */
const ACCEPTED = concatHex([
  numberToHex(1, { size: 32 }),
  numberToHex(32, { size: 32 }),
  padHex(`0x${IS_VALID_SIGNATURE}`, { dir: 'right', size: 32 }),
]);
const SOME_CODE: Hex = '0x60006000fd';

/** The lie about a request; undefined where the truth serves the attacker as well. */
function lieAbout(wallets: readonly string[], { method, params = [] }: RpcRequest): Hex | undefined {
  const asked = JSON.stringify(params).toLowerCase();
  if (!wallets.some((wallet) => asked.includes(wallet.slice(2).toLowerCase()))) return undefined;
  if (method === 'eth_getCode') return SOME_CODE;
  return method === 'eth_call' && asked.includes(IS_VALID_SIGNATURE) ? ACCEPTED : undefined;
}

/** An RPC endpoint of an attacker. */
export interface LyingRpc {
  readonly url: string;
  readonly host: string;
  /** There is code at these addresses, it says, and they accept every signature. The rest is the truth. */
  accepting: readonly string[];
  stop(): Promise<void>;
}

/** Starts an endpoint that passes everything on to a real one, until it lies. */
export async function startLyingRpc(realUrl: string): Promise<LyingRpc> {
  const liar: Pick<LyingRpc, 'accepting'> = { accepting: [] };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const asked = JSON.parse(body) as RpcRequest;
    const lie = lieAbout(liar.accepting, asked);
    const text =
      lie === undefined
        ? await fetch(realUrl, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
          }).then((answer) => answer.text())
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
