import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { putCode } from '../chain/wallets';
import { change, makeAccount, read, type Shown, startApi } from '../support/api';
import { anAddress } from '../support/builders';
import { answer, balanceSlot, COUNTER, TOKENS, token, word } from '../support/contracts';
import { anAnyPolicyItem, aPolicyItem, aTokenCondition } from '../support/policies';
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy';
import type { TestOrganization, TestService } from '../support/service';
import { signIn } from '../support/session';
import { fundOnLocalChain, networksFile, rpc, sharedStack } from '../support/stack';
import {
  aTransactionBody,
  createTransaction,
  initiate,
  makePolicies,
  signed,
  transactionPath,
} from '../support/transactionApi';
import { NETWORK_ID, transferData } from '../support/transactions';
import { until } from '../support/until';

const counterAbi = parseAbi(['function fail()', 'function increment()']);
const callOf = (functionName: 'fail' | 'increment') => encodeFunctionData({ abi: counterAbi, functionName });

let url: string;
let proxy: RpcProxy;
let api: TestService;
let org: TestOrganization;
let account: Shown;
let policy: Shown;
/** Methods that the service has called through the proxy. */
let calls: string[] = [];
let isCut = false;
let isCodeHidden = false;

beforeAll(async () => {
  const chain = sharedStack().chains.find(({ chainId }) => chainId === NETWORK_ID);
  if (!chain) throw new Error('there is no chain');
  url = chain.rpcUrl;
  proxy = await startRpcProxy(url, async (body, pass) => {
    const methods = [JSON.parse(body)].flat().map(({ method }: { method: string }) => method);
    calls.push(...methods);
    return isCut || (isCodeHidden && methods.includes('eth_getCode')) ? undefined : pass();
  });
  const networks = [{ id: NETWORK_ID, name: 'Cut off', rpcUrl: proxy.url, signerRpcUrls: [url] }];
  api = await startApi({ env: { NETWORKS_FILE: networksFile(networks) } });
  org = await api.createOrganization();
  account = await makeAccount(api.http, org, { networkIds: [NETWORK_ID] });
  await fundOnLocalChain(url, account.address);
  [policy] = await makePolicies(api.http, org, anAnyPolicyItem());
});
afterAll(async () => {
  await api?.stop();
  await proxy?.stop();
});

async function ask(more: object = {}): Promise<Shown> {
  return createTransaction(api.http, org, aTransactionBody(org, { account, policy, to: anAddress() }, more));
}

const simulationOf = ({ id }: Shown) => read(api.http, org.readKey, transactionPath(id, '/simulation'));

const contractOf = (code: Hex) => putCode(url, anAddress(), code);

const blockNumber = expect.any(Number);
const succeeds = { status: 'succeeds', gas: expect.stringMatching(/^[1-9]\d+$/), blockNumber };
const fails = (reason: unknown) => ({ status: 'fails', reason, blockNumber });

describe('the simulation of a transaction', () => {
  it('says how much gas a call that succeeds needs, at the newest block', async () => {
    const transaction = await ask({ to: await contractOf(COUNTER), value: '0', data: callOf('increment') });
    const before = Number(await rpc(url, 'eth_blockNumber', []));
    const found = await simulationOf(transaction);
    expect(found).toEqual(succeeds);
    expect(found.blockNumber).toBeGreaterThanOrEqual(before);
  });

  it('gives the reason of a call that reverts', async () => {
    const transaction = await ask({ to: await contractOf(COUNTER), value: '0', data: callOf('fail') });
    expect(await simulationOf(transaction)).toEqual(fails('the call would revert with "it always fails"'));
  });

  it('says what an account lacks', async () => {
    const poor = await makeAccount(api.http, org, { networkIds: [NETWORK_ID] });
    const transaction = await ask({ accountId: poor.id });
    const lack = 'insufficient funds: the account has 0 ETH and sends 0.000000000000000001 ETH';
    expect(await simulationOf(transaction)).toEqual(
      fails(`${lack}: fund the account ${poor.address} on Cut off (31337)`),
    );
  });

  it.each([
    ['returns false', TOKENS.returningFalse, 'the token returns false'],
    ['returns neither true nor false', token(answer(word(2n))), 'the token returns neither true nor false'],
  ])('fails for a token that %s', async (_, code, reason) => {
    const address = await contractOf(code);
    const transaction = await ask({ to: address, value: '0', data: transferData(anAddress(), 1n) });
    expect(await simulationOf(transaction)).toEqual(
      fails(expect.stringMatching(new RegExp(`^${address} on Cut off \\(31337\\): ${reason}$`, 'i'))),
    );
  });

  it('marks tokens that go to a contract, which decides nothing', async () => {
    const address = await contractOf(TOKENS.plain);
    await rpc(url, 'anvil_setStorageAt', [address, balanceSlot(account.address as Hex), word(1n)]);
    // A simulation looks at the latest block, and one may end between the two.
    await rpc(url, 'evm_mine', []);
    const send = (to: string) =>
      ask({ to: address, value: '0', data: transferData(to, 1n) }).then(simulationOf);
    const contract = await contractOf(COUNTER);
    expect(await send(contract)).toEqual({ ...succeeds, recipientCode: 'contract' });
    expect(await send(anAddress())).toEqual(succeeds);
    // The key behind a delegation (EIP-7702) sends on what is there.
    const delegated = await contractOf(`0xef0100${contract.slice(2).toLowerCase()}`);
    expect(await send(delegated)).toEqual(succeeds);
    const other = await makeAccount(api.http, org, { networkIds: [NETWORK_ID] });
    await putCode(url, other.address, COUNTER);
    expect(await send(other.address)).toEqual(succeeds);
    const asked = await ask({ to: address, value: '0', data: transferData(contract, 1n) });
    isCodeHidden = true;
    try {
      expect(await simulationOf(asked)).toEqual({ ...succeeds, recipientCode: 'unknown' });
    } finally {
      isCodeHidden = false;
    }
  });

  it('is marked like the dry run under policies', async () => {
    const address = await contractOf(TOKENS.plain);
    const evaluate = async (to: string, more: object = {}) => {
      const body = aTransactionBody(org, { account, policy, to: address }, { value: '0' });
      const asked = { ...body, data: transferData(to, 1n), ...more, policyId: undefined };
      const answer = await api.http.send({
        key: org.readKey,
        path: '/api/v1/policies/evaluate',
        body: asked,
      });
      return answer.body.data.map((one: Shown) => [one.allowed, one.recipientCode]);
    };
    const contract = await contractOf(COUNTER);
    expect(await evaluate(contract)).toEqual([[true, 'contract']]);
    expect(await evaluate(anAddress())).toEqual([[true, undefined]]);
    expect(await evaluate(contract, { to: contract, data: callOf('increment') })).toEqual([
      [true, undefined],
    ]);
    isCodeHidden = true;
    try {
      const [[, hidden]] = await evaluate(contract);
      expect(hidden).toBe('unknown');
    } finally {
      isCodeHidden = false;
    }
  });

  it('answers a person who is signed in', async () => {
    const transaction = await ask();
    const { send } = await signIn(api, org.dave);
    const simulated = await send({ path: transactionPath(transaction.id, '/simulation') });
    expect(simulated.body.data).toEqual(succeeds);
  });

  it('is the same for all who ask within a second', async () => {
    const transaction = await ask();
    calls = [];
    const askedAt = performance.now();
    const found = await Promise.all(Array.from({ length: 20 }, () => simulationOf(transaction)));
    // A busy machine takes longer to answer all of them.
    const seconds = Math.floor((performance.now() - askedAt) / 1_000) + 1;
    expect(new Set(found.map((one) => JSON.stringify(one))).size).toBeLessThanOrEqual(seconds);
    // The recipient has no code: with less gas it would be the same.
    const { length: simulated } = calls.filter((method) => method === 'eth_call');
    expect(simulated).toBeGreaterThanOrEqual(1);
    expect(simulated).toBeLessThanOrEqual(seconds);
  });

  it('is unavailable while the network is', async () => {
    const transactions = await Promise.all([ask(), ask(), ask()]);
    isCut = true;
    try {
      const found = await Promise.all(transactions.map(simulationOf));
      expect(found).toEqual(found.map(() => ({ status: 'unavailable' })));
    } finally {
      isCut = false;
    }
    const [transaction] = transactions;
    await until('it is simulated again', async () => {
      return (await simulationOf(transaction)).status === 'succeeds';
    });
  });

  it('is refused once the transaction is closed', async () => {
    const initiated = await initiate(
      api.http,
      org,
      aTransactionBody(org, { account, policy, to: anAddress() }),
    );
    await signed(api.http, org, initiated, org.dave, 'reject', { execute: true });
    const path = transactionPath(initiated.id, '/simulation');
    const refused = await api.http.send({ key: org.readKey, path });
    expect([refused.status, refused.body.code, refused.body.message]).toEqual([
      409,
      'conflict',
      `transaction ${initiated.id} has been rejected`,
    ]);
  });

  it('is hidden from other organizations', async () => {
    const transaction = await ask();
    const other = await api.createOrganization();
    const path = transactionPath(transaction.id, '/simulation');
    expect((await api.http.send({ key: other.readKey, path })).status).toBe(404);
  });
});

describe('a dry run while the network is unavailable', () => {
  it('permits what is created without it: a policy names the token', async () => {
    const address = await contractOf(TOKENS.plain);
    const named = aPolicyItem({ tokenTransferCondition: aTokenCondition({ tokenAddress: address }) });
    const [naming] = (await makePolicies(api.http, org, named)) as [Shown];
    const body = aTransactionBody(org, { account, policy: naming, to: address }, { value: '0' });
    const asked = { ...body, data: transferData(anAddress(), 1n) };
    isCut = true;
    try {
      const created = await api.http.send({ key: org.readKey, path: '/api/v1/transactions', body: asked });
      expect(created.status).toBe(201);
      const dry = { ...asked, policyId: undefined };
      const evaluated = await api.http.send({
        key: org.readKey,
        path: '/api/v1/policies/evaluate',
        body: dry,
      });
      const found = evaluated.body.data.map((one: Shown) => [one.policy.id, one.allowed]);
      expect(found).toEqual([
        [naming.id, true],
        [policy.id, false],
      ]);
    } finally {
      isCut = false;
    }
    await change(api.http, org, '/policies/proposals/remove', { policyIds: [naming.id] });
  });
});
