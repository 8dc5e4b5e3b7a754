/** @deep */

import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import {
  change,
  expectRefused,
  makeAccount,
  refusal,
  refusalIn,
  type Shown,
  sharedApi,
} from '../support/api';
import { anAddress } from '../support/builders';
import { anAnyPolicyItem, aPolicyItem, aTokenCondition } from '../support/policies';
import type { TestMember, TestOrganization, TestService } from '../support/service';
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
  transactionPath,
} from '../support/transactionApi';

let api: TestService;
let org: TestOrganization;
let account: Shown;

beforeAll(async () => {
  api = await sharedApi();
});
afterAll(() => api?.stop());

// People and policies are changed: each test has an organization of its own.
beforeEach(async () => {
  org = await api.createOrganization();
  account = await makeAccount(api.http, org, { name: 'Treasury', networkIds: [31337] });
});

async function makeGroup(...members: { id: string }[]): Promise<string> {
  const items = [{ name: 'Approvers', memberIds: members.map(({ id }) => id) }];
  return (await change(api.http, org, '/groups/proposals/create', { items })).result.resources[0].id;
}
async function makePolicy(item: object): Promise<Shown> {
  return (await makePolicies(api.http, org, item))[0];
}
/** A person who is not an admin. */
async function addMember(name: string): Promise<TestMember> {
  const privateKey = generatePrivateKey();
  const wallet = privateKeyToAccount(privateKey);
  const items = [{ name, walletAddress: wallet.address, type: 'user' }];
  const { result } = await change(api.http, org, '/members/proposals/create', { items });
  return { id: result.resources[0].id, name, type: 'user', wallet, privateKey };
}
const byGroup = (groupId: string, threshold: number, more: object = {}) =>
  anAnyPolicyItem({
    type: 'MANUAL_APPROVAL',
    approverSetting: { type: 'group', groupId, threshold },
    ...more,
  });
const inGroup = (action: 'addMember' | 'removeMember', id: string, { id: member }: { id: string }) =>
  change(api.http, org, '/groups/proposals/update', {
    items: [{ id, memberUpdates: [{ action, id: member }] }],
  });
const begin = (policy: Shown, more: object = {}) =>
  initiate(api.http, org, aTransactionBody(org, { account, policy, to: anAddress() }, more));
const now = (transaction: Shown) => readTransaction(api.http, org, transaction);
const vote = (transaction: Shown, member: TestMember, type: 'approve' | 'reject' = 'approve') =>
  signed(api.http, org, transaction, member, type);
const ids = (members: readonly { id: string }[]) => members.map(({ id }) => id).sort();

function refusedToSign(transaction: Shown, body: object, expected: ReturnType<typeof refusal>) {
  const path = transactionPath(transaction.id, '/signatures');
  return expectRefused(api.http, org, { key: org.readKey, path, body }, expected);
}

/** Asks for the approval of what is ready, which a check must refuse: nothing is reserved or sent. */
async function blocked(transaction: Shown): Promise<Shown> {
  const answer = await executeTransaction(api.http, org, transaction);
  expect([answer.status, answer.body.data?.executionStatus]).toEqual([200, 'blocked']);
  expect(await api.db('policy_usage').where({ transaction_id: transaction.id })).toEqual([]);
  expect(await api.db('chain_attempts').where({ transaction_id: transaction.id })).toEqual([]);
  return answer.body.data;
}

describe('the group that approves', () => {
  it('is read again at each vote and at execution', async () => {
    const groupId = await makeGroup(org.alice, org.bob);
    const transaction = await begin(await makePolicy(byGroup(groupId, 2)));
    await vote(transaction, org.alice);
    const approved = await vote(transaction, org.bob);
    expect(approved.signatureStatus).toBe('approvalReady');
    await inGroup('removeMember', groupId, org.bob);
    const left = await now(transaction);
    expect([left.signatureStatus, ids(left.approvals)]).toEqual(['pendingReviewSignatures', [org.alice.id]]);
    const below = await executeTransaction(api.http, org, transaction);
    expect([below.status, below.body.code]).toEqual([422, 'thresholdNotMet']);
    await refusedToSign(
      transaction,
      await signatureBody(transaction, org.bob, 'reject'),
      refusal(403, 'forbidden', 'signature'),
    );
    await inGroup('addMember', groupId, org.carol);
    expect((await vote(transaction, org.carol)).signatureStatus).toBe('approvalReady');
    await inGroup('addMember', groupId, org.bob);
    expect(ids((await now(transaction)).approvals)).toEqual(ids([org.alice, org.bob, org.carol]));
  });

  itDeep('cannot approve once it is deleted', async () => {
    const groupId = await makeGroup(org.alice);
    const transaction = await begin(await makePolicy(byGroup(groupId, 1)));
    await vote(transaction, org.alice);
    await change(api.http, org, '/groups/proposals/delete', { items: [{ id: groupId }] });
    const left = await now(transaction);
    expect(left).toMatchObject({ signatureStatus: 'pendingReviewSignatures', approvals: [], threshold: 1 });
    expect(left.notes.length).toBeGreaterThan(0);
    const below = await executeTransaction(api.http, org, transaction);
    expect([below.status, below.body.code]).toEqual([422, 'thresholdNotMet']);
  });
});

describe('the policy of an open transaction', () => {
  const edit = (policy: Shown, item: object) =>
    change(api.http, org, '/policies/proposals/update', { policies: [{ ...item, id: policy.id }] });

  itDeep('is read again for approvers and threshold', async () => {
    const groupId = await makeGroup(org.alice, org.bob, org.carol);
    const policy = await makePolicy(byGroup(groupId, 1));
    const transaction = await begin(policy);
    expect((await vote(transaction, org.alice)).signatureStatus).toBe('approvalReady');
    await edit(policy, byGroup(groupId, 2));
    const more = await now(transaction);
    expect(more).toMatchObject({
      signatureStatus: 'pendingReviewSignatures',
      threshold: 2,
      policy: { id: policy.id, threshold: 2 },
    });
    expect(more.notes).toMatchObject([{ code: expect.stringMatching(/policy/i) }]);
    expect((await vote(transaction, org.bob)).signatureStatus).toBe('approvalReady');
    await edit(
      policy,
      anAnyPolicyItem({ type: 'MANUAL_APPROVAL', approverSetting: { type: 'user', memberId: org.carol.id } }),
    );
    expect(await now(transaction)).toMatchObject({
      signatureStatus: 'pendingReviewSignatures',
      approvals: [],
    });
  });

  itDeep('is read again for its conditions', async () => {
    const cap = (amountThreshold: string) =>
      aPolicyItem({ tokenTransferCondition: aTokenCondition({ amountThreshold }) });
    const policy = await makePolicy(cap('5'));
    const transaction = await begin(policy, { value: '5' });
    await edit(policy, cap('4'));
    const { failure, signatureStatus, signingPayloads } = await blocked(transaction);
    expect(failure).toMatchObject({
      code: 'policy',
      attempt: 1,
      message: expect.stringContaining(
        'amount 0.000000000000000005 "ETH" (wanted: at most 0.000000000000000004 "ETH")',
      ),
    });
    expect([signatureStatus, Object.keys(signingPayloads)]).toEqual([
      'approvalReady',
      ['approvePayload', 'rejectPayload'],
    ]);
    expect((await blocked(transaction)).failure.attempt).toBe(2);
    await vote(transaction, org.dave, 'reject');
    const rejected = await executeTransaction(api.http, org, transaction, 'reject');
    expect(rejected.body.data).toMatchObject({ executionStatus: 'rejected' });
    expect(rejected.body.data).not.toHaveProperty('failure');
  });

  itDeep('blocks it when its initiator is not permitted any more', async () => {
    const policy = await makePolicy(anAnyPolicyItem());
    const transaction = await begin(policy);
    await edit(policy, anAnyPolicyItem({ initiatorSetting: { type: 'user', memberId: org.alice.id } }));
    expect((await blocked(transaction)).failure.message).toContain(
      `initiator ${org.dave.id} (wanted: ${org.alice.id})`,
    );
  });

  itDeep('blocks it when it is removed, and still defines who may reject it', async () => {
    const groupId = await makeGroup(org.alice, org.bob);
    const policy = await makePolicy(byGroup(groupId, 1));
    const transaction = await begin(policy);
    await vote(transaction, org.alice);
    await change(api.http, org, '/policies/proposals/remove', { policyIds: [policy.id] });
    expect((await now(transaction)).notes.length).toBeGreaterThan(0);
    expect((await blocked(transaction)).failure).toMatchObject({
      code: 'policy',
      message: expect.stringContaining('removed'),
    });
    await vote(transaction, org.bob, 'reject');
    expect((await executeTransaction(api.http, org, transaction, 'reject')).body.data.executionStatus).toBe(
      'rejected',
    );
    const again = await api.http.send({
      key: org.readKey,
      path: '/api/v1/transactions',
      body: aTransactionBody(org, { account, policy, to: anAddress() }),
    });
    const unknown = refusal(400, 'validationError', 'policyId');
    expect(refusalIn(again, unknown)).toEqual(unknown);
  });
});

describe('a member who has signed', () => {
  it('neither counts nor signs after their removal', async () => {
    const erin = await addMember('Erin');
    const groupId = await makeGroup(org.alice, erin);
    const transaction = await begin(await makePolicy(byGroup(groupId, 1)));
    expect((await vote(transaction, erin)).signatureStatus).toBe('approvalReady');
    await change(api.http, org, '/members/proposals/remove', { ids: [erin.id] });
    const left = await now(transaction);
    expect(left).toMatchObject({ signatureStatus: 'pendingReviewSignatures', approvals: [] });
    expect(left.notes).not.toEqual([]);
    await refusedToSign(
      transaction,
      await signatureBody(transaction, erin, 'reject'),
      refusal(403, 'forbidden', 'signature'),
    );
  });

  itDeep('leaves it without a valid signature when the initiator is removed', async () => {
    const groupId = await makeGroup(org.alice);
    const transaction = await begin(await makePolicy(byGroup(groupId, 1)));
    await vote(transaction, org.alice);
    await change(api.http, org, '/members/proposals/remove', { ids: [org.dave.id] });
    const left = await now(transaction);
    expect(left).toMatchObject({
      signatureStatus: 'pendingInitiatorSignature',
      approvals: [],
      initiator: { id: org.dave.id },
      signingPayloads: { initiatorPayload: expect.any(String) },
    });
    await refusedToSign(
      left,
      await signatureBody(left, org.dave, 'initiator'),
      refusal(403, 'forbidden', 'signature'),
    );
    await refusedToSign(
      left,
      await signatureBody(transaction, org.alice, 'reject'),
      refusal(409, 'conflict', null),
    );
    const answer = await executeTransaction(api.http, org, transaction);
    expect([answer.status, answer.body.code]).toEqual([422, 'thresholdNotMet']);
  });

  itDeep('signs again after a change of the wallet, the initiator first', async () => {
    const erin = await addMember('Erin');
    const groupId = await makeGroup(erin, org.bob);
    const transaction = await begin(await makePolicy(byGroup(groupId, 1)));
    await vote(transaction, erin);
    const move = async (member: TestMember) => {
      const privateKey = generatePrivateKey();
      const wallet = privateKeyToAccount(privateKey);
      await change(api.http, org, '/members/proposals/update', {
        items: [{ id: member.id, walletAddress: wallet.address }],
      });
      return { ...member, wallet, privateKey };
    };
    const moved = await move(erin);
    expect(await now(transaction)).toMatchObject({
      signatureStatus: 'pendingReviewSignatures',
      approvals: [],
    });
    // The old wallet is nobody's.
    await refusedToSign(
      transaction,
      await signatureBody(transaction, erin, 'reject'),
      refusal(403, 'forbidden', 'signature'),
    );
    expect((await vote(transaction, moved)).signatureStatus).toBe('approvalReady');
    const dave = await move(org.dave);
    const waiting = await now(transaction);
    expect(waiting).toMatchObject({
      signatureStatus: 'pendingInitiatorSignature',
      approvals: [],
      initiator: { id: dave.id, walletAddress: dave.wallet.address },
    });
    const begun = await signed(api.http, org, waiting, dave, 'initiator');
    // Approvals are bound to the signature by which it was initiated: they are asked for again.
    expect(begun).toMatchObject({ signatureStatus: 'pendingReviewSignatures', approvals: [] });
    expect(begun.signingPayloads.approvePayload).not.toBe(transaction.signingPayloads.approvePayload);
    await refusedToSign(
      begun,
      await signatureBody(transaction, org.bob, 'approve'),
      refusal(400, 'invalidSignature', 'signature'),
    );
    expect((await vote(begun, moved)).signatureStatus).toBe('approvalReady');
  });
});

describe('the account of an open transaction', () => {
  itDeep('may be renamed; the signed summary keeps the old name', async () => {
    const policy = await makePolicy(anAnyPolicyItem());
    const transaction = await createTransaction(
      api.http,
      org,
      aTransactionBody(org, { account, policy, to: anAddress() }),
    );
    await change(api.http, org, '/accounts/proposals/update', {
      items: [{ id: account.id, name: 'Renamed' }],
    });
    const later = await now(transaction);
    expect(later.summary).toBe(transaction.summary);
    expect(later.signingPayloads).toEqual(transaction.signingPayloads);
    expect((await signed(api.http, org, later, org.dave, 'initiator')).signatureStatus).toBe('approvalReady');
  });
});
