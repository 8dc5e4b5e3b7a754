import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type Request, Router } from 'express';
import ipaddr from 'ipaddr.js';
import { createWalletClient, type Hex, http } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';
import { readJsonBody } from '../../src/api/body';
import { exchangeOf, sendJson } from '../../src/api/exchange';
import { assertOwnOrigin } from '../../src/api/origin';
import type { PageAddition } from '../../src/api/pageAddition';
import { badRequest, pathNotFound, Refused } from '../../src/api/refusals';
import { isLoopback } from '../../src/domain/loopback';
import { projectRoot } from '../../src/projectRoot';
import type { DemoFile } from './prepare';

const PATH = '/demo-wallets';
const PARTS = join(projectRoot(), 'tools', 'dev', 'demo-wallets');
/** The files of the page's part of the wallets. */
const FILES: { readonly [path: string]: string } = {
  '/page.js': 'text/javascript; charset=utf-8',
  '/page.css': 'text/css; charset=utf-8',
};
/** What a proxy adds: then whoever asks may be anywhere. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

const hex = z.string().regex(/^0x([0-9a-fA-F]{2})*$/, 'must be 0x and whole bytes in hex');
const quantity = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/, 'must be a number in hex');

/** What a page asks a wallet of the demo for: that of `address`. Source: EIP-1193, EIP-1474, EIP-712. */
const walletRequest = z.discriminatedUnion('method', [
  z.strictObject({ address: hex, method: z.literal('personal_sign'), data: hex }),
  z.strictObject({ address: hex, method: z.literal('eth_signTypedData_v4'), typedData: z.string() }),
  z.strictObject({
    address: hex,
    method: z.literal('eth_sendTransaction'),
    chainId: z.int().positive(),
    to: hex,
    value: quantity,
  }),
]);
type WalletRequest = z.output<typeof walletRequest>;

function forbidden(message: string): Refused {
  return new Refused({ code: 'forbidden', message });
}

const invalid = (field: string, message: string): Refused => badRequest([{ field, message }]);

const isOnThisMachine = (address: string | undefined) =>
  address !== undefined && ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';

/**
 * What is wrong with a request that did not come from a browser on this machine, under a name of this machine: a name
 * that only leads here (DNS rebinding) is somebody else's. Undefined where nothing is.
 */
function strangeness({ socket, headers }: IncomingMessage, hosts: readonly string[]): string | undefined {
  if (!isOnThisMachine(socket.remoteAddress)) return 'the demo wallets are for browsers on this machine';
  const forwarded = FORWARDED.find((name) => headers[name] !== undefined);
  if (forwarded !== undefined) return `${forwarded}: the demo wallets are not for requests through a proxy`;
  const { host = '' } = headers;
  if (!hosts.includes(host))
    return `Host: "${host}" is not one of this machine (expected ${hosts.join(', ')})`;
  return undefined;
}

/** The demo as the last start has written it; undefined until it is there. */
function readDemo(file: string): DemoFile | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

const peopleOf = ({ admins, members }: DemoFile) =>
  [...admins.members, ...members].filter(({ type }) => type === 'user');

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** The wallets as the page gets them: names, addresses and chains; no keys. */
function headOf(demo: DemoFile): string {
  const wallets = peopleOf(demo).map(({ name, walletAddress: address }) => ({ name, address }));
  const chains = demo.networks.map(({ id, name }) => ({ id, name }));
  const content = escaped(JSON.stringify({ wallets, chains }));
  return (
    `<meta name="demo-wallets" content="${content}" /><link rel="stylesheet" href="${PATH}/page.css" />` +
    `<script type="module" src="${PATH}/page.js"></script>`
  );
}

async function signTypedData(account: PrivateKeyAccount, text: string): Promise<Hex> {
  try {
    return await account.signTypedData(JSON.parse(text));
  } catch (error) {
    throw invalid('typedData', `is not EIP-712 typed data: ${(error as Error).message.split('\n')[0]}`);
  }
}

/** Sends native currency on a local chain. Returns the transaction hash. */
async function send(
  demo: DemoFile,
  account: PrivateKeyAccount,
  { chainId, to, value }: Extract<WalletRequest, { method: 'eth_sendTransaction' }>,
): Promise<Hex> {
  const network = demo.networks.find(({ id }) => id === chainId);
  if (!network || !isLoopback(network.rpcUrl)) throw invalid('chainId', `${chainId} is not a local chain`);
  const client = createWalletClient({ account, transport: http(network.rpcUrl) });
  return client.sendTransaction({ chain: null, to: to as Hex, value: BigInt(value) });
}

/** Does what a person has confirmed in the dialog of a demo wallet. Throws Refused. */
async function answer(demo: DemoFile, asked: WalletRequest): Promise<Hex> {
  const owner = peopleOf(demo).find(
    ({ walletAddress }) => walletAddress.toLowerCase() === asked.address.toLowerCase(),
  );
  if (!owner) throw invalid('address', `${asked.address} is not the wallet of a person of the demo`);
  const account = privateKeyToAccount(owner.privateKey as Hex);
  switch (asked.method) {
    case 'personal_sign':
      return account.signMessage({ message: { raw: asked.data as Hex } });
    case 'eth_signTypedData_v4':
      return signTypedData(account, asked.typedData);
    case 'eth_sendTransaction':
      return send(demo, account, asked);
  }
}

function readRequest(body: unknown): WalletRequest {
  const read = walletRequest.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw invalid(issue?.path.join('.') || 'body', issue?.message ?? 'is invalid');
}

/**
 * Wallets of the people of the demo organization, in the pages of this machine: their keys stay in the demo file, which
 * only this process reads. They sign for the pages of `origins` that name this machine, and for no other site, name, machine
 * or proxy. Not in production.
 */
export function demoWallets({
  demoFile,
  origins,
}: {
  readonly demoFile: string;
  readonly origins: readonly string[];
}): PageAddition {
  const own = origins.filter(isLoopback);
  const hosts = own.map((origin) => new URL(origin).host);
  const router = Router({ caseSensitive: true, strict: true });
  router.use(PATH, async (request: Request, response) => {
    exchangeOf(response).route = PATH;
    const strange = strangeness(request, hosts);
    if (strange !== undefined) throw forbidden(strange);
    assertOwnOrigin(request, own);
    const { method, path, headers } = request;
    const type = FILES[path];
    if (method === 'GET' && type !== undefined) {
      const bytes = readFileSync(join(PARTS, path));
      response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
      response.setHeader('Cache-Control', 'no-store');
      response.setHeader('Content-Type', type);
      response.end(bytes);
      return;
    }
    const demo = readDemo(demoFile);
    if (method !== 'POST' || path !== '/requests' || !demo) throw pathNotFound();
    // Each name of this machine is an origin of its own.
    if (new URL(headers.origin ?? '').host !== headers.host) throw forbidden('Origin: is not that of Host');
    const data = await answer(demo, readRequest(await readJsonBody(request)));
    sendJson(request, response, 200, JSON.stringify({ data }));
  });
  return {
    routes: router,
    head(request) {
      const demo = strangeness(request, hosts) === undefined ? readDemo(demoFile) : undefined;
      return demo ? headOf(demo) : '';
    },
  };
}
