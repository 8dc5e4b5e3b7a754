import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { createPublicClient, type Hex, http as rpcTransport } from 'viem';
import { openKeystore } from '../../src/chain/keystore';
import { verifyAudit } from '../../src/db/audit';
import type { Db } from '../../src/db/database';
import { requireRow } from '../../src/db/rows';
import type { Subject } from '../../src/domain/approval';
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
import { copyDatabase, createTestDatabase, endpointOf, fundOnLocalChain } from '../support/stack';
import {
  aTransactionBody,
  createTransaction,
  initiate,
  makePaymentPolicies,
  signatureBody,
  TRANSACTIONS,
  transactionPath,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';

const LIMIT_MS = 600_000;
/** A workflow that spins has thousands. */
const MOST_EVENTS = 400;

let env: NodeJS.ProcessEnv;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let backup: string;
let service: ServiceProcess;
let signer: ServiceProcess;
let db: Db;
let org: TestOrganization;
let funded: Shown;
let policies: { auto: Shown; approved: Shown };
let temporal: Client;

type Step = () => Promise<unknown>;

/** One approval: what the copy has of it, what Temporal knows of it beyond that, and how it goes on after the restore. */
interface Case {
  readonly name: string;
  readonly subject: Subject;
  /** Up to what the copy has, with the signer and then without it. */
  readonly copied?: Step;
  readonly copiedUnsigned?: Step;
  /** What is lost, with the signer and then without it. */
  readonly lost?: Step;
  readonly lostUnsigned?: Step;
  /** What people do anew. */
  readonly anew?: Step;
  readonly end: 'completed' | 'rejected' | 'gone';
  readonly shown: () => Shown;
  readonly to?: Hex;
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

  constructor(private readonly policy: 'auto' | 'approved') {}

  private body() {
    return aTransactionBody(org, { account: this.account(), policy: policies[this.policy], to: this.to });
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
}

/** A proposal of a new member in the making. */
class Proposal {
  shown: Shown;
  private readonly item = { name: `Member ${randomUUID()}`, type: 'user', walletAddress: anAddress() };
  propose = async () => {
    this.shown = await proposeChange(service.http, org, '/members/proposals/create', { items: [this.item] });
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
    const path = proposalPath(this.shown.id, '/execute', 'members');
    await send({ key: org.adminKey, path, body: { type: 'approve' } });
  };
}

const NOW = { execute: true };

function payment(
  name: string,
  policy: 'auto' | 'approved',
  steps: (one: Payment) => Partial<Case>,
  end: Case['end'] = 'completed',
): Case {
  const one = new Payment(policy);
  return {
    ...{ name: `transaction: ${name}`, subject: 'transaction', to: one.to, shown: () => one.shown, end },
    ...steps(one),
  };
}

function proposal(
  name: string,
  steps: (one: Proposal) => Partial<Case>,
  end: Case['end'] = 'completed',
): Case {
  const one = new Proposal();
  return { name: `proposal: ${name}`, subject: 'proposal', shown: () => one.shown, end, ...steps(one) };
}

/** Requests whose answers are lost as well, while the copy has the requests. */
const keys = Array.from({ length: 5 }, () => randomUUID());
const [signKey = '', executeKey = '', createKey = '', proposeKey = '', voteKey = ''] = keys;

async function ownAccount(): Promise<Shown> {
  return makeAccount(service.http, org, { networkIds: [NETWORK_ID] });
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

function rpcUrl(): string {
  return endpointOf(requireRow(service.config.networks.find(({ id }) => id === NETWORK_ID)));
}

/** What the API shows of an approval now; undefined when there is none. */
async function read({ subject, shown }: Case): Promise<Shown | undefined> {
  const { id } = shown();
  const path = subject === 'transaction' ? transactionPath(id) : proposalPath(id, '', 'members');
  const { status, body, text } = await service.http.send({ key: org.readKey, path });
  if (status !== 200 && status !== 404) throw new Error(`${status} ${text}`);
  return body.data;
}

function workflowOf({ subject, shown }: Case) {
  const { id } = shown();
  const ref =
    subject === 'transaction'
      ? ({ subject, organizationId: org.id, id } as const)
      : ({ subject, organizationId: org.id, id, resourceType: 'members' } as const);
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
  await until('nothing is in progress', async () => {
    return (await db('approvals').where({ execution_status: 'processing' }).first('id')) === undefined;
  });
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
  const settings = await serviceSettings({
    database: databaseSettings(database),
    env: { RECONCILE_EVERY: '2s' },
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
  funded = await ownAccount();
  await fund(funded);
  policies = await makePaymentPolicies(service.http, org, NETWORK_ID);

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
  await Promise.all([service.start(), signer.start()]);
}, LIMIT_MS);
afterAll(async () => {
  await temporal?.connection.close();
  await service?.stop();
  await signer?.stop();
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
      const client = createPublicClient({ transport: rpcTransport(rpcUrl()) });
      expect(await client.getBalance({ address: one.to })).toBe(one.end === 'completed' ? 1n : 0n);
    },
    LIMIT_MS,
  );

  test('its audit log is unbroken', async () => {
    expect(await verifyAudit(db, org.id)).toMatchObject({ ok: true });
  });
});
