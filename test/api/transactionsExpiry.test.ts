import { change, expectRefused, makeAccount, read, refusal, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { anAnyPolicyItem, aPolicyItem, aTokenCondition } from '../support/policies';
import {
  SHORT_LIFETIME_SECONDS,
  shortLivedService,
  signPayload,
  type TestOrganization,
  type TestService,
} from '../support/service';
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
import { until } from '../support/until';

const EXPIRED = refusal(422, 'proposalExpired', null);

/** When the first of them was asked for. */
let askedAtMs: number;
let api: TestService;
let org: TestOrganization;
/** As they were when they were made, by how far they had come. */
const steps: Record<string, Shown> = {};
/** As they are now that their time is over. */
const over: Record<string, Shown> = {};

const STEPS = ['created', 'initiated', 'halfApproved', 'approved', 'rejected', 'atOnce', 'blocked'] as const;

beforeAll(async () => {
  api = await shortLivedService();
  org = await api.createOrganization();
  const account = await makeAccount(api.http, org, { networkIds: [31337] });
  const { result } = await change(api.http, org, '/groups/proposals/create', {
    items: [{ name: 'Approvers', memberIds: [org.alice.id, org.bob.id] }],
  });
  const limited = {
    limitation: {
      hours: 1,
      initiatorScope: 'ALL_ITEMS',
      sourceAccountScope: 'ALL_ITEMS',
      destinationScope: 'ALL_ITEMS',
    },
    tokenTransferCondition: aTokenCondition({ amountThreshold: '1' }),
  };
  const [auto, byTwo, spent] = await makePolicies(
    api.http,
    org,
    anAnyPolicyItem(),
    anAnyPolicyItem({
      type: 'MANUAL_APPROVAL',
      approverSetting: { type: 'group', groupId: result.resources[0].id, threshold: 2 },
    }),
    aPolicyItem(limited),
  );
  const body = (policy: Shown) => aTransactionBody(org, { account, policy, to: anAddress() });
  const vote = (transaction: Shown, member: TestOrganization['alice'], type: 'approve' | 'reject') =>
    signed(api.http, org, transaction, member, type);
  const begin = (policy: Shown) => initiate(api.http, org, body(policy));
  const bothVote = async (type: 'approve' | 'reject') => {
    const transaction = await begin(byTwo);
    await Promise.all([vote(transaction, org.alice, type), vote(transaction, org.bob, type)]);
    return transaction;
  };
  const made: Record<(typeof STEPS)[number], () => Promise<Shown>> = {
    created: () => createTransaction(api.http, org, body(auto)),
    initiated: () => begin(byTwo),
    async halfApproved() {
      const transaction = await begin(byTwo);
      await vote(transaction, org.alice, 'approve');
      return transaction;
    },
    approved: () => bothVote('approve'),
    rejected: () => bothVote('reject'),
    atOnce: () => begin(auto),
    async blocked() {
      const transaction = await begin(spent);
      await api.db('policy_usage').insert({
        organization_id: org.id,
        policy_id: spent.id,
        transaction_id: transaction.id,
        network_id: 31337,
        token_address: `0x${'0'.repeat(40)}`,
        amount: '1',
        initiator_id: org.dave.id,
        account_id: account.id,
        destination: transaction.to,
        status: 'committed',
        block_at: new Date(),
        decided_at: new Date(),
      });
      const answer = await executeTransaction(api.http, org, transaction);
      expect(answer.body.data).toMatchObject({ executionStatus: 'blocked', failure: { code: 'budget' } });
      return transaction;
    },
  };
  askedAtMs = Date.now();
  await Promise.all(
    STEPS.map(async (step) => {
      steps[step] = await made[step]();
    }),
  );
  await Promise.all(
    STEPS.map(async (step) => {
      const { id } = steps[step];
      await until(`the expiry of ${step} is recorded`, async () => {
        const path = `/api/v1/audit-logs?action=transaction.expired&resourceId=${id}`;
        return (await read(api.http, org.readKey, path)).length === 1;
      });
      over[step] = await readTransaction(api.http, org, { id });
    }),
  );
}, 120_000);
afterAll(() => api?.stop());

it('expires after the configured lifetime, signed in whole seconds', () => {
  const { createdAt, expiresAt, signingPayloads } = steps.created;
  const expiresAtMs = Date.parse(expiresAt);
  // The time that it is counted from is read before the transaction is stored.
  expect(expiresAtMs - askedAtMs).toBeGreaterThan((SHORT_LIFETIME_SECONDS - 1) * 1_000);
  expect(expiresAtMs - Date.parse(createdAt)).toBeLessThanOrEqual(SHORT_LIFETIME_SECONDS * 1_000);
  const { message } = JSON.parse(signingPayloads.initiatorPayload);
  expect(message.expiresAt).toBe(String(Date.parse(expiresAt) / 1_000));
});

describe.each(STEPS.map((step) => [step] as const))(
  'a transaction that has expired when it was %s',
  (step) => {
    it('is reported as expired, keeps votes and failure, and has no payload to sign', () => {
      const shown = over[step];
      expect(shown.signatureStatus).toBe('expired');
      expect(shown.signatureData).toEqual({ status: 'expired' });
      expect(shown).not.toHaveProperty('signingPayloads');
      expect(shown).not.toHaveProperty('result');
      expect(shown).not.toHaveProperty('chain');
      expect(shown.executionStatus).toBe(step === 'blocked' ? 'blocked' : null);
      expect(shown.approvals).toHaveLength({ halfApproved: 1, approved: 2 }[step as string] ?? 0);
      expect(shown.rejections).toHaveLength(step === 'rejected' ? 2 : 0);
      expect(shown.failure?.code).toBe(step === 'blocked' ? 'budget' : undefined);
    });

    it('refuses signatures of every type', async () => {
      const path = transactionPath(steps[step].id, '/signatures');
      const send = (body: object) => expectRefused(api.http, org, { key: org.readKey, path, body }, EXPIRED);
      if (step === 'created') {
        await send(await signatureBody(steps[step], org.dave, 'initiator', { execute: true }));
        await send({ type: 'approve', signature: '0x' });
        return;
      }
      const { signatureData } = steps[step];
      // Its policy may ask for no approval at all: then only a rejection is somebody's to give.
      const signer = signatureData.status === 'approvalReady' ? org.dave : org.alice;
      for (const type of signer === org.dave ? (['reject'] as const) : (['approve', 'reject'] as const)) {
        await send({
          type,
          signature: await signPayload(signer, signatureData[`${type}Payload`]),
          execute: true,
        });
      }
    });

    it('cannot be executed, and has no reservation', async () => {
      const { id } = steps[step];
      for (const type of ['approve', 'reject'] as const) {
        await expectRefused(
          api.http,
          org,
          { key: org.readKey, path: transactionPath(id, '/execute'), body: { type } },
          EXPIRED,
        );
      }
      expect(await api.db('chain_attempts').where({ transaction_id: id })).toEqual([]);
      const reserved = await api.db('policy_usage').where({ transaction_id: id, status: 'reserved' });
      expect(reserved).toEqual([]);
      expect(await readTransaction(api.http, org, { id })).toEqual(over[step]);
    });
  },
);
