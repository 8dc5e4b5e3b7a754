/** @deep */

import { randomUUID } from 'node:crypto';
import {
  type Address,
  concatHex,
  type Hex,
  hashMessage,
  hexToBigInt,
  keccak256,
  numberToHex,
  slice,
} from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { operationDomainSalt } from '../../src/chain/domainSalt';
import { encodeSignature } from '../../src/chain/signatures';
import type { NetworkConfig } from '../../src/config';
import { issueApiKey } from '../../src/credentials/apiKeys';
import { registerWallet } from '../../src/credentials/walletRegistrations';
import { sweepChallenges } from '../../src/db/registrations';
import { requireRow } from '../../src/db/rows';
import { OPERATOR } from '../../src/domain/actor';
import { keyAddresses } from '../../src/organizations/admitGenesis';
import { createOrganization } from '../../src/organizations/organization';
import { deployAsFunder, newSafe, type SafeWallet, signAsSafe, wrapped } from '../chain/wallets';
import {
  badField,
  expectRefused,
  organizationForEachTest,
  PROPOSE,
  read,
  refusal,
  refusalIn,
  type Shown,
  startApi,
  stateOf,
} from '../support/api';
import { WRONG_CHECKSUM } from '../support/builders';
import type { Answer, Ask } from '../support/http';
import type { TestMember, TestOrganization, TestService } from '../support/service';
import { endpointOf, freePorts, networksFile, startOwnChain } from '../support/stack';
import { storeRequest } from '../support/storedRequests';
import { describeDeep } from '../support/suite';

const REGISTER = '/api/v1/members/registrations';
const PAYLOAD = `${REGISTER}/payload`;
const INVALID = refusal(400, 'invalidSignature', 'signature');
const NOBODYS = badField('walletAddress');
const NOT_FOUND = refusal(404, 'notFound', null);
/** Order of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const TEN_MINUTES_MS = 600_000;

let api: TestService;
let org: TestOrganization;

organizationForEachTest((...own) => {
  [api, org] = own;
});

const payloadPath = (address: string) => `${PAYLOAD}?walletAddress=${address}`;

async function textFor(address: string, key = org.readKey): Promise<string> {
  return (await read(api.http, key, payloadPath(address))).messageToSign;
}

function register(walletAddress: string, signature: string, more: Partial<Ask> = {}): Promise<Answer> {
  return api.http.send({ key: org.readKey, path: REGISTER, body: { walletAddress, signature }, ...more });
}

/** What a member sends who signs a new text. */
async function proofOf({ wallet }: Pick<TestMember, 'wallet'>) {
  const message = await textFor(wallet.address);
  return { walletAddress: wallet.address, signature: await wallet.signMessage({ message }) };
}

const memberOf = ({ id }: { id: string }, key = org.readKey): Promise<Shown> =>
  read(api.http, key, `/api/v1/members/${id}`);

const entriesOf = ({ id }: { id: string }): Promise<Shown[]> =>
  read(api.http, org.readKey, `/api/v1/audit-logs?action=member.registered&resourceId=${id}`);

/** Lets a member go, or gives them another wallet, without a proposal. */
async function change(member: TestMember, columns: object) {
  await api.db('members').where({ id: member.id }).update(columns);
}

describe('the text to sign', () => {
  it('names organization, address, nonce and time, and is valid for ten minutes', async () => {
    const before = Date.now();
    const text = await textFor(org.dave.wallet.address);
    expect(text).toMatch(
      new RegExp(
        [
          '^orgwallet asks you to prove that you control this wallet:',
          org.dave.wallet.address,
          '',
          'Sign this to register it as the wallet of a member of the organization below\\. It approves nothing and moves nothing\\.',
          '',
          `Organization: ${org.id}`,
          'Organization Name: "Test Organization"',
          'Nonce: [0-9a-f]{32}',
          'Issued At: [0-9T:.-]{23}Z',
          'Expiration Time: [0-9T:.-]{23}Z$',
        ].join('\n'),
      ),
    );
    const [issuedAt = 0, expiresAt = 0] = ['Issued At', 'Expiration Time'].map((field) =>
      Date.parse(new RegExp(`${field}: (.*)`).exec(text)?.[1] ?? ''),
    );
    expect(expiresAt - issuedAt).toBe(TEN_MINUTES_MS);
    expect(Math.abs(issuedAt - before)).toBeLessThan(30_000);
  });

  it('differs each time, and changes no record', async () => {
    const before = await stateOf(api.http, org);
    const texts = await Promise.all(Array.from({ length: 5 }, () => textFor(org.dave.wallet.address)));
    expect(new Set(texts).size).toBe(5);
    expect(await stateOf(api.http, org)).toEqual(before);
  });

  it('has the checksummed address', async () => {
    const { address } = org.dave.wallet;
    for (const written of [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`]) {
      expect((await textFor(written)).split('\n')[1]).toBe(address);
    }
  });

  it.each<[string, (address: string) => string]>([
    ['no address', () => ''],
    ['an empty one', () => '?walletAddress='],
    ['one that is cut off', (address) => `?walletAddress=${address.slice(0, -1)}`],
    ['one without 0x', (address) => `?walletAddress=${address.slice(2)}`],
    ['one with 0X', (address) => `?walletAddress=0X${address.slice(2)}`],
    ['one that is not hex', (address) => `?walletAddress=${address.slice(0, -1)}g`],
    ['a wrong checksum', () => `?walletAddress=${WRONG_CHECKSUM}`],
    ['two addresses', (address) => `?walletAddress=${address}&walletAddress=${address}`],
  ])('is refused for %s', async (_, query) => {
    const path = `${PAYLOAD}${query(org.dave.wallet.address)}`;
    await expectRefused(api.http, org, { key: org.readKey, path }, badField('walletAddress'));
  });

  it('is refused with an unknown parameter', async () => {
    const path = `${payloadPath(org.dave.wallet.address)}&chainId=1`;
    await expectRefused(api.http, org, { key: org.readKey, path }, badField('chainId'));
  });

  it('is refused for an unknown, zero or foreign address, or that of a removed member', async () => {
    const theirs = await api.createOrganization();
    await change(org.carol, { removed_at: api.db.fn.now() });
    const answers: string[] = [];
    for (const address of [
      privateKeyToAccount(generatePrivateKey()).address,
      `0x${'0'.repeat(40)}`,
      theirs.dave.wallet.address,
      org.carol.wallet.address,
    ]) {
      const ask = { key: org.readKey, path: payloadPath(address) };
      answers.push((await expectRefused(api.http, org, ask, NOT_FOUND)).text);
    }
    expect(new Set(answers).size).toBe(1);
  });

  it('requires a key and a supported method', async () => {
    const path = payloadPath(org.dave.wallet.address);
    expect((await api.http.send({ path })).status).toBe(401);
    const wrong: [Ask, string][] = [
      [{ key: org.readKey, path: PAYLOAD, body: {} }, 'GET, HEAD, OPTIONS'],
      [{ key: org.readKey, path: REGISTER }, 'POST, OPTIONS'],
    ];
    for (const [ask, allow] of wrong) {
      const answer = await expectRefused(api.http, org, ask, NOT_FOUND);
      expect(answer.headers.allow).toBe(allow);
    }
  });
});

describe('a proof', () => {
  it('registers the member, is audited with the member as actor, and grants nothing', async () => {
    const before = await stateOf(api.http, org);
    expect((await memberOf(org.dave)).registeredAt).toBeNull();
    const proof = await proofOf(org.dave);
    const answer = await register(proof.walletAddress, proof.signature);
    const { registeredAt } = await memberOf(org.dave);
    expect([answer.status, answer.body]).toEqual([
      200,
      { data: { walletAddress: org.dave.wallet.address, registered: true, registeredAt } },
    ]);
    expect(registeredAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const [entry, ...others] = await entriesOf(org.dave);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      action: 'member.registered',
      actor: { type: 'member', id: org.dave.id, name: 'Dave', walletAddress: org.dave.wallet.address },
      resourceType: 'member',
      details: {
        walletAddress: org.dave.wallet.address,
        before: { registeredAt: null },
        after: { registeredAt },
      },
    });
    const { api_key_id } = requireRow(
      await api.db('api_key_members').where({ member_id: org.otherBot.id }).first('api_key_id'),
    );
    expect(entry.details.apiKeyId).toBe(api_key_id);
    const after = await stateOf(api.http, org);
    const members = after.members.map((member: Shown) =>
      member.id === org.dave.id ? before.members.find(({ id }: Shown) => id === member.id) : member,
    );
    expect({ ...after, members, lastAuditEntry: before.lastAuditEntry }).toEqual(before);
  });

  it('is accepted with any key of the organization, for any member', async () => {
    for (const member of [org.alice, org.bot, org.otherBot]) {
      const proof = await proofOf(member);
      expect((await register(proof.walletAddress, proof.signature)).status).toBe(200);
    }
    const body = { items: [{ name: 'Treasury', networkIds: [31337] }] };
    expect((await api.http.send({ key: org.readKey, path: PROPOSE, body })).status).toBe(403);
  });

  it('accepts address and signature in any case', async () => {
    const { address } = org.dave.wallet;
    const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`;
    for (const written of [address.toLowerCase(), upper(address)]) {
      const { signature } = await proofOf(org.dave);
      const answer = await register(written, upper(signature));
      expect([answer.status, answer.body.data?.walletAddress]).toEqual([200, address]);
    }
  });

  it('works once', async () => {
    const { walletAddress, signature } = await proofOf(org.dave);
    expect((await register(walletAddress, signature)).status).toBe(200);
    const ask = { key: org.readKey, path: REGISTER, body: { walletAddress, signature } };
    await expectRefused(api.http, org, ask, INVALID);
  });

  it('keeps the time of the first proof', async () => {
    const first = await proofOf(org.dave);
    const one = await register(first.walletAddress, first.signature);
    const { updatedAt } = await memberOf(org.dave);
    const second = await proofOf(org.dave);
    const two = await register(second.walletAddress, second.signature);
    expect([two.status, two.text]).toEqual([200, one.text]);
    const { registeredAt } = one.body.data;
    expect(await memberOf(org.dave)).toMatchObject({ registeredAt, updatedAt });
    expect((await entriesOf(org.dave)).map(({ details }) => [details.before, details.after])).toEqual([
      [{ registeredAt }, { registeredAt }],
      [{ registeredAt: null }, { registeredAt }],
    ]);
  });

  it('accepts any of the ten newest texts', async () => {
    const { wallet } = org.dave;
    const texts: string[] = [];
    for (let count = 0; count < 11; count += 1) texts.push(await textFor(wallet.address));
    const [forgotten = '', ...open] = await Promise.all(
      texts.map((message) => wallet.signMessage({ message })),
    );
    const ask = (signature: string) => ({
      key: org.readKey,
      path: REGISTER,
      body: { walletAddress: wallet.address, signature },
    });
    await expectRefused(api.http, org, ask(forgotten), INVALID);
    const order = [open[0], open[9], ...open.slice(1, 9)];
    for (const signature of order) {
      expect((await api.http.send(ask(signature ?? ''))).status).toBe(200);
    }
    expect(await entriesOf(org.dave)).toHaveLength(10);
  });

  it('expires after ten minutes', async () => {
    const { walletAddress, signature } = await proofOf(org.dave);
    await api
      .db('registration_challenges')
      .where({ wallet_address: walletAddress })
      .update({ expires_at: api.db.raw("now() - interval '1 millisecond'") });
    const ask = { key: org.readKey, path: REGISTER, body: { walletAddress, signature } };
    await expectRefused(api.http, org, ask, INVALID);
  });

  it('is refused, as every change is, before the genesis of the organization is admitted', async () => {
    const wallet = privateKeyToAccount(generatePrivateKey());
    const keystore = await api.keystore();
    const bot = { name: 'Bot', type: 'api', walletAddress: wallet.address, admin: true } as const;
    const { organizationId, memberIds } = await createOrganization(
      api.db,
      { name: 'Not yet', threshold: 1, members: [bot] },
      { domainSalt: operationDomainSalt, keysOf: (id) => keyAddresses(keystore, id) },
    );
    const { key } = await api.db.transaction((tx) =>
      issueApiKey(tx, { organizationId, memberIds, actor: OPERATOR }),
    );
    const signature = await wallet.signMessage({ message: await textFor(wallet.address, key) });
    const items = [{ name: 'Treasury', networkIds: [31337] }];
    for (const answer of [
      await register(wallet.address, signature, { key }),
      await api.http.send({ key, path: PROPOSE, body: { items } }),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
      expect(answer.body.message).toMatch(
        `the genesis of organization ${organizationId} is not admitted yet`,
      );
    }
    expect(await api.db('members').whereIn('id', memberIds).pluck('registered_at')).toEqual([null]);
  });

  it('is refused alike for every address without a member', async () => {
    const theirs = await api.createOrganization();
    const { signature } = await proofOf(org.carol);
    await change(org.carol, { removed_at: api.db.fn.now() });
    const stranger = privateKeyToAccount(generatePrivateKey()).address;
    const answers: string[] = [];
    for (const walletAddress of [stranger, theirs.dave.wallet.address, org.carol.wallet.address]) {
      const ask = { key: org.readKey, path: REGISTER, body: { walletAddress, signature } };
      answers.push((await expectRefused(api.http, org, ask, NOBODYS)).text);
    }
    expect(new Set(answers).size).toBe(1);
  });

  it('is refused for a wallet that the member no longer has, or another member had', async () => {
    const old = await proofOf(org.dave);
    const next = privateKeyToAccount(generatePrivateKey());
    await change(org.dave, { wallet_address: next.address });
    const ask = { key: org.readKey, path: REGISTER, body: old };
    await expectRefused(api.http, org, ask, NOBODYS);
    await change(org.carol, { wallet_address: old.walletAddress });
    await expectRefused(api.http, org, ask, INVALID);
  });

  it('is refused in another organization', async () => {
    const theirs = await api.createOrganization();
    await change(theirs.dave, { wallet_address: org.dave.wallet.address });
    const proof = await proofOf(org.dave);
    await textFor(org.dave.wallet.address, theirs.readKey);
    const ask = { key: theirs.readKey, path: REGISTER, body: proof };
    await expectRefused(api.http, theirs, ask, INVALID);
    expect((await register(proof.walletAddress, proof.signature)).status).toBe(200);
    expect((await memberOf(theirs.dave, theirs.readKey)).registeredAt).toBeNull();
  });

  it.each<[string, (body: object) => unknown, string]>([
    ['without an address', (body) => ({ ...body, walletAddress: undefined }), 'walletAddress'],
    ['without a signature', (body) => ({ ...body, signature: undefined }), 'signature'],
    ['with a signature that is a number', (body) => ({ ...body, signature: 1 }), 'signature'],
    ['with an unknown key', (body) => ({ ...body, memberId: 'mem_1' }), 'memberId'],
    ['with no address', (body) => ({ ...body, walletAddress: 'dave' }), 'walletAddress'],
    ['with a wrong checksum', (body) => ({ ...body, walletAddress: WRONG_CHECKSUM }), 'walletAddress'],
    ['that is a list', (body) => [body], 'body'],
  ])('%s is refused', async (_, spoil, field) => {
    const body = spoil(await proofOf(org.dave));
    await expectRefused(api.http, org, { key: org.readKey, path: REGISTER, body }, badField(field));
  });
});

const wrongV = (good: Hex, one: Hex, other: Hex) =>
  concatHex([slice(good, 0, 64), good.endsWith('1b') ? one : other]);

describe('a signature that is not right', () => {
  it.each<[string, (good: Hex, text: string) => string | Promise<string>, RegExp]>([
    ['that is empty', () => '', /^must be hex digits that begin with 0x/],
    ['without 0x', (good) => good.slice(2), /^must be hex digits that begin with 0x/],
    ['that is not hex', (good) => `${good.slice(0, -2)}zz`, /^must be hex digits/],
    ['with half a byte', (good) => good.slice(0, -1), /^must be whole bytes/],
    ['beyond 64 KiB', (good) => `${good}${'00'.repeat(65_536)}`, /^must be at most 64 KiB/],
    ['of no bytes', () => '0x', /^the signature was not made by 0x/],
    ['of 64 bytes (EIP-2098)', (good) => slice(good, 0, 64), /^the signature was not made by 0x/],
    ['of 66 bytes', (good) => `${good}00`, /^the signature was not made by 0x/],
    [
      'with a high s',
      (good) => {
        const s = numberToHex(ORDER - hexToBigInt(slice(good, 32, 64)), { size: 32 });
        return concatHex([slice(good, 0, 32), s, good.endsWith('1b') ? '0x1c' : '0x1b']);
      },
      /s in the upper half of the curve order/,
    ],
    ['with v 0 or 1', (good) => wrongV(good, '0x00', '0x01'), /a v other than 27 or 28/],
    ['with v 29', (good) => wrongV(good, '0x1d', '0x1d'), /^the signature was not made by 0x/],
    ['with the other v', (good) => wrongV(good, '0x1c', '0x1b'), /^the signature was not made by 0x/],
    [
      'wrapped with its address, as the signatures of proposals are',
      (good) => encodeSignature(org.dave.wallet.address, good),
      /^must be the signature itself, not the ABI encoding of \(address signer, bytes signature\)/,
    ],
    [
      'of another member',
      (_, message) => org.alice.wallet.signMessage({ message }),
      /^the signature was not made by 0x/,
    ],
    [
      'over the text with a change',
      (_, message) => org.dave.wallet.signMessage({ message: `${message}\n` }),
      /a text works once, for 10 minutes$/,
    ],
    [
      'over the text without the prefix of EIP-191',
      (_, message) => org.dave.wallet.sign({ hash: keccak256(Buffer.from(message)) }),
      /^the signature was not made by 0x/,
    ],
    [
      "over the text of another member's wallet",
      async () => org.dave.wallet.signMessage({ message: await textFor(org.alice.wallet.address) }),
      /^the signature was not made by 0x/,
    ],
  ])('%s is refused, and the text remains valid', async (_, spoil, message) => {
    const text = await textFor(org.dave.wallet.address);
    const good = await org.dave.wallet.signMessage({ message: text });
    const walletAddress = org.dave.wallet.address;
    const signature = await spoil(good, text);
    const ask = { key: org.readKey, path: REGISTER, body: { walletAddress, signature } };
    const answer = await expectRefused(api.http, org, ask, INVALID);
    expect(answer.body.message).toMatch(message);
    expect((await register(walletAddress, good)).status).toBe(200);
  });

  it('before any text was requested is refused', async () => {
    const { address } = org.dave.wallet;
    const signature = await org.dave.wallet.signMessage({ message: 'hello' });
    const ask = { key: org.readKey, path: REGISTER, body: { walletAddress: address, signature } };
    const answer = await expectRefused(api.http, org, ask, INVALID);
    expect(answer.body.message).toMatch(/^no open challenge for 0x/);
  });
});

describe('a proof that is sent again', () => {
  it.each([null, 'once', randomUUID().slice(1)])(
    'needs an idempotency key, not %p',
    async (idempotencyKey) => {
      const body = await proofOf(org.dave);
      const ask = { key: org.readKey, path: REGISTER, body, idempotencyKey };
      await expectRefused(api.http, org, ask, badField('X-Idempotency-Key'));
    },
  );

  it('gets the same response with the same key, and has no second effect', async () => {
    const { walletAddress, signature } = await proofOf(org.dave);
    const idempotencyKey = randomUUID();
    const first = await register(walletAddress, signature, { idempotencyKey });
    expect([first.status, first.headers['idempotency-replayed']]).toEqual([200, undefined]);
    const before = await stateOf(api.http, org);
    const again = await register(walletAddress, signature, { idempotencyKey, key: org.adminKey });
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([
      200,
      first.text,
      'true',
    ]);
    const other = await proofOf(org.alice);
    const conflict = { key: org.readKey, path: REGISTER, body: other, idempotencyKey };
    await expectRefused(api.http, org, conflict, refusal(422, 'idempotencyConflict', 'X-Idempotency-Key'));
    expect(await stateOf(api.http, org)).toEqual(before);
  });

  it('may use its key for a corrected one after a refusal', async () => {
    const { walletAddress, signature } = await proofOf(org.dave);
    const idempotencyKey = randomUUID();
    const bad = await register(walletAddress, `0x${'11'.repeat(65)}`, { idempotencyKey });
    expect(refusalIn(bad, INVALID)).toEqual(INVALID);
    expect((await register(walletAddress, signature, { idempotencyKey })).status).toBe(200);
  });

  it('is accepted once when sent concurrently with other keys', async () => {
    const { walletAddress, signature } = await proofOf(org.dave);
    const answers = await Promise.all(Array.from({ length: 12 }, () => register(walletAddress, signature)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(11).fill(400)]);
    const refused = answers.filter(({ status }) => status === 400);
    expect(refused.map((answer) => refusalIn(answer, INVALID))).toEqual(refused.map(() => INVALID));
    expect(await entriesOf(org.dave)).toHaveLength(1);
  });

  it('gets one response when sent concurrently with the same key', async () => {
    const { walletAddress, signature } = await proofOf(org.dave);
    const idempotencyKey = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => register(walletAddress, signature, { idempotencyKey })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect(await entriesOf(org.dave)).toHaveLength(1);
  });
});

describe('the record of texts', () => {
  async function challengeOf(text: string) {
    const nonce = /^Nonce: (.*)$/m.exec(text)?.[1] ?? '';
    const proof = { organizationId: org.id, nonce, requestId: randomUUID(), credentialId: org.adminKeyId };
    return { nonce, proof };
  }

  it('replays the response to a repeated request, whatever has changed since', async () => {
    const { proof } = await challengeOf(await textFor(org.dave.wallet.address));
    const first = await registerWallet(api.db, proof);
    expect(first).toMatchObject({ walletAddress: org.dave.wallet.address });
    await change(org.dave, {
      wallet_address: privateKeyToAccount(generatePrivateKey()).address,
      registered_at: null,
    });
    expect(await registerWallet(api.db, proof)).toEqual(first);
    expect(await registerWallet(api.db, { ...proof, requestId: randomUUID() })).toBe('spent');
    expect((await memberOf(org.dave)).registeredAt).toBeNull();
    expect(await entriesOf(org.dave)).toHaveLength(1);
  });

  it('accepts no proof of a member who was removed or changed the wallet after the verification', async () => {
    const before = await stateOf(api.http, org);
    const [left, changed] = await Promise.all(
      [org.dave, org.carol].map(async ({ wallet }) => challengeOf(await textFor(wallet.address))),
    );
    await change(org.dave, { removed_at: api.db.fn.now() });
    await change(org.carol, { wallet_address: privateKeyToAccount(generatePrivateKey()).address });
    for (const challenge of [left, changed]) {
      if (challenge) expect(await registerWallet(api.db, challenge.proof)).toBe('gone');
    }
    const { lastAuditEntry } = await stateOf(api.http, org);
    expect(lastAuditEntry).toBe(before.lastAuditEntry);
  });

  it('deletes expired texts, but not the use of an unanswered request', async () => {
    const texts = [await textFor(org.dave.wallet.address), await textFor(org.alice.wallet.address)];
    const used = await challengeOf(await textFor(org.bob.wallet.address));
    const nonces = [...(await Promise.all(texts.map(challengeOf))), used].map(({ nonce }) => nonce);
    await storeRequest(api.db, {
      ...{ id: used.proof.requestId, organizationId: org.id, credentialId: org.adminKeyId },
      ...{ path: REGISTER, body: {}, resourceId: used.nonce },
    });
    await registerWallet(api.db, used.proof);
    const left = async () =>
      (await api.db('registration_challenges').whereIn('nonce', nonces).pluck('nonce')).sort();
    await sweepChallenges(api.db);
    expect(await left()).toEqual([...nonces].sort());
    await api
      .db('registration_challenges')
      .whereIn('nonce', [nonces[0] ?? '', used.nonce])
      .update({ expires_at: new Date(0) });
    await sweepChallenges(api.db);
    expect(await left()).toEqual([nonces[1], used.nonce].sort());
    await api
      .db('idempotency_requests')
      .where({ id: used.proof.requestId })
      .update({ status: 200, response_body: '{}', answered_at: api.db.fn.now() });
    await sweepChallenges(api.db);
    expect(await left()).toEqual([nonces[1]]);
  });
});

/** An organization with two Safes and a bot as its members. */
async function organizationOfContracts(service: TestService) {
  const [there, notYet] = [newSafe(), newSafe()];
  const bot = privateKeyToAccount(generatePrivateKey());
  const { organizationId, memberIds } = await service.found('Contracts', 1, [
    { name: 'Safe', type: 'user', wallet: { ...bot, ...there }, walletKind: 'contract', admin: false },
    {
      name: 'Future Safe',
      type: 'user',
      wallet: { ...bot, ...notYet },
      walletKind: 'contract',
      admin: false,
    },
    { name: 'Bot', type: 'api', wallet: bot, admin: true },
  ]);
  const { key } = await service.db.transaction((tx) =>
    issueApiKey(tx, { organizationId, memberIds: [memberIds[2] ?? ''], actor: OPERATOR }),
  );
  return { there, notYet, bot, key };
}

type Contracts = Awaited<ReturnType<typeof organizationOfContracts>>;

describe('a member whose wallet is a contract', () => {
  let contracts: Contracts;
  let network: NetworkConfig;
  beforeAll(async () => {
    const signerNetwork = api.config.networks.find(({ id }) => id === api.config.signerNetworkId);
    if (!signerNetwork) throw new Error('there is no network for contract signers');
    network = signerNetwork;
    contracts = await organizationOfContracts(api);
    await deployAsFunder(endpointOf(network), contracts.there.account);
  });

  const textOf = (address: Address) => textFor(address, contracts.key);
  const sign = (safe: SafeWallet, message: string, owner: PrivateKeyAccount = safe.owner) =>
    signAsSafe(owner, { address: safe.address, chainId: network.id }, hashMessage(message));
  const send = (safe: SafeWallet, signature: Hex) =>
    register(safe.address, signature, { key: contracts.key });

  it('registers with a signature that the contract accepts (EIP-1271), also over the older of two texts', async () => {
    const { there } = contracts;
    const older = await textOf(there.address);
    await textOf(there.address);
    const answer = await send(there, await sign(there, older));
    expect([answer.status, answer.body.data]).toMatchObject([
      200,
      { walletAddress: there.address, registered: true },
    ]);
    expect(refusalIn(await send(there, await sign(there, older)), INVALID)).toEqual(INVALID);
  });

  it('registers before the contract is deployed (ERC-6492)', async () => {
    const { notYet } = contracts;
    const signature = wrapped(notYet, await sign(notYet, await textOf(notYet.address)));
    expect((await send(notYet, signature)).status).toBe(200);
  });

  it('does not register with a signature of its owner, of another contract, or over another text', async () => {
    const { there, notYet } = contracts;
    const [text, future] = [await textOf(there.address), await textOf(notYet.address)];
    const stranger = privateKeyToAccount(generatePrivateKey());
    const attempts: [SafeWallet, Hex][] = [
      [there, await there.owner.signMessage({ message: text })],
      [there, await sign(there, text, stranger)],
      [there, await sign(there, future)],
      [there, encodeSignature(there.address, await sign(there, text))],
      [there, '0x'],
      [there, `0x${'00'.repeat(65)}`],
      [there, `0x${'11'.repeat(60_000)}`],
      [notYet, await sign(notYet, future)],
      [notYet, wrapped(notYet, await sign(notYet, future, stranger))],
      [notYet, wrapped(there, await sign(notYet, future))],
    ];
    const before = await read(api.http, contracts.key, '/api/v1/audit-logs?limit=1');
    for (const [safe, signature] of attempts) {
      expect(refusalIn(await send(safe, signature), INVALID)).toEqual(INVALID);
    }
    expect(await read(api.http, contracts.key, '/api/v1/audit-logs?limit=1')).toEqual(before);
    expect((await send(there, await sign(there, text))).status).toBe(200);
  });
});

describeDeep('without Temporal, and with an unavailable network', () => {
  const CHAIN_ID = 41_022;
  let chain: Awaited<ReturnType<typeof startOwnChain>>;
  let apart: TestService;
  let contracts: Contracts;
  beforeAll(async () => {
    chain = await startOwnChain(CHAIN_ID);
    const { rpcUrl } = chain.current;
    const file = networksFile([{ id: CHAIN_ID, name: 'Shaky', rpcUrl }]);
    const [nothing] = await freePorts(1);
    apart = await startApi({
      env: {
        NETWORKS_FILE: file,
        SIGNER_NETWORK: String(CHAIN_ID),
        TEMPORAL_ADDRESS: `127.0.0.1:${nothing}`,
        ORGWALLET_ROLES: 'api',
      },
      ready: false,
    });
    contracts = await organizationOfContracts(apart);
    await deployAsFunder(rpcUrl, contracts.there.account);
  });
  afterAll(async () => {
    await apart?.stop();
    await chain?.stop();
  });

  async function textOf(address: Address): Promise<string> {
    return (await read(apart.http, contracts.key, payloadPath(address))).messageToSign;
  }

  it('a key registers, a contract gets 500, and its text remains valid', async () => {
    const { there, bot, key } = contracts;
    const message = await textOf(there.address);
    const signature = await signAsSafe(
      there.owner,
      { address: there.address, chainId: CHAIN_ID },
      hashMessage(message),
    );
    const body = { walletAddress: there.address, signature };
    const ask = { key, path: REGISTER, body, idempotencyKey: randomUUID() };
    const botsText = await textOf(bot.address);
    chain.freeze();
    try {
      const unavailable = await apart.http.send(ask);
      expect(refusalIn(unavailable, refusal(500, 'internalError'))).toEqual(refusal(500, 'internalError'));
      expect(Number(unavailable.headers['retry-after'])).toBeGreaterThan(0);
      const ofKey = await bot.signMessage({ message: botsText });
      const answer = await apart.http.send({
        key,
        path: REGISTER,
        body: { walletAddress: bot.address, signature: ofKey },
      });
      expect(answer.status).toBe(200);
    } finally {
      chain.thaw();
    }
    const back = await apart.http.send(ask);
    expect([back.status, back.headers['idempotency-replayed']]).toEqual([200, undefined]);
    expect(back.body.data.walletAddress).toBe(there.address);
  });
});
