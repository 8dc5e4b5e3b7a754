import { randomUUID } from 'node:crypto';
import pino from 'pino';
import type { Address } from 'viem';
import { createIdempotency, type MutationRequest, type MutationWork } from '../../src/api/idempotency';
import { assertWritable, createDatabase, type Db } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import { listenForNotifications } from '../../src/db/notifications';
import { insertMessage, isMessageReceived } from '../../src/db/receivedMessages';
import type { TransactionRef } from '../../src/domain/transaction';
import type { JournalEntry } from '../../src/signer/journal/entries';
import { TransactionWorld } from '../chain/transactionWorld';
import { anAddress } from '../support/builders';
import { type ReplicatedPostgres, startReplicatedPostgres } from '../support/failover';
import { until } from '../support/until';

jest.setTimeout(180_000);

const payee = anAddress() as Address;
let postgres: ReplicatedPostgres;
let world: TransactionWorld;
let signerDb: Db;
let standby: Db;

beforeEach(async () => {
  postgres = await startReplicatedPostgres();
  world = await TransactionWorld.start(41_211, {}, postgres.database);
  signerDb = createDatabase(postgres.served.signerUrl, { poolMax: 4 });
  standby = createDatabase(postgres.standbyUrl, { poolMax: 2 });
});
afterEach(async () => {
  await signerDb?.destroy();
  await standby?.destroy();
  await world?.stop();
  await postgres?.stop();
});

/** A signer whose primary is lost after the commit, before the journal has an entry of that type. */
function losing(type: JournalEntry['type']) {
  const { journal } = world;
  let isLost = false;
  const append = async (...entries: readonly JournalEntry[]) => {
    if (!isLost && entries.some((entry) => entry.type === type)) {
      isLost = true;
      await postgres.failOver();
    }
    await journal.append(...entries);
  };
  return world.signerWith({ db: signerDb, journal: Object.assign(Object.create(journal), { append }) });
}

const stored = ({ transactionId }: TransactionRef) =>
  standby('authorizations').where({ transaction_id: transactionId });

test('a rejection that a failover has lost is in the journal, and nothing of it is ever signed', async () => {
  const { alice, bob, carol } = world.org;
  const groupId = newId('grp');
  const memberIds = [alice, bob, carol].map(({ id }) => id).sort();
  await world.decide([{ type: 'group', id: groupId, after: { id: groupId, name: groupId, memberIds } }]);
  const policyId = await world.policy({
    type: 'MANUAL_APPROVAL',
    approverSetting: { type: 'group', groupId, threshold: 2, excludeInitiator: false },
  });
  const ref = await world.transaction(
    { to: payee, value: 5n },
    { policyId, approvers: [alice, bob], begun: false },
  );
  for (const member of [bob, carol]) await world.vote(ref, member, 'reject');
  const terms = await world.terms(ref);
  const signer = losing('rejection');
  await postgres.fallBehind();
  expect(await signer.recordRejection(ref)).toMatchObject({ ok: true });
  expect(await stored(ref)).toEqual([]);
  expect(world.journal.isRejected(ref.transactionId)).toBe(true);

  await standby('approvals').where({ id: ref.transactionId }).update({ execution_status: 'processing' });
  expect(await signer.signTransaction({ ...ref, terms })).toMatchObject({
    refused: { message: expect.stringContaining('has been rejected') },
  });
  expect(await signer.recordRejection(ref)).toMatchObject({ ok: true });
  expect(await stored(ref)).toMatchObject([{ outcome: 'rejected' }]);
  expect(world.journal.authorizationOf(ref.transactionId)).toBeUndefined();
});

test('an authorization that a failover has lost is signed at no other nonce', async () => {
  const account = await world.account();
  const ref = await world.transaction({ to: payee, value: 5n }, { account });
  const other = await world.transaction({ to: payee, value: 7n }, { account });
  const terms = await world.terms(ref);
  const signer = losing('authorization');
  await postgres.fallBehind();
  // Its bytes are signed, and cannot be stored.
  await expect(signer.signTransaction({ ...ref, terms })).rejects.toThrow();
  expect(await stored(ref)).toEqual([]);
  expect(world.journal.authorizationOf(ref.transactionId)).toMatchObject({ safeNonce: 0n });
  for (const one of [ref, other]) {
    expect(await signer.signTransaction({ ...one, terms })).toMatchObject({ reason: 'rollback' });
  }
});

test.each([
  ['together with its request', 'prepare'],
  ['but not its request', 'send'],
] as const)('what a failover has lost %s is not answered with success', async (_case, behindSince) => {
  const ref = await world.transaction({ to: payee, value: 5n }, { begun: false });
  const api = createDatabase(postgres.served.serviceUrl, { poolMax: 4 });
  const idempotency = createIdempotency({ db: api, retentionMs: 60_000, logger: pino({ enabled: false }) });
  const sent: { readonly id: string; readonly isRepeated: boolean }[] = [];
  const work: MutationWork = {
    readBody: () => ({}),
    takeTurn: async () => () => undefined,
    authorize: async () => undefined,
    async check() {
      if (sent.length === 0 && behindSince === 'prepare') await postgres.fallBehind();
      return { resourceId: ref.transactionId };
    },
    async send(request) {
      const isFirst = sent.push(request) === 1;
      if (isFirst && behindSince === 'send') await postgres.fallBehind();
      await insertMessage(api, ref.transactionId, request.id, 'sign');
      if (isFirst) {
        await postgres.failOver();
        await until('the API reaches the new primary', () => assertWritable(api).then(() => true));
      }
      return { status: 200, body: '{}', location: null };
    },
    show: () => Promise.reject(new Error('it has created nothing')),
  };
  const request: MutationRequest = {
    ...{ organizationId: world.org.id, credentialId: newId('key'), key: randomUUID(), method: 'POST' },
    ...{ path: '/api/v1/transactions/sign', sentBody: {} },
  };
  const run = () => idempotency.run(request, work, performance.now() + 30_000);
  try {
    await expect(run()).rejects.toMatchObject({ status: 500, message: expect.stringContaining('has lost') });
    expect(await run()).toMatchObject({ status: 200, replayed: false });
    expect(sent.map(({ isRepeated }) => isRepeated)).toEqual([false, behindSince === 'send']);
    expect(await isMessageReceived(api, ref.transactionId, sent[1]?.id ?? '')).toBe(true);
  } finally {
    idempotency.stop();
    await api.destroy();
  }
});

test('no connection that was opened on a standby outlasts the moment when its name leads to the primary', async () => {
  const pool = createDatabase(postgres.served.signerUrl, { poolMax: 4 });
  const notifications = listenForNotifications(postgres.served.signerUrl, ['somewhere'], {
    everyMs: 200,
    answerLimitMs: 1_000,
  });
  let isReceived = false;
  notifications.subscribe('somewhere', 'now', () => {
    isReceived = true;
  });
  const write = () => pool.raw("SELECT pg_notify('somewhere', 'now')");
  const all = (work: () => Promise<unknown>) => Promise.allSettled(Array.from({ length: 8 }, work));
  const failed = (results: readonly PromiseSettledResult<unknown>[]) =>
    results.filter(({ status }) => status === 'rejected').length;
  try {
    postgres.serve('standby');
    expect(failed(await all(() => assertWritable(pool)))).toBe(8);
    expect(failed(await all(write))).toBe(8);
    postgres.serve('primary');
    expect(await all(() => assertWritable(pool))).toEqual(
      Array.from({ length: 8 }, () => ({ status: 'fulfilled', value: undefined })),
    );
    await until('it listens', async () => notifications.connected());
    expect(failed(await all(write))).toBe(0);
    await until('it is notified', async () => {
      await write();
      return isReceived;
    });
  } finally {
    await notifications.stop();
    await pool.destroy();
  }
});
