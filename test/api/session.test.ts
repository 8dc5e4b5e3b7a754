import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Client } from 'pg';
import { hashMessage } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { sweepSessions } from '../../src/credentials/memberSessions';
import { verifyAudit } from '../../src/db/audit';
import { newId } from '../../src/db/ids';
import { requireRow } from '../../src/db/rows';
import { listSessions } from '../../src/db/sessions';
import { deployAsFunder, newSafe, signAsSafe, wrapped } from '../chain/wallets';
import { json, refused } from '../cli/command';
import { approve, PROPOSE, proposalPath, propose, type Shown, settled, startApi } from '../support/api';
import type { Answer } from '../support/http';
import { signingAsk, type TestOrganization, type TestService } from '../support/service';
import {
  type Browser,
  newNonce,
  originOf,
  postSession,
  signIn,
  signInText,
  trySignIn,
} from '../support/session';
import { endpointOf, freePorts, networksFile } from '../support/stack';
import {
  aTransactionBody,
  settledTransaction,
  signatureBody,
  TRANSACTIONS,
  transactionPath,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';
import { makePayer } from '../workflows/transactionWorld';

const MAX_OPEN = 3;
const MEMBERS = '/api/v1/members';
const UNKNOWN_ORGANIZATION = 'org_01jz8k3v5fe5ht0n2m6w9r4xyz';
const body = () => ({ items: [{ name: `Treasury ${randomUUID().slice(0, 8)}`, networkIds: [31337] }] });

let api: TestService;
let org: TestOrganization;

beforeAll(async () => {
  api = await startApi({ env: { MAX_OPEN_PER_KEY: String(MAX_OPEN) } });
  org = await api.createOrganization();
});
afterAll(() => api?.stop());

/** The status, and what the refusal says. */
function outcome({ status, body: answered }: Answer) {
  return [status, answered?.code, answered?.message];
}

const row = (session: Shown) => api.db('sessions').where({ id: session.id });

function entriesOf(session: Shown): Promise<Shown[]> {
  return api.db('audit_log').where({ resource_id: session.id }).orderBy('position');
}

describe('signing in', () => {
  it('gives a person a session in a cookie that only the browser sees, and only here', async () => {
    const answer = await trySignIn(api, org.alice.wallet);
    expect(answer.status).toBe(201);
    expect(answer.body.data).toEqual({
      id: expect.stringMatching(/^ses_/),
      organization: { id: org.id, name: 'Test Organization' },
      member: { id: org.alice.id, name: 'Alice', type: 'user', walletAddress: org.alice.wallet.address },
      isAdmin: true,
      current: true,
      createdAt: expect.any(String),
      lastUsedAt: expect.any(String),
      idleExpiresAt: expect.any(String),
      expiresAt: expect.any(String),
      temporalNamespace: undefined,
    });
    const { createdAt, idleExpiresAt, expiresAt } = answer.body.data;
    const since = (time: string) => Date.parse(time) - Date.parse(createdAt);
    expect([since(idleExpiresAt), since(expiresAt)]).toEqual([30 * 60_000, 12 * 60 * 60_000]);
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^__Host-orgwallet-session=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200$/,
      ),
      expect.stringMatching(
        /^__Host-orgwallet-browser=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=34560000$/,
      ),
    ]);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('begins with a nonce of five minutes, and the chain IDs that a message may have', async () => {
    const answer = await api.http.send({ path: '/session/nonce' });
    expect(answer.body).toEqual({
      data: {
        nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
        expiresAt: expect.any(String),
        networkIds: api.config.networks.map(({ id }) => id),
      },
    });
    const { nonce, expiresAt } = answer.body.data;
    const [stored] = await api.db('session_nonces').where({ nonce }).select('*', api.db.raw('now() AS now'));
    expect(Date.parse(expiresAt)).toBe(stored?.expires_at.getTime());
    expect(Date.parse(expiresAt) - stored?.now).toBeGreaterThan(4.5 * 60_000);
    expect((await trySignIn(api, org.alice.wallet, { parts: { nonce } })).status).toBe(201);
  });

  it('stores no token, and records the beginning', async () => {
    const { cookie, session } = await signIn(api, org.alice);
    const token = cookie.split('=')[1] ?? '';
    expect(inspect([await row(session).first(), await entriesOf(session)])).not.toContain(token);
    const stored = await row(session).first();
    expect(stored?.token_hash).toEqual(createHash('sha256').update(token).digest());
    expect(await entriesOf(session)).toMatchObject([
      {
        action: 'session.started',
        resource_type: 'session',
        actor: { type: 'member', id: org.alice.id, name: 'Alice', walletAddress: org.alice.wallet.address },
        details: { origin: originOf(api), walletAddress: org.alice.wallet.address, walletKind: 'key' },
      },
    ]);
    expect(await verifyAudit(api.db, org.id)).toMatchObject({ ok: true });
  });

  it('records a browser in which the member has not signed in before', async () => {
    const browserOf = ({ headers }: Answer) => String([headers['set-cookie']].flat()[1]).split(';')[0] ?? '';
    const newBrowserIn = async (answer: Answer) => {
      const [entry] = await entriesOf(answer.body.data);
      return entry?.details.newBrowser;
    };
    const first = await trySignIn(api, org.carol.wallet);
    const cookie = browserOf(first);
    const again = await trySignIn(api, org.carol.wallet, { headers: { cookie } });
    const other = await trySignIn(api, org.carol.wallet);
    const ofDave = await trySignIn(api, org.dave.wallet, { headers: { cookie } });
    const forged = await trySignIn(api, org.carol.wallet, { headers: { cookie: `${cookie}x` } });
    expect(await Promise.all([first, again, other, ofDave, forged].map(newBrowserIn))).toEqual([
      ...[true, false, true, true, true],
    ]);
    expect([browserOf(again) === cookie, browserOf(other) === cookie, browserOf(forged) === cookie]).toEqual([
      ...[true, false, false],
    ]);
    const token = cookie.split('=')[1] ?? '';
    expect(inspect(await api.db('known_browsers'))).not.toContain(token);
  });

  it('answers for a member who is not an admin', async () => {
    expect((await signIn(api, org.dave)).session.isAdmin).toBe(false);
  });

  it('takes a nonce once, also from two at a time', async () => {
    const message = await signInText(api, org.alice.wallet);
    const signature = await org.alice.wallet.signMessage({ message });
    const both = await Promise.all([1, 2].map(() => postSession(api, { message, signature })));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 401]);
    expect(outcome(await postSession(api, { message, signature }))).toEqual([
      401,
      'unauthorized',
      'message: its nonce is unknown, used or expired: ask for a new one',
    ]);
  });

  it.each([
    [4, 201],
    [5, 401],
  ])('after a nonce was refused %i times answers %i', async (times, status) => {
    const nonce = await newNonce(api);
    const stranger = privateKeyToAccount(generatePrivateKey());
    for (let time = 0; time < times; time += 1) {
      expect((await trySignIn(api, stranger, { parts: { nonce } })).status).toBe(401);
    }
    expect((await trySignIn(api, org.alice.wallet, { parts: { nonce } })).status).toBe(status);
  });

  it('reads no more than a message and a signature need', async () => {
    const bad = { message: 'x', signature: `0x${'00'.repeat(16_384)}` };
    expect((await postSession(api, bad)).body.message).toBe('body is larger than 32768 bytes');
    const longest = { message: 'x', signature: `0x${'00'.repeat(9_999)}` };
    expect((await postSession(api, longest)).body.error.details.field).toBe('message');
  });

  it('does not announce a session: nothing that is cached has changed', async () => {
    const announced: unknown[] = [];
    const listener = new Client({ connectionString: api.config.databaseUrl });
    await listener.connect();
    try {
      await listener.query('LISTEN access_changed');
      listener.on('notification', (notification) => announced.push(notification));
      const { session } = await signIn(api, org.carol);
      await listener.query('SELECT 1');
      expect(announced).toEqual([]);
      await row(session).update({ ended_at: new Date() });
      await until('the end is announced', async () => announced.length > 0);
    } finally {
      await listener.end();
    }
  });

  it('is limited for each member, whatever the nonces', async () => {
    const there = await api.createOrganization();
    const bucket = `sessions:${there.alice.id}`;
    const updated_at = new Date(Date.now() + 3_600_000);
    await api.db('rate_limit_buckets').insert({ bucket, tokens: 0, taken: 0, updated_at });
    const answer = await trySignIn(api, there.alice.wallet);
    expect(outcome(answer)).toEqual([429, 'rateLimited', 'this member has begun too many sessions']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect((await trySignIn(api, there.bob.wallet)).status).toBe(201);
  });

  it('refuses an expired nonce, and deletes it', async () => {
    const nonce = await newNonce(api);
    await api
      .db('session_nonces')
      .where({ nonce })
      .update({ expires_at: new Date(Date.now() - 1_000) });
    expect((await trySignIn(api, org.alice.wallet, { parts: { nonce } })).body.message).toContain('nonce');
    await sweepSessions(api.db);
    expect(await api.db('session_nonces').where({ nonce })).toEqual([]);
  });

  const later = (ms: number) => new Date(Date.now() + ms);
  it.each([
    ['a nonce that was never given', { nonce: 'a'.repeat(32) }, 'nonce'],
    ['another domain', { domain: 'wallet.example.com' }, 'domain "wallet.example.com" is not the one'],
    ['another scheme', { scheme: 'http' }, 'scheme "http"'],
    ['a URI of another origin', { uri: 'https://wallet.example.com/' }, 'URI "https://wallet.example.com/"'],
    ['a URI of another scheme', { uri: 'urn:wallet' }, 'URI "urn:wallet"'],
    ['another chain', { chainId: 5 }, 'chain ID 5 is not configured'],
    ['a time in the future', { issuedAt: later(6 * 60_000) }, 'in the future'],
    ['a time long ago', { issuedAt: later(-11 * 60_000) }, 'too long ago'],
    ['an expired message', { expirationTime: later(-1_000) }, 'expired at'],
    ['a message that is not valid yet', { notBefore: later(60_000) }, 'not valid before'],
  ])('refuses %s', async (_, parts, message) => {
    const answer = await trySignIn(api, org.alice.wallet, { parts });
    expect(answer.status).toBe(401);
    expect(answer.body.message).toContain(message);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  const NOT_A_MEMBER = [
    401,
    'unauthorized',
    'the signature is not one of the wallet of a member of type user',
  ];

  it('says the same to a stranger, a bot, and a wrong signature', async () => {
    const stranger = privateKeyToAccount(generatePrivateKey());
    expect(outcome(await trySignIn(api, stranger))).toEqual(NOT_A_MEMBER);
    expect(outcome(await trySignIn(api, org.bot.wallet))).toEqual(NOT_A_MEMBER);
    const message = await signInText(api, org.alice.wallet);
    for (const signature of [
      await org.bob.wallet.signMessage({ message }),
      await org.alice.wallet.signMessage({ message: `${message} ` }),
      `0x${'00'.repeat(65)}`,
      '0x',
    ]) {
      expect(outcome(await postSession(api, { message, signature }))).toEqual(NOT_A_MEMBER);
    }
  });

  it('refuses a high s, which would be a second signature of the same message', async () => {
    const message = await signInText(api, org.alice.wallet);
    const signature = await org.alice.wallet.signMessage({ message });
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0');
    const v = signature.endsWith('1b') ? '1c' : '1b';
    const malleable = `${signature.slice(0, 66)}${s}${v}`;
    expect(outcome(await postSession(api, { message, signature: malleable }))).toEqual(NOT_A_MEMBER);
  });

  it.each<[string, (text: string) => string]>([
    ['an address in lower case', (text) => text.replace(/0x[0-9a-fA-F]{40}/, (one) => one.toLowerCase())],
    [
      'an address in upper case',
      (text) => text.replace(/0x([0-9a-fA-F]{40})/, (_, hex) => `0x${hex.toUpperCase()}`),
    ],
    ['a line too many', (text) => `${text}\nAdmin: true`],
    ['a text before it', (text) => `Hello\n${text}`],
    ['a second URI', (text) => text.replace('\nVersion', '\nURI: https://evil.example\nVersion')],
    ['line ends of Windows', (text) => text.replaceAll('\n', '\r\n')],
    ['a time without milliseconds', (text) => text.replace(/\.\d{3}Z/, 'Z')],
    ['a time in another zone', (text) => text.replace(/\.\d{3}Z/, '.000+00:00')],
    ['another version', (text) => text.replace('Version: 1', 'Version: 2')],
    ['a chain ID with a zero', (text) => text.replace('Chain ID: ', 'Chain ID: 0')],
    ['no nonce', (text) => text.replace(/\nNonce: \w+/, '')],
    ['nothing of it', () => 'Sign in'],
  ])('refuses a text with %s', async (_, alter) => {
    const message = alter(await signInText(api, org.alice.wallet));
    const signature = await org.alice.wallet.signMessage({ message });
    const answer = await postSession(api, { message, signature });
    expect([answer.status, answer.body.error.details?.field]).toEqual([400, 'message']);
  });

  it.each([
    ['signature', { message: 'x', signature: 'no' }],
    ['signature', { message: 'x' }],
    ['message', { signature: '0x' }],
    ['message', { message: 'x'.repeat(5_000), signature: '0x' }],
    ['more', { message: 'x', signature: '0x', more: 1 }],
  ])('refuses a body with a bad %s', async (field, bad) => {
    expect((await postSession(api, bad)).body.error.details.field).toBe(field);
  });

  it('takes the signature of a contract wallet, there or not yet', async () => {
    const { signerNetworkId, networks } = api.config;
    const network = networks.find(({ id }) => id === signerNetworkId);
    if (!network) throw new Error('there is no network for contract signers');
    const [there, notYet] = [newSafe(), newSafe()];
    await deployAsFunder(endpointOf(network), there.account);
    const sign = (safe: typeof there, text: string) =>
      signAsSafe(safe.owner, { address: safe.address, chainId: network.id }, hashMessage(text));
    await api.db('members').insert(
      [there, notYet].map(({ address }, index) => ({
        id: newId('mem'),
        organization_id: org.id,
        name: `Safe ${index}`,
        type: 'user' as const,
        wallet_address: address,
        wallet_kind: 'contract' as const,
        position: 1_000_000 + index,
      })),
    );
    for (const safe of [there, notYet]) {
      const message = await signInText(api, safe);
      const bytes = await sign(safe, message);
      const signature = safe === notYet ? wrapped(safe, bytes) : bytes;
      expect((await postSession(api, { message, signature })).status).toBe(201);
      const another = await signInText(api, safe);
      expect(outcome(await postSession(api, { message: another, signature }))).toEqual(NOT_A_MEMBER);
    }
  });
});

describe('without the network of contract wallets', () => {
  it('says the same to the contract of a member and of nobody', async () => {
    const [nothing] = await freePorts(1);
    const file = networksFile([{ id: 41_023, name: 'Gone', rpcUrl: `http://127.0.0.1:${nothing}` }]);
    const env = { NETWORKS_FILE: file, SIGNER_NETWORK: '41023', ORGWALLET_ROLES: 'api' };
    const apart = await startApi({ env, ready: false });
    try {
      const there = await apart.createOrganization();
      const contract = newSafe();
      await apart
        .db('members')
        .where({ id: there.bob.id })
        .update({ wallet_address: contract.address, wallet_kind: 'contract' });
      const answers = [];
      for (const wallet of [contract, newSafe(), privateKeyToAccount(generatePrivateKey())]) {
        const message = await signInText(apart, wallet);
        answers.push(await postSession(apart, { message, signature: `0x${'11'.repeat(65)}` }));
      }
      const [ofMember, ...ofOthers] = answers.map(outcome);
      expect(ofMember?.slice(0, 2)).toEqual([500, 'internalError']);
      expect(ofOthers).toEqual([ofMember, ofMember]);
      // What a key has signed needs no network.
      expect((await trySignIn(apart, there.alice.wallet)).status).toBe(201);
      expect((await trySignIn(apart, privateKeyToAccount(generatePrivateKey()))).status).toBe(401);
    } finally {
      await apart.stop();
    }
  });
});

describe('a wallet in several organizations', () => {
  it('chooses one, with the same nonce, and knows of the choice only with its signature', async () => {
    const second = await api.createOrganization();
    const wallet = org.carol.wallet;
    await api
      .db('members')
      .where({ id: second.dave.id })
      .update({ wallet_address: wallet.address, name: 'Carol of the second' });
    const message = await signInText(api, wallet);
    const signature = await wallet.signMessage({ message });
    const asked = await postSession(api, { message, signature });
    expect([asked.status, asked.body.error.details.organizations]).toEqual([
      409,
      [
        { id: org.id, name: 'Test Organization', memberName: 'Carol' },
        { id: second.id, name: 'Test Organization', memberName: 'Carol of the second' },
      ],
    ]);
    const forged = await org.dave.wallet.signMessage({ message });
    expect((await postSession(api, { message, signature: forged })).status).toBe(401);
    expect(
      (await postSession(api, { message, signature, organizationId: UNKNOWN_ORGANIZATION })).status,
    ).toBe(401);
    const chosen = await postSession(api, { message, signature, organizationId: second.id });
    expect([chosen.status, chosen.body.data.organization.id]).toEqual([201, second.id]);
  });
});

describe('a session', () => {
  let alice: Browser;
  beforeAll(async () => {
    alice = await signIn(api, org.alice);
  });

  it('reads what a key reads, of its own organization', async () => {
    const answer = await alice.send({ path: MEMBERS });
    expect(answer.body).toEqual((await api.http.send({ path: MEMBERS, key: org.readKey })).body);
    expect(Number(answer.headers['ratelimit-remaining'])).toBeGreaterThan(0);
    const other = await api.createOrganization();
    expect((await alice.send({ path: `${MEMBERS}/${other.alice.id}` })).status).toBe(404);
  });

  it('shows itself and the others of its member', async () => {
    const another = await signIn(api, org.alice);
    await signIn(api, org.bob);
    const shown = (await alice.send({ path: '/session' })).body.data;
    expect(shown).toEqual(alice.session);
    const all: Shown[] = (await alice.send({ path: '/sessions' })).body.data;
    expect(all[0]).toEqual({ ...another.session, current: false });
    expect(all.filter(({ current }) => current)).toEqual([alice.session]);
    expect(all.every(({ member }) => member.id === org.alice.id)).toBe(true);
  });

  it('says which browser it is of', async () => {
    const message = await signInText(api, org.alice.wallet);
    const signature = await org.alice.wallet.signMessage({ message });
    const agent = `Firefox\t${'x'.repeat(300)}`;
    const answer = await postSession(api, { message, signature }, { 'user-agent': agent });
    expect(answer.body.data.userAgent).toBe(`Firefox${'x'.repeat(193)}`);
  });

  it('loses to a key, also to an invalid one', async () => {
    const headers = { cookie: alice.cookie };
    const valid = await api.http.send({ path: PROPOSE, body: body(), key: org.readKey, headers });
    expect([valid.status, valid.body.message]).toEqual([403, 'requires the API key of an admin of type api']);
    for (const authorization of ['Bearer ow_live_none', '']) {
      const answer = await api.http.send({ path: MEMBERS, headers: { ...headers, authorization } });
      expect(answer.status).toBe(401);
    }
  });

  it.each([
    ['unknown', (token: string) => token.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A'))],
    ['too long', (token: string) => `${token}A`],
    ['empty', () => ''],
  ])('is not found by a token that is %s', async (_, change) => {
    const [name, token = ''] = alice.cookie.split('=');
    const cookie = `${name}=${change(token)}`;
    for (const path of ['/session', '/sessions', MEMBERS]) {
      expect((await api.http.send({ path, headers: { cookie } })).status).toBe(401);
    }
  });

  it('is not found when there are two', async () => {
    const cookie = `${alice.cookie}; ${alice.cookie}`;
    expect((await api.http.send({ path: '/session', headers: { cookie } })).status).toBe(401);
    const beside = `theme=dark; ${alice.cookie}; x`;
    expect((await api.http.send({ path: '/session', headers: { cookie: beside } })).status).toBe(200);
  });

  it('proposes for an admin alone', async () => {
    const dave = await signIn(api, org.dave);
    const refused = await dave.send({ path: PROPOSE, body: body() });
    expect([refused.status, refused.body.message]).toEqual([403, 'requires the session of an admin']);
    const proposed = await alice.send({ path: PROPOSE, body: body() });
    expect(proposed.status).toBe(201);
    const [entry] = await api.db('audit_log').where({ resource_id: proposed.body.data.id });
    expect(entry).toMatchObject({ actor: { type: 'member', id: org.alice.id } });
    expect(entry?.details).toMatchObject({ sessionId: alice.session.id });
    expect(entry?.details).not.toHaveProperty('apiKeyId');
  });

  it('needs idempotency keys, and gets the same answer with the same one', async () => {
    const idempotencyKey = randomUUID();
    const ask = { path: PROPOSE, body: body(), idempotencyKey };
    const first = await alice.send(ask);
    expect(first.status).toBe(201);
    const again = await (await signIn(api, org.alice)).send(ask);
    expect([again.text, again.headers['idempotency-replayed']]).toEqual([first.text, 'true']);
    expect((await alice.send({ ...ask, body: body() })).body.code).toBe('idempotencyConflict');
    expect((await alice.send({ ...ask, idempotencyKey: null })).body.error.details.field).toBe(
      'X-Idempotency-Key',
    );
  });

  it('delivers signatures and executes', async () => {
    const bob = await signIn(api, org.bob);
    const proposal = await propose(api.http, org);
    const { key: _, ...byAlice } = await signingAsk('', proposal, org.alice);
    expect((await alice.send(byAlice)).status).toBe(200);
    // Whoever is signed in may deliver the vote of another.
    const { key: __, ...byBob } = await signingAsk('', proposal, org.bob);
    expect((await alice.send(byBob)).status).toBe(200);
    const executed = await bob.send({
      path: proposalPath(proposal.id, '/execute'),
      body: { type: 'approve' },
    });
    expect(executed.status).toBe(200);
    expect((await settled(api.http, org, proposal.id)).executionStatus).toBe('completed');
  });

  it('has its member’s open requests counted, whatever session made them', async () => {
    const there = await api.createOrganization();
    const first = await signIn(api, there.bob);
    for (let left = MAX_OPEN; left > 0; left -= 1) {
      expect((await first.send({ path: PROPOSE, body: body() })).status).toBe(201);
    }
    const refused = await (await signIn(api, there.bob)).send({ path: PROPOSE, body: body() });
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `this member has ${MAX_OPEN} open proposals and transactions, the maximum per member`,
    ]);
    expect((await (await signIn(api, there.alice)).send({ path: PROPOSE, body: body() })).status).toBe(201);
  });

  it('shares the rate limit of its member', async () => {
    const there = await api.createOrganization();
    const browsers = [await signIn(api, there.dave), await signIn(api, there.dave)];
    const full = new Date(Date.now() + 3_600_000);
    await api
      .db('rate_limit_buckets')
      .insert({ bucket: there.dave.id, tokens: 0, taken: 0, updated_at: full });
    for (const browser of browsers) {
      for (const path of ['/session', MEMBERS]) expect((await browser.send({ path })).status).toBe(429);
    }
    expect((await (await signIn(api, there.alice)).send({ path: '/session' })).status).toBe(200);
  });
});

describe('a request from another page', () => {
  const EVIL = 'https://evil.example';
  let alice: Browser;
  beforeAll(async () => {
    alice = await signIn(api, org.alice);
  });

  /** Sends with the cookie and with exactly these headers besides. */
  const from = (headers: Record<string, string>, ask: { path: string; method?: string; body?: unknown }) =>
    api.http.send({ ...ask, headers: { cookie: alice.cookie, ...headers } });

  it.each([
    ['another origin', { origin: EVIL }],
    ['no origin', {}],
    ['the origin null', { origin: 'null' }],
    ['another port', { origin: 'https://127.0.0.1:1' }],
    ['the origin of its Host header', { origin: 'https://localhost:1', host: 'localhost:1' }],
    ['another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling, as the browser says', { 'sec-fetch-site': 'same-site' }],
  ])('from %s changes nothing', async (_, headers) => {
    const own = 'sec-fetch-site' in headers ? { origin: originOf(api), ...headers } : headers;
    const before = await org.stored();
    for (const ask of [
      { path: PROPOSE, body: body() },
      { path: '/session', method: 'DELETE' },
      { path: `/sessions/${alice.session.id}`, method: 'DELETE' },
      { path: '/session', body: { message: await signInText(api, org.alice.wallet), signature: '0x' } },
    ]) {
      const answer = await from(own, ask);
      expect([ask.path, answer.status, answer.body.code]).toEqual([ask.path, 403, 'forbidden']);
    }
    expect(await org.stored()).toEqual(before);
  });

  it('reads nothing either', async () => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: EVIL }]) {
      for (const path of ['/session', '/sessions', '/session/nonce', MEMBERS]) {
        expect((await from(headers, { path })).status).toBe(403);
      }
    }
    const answer = await from({}, { path: '/session' });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('gets through with a key, which no page has', async () => {
    const headers = { cookie: alice.cookie, origin: EVIL, 'sec-fetch-site': 'cross-site' };
    expect((await api.http.send({ path: MEMBERS, key: org.readKey, headers })).status).toBe(200);
  });
});

describe('a session ends', () => {
  const status = async (browser: Browser) => (await browser.send({ path: MEMBERS })).status;
  const reasons = async ({ session }: Browser) =>
    (await entriesOf(session))
      .filter(({ action }) => action === 'session.ended')
      .map(({ details }) => details.reason);

  it('when its member signs out, and the cookie goes', async () => {
    const [one, other] = [await signIn(api, org.alice), await signIn(api, org.alice)];
    expect(await status(one)).toBe(200);
    const ended = await one.send({ path: '/session', method: 'DELETE' });
    expect([ended.status, ended.body.data.id]).toEqual([200, one.session.id]);
    expect(ended.headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-orgwallet-session=; .*Max-Age=0$/),
    ]);
    await until('the session has ended', async () => (await status(one)) === 401, 2_000);
    expect(await status(other)).toBe(200);
    expect(await reasons(one)).toEqual(['signedOut']);
  });

  it('when its member ends it from another, and only of one’s own', async () => {
    const [one, other, bob] = [
      await signIn(api, org.alice),
      await signIn(api, org.alice),
      await signIn(api, org.bob),
    ];
    const path = `/sessions/${other.session.id}`;
    expect((await bob.send({ path, method: 'DELETE' })).status).toBe(404);
    expect(await status(other)).toBe(200);
    const ended = await one.send({ path, method: 'DELETE' });
    expect([ended.status, ended.headers['set-cookie']]).toEqual([200, undefined]);
    await until('the other is over', async () => (await status(other)) === 401, 2_000);
    expect((await one.send({ path, method: 'DELETE' })).status).toBe(404);
    expect((await one.send({ path: '/sessions/ses_x', method: 'DELETE' })).status).toBe(404);
  });

  it.each([
    ['idle', 'idle', { last_used_at: -31 * 60_000 }],
    ['12 hours old', 'expired', { expires_at: -1_000 }],
  ])('when it is %s', async (_, reason, times) => {
    const browser = await signIn(api, org.dave);
    const past = Object.entries(times).map(([column, ms]) => [column, new Date(Date.now() + ms)]);
    await row(browser.session).update(Object.fromEntries(past));
    await until('the session has ended', async () => (await status(browser)) === 401, 2_000);
    await sweepSessions(api.db);
    expect(await reasons(browser)).toEqual([reason]);
    await sweepSessions(api.db);
    expect(await reasons(browser)).toEqual([reason]);
  });

  it('later when it is used, which is written once a minute', async () => {
    const browser = await signIn(api, org.dave);
    const lastUse = async () => (await row(browser.session).first('last_used_at'))?.last_used_at as Date;
    const first = await lastUse();
    await sleep(1_100);
    await status(browser);
    expect(await lastUse()).toEqual(first);
    await row(browser.session).update({ last_used_at: new Date(Date.now() - 29 * 60_000) });
    await until('the use is written', async () => {
      await status(browser);
      return (await lastUse()).getTime() >= first.getTime();
    });
  });

  it('no later for what the page reads by itself', async () => {
    const browser = await signIn(api, org.dave);
    const long = new Date(Date.now() - 20 * 60_000);
    const lastUse = async () => (await row(browser.session).first('last_used_at'))?.last_used_at as Date;
    const headers = { 'x-orgwallet-background': '1' };
    await row(browser.session).update({ last_used_at: long });
    for (const path of ['/session', '/sessions', MEMBERS]) {
      expect((await browser.send({ path, headers })).status).toBe(200);
      expect(await lastUse()).toEqual(long);
    }
    // Found a moment ago, and used now for the first time.
    expect((await browser.send({ path: MEMBERS })).status).toBe(200);
    expect((await lastUse()).getTime()).toBeGreaterThan(long.getTime());
  });

  it('later for what is not read, whatever it says', async () => {
    const browser = await signIn(api, org.dave);
    const long = new Date(Date.now() - 20 * 60_000);
    await row(browser.session).update({ last_used_at: long });
    const headers = { 'x-orgwallet-background': '1' };
    await browser.send({ path: PROPOSE, body: body(), headers });
    const { last_used_at: used } = requireRow(await row(browser.session).first('last_used_at'));
    expect(used.getTime()).toBeGreaterThan(long.getTime());
  });

  it.each<[string, string, (there: TestOrganization) => { path: string; body: object }]>([
    [
      'is removed',
      'memberRemoved',
      ({ dave }) => ({ path: '/members/proposals/remove', body: { ids: [dave.id] } }),
    ],
    [
      'gets another wallet',
      'walletChanged',
      ({ dave }) => ({
        path: '/members/proposals/update',
        body: { items: [{ id: dave.id, walletAddress: privateKeyToAccount(generatePrivateKey()).address }] },
      }),
    ],
  ])('at once when its member %s, with the decision', async (_, reason, ask) => {
    const there = await api.createOrganization();
    const [dave, alice] = [await signIn(api, there.dave), await signIn(api, there.alice)];
    expect(await status(dave)).toBe(200);
    const { path, body: decided } = ask(there);
    const proposed = await alice.send({ path: `/api/v1${path}`, body: decided });
    expect(proposed.status).toBe(201);
    await approve(api.http, there, proposed.body.data);
    await until('the session has ended', async () => (await status(dave)) === 401, 1_000);
    expect(await status(alice)).toBe(200);
    expect(await reasons(dave)).toEqual([reason]);
    expect(await verifyAudit(api.db, there.id)).toMatchObject({ ok: true });
    expect((await trySignIn(api, there.dave.wallet)).status).toBe(401);
  });

  it('when an operator ends it', async () => {
    const [one, other] = [await signIn(api, org.alice), await signIn(api, org.alice)];
    const listed = await json(api.env, 'sessions', 'list', '--org', org.id);
    expect(listed.map(({ id }: Shown) => id)).toEqual(
      expect.arrayContaining([one.session.id, other.session.id]),
    );
    const foreign = await signIn(api, await api.createOrganization().then(({ alice }) => alice));
    const everywhere = await json(api.env, 'sessions', 'list');
    expect(everywhere.map(({ id }: Shown) => id)).toEqual(
      expect.arrayContaining([one.session.id, foreign.session.id]),
    );
    expect(listed.map(({ id }: Shown) => id)).not.toContain(foreign.session.id);
    // Forgetting which organization is not asking for all of them.
    expect(await listSessions(api.db, { organizationId: undefined as never })).toEqual([]);
    expect(await json(api.env, 'sessions', 'end', one.session.id)).toEqual({
      id: one.session.id,
      ended: true,
    });
    await until('the session has ended', async () => (await status(one)) === 401, 2_000);
    expect(await status(other)).toBe(200);
    expect(await reasons(one)).toEqual(['operator']);
    expect(await refused(api.env, 'sessions', 'end', one.session.id)).toMatch(/not found/);
  });

  it('when its member has begun 20 others', async () => {
    const there = await api.createOrganization();
    const first = await signIn(api, there.alice);
    const last = requireRow(await row(first.session).first());
    await api.db('sessions').insert(
      Array.from({ length: 19 }, (_, index) => ({
        ...last,
        id: newId('ses'),
        token_hash: Buffer.from(`${there.id}${index}`),
      })),
    );
    await signIn(api, there.alice);
    expect(await reasons(first)).toEqual(['replaced']);
    expect(await status(first)).toBe(401);
  });
});

describe('a transaction', () => {
  it('is created, signed and executed with a session of somebody who is not an admin', async () => {
    const there = await api.createOrganization();
    const { account, policy } = await makePayer(api, there, NETWORK_ID);
    const dave = await signIn(api, there.dave);
    const to = privateKeyToAccount(generatePrivateKey()).address;
    const created = await dave.send({
      path: TRANSACTIONS,
      body: aTransactionBody(there, { account, policy, to }),
    });
    expect(created.status).toBe(201);
    const signed = await dave.send({
      path: transactionPath(created.body.data.id, '/signatures'),
      body: await signatureBody(created.body.data, there.dave, 'initiator'),
    });
    expect(signed.status).toBe(200);
    const path = transactionPath(created.body.data.id, '/execute');
    expect((await dave.send({ path, body: { type: 'approve' } })).status).toBe(200);
    expect(await settledTransaction(api.http, there, created.body.data)).toMatchObject({
      executionStatus: 'completed',
    });
  });
});

describe('the limits of those who are not known', () => {
  it('are on attempts, before any work is done for them, and not on those that succeed', async () => {
    const apart = await startApi();
    try {
      const { alice } = await apart.createOrganization();
      for (let time = 0; time < 20; time += 1) await signIn(apart, alice);
      const many = await Promise.all(
        Array.from({ length: 130 }, () => postSession(apart, { message: 'x', signature: '0x' })),
      );
      const malformed = many.filter(({ status }) => status === 400);
      const refused = many.filter(({ status }) => status === 429);
      expect([malformed.length >= 100, refused.length > 0, malformed.length + refused.length]).toEqual([
        true,
        true,
        130,
      ]);
    } finally {
      await apart.stop();
    }
  });

  it('are on nonces', async () => {
    const many = await Promise.all(
      Array.from({ length: 120 }, () => api.http.send({ path: '/session/nonce' })),
    );
    const refused = many.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers['retry-after']).toBe('1');
  });
});
