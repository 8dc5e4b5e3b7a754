/** @deep */

import { createRequire } from 'node:module';
import {
  createPublicClient,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  parseAbi,
  http as transport,
} from 'viem';
import { closeApproval } from '../../src/approvals/closing';
import { putCode, sendAsFunder } from '../chain/wallets';
import { change, expectRefused, makeAccount, read, refusal, type Shown, sharedApi } from '../support/api';
import { anAddress } from '../support/builders';
import { contract, RETURN_TRUE } from '../support/contracts';
import { aContractPolicyItem, anAnyPolicyItem, aPolicyItem, aTokenCondition } from '../support/policies';
import type { TestMember, TestOrganization, TestService } from '../support/service';
import { fundOnLocalChain, sharedStack } from '../support/stack';
import { itDeep } from '../support/suite';
import {
  aTransactionBody,
  createTransaction,
  executeTransaction,
  initiate,
  makePolicies,
  readTransaction,
  settledTransaction,
  signed,
  TRANSACTIONS,
  transactionPath,
} from '../support/transactionApi';
import { transferData } from '../support/transactions';

const artifacts = createRequire(__filename);
const NATIVE = `0x${'0'.repeat(40)}`;
const burnAbi = parseAbi(['function burn(uint256 value)']);
const burn = (args: [bigint]) => encodeFunctionData({ abi: burnAbi, functionName: 'burn', args });

let api: TestService;
let org: TestOrganization;
let account: Shown;
let auto: Shown;
let byTwo: Shown;
let token: `0x${string}`;
let url: string;

const chain = () => createPublicClient({ transport: transport(url) });
const coinOf = (address: string) => chain().getBalance({ address: address as `0x${string}` });
const tokensOf = (address: string) =>
  chain().readContract({
    abi: erc20Abi,
    address: token,
    functionName: 'balanceOf',
    args: [address as `0x${string}`],
  });

beforeAll(async () => {
  const [local] = sharedStack().chains;
  if (!local) throw new Error('there is no chain');
  url = local.rpcUrl;
  token = local.token.address as `0x${string}`;
  api = await sharedApi();
  org = await api.createOrganization();
  account = await makeAccount(api.http, org, { name: 'Treasury', networkIds: [31337] });
  await fundOnLocalChain(url, account.address);
  await sendAsFunder(url, { to: token, data: transferData(account.address, 1_000n) as Hex });
  const made = await change(api.http, org, '/groups/proposals/create', {
    items: [{ name: 'Approvers', memberIds: [org.alice, org.bob, org.carol].map(({ id }) => id) }],
  });
  const groupId = made.result.resources[0].id;
  [auto, byTwo] = await makePolicies(
    api.http,
    org,
    anAnyPolicyItem({ name: 'At once' }),
    anAnyPolicyItem({
      type: 'MANUAL_APPROVAL',
      approverSetting: { type: 'group', groupId, threshold: 2 },
    }),
  );
});
afterAll(() => api?.stop());

const body = (policy: Shown, more: object = {}) =>
  aTransactionBody(org, { account, policy, to: anAddress() }, more);
const vote = (transaction: Shown, member: TestMember, more: object = {}) =>
  signed(api.http, org, transaction, member, 'approve', more);

/** Creates a transaction and lets its initiator's signature send it off; answers it once it is decided. */
async function sendOff(asked: object): Promise<Shown> {
  const created = await createTransaction(api.http, org, asked);
  await signed(api.http, org, created, org.dave, 'initiator', { execute: true });
  return settledTransaction(api.http, org, created);
}

/** Puts a token on the chain that nobody knows yet. */
async function newToken(): Promise<string> {
  const { abi, bytecode } = artifacts('@openzeppelin/contracts/build/contracts/ERC20PresetFixedSupply.json');
  const args = ['New Token', 'NEW', 1_000n, anAddress()];
  const { contractAddress } = await sendAsFunder(url, { data: encodeDeployData({ abi, bytecode, args }) });
  return getAddress(contractAddress ?? '');
}

/** Whether what a transaction says about the chain is there. */
async function expectOnChain({ result, chain: shown }: Shown): Promise<void> {
  const receipt = await chain().getTransactionReceipt({ hash: result.transactionHash });
  expect(receipt.status).toBe('success');
  expect(Number(receipt.blockNumber)).toBe(result.blockNumber);
  expect(shown.transactionHash).toBe(result.transactionHash);
  expect(shown.confirmations).toBeGreaterThan(0);
  expect(Math.abs(Date.parse(shown.submittedAt) - Date.now())).toBeLessThan(120_000);
}

describe('a transaction under AUTO_APPROVAL', () => {
  it('moves native currency with only the signature of its initiator', async () => {
    const asked = body(auto, { value: '5' });
    const created = await createTransaction(api.http, org, asked);
    const done = await signed(api.http, org, created, org.dave, 'initiator', { execute: true });
    expect(done).toMatchObject({
      signatureStatus: 'approvalReady',
      executionStatus: 'completed',
      result: { resolution: 'approved' },
      signatureData: { status: 'approvalReady', approvePayload: expect.any(String) },
    });
    expect(done).not.toHaveProperty('signingPayloads');
    expect(done).not.toHaveProperty('failure');
    await expectOnChain(done);
    expect(await coinOf(asked.to)).toBe(5n);
    expect(await readTransaction(api.http, org, created)).toMatchObject({ result: done.result });
  });

  it('moves a token, shown with the symbol of its policy', async () => {
    const to = anAddress();
    const [policy] = await makePolicies(
      api.http,
      org,
      aPolicyItem({
        tokenTransferCondition: aTokenCondition({ tokenAddress: token, amountThreshold: '100' }),
      }),
    );
    const { tokenSymbol, tokenName, tokenDecimals } = policy.tokenTransferCondition;
    const done = await sendOff(
      body(policy, { to: token.toLowerCase(), value: '0', data: transferData(to, 100n) }),
    );
    expect(done).toMatchObject({
      type: 'TOKEN_TRANSFER',
      executionStatus: 'completed',
      to: token,
      data: {
        destination: to,
        asset: {
          id: `31337:${token}`,
          symbol: tokenSymbol,
          name: tokenName,
          decimals: tokenDecimals,
          tokenAddress: token,
        },
        rawAmount: '100',
        networkId: 31337,
      },
    });
    await expectOnChain(done);
    expect(await tokensOf(to)).toBe(100n);
  });

  itDeep('moves a token, shown with the symbol from its chain', async () => {
    const to = anAddress();
    const done = await sendOff(body(auto, { to: token, value: '0', data: transferData(to, 7n) }));
    expect(done.data.asset).toMatchObject({ tokenAddress: token, decimals: expect.any(Number) });
    expect(done.executionStatus).toBe('completed');
    expect(await tokensOf(to)).toBe(7n);
  });

  it('moves a token that reports nothing about itself, in its smallest unit', async () => {
    const code = contract({ 'transfer(address,uint256)': RETURN_TRUE });
    const mute = getAddress(await putCode(url, 'a token without a word', code));
    const [naming] = await makePolicies(
      api.http,
      org,
      aPolicyItem({ tokenTransferCondition: aTokenCondition({ tokenAddress: mute }) }),
    );
    expect(naming.tokenTransferCondition).toMatchObject({
      tokenSymbol: '',
      tokenName: '',
      tokenDecimals: null,
      amountThreshold: null,
    });
    for (const policy of [auto, naming]) {
      const to = anAddress();
      const done = await sendOff(body(policy, { to: mute, value: '0', data: transferData(to, 1_500n) }));
      expect(done).toMatchObject({
        executionStatus: 'completed',
        data: {
          asset: { symbol: '', name: null, decimals: null, tokenAddress: mute },
          rawAmount: '1500',
          displayAmount: '1500',
        },
      });
      expect(done.summary).toContain(`Send 1500 raw units of the token ${mute} to ${to}`);
    }
  });

  it('calls a contract, decoded where its function is known and raw where not', async () => {
    const [policy] = await makePolicies(
      api.http,
      org,
      aContractPolicyItem([{ contractAddress: token, allowedFunctions: ['burn(uint256)'] }]),
    );
    const held = await tokensOf(account.address);
    const done = await sendOff(body(policy, { to: token, value: '0', data: burn([9n]) }));
    expect(done).toMatchObject({
      type: 'CONTRACT_INTERACTION',
      executionStatus: 'completed',
      data: { functionName: 'burn', functionParameters: [{ name: 'value', type: 'uint256', value: '9' }] },
    });
    expect(await tokensOf(account.address)).toBe(held - 9n);
    const nobody = anAddress();
    const raw = await sendOff(body(auto, { to: nobody, value: '3', data: '0x12345678' }));
    expect(raw).toMatchObject({ executionStatus: 'completed', type: 'CONTRACT_INTERACTION' });
    expect(raw.data).not.toHaveProperty('functionName');
    expect(await coinOf(nobody)).toBe(3n);
  });

  itDeep('waits for its execution when the initiator signs without execute', async () => {
    const asked = body(auto);
    const begun = await initiate(api.http, org, asked);
    expect(begun).toMatchObject({ signatureStatus: 'approvalReady', executionStatus: null });
    const answer = await executeTransaction(api.http, org, begun);
    expect([answer.status, answer.body.data.executionStatus]).toEqual([200, 'completed']);
    expect(await coinOf(asked.to)).toBe(1n);
    for (const type of ['approve', 'reject'] as const) {
      const again = await executeTransaction(api.http, org, begun, type);
      expect([again.status, again.body.code]).toEqual([409, 'conflict']);
    }
  });

  it('is sent once by concurrent executions', async () => {
    const asked = body(auto);
    const begun = await initiate(api.http, org, asked);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => executeTransaction(api.http, org, begun)),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect((await settledTransaction(api.http, org, begun)).executionStatus).toBe('completed');
    expect(await coinOf(asked.to)).toBe(1n);
  });

  it('fails with the reason when it would revert, and may be rejected or retried', async () => {
    const failed = await sendOff(body(auto, { to: token, value: '0', data: burn([2n ** 255n]) }));
    expect(failed).toMatchObject({
      executionStatus: 'failed',
      signatureStatus: 'approvalReady',
      failure: { code: 'reverted', attempt: 1, message: expect.stringMatching(/exceeds balance/) },
      signingPayloads: { rejectPayload: expect.any(String) },
    });
    expect(failed).not.toHaveProperty('result');
    const again = await executeTransaction(api.http, org, failed);
    expect(again.body.data).toMatchObject({ executionStatus: 'failed', failure: { attempt: 2 } });
    await signed(api.http, org, failed, org.dave, 'reject');
    const rejected = await executeTransaction(api.http, org, failed, 'reject');
    expect(rejected.body.data).toMatchObject({
      executionStatus: 'rejected',
      result: { resolution: 'rejected' },
    });
  });
});

describe('a transaction under MANUAL_APPROVAL', () => {
  it('is executed by the signature that meets the threshold, with execute', async () => {
    const asked = body(byTwo, { value: '11' });
    const created = await createTransaction(api.http, org, asked);
    const begun = await signed(api.http, org, created, org.dave, 'initiator', { execute: true });
    expect(begun).toMatchObject({ signatureStatus: 'pendingReviewSignatures', executionStatus: null });
    const half = await vote(begun, org.alice, { execute: true });
    expect(half).toMatchObject({ signatureStatus: 'pendingReviewSignatures', executionStatus: null });
    const done = await vote(begun, org.carol, { execute: true });
    expect(done).toMatchObject({
      executionStatus: 'completed',
      threshold: 2,
      approvals: [org.alice, org.carol]
        .map(({ id }) => ({ id }))
        .sort((one, two) => (one.id < two.id ? -1 : 1)),
    });
    await expectOnChain(done);
    expect(await coinOf(asked.to)).toBe(11n);
    const actions = await read(
      api.http,
      org.readKey,
      `/api/v1/audit-logs?resourceId=${created.id}&limit=100`,
    );
    expect(actions.map(({ action }: Shown) => action).reverse()).toEqual([
      'transaction.created',
      'transaction.signed',
      'transaction.signed',
      'transaction.signed',
      'transaction.executionStarted',
      'transaction.broadcast',
      'transaction.executed',
    ]);
  });

  itDeep('keeps names and wallets at execution', async () => {
    const begun = await initiate(api.http, org, body(byTwo));
    await vote(begun, org.alice);
    const done = await vote(begun, org.bob, { execute: true });
    await change(api.http, org, '/members/proposals/update', { items: [{ id: org.dave.id, name: 'David' }] });
    const later = await readTransaction(api.http, org, begun);
    expect(later.initiator).toEqual(done.initiator);
    expect(later.signatureData).toEqual(done.signatureData);
    await change(api.http, org, '/members/proposals/update', { items: [{ id: org.dave.id, name: 'Dave' }] });
  });
});

describe('a budget', () => {
  it('permits what fits, and blocks the rest with a reason', async () => {
    const limitation = {
      hours: 24,
      initiatorScope: 'ALL_ITEMS',
      sourceAccountScope: 'ALL_ITEMS',
      destinationScope: 'ALL_ITEMS',
    };
    const [policy] = await makePolicies(
      api.http,
      org,
      aPolicyItem({ limitation, tokenTransferCondition: aTokenCondition({ amountThreshold: '10' }) }),
    );
    expect((await sendOff(body(policy, { value: '7' }))).executionStatus).toBe('completed');
    const second = await sendOff(body(policy, { value: '4' }));
    expect(second).toMatchObject({
      executionStatus: 'blocked',
      failure: {
        code: 'budget',
        message: expect.stringContaining('0.000000000000000007 "ETH" before this 0.000000000000000004 "ETH"'),
      },
    });
    expect(second).not.toHaveProperty('chain');
    expect((await sendOff(body(policy, { value: '3' }))).executionStatus).toBe('completed');
    expect(await coinOf(second.to)).toBe(0n);
  });
});

describe('a transaction in place of one that failed', () => {
  const failed = async (asked: object) => {
    const { id } = await initiate(api.http, org, asked);
    const ref = { subject: 'transaction', organizationId: org.id, id } as const;
    await closeApproval(api.db, ref, { reason: 'not wanted', mayClose: () => true });
    return id;
  };

  it('names it in its record and in the summary that is signed, and is executed', async () => {
    const replaces = await failed(body(auto));
    const asked = body(auto, { replaces });
    const created = await initiate(api.http, org, asked);
    expect(created).toMatchObject({ replaces });
    expect(created.summary).toMatch(new RegExp(`\nIn place of the failed ${replaces}$`));
    expect(JSON.parse(created.signingPayloads.approvePayload).message.summary).toEqual(
      created.summary.split('\n'),
    );
    const done = await settledTransaction(
      api.http,
      org,
      (await executeTransaction(api.http, org, created)).body.data,
    );
    expect(done).toMatchObject({ executionStatus: 'completed', replaces });
  });

  describe('that is replaced already', () => {
    const create = (replaces: string) =>
      api.http.send({ key: org.readKey, path: TRANSACTIONS, body: body(auto, { replaces }) });
    const conflict = (replaces: string, other: string, state: string) => ({
      status: 409,
      body: {
        message: `transaction ${replaces} cannot be replaced: ${other}, which replaces or is replaced by it, ${state}`,
        error: { code: 'conflict' },
      },
    });

    it('is refused while the other one can still be executed, and once it was', async () => {
      const first = await failed(body(auto));
      const second = await failed(body(auto, { replaces: first }));
      const third = await initiate(api.http, org, body(auto, { replaces: second }));
      for (const replaced of [first, second]) {
        expect(await create(replaced)).toMatchObject(conflict(replaced, third.id, 'can still be executed'));
      }
      const path = '/api/v1/policies/evaluate';
      const asked = { ...body(auto, { replaces: first }), policyId: undefined };
      expect(await api.http.send({ key: org.readKey, path, body: asked })).toMatchObject(
        conflict(first, third.id, 'can still be executed'),
      );
      await settledTransaction(api.http, org, (await executeTransaction(api.http, org, third)).body.data);
      for (const replaced of [first, second]) {
        expect(await create(replaced)).toMatchObject(conflict(replaced, third.id, 'was executed'));
      }
    });

    it('is created after one that was rejected, has expired or has failed for good', async () => {
      const first = await failed(body(auto));
      await failed(body(auto, { replaces: first }));
      const expired = await createTransaction(api.http, org, body(auto, { replaces: first }));
      await api
        .db('approvals')
        .where({ id: expired.id })
        .update({ expires_at: new Date(Date.now() - 1_000) });
      expect(await create(first)).toMatchObject({ status: 201 });
    });

    it('is created once of simultaneous ones, whichever of the family they name', async () => {
      const first = await failed(body(auto));
      const second = await failed(body(auto, { replaces: first }));
      const answers = await Promise.all(
        [first, second, first, second, first, second].map((replaced) => create(replaced)),
      );
      const created = answers.filter(({ status }) => status === 201);
      expect(created).toHaveLength(1);
      const refused = answers.filter(({ status }) => status !== 201);
      for (const answer of refused) {
        expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
        expect(answer.body.message).toContain(`cannot be replaced: ${created[0]?.body.data.id}`);
      }
    });
  });

  itDeep('is refused for any other transaction', async () => {
    const other = await makeAccount(api.http, org, { networkIds: [31337] });
    const elsewhere = await failed(aTransactionBody(org, { account: other, policy: auto, to: anAddress() }));
    const open = await createTransaction(api.http, org, body(auto));
    const unsigned = await createTransaction(api.http, org, body(auto));
    const ref = { subject: 'transaction', organizationId: org.id, id: unsigned.id } as const;
    await closeApproval(api.db, ref, { reason: 'not wanted', mayClose: () => true });
    for (const replaces of [elsewhere, open.id, unsigned.id, open.id.replace(/.$/, '0')]) {
      await expectRefused(
        api.http,
        org,
        { key: org.readKey, path: TRANSACTIONS, body: body(auto, { replaces }) },
        refusal(400, 'validationError', 'replaces'),
      );
    }
  });
});

describe('the balances of an account', () => {
  it('include the tokens of its past transactions, and no others', async () => {
    const empty = await makeAccount(api.http, org, { networkIds: [31337] });
    const balances = (id: string): Promise<Shown[]> =>
      read(api.http, org.readKey, `/api/v1/accounts/${id}/balances`);
    const assets = async (id: string) => (await balances(id)).map(({ asset }) => asset.tokenAddress);
    const other = await newToken();
    const before = await assets(empty.id);
    expect(before).not.toContain(other);
    const data = transferData(anAddress(), 1n);
    await createTransaction(
      api.http,
      org,
      aTransactionBody(org, { account: empty, policy: auto, to: other }, { value: '0', data }),
    );
    const after = await balances(empty.id);
    expect(new Set(after.map(({ asset }) => asset.tokenAddress))).toEqual(new Set([...before, other]));
    expect(after.find(({ asset }) => asset.tokenAddress === other)).toMatchObject({
      asset: { symbol: 'NEW', name: 'New Token', decimals: 18 },
      rawAmount: '0',
    });
    expect(await assets(account.id)).not.toContain(other);
    expect(after.filter(({ asset }) => asset.tokenAddress === NATIVE)).toHaveLength(1);
  });
});

describe('a transaction of the same organization', () => {
  it('can be read with every key, at its path', async () => {
    const created = await createTransaction(api.http, org, body(auto));
    for (const key of [org.adminKey, org.readKey]) {
      expect((await api.http.send({ key, path: transactionPath(created.id) })).body.data).toEqual(created);
    }
  });
});
