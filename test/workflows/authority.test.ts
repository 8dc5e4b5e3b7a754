import { randomUUID } from 'node:crypto';
import { issueApiKey, revokeApiKey } from '../../src/credentials/apiKeys';
import { holdCredential } from '../../src/db/authority';
import type { Tx } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import { OPERATOR } from '../../src/domain/actor';
import type { ApprovalRef } from '../../src/domain/approvalRef';
import {
  executeApproval,
  type MessageOutcome,
  signApproval,
  startApproval,
} from '../../src/temporal/approvalMessages';
import type { WorkflowSender } from '../../src/temporal/client';
import { taskQueues } from '../../src/temporal/ids';
import { PROPOSE, propose, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import type { TestMember, TestOrganization } from '../support/service';
import { storeRequest } from '../support/storedRequests';
import {
  aTransactionBody,
  createTransaction,
  initiate,
  readTransaction,
  signatureBody,
  signed,
  TRANSACTIONS,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';
import { makePayer } from './transactionWorld';
import { startWorld, voteOf, type World } from './world';

let world: World;
let org: TestOrganization;
let payer: Awaited<ReturnType<typeof makePayer>>;

beforeAll(async () => {
  world = await startWorld();
  org = await world.createOrganization();
  payer = await makePayer(world, org, NETWORK_ID);
});
afterAll(() => world?.stop());

/** How the API sends. */
const sender = (): WorkflowSender => ({
  client: world.temporal,
  queues: taskQueues(world.config.temporal.taskQueue),
  deadlineMs: 20_000,
});

const issue = async (member: TestMember) =>
  (
    await world.db.transaction((tx) =>
      issueApiKey(tx, { organizationId: org.id, memberIds: [member.id], actor: OPERATOR }),
    )
  ).id;
const revokeIn = (tx: Tx, apiKeyId: string) => revokeApiKey(tx, { apiKeyId, actor: OPERATOR });
const revoke = (apiKeyId: string) => world.db.transaction((tx) => revokeIn(tx, apiKeyId));

/** Stores a request as the API does, before it sends it on. Returns its id, which is its idempotency key too. */
const request = (credentialId: string, path: string, body: object, resourceId: string, of = org) =>
  storeRequest(world.db, { organizationId: of.id, credentialId, path, body, resourceId });

/** With what the API adds to a body that lacks it. */
const payment = () => ({ metadata: {}, tags: [], ...aTransactionBody(org, { ...payer, to: anAddress() }) });

const proposalRef = (id: string): ApprovalRef => ({
  subject: 'proposal',
  organizationId: org.id,
  id,
  resourceType: 'accounts',
  action: 'create',
});
const transactionRef = (id: string): ApprovalRef => ({ subject: 'transaction', organizationId: org.id, id });

/** What can be requested, each sent on as the API does. */
const effects: [
  name: string,
  by: () => TestMember,
  prepare: (key: string) => Promise<(updateId?: string) => Promise<MessageOutcome>>,
][] = [
  [
    'creates no proposal',
    () => org.bot,
    async (key) => {
      const id = newId('prop');
      const body = { items: [{ name: `Late ${id}`, networkIds: [NETWORK_ID] }] };
      return start(proposalRef(id), await request(key, PROPOSE, body, id));
    },
  ],
  [
    'creates no transaction',
    () => org.otherBot,
    async (key) => {
      const id = newId('txn');
      return start(transactionRef(id), await request(key, TRANSACTIONS, payment(), id));
    },
  ],
  [
    'delivers no vote on a proposal',
    () => org.bot,
    async (key) => {
      const proposal = await propose(world.http, org);
      const { signature } = await voteOf(org.alice, proposal);
      return sign(proposalRef(proposal.id), key, { type: 'approve', signature });
    },
  ],
  [
    'delivers no vote on a transaction',
    () => org.otherBot,
    async (key) => {
      const created = await createTransaction(world.http, org, payment());
      const { signature } = await signatureBody(created, org.dave, 'initiator');
      return sign(transactionRef(created.id), key, { type: 'initiator', signature, execute: true });
    },
  ],
  [
    'executes no proposal',
    () => org.bot,
    async (key) => {
      const proposal = await propose(world.http, org);
      for (const member of [org.alice, org.bob]) await deliver(proposal, member);
      return execute(proposalRef(proposal.id), key, 'approve');
    },
  ],
  [
    'executes no transaction',
    () => org.otherBot,
    async (key) => {
      const transaction = await initiate(world.http, org, payment());
      return execute(transactionRef(transaction.id), key, 'approve');
    },
  ],
  [
    'executes no rejection of a transaction',
    () => org.otherBot,
    async (key) => {
      const transaction = await initiate(world.http, org, payment());
      await signed(world.http, org, transaction, org.dave, 'reject');
      return execute(transactionRef(transaction.id), key, 'reject');
    },
  ],
];

function start(ref: ApprovalRef, requestId: string) {
  const more = { requestedAt: new Date(), accountIds: [], networkIds: [], lifetimeMs: 60_000 };
  return () => startApproval(sender(), ref, { requestId, ...more });
}

async function sign(
  ref: ApprovalRef,
  key: string,
  vote: { type: 'initiator' | 'approve'; signature: string; execute?: boolean },
) {
  const requestId = await request(key, 'signatures', vote, ref.id);
  return (updateId?: string) => signApproval(sender(), ref, { execute: false, ...vote, requestId }, updateId);
}

async function execute(ref: ApprovalRef, key: string, type: 'approve' | 'reject') {
  const requestId = await request(key, 'execute', { type }, ref.id);
  return (updateId?: string) => executeApproval(sender(), ref, { requestId, type }, updateId);
}

async function deliver(proposal: Shown, member: TestMember) {
  const body = await voteOf(member, proposal);
  const path = `/api/v1/accounts/proposals/${proposal.id}/signatures`;
  expect((await world.http.send({ key: org.adminKey, path, body })).status).toBe(200);
}

/** What is stored apart from what the signer writes, which knows no credentials. */
async function effectsOf() {
  const { authorizations: _, ...stored } = await org.stored();
  return stored;
}

const NOT_STORED = { ok: false, refusal: { code: 'internalError' } };
const UNAUTHORIZED = { ok: false, refusal: { code: 'unauthorized' } };

/** Until so many wait for locks that other transactions of this database have, or `hasEnded`. */
const untilBlocked = (most = 1, hasEnded = () => false) =>
  until('the effect waits', async () => {
    const { rows } = await world.db.raw(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return hasEnded() || rows.length >= most;
  });

describe.each(effects)('a request that was queued %s', (_name, by, prepare) => {
  it('once its key is revoked', async () => {
    const key = await issue(by());
    const send = await prepare(key);
    await revoke(key);
    const before = await org.stored();
    expect(await send()).toMatchObject(UNAUTHORIZED);
    expect(await org.stored()).toEqual(before);
  });

  it('while its key is being revoked', async () => {
    const key = await issue(by());
    const send = await prepare(key);
    let sent: Promise<MessageOutcome> | undefined;
    await world.db.transaction(async (tx) => {
      await revokeIn(tx, key);
      sent = send();
      await untilBlocked();
    });
    const before = await effectsOf();
    expect(await sent).toMatchObject(UNAUTHORIZED);
    expect(await effectsOf()).toEqual(before);
  });

  it('while the revocation of its key waits for an effect that is being written', async () => {
    const key = await issue(by());
    const send = await prepare(key);
    let hasEnded = false;
    const { revoked, sent } = await world.db.transaction(async (tx) => {
      await holdCredential(tx, key);
      const revoking = revoke(key);
      await untilBlocked();
      const sending = send().finally(() => {
        hasEnded = true;
      });
      await untilBlocked(2, () => hasEnded);
      return { revoked: revoking, sent: sending };
    });
    expect(await revoked).toBe(true);
    expect(await sent).toMatchObject(UNAUTHORIZED);
  });
});

/** Loses the requests of a credential. Returns what brings them back. */
async function loseRequests(credential_id: string): Promise<() => Promise<unknown>> {
  const lost = await world.db('idempotency_requests').where({ credential_id }).delete().returning('*');
  const rows = lost.map((row) => ({ ...row, body: JSON.stringify(row.body) }));
  return async () => world.db('idempotency_requests').insert(rows);
}

describe.each(effects)('a message whose request is not stored any more %s', (_name, by, prepare) => {
  it('before it has taken effect', async () => {
    const key = await issue(by());
    const send = await prepare(key);
    await revoke(key);
    await loseRequests(key);
    const before = await effectsOf();
    expect(await send()).toMatchObject(NOT_STORED);
    expect(await effectsOf()).toEqual(before);
  });
});

describe.each(effects.slice(2))('a message whose request is not stored any more %s', (_name, by, prepare) => {
  const written = async () => {
    const { votes, received_messages: received, evidence } = await org.stored();
    return { votes, received, evidence };
  };

  it('again, and is answered as before', async () => {
    const key = await issue(by());
    const send = await prepare(key);
    expect(await send()).toMatchObject({ ok: true });
    const before = await written();
    await loseRequests(key);
    const again = await send(randomUUID());
    // What rejects ends its workflow.
    expect('workflowClosed' in again || again.ok).toBe(true);
    expect(await written()).toEqual(before);
  });
});

it('a rejection that a revoked key asks for is not recorded by the signer', async () => {
  const transaction = await initiate(world.http, org, payment());
  await signed(world.http, org, transaction, org.dave, 'reject');
  const key = await issue(org.otherBot);
  const send = await execute(transactionRef(transaction.id), key, 'reject');
  await revoke(key);
  expect(await send()).toMatchObject(UNAUTHORIZED);
  expect(await world.db('authorizations').where({ transaction_id: transaction.id })).toEqual([]);
  expect((await readTransaction(world.http, org, transaction)).executionStatus).toBeNull();
});

it('a key that is no longer an admin’s creates no proposal from a queued request', async () => {
  const own = await world.createOrganization();
  const id = newId('prop');
  const body = { items: [{ name: 'Late', networkIds: [NETWORK_ID] }] };
  const requestId = await request(own.adminKeyId, PROPOSE, body, id, own);
  await world.db('admin_set_members').where({ member_id: own.bot.id }).delete();
  const sent = await start({ ...proposalRef(id), organizationId: own.id }, requestId)();
  expect(sent).toMatchObject({ ok: false, refusal: { code: 'forbidden' } });
});

it('what was refused to a revoked key is carried out for another key that sends the same request', async () => {
  const key = await issue(org.bot);
  const id = newId('prop');
  const body = { items: [{ name: `Again ${id}`, networkIds: [NETWORK_ID] }] };
  const requestId = await request(key, PROPOSE, body, id);
  await revoke(key);
  expect(await start(proposalRef(id), requestId)()).toMatchObject(UNAUTHORIZED);
  const ask = { key: org.adminKey, path: PROPOSE, body, idempotencyKey: requestId };
  const sent = await world.http.send(ask);
  expect([sent.status, sent.body.data.id === id]).toEqual([201, false]);
});

describe('a request that the database has lost, and has again', () => {
  it('creates a proposal', async () => {
    const key = await issue(org.bot);
    const id = newId('prop');
    const body = { items: [{ name: `Back ${id}`, networkIds: [NETWORK_ID] }] };
    const requestId = await request(key, PROPOSE, body, id);
    const bringBack = await loseRequests(key);
    expect(await start(proposalRef(id), requestId)()).toMatchObject(NOT_STORED);
    await bringBack();
    const sent = await world.http.send({ key: org.adminKey, path: PROPOSE, body, idempotencyKey: requestId });
    expect([sent.status, sent.body.data?.id]).toEqual([201, id]);
  });

  it('delivers a vote', async () => {
    const key = await issue(org.bot);
    const proposal = await propose(world.http, org);
    const body = await voteOf(org.alice, proposal);
    const path = `/api/v1/accounts/proposals/${proposal.id}/signatures`;
    const requestId = await request(key, path, body, proposal.id);
    const bringBack = await loseRequests(key);
    const vote = { type: 'approve', signature: body.signature, execute: false, requestId } as const;
    expect(await signApproval(sender(), proposalRef(proposal.id), vote)).toMatchObject(NOT_STORED);
    await bringBack();
    const sent = await world.http.send({ key: org.adminKey, path, body, idempotencyKey: requestId });
    expect([sent.status, sent.body.data?.approvals]).toMatchObject([200, [{ id: org.alice.id }]]);
  });
});

it('a request that the database has lost is answered with when to send it again', async () => {
  const body = { items: [{ name: 'Lost', networkIds: [NETWORK_ID] }] };
  const idempotencyKey = randomUUID();
  const ask = { key: org.adminKey, path: PROPOSE, body, idempotencyKey };
  await world.db.raw(`CREATE FUNCTION lose_request() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN DELETE FROM idempotency_requests WHERE id = NEW.id; RETURN NULL; END$$`);
  await world.db.raw(`CREATE TRIGGER lose_request AFTER INSERT ON idempotency_requests
    FOR EACH ROW WHEN (NEW.key = '${idempotencyKey}') EXECUTE FUNCTION lose_request()`);
  const refused = await world.http.send(ask);
  expect([refused.status, refused.body.code]).toEqual([500, 'internalError']);
  expect(refused.headers['retry-after']).toBe('2');
  await world.db.raw('DROP FUNCTION lose_request CASCADE');
  expect((await world.http.send(ask)).status).toBe(201);
});
