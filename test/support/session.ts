import type { PrivateKeyAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import { openNonce } from '../../src/db/sessionNonces';
import { checkConformance } from './conformance';
import type { Answer, Ask } from './http';
import type { TestService } from './service';

/** The parts of a message to sign in that a test may want to get wrong. */
type MessageParts = Partial<Parameters<typeof createSiweMessage>[0]>;

/** The origin of the pages of a service. */
export function originOf({ config }: TestService): string {
  const [origin] = config.origins;
  if (origin === undefined) throw new Error('the service has no origin');
  return origin;
}

/** A nonce, past the limit of those who ask for many. */
export async function newNonce(api: TestService): Promise<string> {
  return (await openNonce(api.db)).nonce;
}

/** A message to sign in, as a page makes it. */
export async function signInText(
  api: TestService,
  wallet: { readonly address: `0x${string}` },
  parts: MessageParts = {},
): Promise<string> {
  const origin = originOf(api);
  return createSiweMessage({
    domain: new URL(origin).host,
    address: wallet.address,
    statement: 'Sign in to the organization wallet.',
    uri: origin,
    version: '1',
    chainId: api.config.networks[0]?.id ?? 0,
    nonce: parts.nonce ?? (await newNonce(api)),
    issuedAt: new Date(),
    ...parts,
  });
}

/** Sends a signed message, as a page does. */
export function postSession(api: TestService, body: object, headers: Ask['headers'] = {}): Promise<Answer> {
  return api.http.send({
    path: '/session',
    body,
    idempotencyKey: null,
    headers: { origin: originOf(api), ...headers },
  });
}

/** Signs a message to sign in and sends it. */
export async function trySignIn(
  api: TestService,
  wallet: PrivateKeyAccount,
  {
    parts,
    headers,
    ...more
  }: { parts?: MessageParts; organizationId?: string; headers?: Ask['headers'] } = {},
): Promise<Answer> {
  const message = await signInText(api, wallet, parts);
  return postSession(api, { message, signature: await wallet.signMessage({ message }), ...more }, headers);
}

/** The cookie that an answer sets, as a browser sends it back. */
export function cookieOf({ headers }: Answer): string {
  const [cookie = ''] = [headers['set-cookie'] ?? []].flat();
  return cookie.split(';')[0] ?? '';
}

/** A browser that is signed in. */
export interface Browser {
  readonly cookie: string;
  // biome-ignore lint/suspicious/noExplicitAny: a session as it was answered
  readonly session: any;
  /** Sends a request as a page of the service does. */
  send(ask: Ask): Promise<Answer>;
}

/** Signs in a member of one organization. */
export async function signIn(
  api: TestService,
  { wallet }: { readonly wallet: PrivateKeyAccount },
  organizationId?: string,
): Promise<Browser> {
  const answer = await trySignIn(api, wallet, organizationId === undefined ? {} : { organizationId });
  if (answer.status !== 201) throw new Error(`POST /session → ${answer.status} ${answer.text}`);
  const cookie = cookieOf(answer);
  const page = { cookie, origin: originOf(api), 'sec-fetch-site': 'same-origin' };
  return {
    cookie,
    session: answer.body.data,
    send: (ask) => api.http.send({ ...ask, headers: { ...page, ...ask.headers } }),
  };
}

/** What a page asks for within its session; the answer keeps to the contract. */
export async function sent(
  browser: Browser,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<Answer> {
  const ask = { method, path, idempotencyKey: null, ...(body ? { body } : {}) };
  const answer = await browser.send(ask);
  checkConformance(ask, answer);
  return answer;
}
