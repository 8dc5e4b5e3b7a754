/** @deep */

import { concatHex, type Hex, hashTypedData, hexToBigInt, numberToHex, slice, verifyTypedData } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { encodeSignature } from '../../src/chain/signatures';
import { NATIVE_CURRENCY } from '../../src/domain/policy';
import { change, expectRefused, makeAccount, read, refusal, type Shown, sharedApi } from '../support/api';
import { anAddress } from '../support/builders';
import { anAnyPolicyItem } from '../support/policies';
import { signPayload, type TestOrganization, type TestService } from '../support/service';
import { itDeep } from '../support/suite';
import {
  aTransactionBody,
  createTransaction,
  executeTransaction,
  initiate,
  makePolicies,
  readTransaction,
  signatureBody,
  signed,
  signTransaction,
  transactionPath,
} from '../support/transactionApi';

/** Order of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const INVALID = refusal(400, 'invalidSignature', 'signature');
const FORBIDDEN = refusal(403, 'forbidden', 'signature');
const CONFLICT = refusal(409, 'conflict', null);

let api: TestService;
let org: TestOrganization;
let account: Shown;
let auto: Shown;
/** Approved by Carol. */
let byOne: Shown;
/** Approved by two of Alice, Bob and Carol. */
let byTwo: Shown;
let groupId: string;

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
  account = await makeAccount(api.http, org, { name: 'Treasury', networkIds: [31337] });
  groupId = await makeGroup(org.alice, org.bob, org.carol);
  const manual = (approverSetting: object) => anAnyPolicyItem({ type: 'MANUAL_APPROVAL', approverSetting });
  [auto, byOne, byTwo] = await makePolicies(
    api.http,
    org,
    anAnyPolicyItem({ name: 'At once' }),
    manual({ type: 'user', memberId: org.carol.id }),
    manual({ type: 'group', groupId, threshold: 2 }),
  );
});
afterAll(() => api?.stop());

async function makeGroup(...members: { id: string }[]): Promise<string> {
  const items = [{ name: `Group ${Date.now()} ${Math.random()}`, memberIds: members.map(({ id }) => id) }];
  return (await change(api.http, org, '/groups/proposals/create', { items })).result.resources[0].id;
}

const body = (policy: Shown, more: object = {}) =>
  aTransactionBody(org, { account, policy, to: anAddress() }, more);
const create = (policy: Shown) => createTransaction(api.http, org, body(policy));
const begin = (policy: Shown) => initiate(api.http, org, body(policy));
const now = (transaction: Shown) => readTransaction(api.http, org, transaction);
const summary = ({ id, name, type, wallet }: TestOrganization['dave']) => ({
  id,
  name,
  type,
  walletAddress: wallet.address,
  walletKind: 'key',
});

function refused(transaction: Shown, sent: object, expected: ReturnType<typeof refusal>) {
  const path = transactionPath(transaction.id, '/signatures');
  return expectRefused(api.http, org, { key: org.readKey, path, body: sent }, expected);
}

describe('a new transaction', () => {
  it('waits for its initiator, and has a payload that a wallet can sign', async () => {
    const asked = body(byTwo, { description: 'Rent', value: '1500000000000000000' });
    const answer = await api.http.send({ key: org.readKey, path: '/api/v1/transactions', body: asked });
    expect(answer.status).toBe(201);
    const created = answer.body.data;
    expect(answer.headers.location).toBe(`/api/v1/transactions/${created.id}`);
    const { initiatorPayload } = created.signingPayloads;
    const text = `Send 1.5 "ETH" ("Ether", native currency) to ${asked.to}\nFrom the account "Treasury" (${account.address}) on `;
    expect(created).toEqual({
      id: created.id,
      accountId: account.id,
      networkId: 31337,
      description: 'Rent',
      type: 'TOKEN_TRANSFER',
      to: asked.to,
      value: '1500000000000000000',
      calldata: '0x',
      summary: expect.stringContaining(text),
      initiator: summary(org.dave),
      policy: { id: byTwo.id, threshold: 2 },
      signatureStatus: 'pendingInitiatorSignature',
      executionStatus: null,
      threshold: 2,
      approvals: [],
      rejections: [],
      signingPayloads: { initiatorPayload },
      signatureData: { status: 'pendingInitiatorSignature', initiatorPayload },
      data: {
        destination: asked.to,
        asset: expect.objectContaining({ symbol: 'ETH', decimals: 18, tokenAddress: `0x${'0'.repeat(40)}` }),
        rawAmount: '1500000000000000000',
        displayAmount: '1.5',
        networkId: 31337,
      },
      notes: [],
      metadata: {},
      tags: [],
      createdAt: created.createdAt,
      updatedAt: created.updatedAt,
      expiresAt: created.expiresAt,
    });
    expect(await now(created)).toEqual(created);
    const typed = JSON.parse(initiatorPayload);
    expect(typed.domain).toEqual({
      name: 'orgwallet',
      version: '1',
      chainId: 31337,
      verifyingContract: account.address,
    });
    expect(typed.message).toEqual({
      transactionId: created.id,
      recipient: asked.to,
      token: NATIVE_CURRENCY,
      amount: '1500000000000000000',
      to: asked.to,
      value: '1500000000000000000',
      data: '0x',
      policyId: byTwo.id,
      summary: created.summary.split('\n'),
      expiresAt: String(Date.parse(created.expiresAt) / 1_000),
    });
    const { address } = org.dave.wallet;
    const signature = await org.dave.wallet.signTypedData(typed);
    expect(await verifyTypedData({ ...typed, address, signature })).toBe(true);
  });

  it('cannot be approved or rejected before its initiator has signed', async () => {
    const fresh = await create(byTwo);
    const other = await begin(byTwo);
    for (const type of ['approve', 'reject'] as const) {
      const sent = await signatureBody(other, org.alice, type);
      await refused(fresh, sent, CONFLICT);
      // Looked at before any cryptography: there is nothing yet to verify a signature against.
      const answer = await refused(fresh, { type, signature: '0x' }, CONFLICT);
      expect(answer.body.message).toBe(
        `transaction ${fresh.id} waits for the signature of its initiator first`,
      );
      const executing = await executeTransaction(api.http, org, fresh, type);
      expect([executing.status, executing.body.code]).toEqual([422, 'thresholdNotMet']);
    }
    expect(await now(fresh)).toEqual(fresh);
  });

  it('can be initiated only by its initiator', async () => {
    const fresh = await create(auto);
    for (const member of [org.alice, org.bot, org.carol]) {
      await refused(fresh, await signatureBody(fresh, member, 'initiator'), FORBIDDEN);
    }
    const initiated = await signed(api.http, org, fresh, org.dave, 'initiator');
    expect(initiated).toMatchObject({
      signatureStatus: 'approvalReady',
      executionStatus: null,
      threshold: 0,
    });
    await refused(fresh, await signatureBody(fresh, org.dave, 'initiator'), CONFLICT);
  });

  it('executes by a repeated signature with `execute`, once it is ready', async () => {
    const fresh = await createTransaction(api.http, org, body(byOne, { value: '0', data: '0x12345678' }));
    await signed(api.http, org, fresh, org.dave, 'initiator');
    const initiated = await now(fresh);
    const again = await signatureBody(fresh, org.dave, 'initiator', { execute: true });
    const below = await api.http.send({
      key: org.readKey,
      path: transactionPath(fresh.id, '/signatures'),
      body: again,
    });
    expect([below.status, below.body.code]).toEqual([409, 'conflict']);
    await signed(api.http, org, initiated, org.carol, 'reject');
    const repeated = await signTransaction(api.http, org, initiated, org.carol, 'reject', { execute: true });
    expect(repeated.status).toBe(200);
    expect(repeated.body.data).toMatchObject({ executionStatus: 'rejected' });
    expect(await api.db('votes').where({ approval_id: fresh.id })).toHaveLength(2);
  });

  itDeep('is initiated once by concurrent requests', async () => {
    const fresh = await create(byTwo);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => signTransaction(api.http, org, fresh, org.dave, 'initiator')),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  });

  it('has a summary with its function, if known', async () => {
    const to = anAddress();
    const word = (value: bigint) => value.toString(16).padStart(64, '0');
    const burnFrom = `0x79cc6790${word(BigInt(org.dave.wallet.address))}${word(5n)}`;
    const known = await createTransaction(api.http, org, body(auto, { to, value: '0', data: burnFrom }));
    expect(known).toMatchObject({
      type: 'CONTRACT_INTERACTION',
      calldata: burnFrom,
      data: {
        toAddress: to,
        calldata: burnFrom,
        networkId: 31337,
        value: '0',
        functionName: 'burnFrom',
        functionParameters: [
          { name: 'account', type: 'address', value: org.dave.wallet.address },
          { name: 'value', type: 'uint256', value: '5' },
        ],
      },
      summary: expect.stringContaining(
        `Call burnFrom of ${to} with 2 parameters\nFrom the account "Treasury" `,
      ),
    });
    const raw = `0x12345678${'ab'.repeat(40)}`;
    const unknown = await createTransaction(api.http, org, body(auto, { to, value: '7', data: raw }));
    expect(unknown.data).toEqual({ toAddress: to, calldata: raw, networkId: 31337, value: '7' });
    expect(unknown.summary).toContain(
      `Call the unknown function 0x12345678 of ${to} with 44 bytes of calldata, together`,
    );
    const nearly = `${burnFrom.slice(0, -64)}${word(5n)}00`;
    const damaged = await createTransaction(api.http, org, body(auto, { to, value: '0', data: nearly }));
    expect(damaged.data).toMatchObject({
      functionName: 'burnFrom',
      functionParameters: known.data.functionParameters,
      encodingFaults: ['1 byte after its parameters'],
    });
    expect(damaged.summary).toContain('\nNOT ENCODED CANONICALLY: 1 byte after its parameters\n');
  });

  itDeep('has a summary with a function that only its policy names', async () => {
    const to = anAddress();
    const [policy] = await makePolicies(api.http, org, {
      ...anAnyPolicyItem(),
      transactionType: 'CONTRACT_INTERACTION',
      contractInteractionCondition: [
        { contractAddress: to, allowedFunctions: ['settle((uint256,bool)[],string)'] },
      ],
    });
    const word = (value: number) => value.toString(16).padStart(64, '0');
    const words = [word(64), word(160), word(1), word(7), word(1), word(2), '6f6b'.padEnd(64, '0')];
    const [entry] = policy.contractInteractionCondition[0].functions;
    const data = `${entry.selector}${words.join('')}`;
    const shown = await createTransaction(api.http, org, body(policy, { to, value: '0', data }));
    expect(shown.data).toMatchObject({
      functionName: 'settle',
      functionParameters: [
        { name: '', type: '(uint256,bool)[]', value: '[["7",true]]' },
        { name: '', type: 'string', value: 'ok' },
      ],
    });
    expect(shown.summary).toMatch(
      /^Call settle of 0x\w{40} with 2 parameters\n.*\n1: \[\["7", true\]\]\n2: "ok"$/,
    );
  });

  it('may have 128 KiB of calldata, all of it signed', async () => {
    const data = `0x12345678${'5a'.repeat(131_068)}`;
    const fresh = await createTransaction(api.http, org, body(byTwo, { value: '0', data }));
    expect(JSON.parse(fresh.signingPayloads.initiatorPayload).message.data).toBe(data);
    const initiated = await signed(api.http, org, fresh, org.dave, 'initiator');
    expect(await signed(api.http, org, initiated, org.alice, 'approve')).toMatchObject({
      approvals: [summary(org.alice)],
      calldata: data,
    });
  });
});

describe('a transaction that its initiator has signed', () => {
  it('has payloads to approve and to reject, bound to that signature', async () => {
    const initiated = await begin(byTwo);
    const { approvePayload, rejectPayload } = initiated.signingPayloads;
    expect(initiated.signatureData).toEqual({
      status: 'pendingReviewSignatures',
      approvePayload,
      rejectPayload,
    });
    const [approving, rejecting] = [JSON.parse(approvePayload), JSON.parse(rejectPayload)];
    expect([approving.primaryType, rejecting.primaryType]).toEqual([
      'ApproveTransaction',
      'RejectTransaction',
    ]);
    expect(approving.message.initiatorSignatureHash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(hashTypedData(approving)).not.toBe(hashTypedData(rejecting));
    const other = await begin(byTwo);
    expect(JSON.parse(other.signingPayloads.approvePayload).message.initiatorSignatureHash).not.toBe(
      approving.message.initiatorSignatureHash,
    );
  });

  it('is approved by the one member of its policy', async () => {
    const initiated = await begin(byOne);
    expect(initiated).toMatchObject({ signatureStatus: 'pendingReviewSignatures', threshold: 1 });
    for (const member of [org.alice, org.dave, org.bot]) {
      await refused(initiated, await signatureBody(initiated, member, 'approve'), FORBIDDEN);
      await refused(initiated, await signatureBody(initiated, member, 'reject'), FORBIDDEN);
    }
    const below = await executeTransaction(api.http, org, initiated);
    expect([below.status, below.body.code]).toEqual([422, 'thresholdNotMet']);
    const approved = await signed(api.http, org, initiated, org.carol, 'approve');
    expect(approved).toMatchObject({
      signatureStatus: 'approvalReady',
      executionStatus: null,
      approvals: [summary(org.carol)],
    });
  });

  it('is approved by a threshold of a group; both outcomes can be ready', async () => {
    const initiated = await begin(byTwo);
    expect(await signed(api.http, org, initiated, org.alice, 'approve', { reason: 'Fine' })).toMatchObject({
      signatureStatus: 'pendingReviewSignatures',
      approvals: [summary(org.alice)],
    });
    await refused(initiated, await signatureBody(initiated, org.alice, 'approve'), CONFLICT);
    const below = await executeTransaction(api.http, org, initiated);
    expect(below.body.message).toContain('1 of 2 signatures');
    expect((await signed(api.http, org, initiated, org.bob, 'approve')).signatureStatus).toBe(
      'approvalReady',
    );
    await signed(api.http, org, initiated, org.bob, 'reject');
    const both = await signed(api.http, org, initiated, org.carol, 'reject');
    expect(both).toMatchObject({
      signatureStatus: 'approvalAndRejectionReady',
      executionStatus: null,
      rejections: [org.bob, org.carol].map(summary).sort((one, two) => (one.id < two.id ? -1 : 1)),
    });
    const audit = await read(
      api.http,
      org.readKey,
      `/api/v1/audit-logs?resourceId=${initiated.id}&limit=100`,
    );
    expect(audit.map(({ action }: Shown) => action)).toEqual([
      ...Array.from({ length: 5 }, () => 'transaction.signed'),
      'transaction.created',
    ]);
    expect(audit[3]).toMatchObject({
      actor: { type: 'member', id: org.alice.id },
      resourceType: 'transaction',
      details: { type: 'approve', reason: 'Fine' },
    });
  });

  it('is final once its rejection is executed, and moves nothing', async () => {
    const initiated = await begin(byTwo);
    await signed(api.http, org, initiated, org.alice, 'reject');
    const rejected = await signed(api.http, org, initiated, org.bob, 'reject', { execute: true });
    expect(rejected).toMatchObject({
      signatureStatus: 'rejectionReady',
      executionStatus: 'rejected',
      result: { resolution: 'rejected' },
    });
    expect(rejected).not.toHaveProperty('signingPayloads');
    expect(rejected).not.toHaveProperty('chain');
    expect(rejected.result).toEqual({ resolution: 'rejected' });
    await refused(initiated, await signatureBody(initiated, org.carol, 'approve'), CONFLICT);
    for (const type of ['approve', 'reject'] as const) {
      const answer = await executeTransaction(api.http, org, initiated, type);
      expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
    }
    expect(await api.db('chain_attempts').where({ transaction_id: initiated.id })).toEqual([]);
    expect(await api.db('policy_usage').where({ transaction_id: initiated.id })).toEqual([]);
  });

  itDeep('can be rejected by any permitted initiator under AUTO_APPROVAL', async () => {
    const initiated = await begin(auto);
    await refused(initiated, await signatureBody(initiated, org.alice, 'approve'), FORBIDDEN);
    const ready = await signed(api.http, org, initiated, org.alice, 'reject');
    expect(ready).toMatchObject({
      signatureStatus: 'approvalAndRejectionReady',
      rejections: [summary(org.alice)],
    });
    const answer = await executeTransaction(api.http, org, initiated, 'reject');
    expect(answer.body.data).toMatchObject({
      executionStatus: 'rejected',
      result: { resolution: 'rejected' },
    });
  });

  it('cannot be rejected by others under AUTO_APPROVAL', async () => {
    const [policy] = await makePolicies(
      api.http,
      org,
      anAnyPolicyItem({ initiatorSetting: { type: 'user', memberId: org.dave.id } }),
    );
    const initiated = await begin(policy);
    await refused(initiated, await signatureBody(initiated, org.alice, 'reject'), FORBIDDEN);
    const nobody = await executeTransaction(api.http, org, initiated, 'reject');
    expect([nobody.status, nobody.body.code]).toEqual([422, 'thresholdNotMet']);
    await signed(api.http, org, initiated, org.dave, 'reject');
    expect((await executeTransaction(api.http, org, initiated, 'reject')).body.data.executionStatus).toBe(
      'rejected',
    );
  });

  it('cannot be approved by its initiator with excludeInitiator', async () => {
    const group = await makeGroup(org.dave, org.alice);
    const setting = { type: 'group', groupId: group, threshold: 1 };
    const [open, excluding] = await makePolicies(
      api.http,
      org,
      anAnyPolicyItem({ type: 'MANUAL_APPROVAL', approverSetting: setting }),
      anAnyPolicyItem({
        type: 'MANUAL_APPROVAL',
        approverSetting: { ...setting, excludeInitiator: true },
      }),
    );
    const [one, two] = await Promise.all([begin(open), begin(excluding)]);
    await signed(api.http, org, one, org.dave, 'approve');
    await refused(two, await signatureBody(two, org.dave, 'approve'), FORBIDDEN);
    expect((await signed(api.http, org, two, org.alice, 'approve')).signatureStatus).toBe('approvalReady');
  });

  itDeep('accepts signatures from any key, also concurrently', async () => {
    const initiated = await begin(byTwo);
    const answers = await Promise.all(
      [org.alice, org.bob, org.carol].map(async (member, i) =>
        api.http.send({
          key: i === 0 ? org.adminKey : org.readKey,
          path: transactionPath(initiated.id, '/signatures'),
          body: await signatureBody(initiated, member, 'approve'),
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await now(initiated)).approvals).toHaveLength(3);
  });
});

describe('a signature', () => {
  let initiated: Shown;
  const payload = () => initiated.signingPayloads.approvePayload as string;
  const raw = (member = org.alice): Promise<Hex> => member.wallet.signTypedData(JSON.parse(payload()));
  const encoded = (bytes: Hex) => encodeSignature(org.alice.wallet.address, bytes);
  const send = (signature: string, expected = INVALID, type = 'approve') =>
    refused(initiated, { type, signature, execute: true }, expected);

  beforeAll(async () => {
    initiated = await begin(byTwo);
  });

  it.each<[string, (good: Hex) => string]>([
    ['that is empty', () => ''],
    ['that is only 0x', () => '0x'],
    ['without 0x', (good) => good.slice(2)],
    ['that is not hex', (good) => `${good.slice(0, -2)}zz`],
    ['with half a byte', (good) => good.slice(0, -1)],
    ['cut off', (good) => good.slice(0, -64)],
    ['with a word after it', (good) => `${good}${'00'.repeat(32)}`],
    ['with a dirty address word', (good) => `0x01${good.slice(4)}`],
    ['with dirty padding', (good) => `${good.slice(0, -2)}01`],
    ['that is the raw 65 bytes', (good) => `0x${good.slice(2 + 3 * 64, 2 + 3 * 64 + 130)}`],
    ['beyond 64 KiB', (good) => `${good}${'00'.repeat(65_536)}`],
    ['of the zero address', (good) => `0x${'00'.repeat(32)}${good.slice(66)}`],
  ])('that cannot be decoded is refused: %s', async (_, spoil) => {
    await send(spoil(encoded(await raw())));
  });

  it.each<[string, (good: Hex) => Hex]>([
    ['of no bytes', () => '0x'],
    ['of 64 bytes (EIP-2098)', (good) => slice(good, 0, 64)],
    [
      'with a high s',
      (good) => {
        const s = numberToHex(ORDER - hexToBigInt(slice(good, 32, 64)), { size: 32 });
        return concatHex([slice(good, 0, 32), s, good.endsWith('1b') ? '0x1c' : '0x1b']);
      },
    ],
    ['with v 0 or 1', (good) => concatHex([slice(good, 0, 64), good.endsWith('1b') ? '0x00' : '0x01'])],
    ['with the other v', (good) => concatHex([slice(good, 0, 64), good.endsWith('1b') ? '0x1c' : '0x1b'])],
    ['with r = 0', (good) => concatHex([`0x${'00'.repeat(32)}`, slice(good, 32)])],
  ])('that is malleable is refused: %s', async (_, spoil) => {
    await send(encoded(spoil(await raw())));
  });

  it('over another payload is refused', async () => {
    const { rejectPayload } = initiated.signingPayloads;
    await send(await signPayload(org.alice, rejectPayload));
    await send(await signPayload(org.alice, payload()), INVALID, 'reject');
    const other = await begin(byTwo);
    await send(await signPayload(org.alice, other.signingPayloads.approvePayload));
    const typed = JSON.parse(payload());
    const unlike = [
      { ...typed, message: { ...typed.message, value: '2' } },
      { ...typed, message: { ...typed.message, summary: ['Send nothing'] } },
      { ...typed, message: { ...typed.message, initiatorSignatureHash: `0x${'1'.repeat(64)}` } },
      { ...typed, domain: { ...typed.domain, chainId: 31338 } },
      { ...typed, domain: { ...typed.domain, verifyingContract: anAddress() } },
    ];
    for (const one of unlike) await send(await signPayload(org.alice, JSON.stringify(one)));
    await send(encoded(await org.alice.wallet.signMessage({ message: payload() })));
    await send(encoded(await raw(org.bob)));
  });

  it('of a wallet without a member, or of another organization, is refused', async () => {
    const wallet = privateKeyToAccount(generatePrivateKey());
    await send(encodeSignature(wallet.address, await wallet.signTypedData(JSON.parse(payload()))), FORBIDDEN);
    const other = await api.createOrganization();
    await send(await signPayload(other.alice, payload()), FORBIDDEN);
  });

  itDeep('of the initiator is refused for the same reasons', async () => {
    const fresh = await create(auto);
    const { initiatorPayload } = fresh.signingPayloads;
    const spoilt = JSON.parse(initiatorPayload);
    spoilt.message.to = anAddress();
    const initiating = (signature: string) => ({ type: 'initiator', signature, execute: true });
    await refused(fresh, initiating('0x'), INVALID);
    await refused(fresh, initiating(await signPayload(org.dave, JSON.stringify(spoilt))), INVALID);
    await refused(
      fresh,
      initiating(await signPayload(org.dave, initiated.signingPayloads.approvePayload)),
      INVALID,
    );
    expect((await now(fresh)).signatureStatus).toBe('pendingInitiatorSignature');
  });
});
