import { createPublicClient, http as httpTransport, parseEther, zeroAddress } from 'viem';
import { command, json, refused, words } from '../cli/command';
import { makeAccount, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { startTestService, type TestOrganization, type TestService } from '../support/service';
import { fundOnLocalChain, networksFile, rpc, startOwnChain } from '../support/stack';
import {
  aTransactionBody,
  createTransaction,
  makePolicies,
  readTransaction,
  settledTransaction,
  signed,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';

let chain: Awaited<ReturnType<typeof startOwnChain>>;
let service: TestService;
let env: NodeJS.ProcessEnv;
let org: TestOrganization;
let account: Shown;
let policy: Shown;

const url = () => chain.current.rpcUrl;
const mine = () => rpc(url(), 'evm_mine', []);
const balanceOf = (address: `0x${string}`) =>
  createPublicClient({ transport: httpTransport(url()) }).getBalance({ address });

beforeAll(async () => {
  chain = await startOwnChain(NETWORK_ID);
  const file = networksFile([{ id: NETWORK_ID, name: 'Own', rpcUrl: url() }]);
  service = await startTestService({ env: { NETWORKS_FILE: file } });
  env = service.env;
  org = await service.createOrganization();
  account = await makeAccount(service.http, org, { networkIds: [NETWORK_ID] });
  [policy] = (await makePolicies(service.http, org, {
    name: 'Coins to anybody',
    type: 'AUTO_APPROVAL',
    transactionType: 'TOKEN_TRANSFER',
    networkId: NETWORK_ID,
    accountIds: null,
    initiatorSetting: null,
    tokenTransferCondition: {
      tokenAddress: zeroAddress,
      amountThreshold: String(parseEther('1000000000')),
      destinationAddresses: [],
    },
  })) as [Shown];
});
beforeEach(async () => {
  await fundOnLocalChain(url(), account.address);
});
afterEach(async () => {
  await rpc(url(), 'evm_setAutomine', [true]);
});
afterAll(async () => {
  await service?.stop();
  await chain?.stop();
});

/** A transfer that its initiator has signed to be executed; it has begun. */
async function transfer(wei: bigint, to = anAddress() as `0x${string}`): Promise<Shown> {
  const body = aTransactionBody(org, { account, policy, to }, { value: String(wei) });
  const created = await createTransaction(service.http, org, body);
  return { ...(await signed(service.http, org, created, org.dave, 'initiator', { execute: true })), to };
}

const settled = (transaction: Shown) => settledTransaction(service.http, org, transaction);

async function untilCompleted(transaction: Shown): Promise<Shown> {
  return until(`${transaction.id} is completed`, async () => {
    const found = await readTransaction(service.http, org, transaction);
    return found.executionStatus === 'completed' && found;
  });
}

it('a failed transaction is completed by a retry after its cause is removed', async () => {
  const balance = await balanceOf(account.address);
  const asked = balance + 1n;
  const transaction = await transfer(asked);
  expect(await settled(transaction)).toMatchObject({
    executionStatus: 'failed',
    failure: { code: 'accountFunds' },
  });
  const [listed] = await json(env, 'transactions', 'list', '--failed', '--org', org.id);
  expect(listed).toMatchObject({ id: transaction.id, failure: { code: 'accountFunds' } });
  const text = await words(env, 'transactions', 'show', transaction.id);
  for (const part of [`fund the account ${account.address}`, 'What to do:', 'released', 'Retry:']) {
    expect(text).toContain(part);
  }
  // The cause is still there: it fails again, with its second attempt.
  await json(env, 'transactions', 'retry', transaction.id);
  expect(await settled(transaction)).toMatchObject({ failure: { code: 'accountFunds', attempt: 2 } });

  await rpc(url(), 'anvil_setBalance', [account.address, `0x${(asked * 2n).toString(16)}`]);
  expect(await words(env, 'transactions', 'retry', transaction.id)).toMatch(/^(Being executed|Executed)/);
  await untilCompleted(transaction);
  expect(await balanceOf(transaction.to)).toBe(asked);
  expect(await json(env, 'transactions', 'list', '--failed', '--org', org.id)).toEqual([]);
  expect(await refused(env, 'transactions', 'retry', transaction.id)).toContain('Executed');
  const shown = await json(env, 'transactions', 'show', transaction.id);
  expect(shown.attempts).toMatchObject([{ outcome: 'executed', envelopes: [{ outcome: 'mined' }] }]);
  expect(shown.usage.map(({ status }: Shown) => status)).toEqual(['released', 'released', 'committed']);
});

it('a retry of a transaction that is on chain has no second effect or reservation', async () => {
  const transaction = await transfer(7n);
  const done = await untilCompleted(transaction);
  const { db } = service;
  const id = transaction.id;
  await until('its workflow has ended', async () => {
    const { stderr } = await command(env, 'transactions', 'retry', id);
    return stderr.includes('is closed');
  });
  // As a database that knows nothing of its end would have it.
  const undecided = {
    outcome: null,
    outcome_hash: null,
    block_number: null,
    block_hash: null,
    block_at: null,
  };
  await db('chain_attempts')
    .where({ transaction_id: id })
    .update({ ...undecided, decided_at: null });
  await db('policy_usage')
    .where({ transaction_id: id })
    .update({ status: 'released', block_at: null, decided_at: db.fn.now() });
  const failure = { code: 'rpc', message: 'away', at: new Date().toISOString(), attempt: 1 };
  await db('approvals')
    .where({ id })
    .update({
      execution_status: 'failed',
      failure: JSON.stringify(failure),
      result: null,
      closed_at: null,
      frozen: null,
    });

  const { status, stderr } = await command(env, 'transactions', 'retry', id);
  expect({ status, stderr }).toEqual({
    status: 0,
    stderr: `The workflow of ${id} was gone and has been restarted.\n`,
  });
  expect((await untilCompleted(transaction)).result).toEqual(done.result);
  expect(await balanceOf(transaction.to)).toBe(7n);
  const shown = await json(env, 'transactions', 'show', id);
  expect(shown.attempts).toHaveLength(1);
  expect(shown.usage.map(({ status: of }: Shown) => of)).toEqual(['released', 'committed']);
});

it('a transaction that is not included is cancelled, for good', async () => {
  await rpc(url(), 'evm_setAutomine', [false]);
  const transaction = await transfer(9n);
  const { id } = transaction;
  await until('it is sent', async () => {
    const { attempts } = await json(env, 'transactions', 'show', id);
    return attempts[0]?.envelopes[0]?.sentAt;
  });
  expect(await refused(env, 'transactions', 'retry', id)).toMatch(/is being executed/);
  expect(await words(env, 'transactions', 'show', id)).toContain(
    `Cancel: ./orgwallet transactions cancel ${id}`,
  );
  expect(await words(env, 'transactions', 'cancel', id)).toMatch(/^Being cancelled/);
  expect(await words(env, 'transactions', 'show', id)).not.toContain('Cancel:');
  await until('the empty call is sent', async () => {
    const { attempts } = await json(env, 'transactions', 'show', id);
    return attempts[1]?.kind === 'cancellation' && attempts[1].envelopes[0]?.sentAt;
  });
  await until('the chain has decided', async () => {
    await mine();
    return (await readTransaction(service.http, org, transaction)).executionStatus === 'failed';
  });
  const text = await words(env, 'transactions', 'show', id);
  expect(text).toContain('Failure: timeout');
  expect(text).toMatch(/^\S+ +transaction +\d+ +cancelled in block \d+ /m);
  expect(text).toMatch(/^\S+ +cancellation +\d+ +executed in block \d+ /m);
  expect(await balanceOf(transaction.to)).toBe(0n);
  expect(await refused(env, 'transactions', 'cancel', id)).toMatch(/nothing to cancel/);

  await rpc(url(), 'evm_setAutomine', [true]);
  expect(await refused(env, 'transactions', 'retry', id)).toMatch(
    /Failed on chain: it cannot be executed again/,
  );
  expect(text).not.toContain('Retry:');
});

it('a retry of a transaction that has not failed is refused', async () => {
  const body = aTransactionBody(org, { account, policy, to: anAddress() });
  const created = await createTransaction(service.http, org, body);
  expect(await refused(env, 'transactions', 'retry', created.id)).toMatch(/no signature of its initiator/);
  const ready = await signed(service.http, org, created, org.dave, 'initiator');
  expect(ready.signatureStatus).toBe('approvalReady');
  expect(await refused(env, 'transactions', 'retry', created.id)).toMatch(/nothing to retry/);
  expect(await readTransaction(service.http, org, created)).toEqual(ready);
});
