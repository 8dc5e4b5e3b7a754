import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { createPublicClient, type Hex, http as rpcTransport, zeroAddress } from 'viem';
import { verifyAudit } from '../../src/db/audit';
import type { Db } from '../../src/db/database';
import { requireRow } from '../../src/db/rows';
import type { Subject } from '../../src/domain/approval';
import { openKeystore } from '../../src/signer/keys/keystore';
import { approvalWorkflowId } from '../../src/temporal/ids';
import { json } from '../cli/command';
import { insist, makeAccount, proposalPath, proposeChange, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import type { Ask } from '../support/http';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import {
  connectAsOwner,
  databaseSettings,
  fundRelayers,
  makeOrganization,
  serviceSettings,
  signingAsk,
  type TestMember,
  type TestOrganization,
} from '../support/service';
import {
  copyDatabase,
  createTestDatabase,
  endpointOf,
  fundOnLocalChain,
  networksFile,
  rpc,
  sharedStack,
  startOwnChain,
} from '../support/stack';
import {
  aTransactionBody,
  createTransaction,
  initiate,
  makePaymentPolicies,
  makePolicies,
  signatureBody,
  TRANSACTIONS,
  transactionPath,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';

const LIMIT_MS = 600_000;
/** A workflow that spins has thousands. */
const MOST_EVENTS = 400;
/** The network whose relayers have no funds but where a step says so, and whose blocks a step can hold up. */
const OTHER_ID = 41_151;

let env: NodeJS.ProcessEnv;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let backup: string;
let service: ServiceProcess;
let signer: ServiceProcess;
let db: Db;
let org: TestOrganization;
let funded: Shown;
let policies: { auto: Shown; approved: Shown; once: Shown; spent: Shown; other: Shown };
let otherChain: Awaited<ReturnType<typeof startOwnChain>>;
let temporal: Client;

type Step = () => Promise<unknown>;

/** One approval: what the copy has of it, what Temporal knows of it beyond that, and how it goes on after the restore. */
interface Case {
  readonly name: string;
  readonly subject: Subject;
  /** Up to what the copy has, with the signer and then without it. */
  readonly copied?: Step;
  readonly copiedUnsigned?: Step;
  /** What the copy has while the other network makes no block. */
  readonly copiedUnmined?: Step;
  /** What is lost, with the signer and then without it. */
  readonly lost?: Step;
  readonly lostUnsigned?: Step;
  /** What people do anew. */
  readonly anew?: Step;
  readonly end: 'completed' | 'rejected' | 'failed' | 'gone';
  readonly shown: () => Shown;
  readonly to?: Hex;
  /** Where it pays. */
  readonly networkId?: number;
}

/** Sends a request, again while a workflow is being restarted. */
async function send(ask: Ask, expected = 200): Promise<Shown> {
  const { status, text, body } = await insist(service.http, ask);
  if (status !== expected) throw new Error(`${ask.path} → ${status} ${text}`);
  return body.data;
}

/** A payment in the making. */
class Payment {
  readonly to = anAddress() as Hex;
  shown: Shown;
  account: () => Shown = () => funded;

  constructor(private readonly policy: keyof typeof policies) {}

  get networkId() {
    return this.policy === 'other' ? OTHER_ID : NETWORK_ID;
  }
  private body() {
    const of = { account: this.account(), policy: policies[this.policy], to: this.to };
    return aTransactionBody(org, of, { networkId: this.networkId });
  }
  create = async () => {
    this.shown = await createTransaction(service.http, org, this.body());
  };
  createWith = async (idempotencyKey: string) => {
    const ask = { key: org.readKey, path: TRANSACTIONS, body: this.body(), idempotencyKey };
    const created = await send(ask, 201);
    if (this.shown) expect(created.id).toBe(this.shown.id);
    this.shown = created;
  };
  initiate = async () => {
    this.shown = await initiate(service.http, org, this.body());
  };
  sign = async (
    type: 'initiator' | 'approve' | 'reject',
    more: { execute?: boolean } = {},
    idempotencyKey: string = randomUUID(),
  ) => {
    const member = type === 'initiator' ? org.dave : org.alice;
    const body = await signatureBody(this.shown, member, type, more);
    const path = transactionPath(this.shown.id, '/signatures');
    await send({ key: org.readKey, path, body, idempotencyKey });
  };
  execute = () => this.executeWith(randomUUID());
  executeWith = async (idempotencyKey: string) => {
    const path = transactionPath(this.shown.id, '/execute');
    await send({ key: org.readKey, path, body: { type: 'approve' }, idempotencyKey });
  };
  is = (executionStatus: string, more: object = {}) =>
    reached({ subject: 'transaction', shown: () => this.shown }, { executionStatus, ...more });
  /** Executed while no block is made. */
  sendOnly = async () => {
    await this.initiate();
    await this.execute();
    await this.is('processing', { chain: { confirmations: 0 } });
  };
  /** As an operator. */
  cancel = async () => {
    const workflow = temporal.workflow.getHandle(`${org.id}/transactions/${this.shown.id}`);
    expect(await workflow.executeUpdate('cancelTransaction')).toMatchObject({ ok: true });
  };
}

/** A proposal in the making: of a new member, or of a new account on two networks. */
class Proposal {
  shown: Shown;
  private readonly item: object;
  constructor(readonly resourceType: 'members' | 'accounts') {
    const name = `New ${randomUUID()}`;
    this.item =
      resourceType === 'members'
        ? { name, type: 'user', walletAddress: anAddress() }
        : { name, networkIds: [NETWORK_ID, OTHER_ID] };
  }
  propose = async () => {
    this.shown = await proposeChange(service.http, org, `/${this.resourceType}/proposals/create`, {
      items: [this.item],
    });
  };
  proposeWith = async (idempotencyKey: string) => {
    const path = '/api/v1/members/proposals/create';
    const ask = { key: org.adminKey, path, body: { items: [this.item] }, idempotencyKey };
    const created = await send(ask, 201);
    if (this.shown) expect(created.id).toBe(this.shown.id);
    this.shown = created;
  };
  sign = async (
    type: 'approve' | 'reject' = 'approve',
    more: { execute?: boolean } = {},
    members: readonly TestMember[] = [org.alice, org.bob],
  ) => {
    for (const member of members) {
      const ask = await signingAsk(org.adminKey, this.shown, member, type, member === org.bob ? more : {});
      await send(ask);
    }
  };
  signWith = async (idempotencyKey: string) => {
    const ask = await signingAsk(org.adminKey, this.shown, org.alice);
    await send({ ...ask, idempotencyKey });
    const votes = await db('votes').where({ approval_id: this.shown.id });
    expect(votes).toHaveLength(1);
  };
  execute = async () => {
    const path = proposalPath(this.shown.id, '/execute', this.resourceType);
    await send({ key: org.adminKey, path, body: { type: 'approve' } });
  };
  is = (executionStatus: string, more: object = {}) =>
    reached({ subject: 'proposal', shown: () => this.shown }, { executionStatus, ...more });
}

/** Waits until the API shows an approval so. */
async function reached(one: Pick<Case, 'subject' | 'shown'>, expected: object): Promise<void> {
  await until(`${one.shown().id} is ${JSON.stringify(expected)}`, async () => {
    const now = await read(one);
    try {
      expect(now).toMatchObject(expected);
      return true;
    } catch {
      return false;
    }
  });
}

const NOW = { execute: true };

function payment(
  name: string,
  policy: keyof typeof policies,
  steps: (one: Payment) => Partial<Case>,
  end: Case['end'] = 'completed',
): Case {
  const one = new Payment(policy);
  return {
    ...{ name: `transaction: ${name}`, subject: 'transaction', to: one.to, shown: () => one.shown, end },
    networkId: one.networkId,
    ...steps(one),
  };
}

function proposal(
  name: string,
  steps: (one: Proposal) => Partial<Case>,
  end: Case['end'] = 'completed',
): Case {
  const one = new Proposal('members');
  return { name: `proposal: ${name}`, subject: 'proposal', shown: () => one.shown, end, ...steps(one) };
}

/** An account on two networks, of which the second cannot be paid for until its relayers are funded. */
function deployment(name: string, steps: (one: Proposal) => Partial<Case>): Case {
  const one = new Proposal('accounts');
  const shown = () => one.shown;
  return { name: `deployment: ${name}`, subject: 'proposal', shown, end: 'completed', ...steps(one) };
}

const otherUrl = () => otherChain.current.rpcUrl;
const blocks = (areMade: boolean) => rpc(otherUrl(), 'evm_setAutomine', [areMade]);

/** Sets what the relayers of the other network have. */
async function setFunds(wei: bigint): Promise<void> {
  for (const { address } of await db('relayers').where({ network_id: BigInt(OTHER_ID) })) {
    await rpc(otherUrl(), 'anvil_setBalance', [address, `0x${wei.toString(16)}`]);
  }
}
const PLENTY = 10n ** 24n;

const WAITS_FOR_FUNDS = { failure: { code: 'relayerFunds', resumes: true } };
const PARTLY_DEPLOYED = {
  deployments: [
    { networkId: NETWORK_ID, status: 'completed' },
    { networkId: OTHER_ID, status: 'failed', failure: { code: 'relayerFunds' } },
  ],
};

/** Requests whose answers are lost as well, while the copy has the requests. */
const keys = Array.from({ length: 5 }, () => randomUUID());
const [signKey = '', executeKey = '', createKey = '', proposeKey = '', voteKey = ''] = keys;

async function ownAccount(networkIds = [NETWORK_ID]): Promise<Shown> {
  return makeAccount(service.http, org, { networkIds });
}
const fund = (account: Shown) => fundOnLocalChain(rpcUrl(), account.address);

/** Ends an approval by its expiry, as the clock would in days: a timer that runs does not change, that of another run does. */
async function expire({ id }: Shown): Promise<void> {
  await db('approvals')
    .where({ id })
    .update({ expires_at: db.raw(`now() + interval '1 second'`), version: db.raw('version + 1') });
  await temporal.workflow.getHandle(`${org.id}/transactions/${id}`).terminate();
  await until('it has expired', async () => {
    const { closed_at } = requireRow(await db('approvals').where({ id }).first('closed_at'));
    return closed_at !== null;
  });
}

const cases: readonly Case[] = [
  payment('none, created', 'auto', (one) => ({ lost: one.create }), 'gone'),
  payment('none, ready', 'auto', (one) => ({ lost: one.initiate }), 'gone'),
  payment('none, processing', 'auto', (one) => ({ lost: one.initiate, lostUnsigned: one.execute }), 'gone'),
  payment('none, completed', 'auto', (one) => ({
    async lost() {
      await one.initiate();
      await one.execute();
    },
  })),
  payment('created, initiated', 'auto', (one) => ({
    copied: one.create,
    lost: () => one.sign('initiator'),
    async anew() {
      await one.sign('initiator');
      await one.execute();
    },
  })),
  payment('initiated, approved', 'approved', (one) => ({
    copied: one.initiate,
    lost: () => one.sign('approve'),
    anew: () => one.sign('approve', NOW),
  })),
  payment('initiated, processing', 'approved', (one) => ({
    copied: one.initiate,
    lostUnsigned: () => one.sign('approve', NOW),
    anew: () => one.sign('approve', NOW),
  })),
  payment('initiated, completed', 'approved', (one) => ({
    copied: one.initiate,
    lost: () => one.sign('approve', NOW),
  })),
  payment(
    'initiated, rejected',
    'approved',
    (one) => ({ copied: one.initiate, lost: () => one.sign('reject', NOW) }),
    'rejected',
  ),
  payment('initiated, expired', 'approved', (one) => ({
    copied: one.initiate,
    lost: () => expire(one.shown),
    anew: () => one.sign('approve', NOW),
  })),
  payment('ready, processing', 'auto', (one) => ({
    copied: one.initiate,
    lostUnsigned: one.execute,
    anew: one.execute,
  })),
  payment('ready, failed', 'auto', (one) => ({
    async copied() {
      const account = await ownAccount();
      one.account = () => account;
      await one.initiate();
    },
    lost: one.execute,
    async anew() {
      await fund(one.account());
      await one.execute();
    },
  })),
  payment('failed, processing', 'auto', (one) => ({
    async copied() {
      const account = await ownAccount();
      one.account = () => account;
      await one.initiate();
      await one.execute();
    },
    lost: () => fund(one.account()),
    lostUnsigned: one.execute,
    anew: one.execute,
  })),
  payment('processing, completed', 'auto', (one) => ({
    copied: one.initiate,
    copiedUnsigned: one.execute,
  })),
  payment('a signature is repeated', 'approved', (one) => ({
    copied: one.initiate,
    lost: () => one.sign('approve', {}, signKey),
    async anew() {
      await one.sign('approve', {}, signKey);
      await one.execute();
    },
  })),
  payment('an execution is repeated', 'auto', (one) => ({
    copied: one.initiate,
    lostUnsigned: () => one.executeWith(executeKey),
    anew: () => one.executeWith(executeKey),
  })),
  payment('a creation is repeated', 'auto', (one) => ({
    lost: () => one.createWith(createKey),
    async anew() {
      await one.createWith(createKey);
      await one.sign('initiator');
      await one.execute();
    },
  })),
  payment('ready, blocked', 'once', (one) => ({
    copied: one.initiate,
    // Its budget was spent by another one.
    async lost() {
      await spendBudget('once');
      await one.sign('approve', NOW);
      await one.is('blocked', { failure: { code: 'budget' } });
    },
    async anew() {
      await one.sign('approve', NOW);
      await one.is('blocked', { failure: { code: 'budget' } });
      await one.sign('reject', NOW);
    },
    end: 'rejected',
  })),
  payment('blocked, rejected', 'spent', (one) => ({
    async copied() {
      await spendBudget('spent');
      await one.initiate();
      await one.sign('approve', NOW);
      await one.is('blocked', { failure: { code: 'budget' } });
    },
    lost: () => one.sign('reject', NOW),
    end: 'rejected',
  })),
  payment('processing, cancelling', 'auto', (one) => ({
    copied: one.initiate,
    async lostUnsigned() {
      await one.execute();
      await one.cancel();
    },
    anew: one.execute,
  })),
  payment('cancelling, cancelled', 'auto', (one) => ({
    copied: one.initiate,
    async copiedUnsigned() {
      await one.execute();
      await one.cancel();
    },
    // It is signed when the signer is back, and not sent: the empty call takes its nonce.
    lost: () => one.is('failed', { failure: { code: 'timeout', retryable: false } }),
    end: 'failed',
  })),
  // From here on in the order of what the relayers of the other network have: nothing, plenty, nothing.
  payment('waits for funds, rejected', 'other', (one) => ({
    async copied() {
      await one.initiate();
      await one.execute();
      await one.is('failed', WAITS_FOR_FUNDS);
    },
    lost: () => one.sign('reject', NOW),
    end: 'rejected',
  })),
  payment('waits for funds, completed', 'other', (one) => ({
    async copied() {
      await one.initiate();
      await one.execute();
      await one.is('failed', WAITS_FOR_FUNDS);
    },
    async lost() {
      await setFunds(PLENTY);
      await blocks(true);
      await one.is('completed');
    },
  })),
  payment('first in the pool, completed', 'other', (one) => ({
    copiedUnmined: one.sendOnly,
    lost: () => one.is('completed'),
  })),
  payment('next in the pool, completed', 'other', (one) => ({
    copiedUnmined: one.sendOnly,
    lost: () => one.is('completed'),
  })),
  deployment('partly deployed, completed', (one) => ({
    async copied() {
      await one.propose();
      await one.sign('approve', NOW);
      await one.is('failed', PARTLY_DEPLOYED);
    },
    async lost() {
      await one.execute();
      await one.is('completed');
      await setFunds(0n);
    },
    anew: one.execute,
  })),
  payment('ready, waits for funds', 'other', (one) => ({
    copied: one.initiate,
    async lost() {
      await one.execute();
      await one.is('failed', WAITS_FOR_FUNDS);
    },
    anew: one.execute,
  })),
  deployment('created, partly deployed', (one) => ({
    copied: one.propose,
    async lost() {
      await one.sign('approve', NOW);
      await one.is('failed', PARTLY_DEPLOYED);
    },
  })),
  proposal('none, created', (one) => ({ lost: one.propose }), 'gone'),
  proposal(
    'none, processing',
    (one) => ({ lost: one.propose, lostUnsigned: () => one.sign('approve', NOW) }),
    'gone',
  ),
  proposal('created, approved', (one) => ({
    copied: one.propose,
    lost: () => one.sign(),
    anew: () => one.sign('approve', NOW),
  })),
  proposal('created, processing', (one) => ({
    copied: one.propose,
    lostUnsigned: () => one.sign('approve', NOW),
    anew: () => one.sign('approve', NOW),
  })),
  proposal('created, completed', (one) => ({ copied: one.propose, lost: () => one.sign('approve', NOW) })),
  proposal(
    'created, rejected',
    (one) => ({ copied: one.propose, lost: () => one.sign('reject', NOW) }),
    'rejected',
  ),
  proposal('approved, processing', (one) => ({
    async copied() {
      await one.propose();
      await one.sign();
    },
    lostUnsigned: one.execute,
    anew: one.execute,
  })),
  proposal('processing, completed', (one) => ({
    copied: one.propose,
    copiedUnsigned: () => one.sign('approve', NOW),
  })),
  proposal('a creation is repeated', (one) => ({
    lost: () => one.proposeWith(proposeKey),
    async anew() {
      await one.proposeWith(proposeKey);
      await one.sign('approve', NOW);
    },
  })),
  proposal('a signature is repeated', (one) => ({
    copied: one.propose,
    lost: () => one.signWith(voteKey),
    async anew() {
      await one.signWith(voteKey);
      await one.sign('approve', NOW, [org.bob]);
    },
  })),
];

function rpcUrl(networkId = NETWORK_ID): string {
  return endpointOf(requireRow(service.config.networks.find(({ id }) => id === networkId)));
}

/** What the API shows of an approval now; undefined when there is none. */
async function read({ subject, shown }: Pick<Case, 'subject' | 'shown'>): Promise<Shown | undefined> {
  const { id, resourceType } = shown();
  const path = subject === 'transaction' ? transactionPath(id) : proposalPath(id, '', resourceType);
  const { status, body, text } = await service.http.send({ key: org.readKey, path });
  if (status !== 200 && status !== 404) throw new Error(`${status} ${text}`);
  return body.data;
}

function workflowOf({ subject, shown }: Case) {
  const { id, resourceType } = shown();
  const ref =
    subject === 'transaction'
      ? ({ subject, organizationId: org.id, id } as const)
      : ({ subject, organizationId: org.id, id, resourceType } as const);
  return temporal.workflow.getHandle(approvalWorkflowId(ref));
}

/** Takes one step of all cases, one after the other where people act, and waits for what it begins. */
async function all(step: 'copied' | 'copiedUnsigned' | 'lost' | 'lostUnsigned'): Promise<void> {
  const isUnsigned = step.endsWith('Unsigned');
  const acting = cases.filter((one) => one[step]);
  if (isUnsigned) {
    // Nothing ends without the signer: each answer takes as long as the API waits.
    await Promise.all(acting.map((one) => one[step]?.()));
    for (const one of acting) expect(await read(one)).toMatchObject({ executionStatus: 'processing' });
    return;
  }
  for (const one of acting) await one[step]?.();
  const unmined = step === 'copied' ? cases.filter((one) => one.copiedUnmined) : [];
  await until('nothing is in progress', async () => {
    const processing = db('approvals').where({ execution_status: 'processing' });
    const ids = unmined.map(({ shown }) => shown().id);
    return (await processing.whereNotIn('id', ids).first('id')) === undefined;
  });
}

/** What the relayers of the other network have sent and no block has, before they lose what they have. */
async function sendUnmined(): Promise<void> {
  await blocks(false);
  await Promise.all(cases.map((one) => one.copiedUnmined?.()));
  await setFunds(0n);
}

/** Pays what a policy permits. */
async function spendBudget(policy: 'once' | 'spent'): Promise<void> {
  const one = new Payment(policy);
  await one.initiate();
  await one.sign('approve', NOW);
  await one.is('completed');
}

/** Policies of one payment per hour that Alice approves, and one of the other network. */
async function makeMorePolicies() {
  const condition = { tokenAddress: zeroAddress, amountThreshold: '1', destinationAddresses: [] };
  const common = {
    ...{ accountIds: null, initiatorSetting: null, transactionType: 'TOKEN_TRANSFER' },
    tokenTransferCondition: condition,
  };
  const scopes = {
    initiatorScope: 'ALL_ITEMS',
    sourceAccountScope: 'ALL_ITEMS',
    destinationScope: 'ALL_ITEMS',
  };
  const once = {
    ...{ ...common, networkId: NETWORK_ID, type: 'MANUAL_APPROVAL', limitation: { hours: 1, ...scopes } },
    approverSetting: { type: 'user', memberId: org.alice.id },
  };
  const other = { ...common, name: 'Elsewhere', networkId: OTHER_ID, type: 'AUTO_APPROVAL' };
  const made = [{ ...once, name: 'Once' }, { ...once, name: 'Spent' }, other];
  const [policy, spent, elsewhere] = await makePolicies(service.http, org, ...made);
  return { once: policy, spent, other: elsewhere };
}

/** The copy takes the place of the database. It has some of the requests, and not what they have led to. */
async function restore(): Promise<void> {
  const requests = await db('idempotency_requests').whereIn('key', keys);
  expect(requests).toHaveLength(keys.length);
  await db.destroy();
  await copyDatabase(backup, database.name);
  db = connectAsOwner(env, 4);
  const unanswered = { answered_at: null, status: null, response_body: null, location: null };
  for (const request of requests) {
    await db('idempotency_requests').insert({
      ...{ ...request, ...unanswered, body: JSON.stringify(request.body) },
      lease_until: new Date(0),
    });
  }
}

beforeAll(async () => {
  database = await createTestDatabase();
  backup = `${database.name}_backup`;
  otherChain = await startOwnChain(OTHER_ID);
  const main = sharedStack().chains.find(({ chainId }) => chainId === NETWORK_ID);
  const networks = [
    { id: NETWORK_ID, name: 'Main', rpcUrl: main?.rpcUrl },
    { id: OTHER_ID, name: 'Other', rpcUrl: otherUrl() },
  ];
  const settings = await serviceSettings({
    database: databaseSettings(database),
    env: { RECONCILE_EVERY: '2s', NETWORKS_FILE: networksFile(networks) },
  });
  signer = await startServiceProcess(settings, { roles: ['signer'] });
  service = await startServiceProcess(settings, { roles: ['api', 'worker', 'chain'] });
  env = signer.env;
  db = connectAsOwner(env, 4);
  const { keystore, temporal: of } = signer.config;
  org = await makeOrganization(db, {
    keystore: await openKeystore({ file: keystore.file, passphrase: env.KEYSTORE_PASSPHRASE ?? '' }),
  });
  temporal = new Client({
    connection: await Connection.connect({ address: of.address }),
    namespace: of.namespace,
  });
  await fundRelayers(db, service.config);
  funded = await ownAccount([NETWORK_ID, OTHER_ID]);
  await fund(funded);
  await fundOnLocalChain(otherUrl(), funded.address);
  policies = {
    ...(await makePaymentPolicies(service.http, org, NETWORK_ID)),
    ...(await makeMorePolicies()),
  };

  await sendUnmined();
  await all('copied');
  await signer.stop();
  await all('copiedUnsigned');
  await service.stop();
  await copyDatabase(database.name, backup);

  await Promise.all([service.start(), signer.start()]);
  await all('lost');
  await signer.stop();
  await all('lostUnsigned');
  await service.stop();
  await restore();
  await json(env, 'signer', 'reconcile-restore', '--write');
  await setFunds(PLENTY);
  await Promise.all([service.start(), signer.start()]);
}, LIMIT_MS);
afterAll(async () => {
  await temporal?.connection.close();
  await service?.stop();
  await signer?.stop();
  await otherChain?.stop();
  await db?.destroy();
});

describe('an older copy is restored, and Temporal remembers what it lacks', () => {
  test.each(cases.map((one) => [one.name, one] as const))(
    '%s',
    async (_name, one) => {
      await one.anew?.();
      await until('its workflow has ended', async () => {
        const { status } = await workflowOf(one).describe();
        if (status.name === 'RUNNING') throw new Error(JSON.stringify(await read(one)));
        return true;
      });
      const { historyLength } = await workflowOf(one).describe();
      expect(historyLength).toBeLessThan(MOST_EVENTS);
      const now = await read(one);
      if (one.end === 'gone') expect(now).toBeUndefined();
      else expect(now).toMatchObject({ executionStatus: one.end });
      if (!one.to) return;
      const client = createPublicClient({ transport: rpcTransport(rpcUrl(one.networkId)) });
      expect(await client.getBalance({ address: one.to })).toBe(one.end === 'completed' ? 1n : 0n);
    },
    LIMIT_MS,
  );

  test('its audit log is unbroken', async () => {
    expect(await verifyAudit(db, org.id)).toMatchObject({ ok: true });
  });
});
