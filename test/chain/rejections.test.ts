import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import type { Address } from 'viem';
import { createDatabase } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import type { TransactionRef } from '../../src/domain/transaction';
import { compareJournal } from '../../src/signer/comparison/compareJournal';
import type { Journal } from '../../src/signer/journal/journal';
import { anAddress } from '../support/builders';
import { TransactionWorld } from './transactionWorld';

let world: TransactionWorld;
let policyId: string;
const payee = anAddress() as Address;

beforeAll(async () => {
  world = await TransactionWorld.start(41_191);
  const { alice, bob, carol } = world.org;
  const groupId = newId('grp');
  const memberIds = [alice, bob, carol].map(({ id }) => id).sort();
  await world.decide([{ type: 'group', id: groupId, after: { id: groupId, name: groupId, memberIds } }]);
  policyId = await world.policy({
    type: 'MANUAL_APPROVAL',
    approverSetting: { type: 'group', groupId, threshold: 2, excludeInitiator: false },
  });
});
afterAll(() => world?.stop());

/** One that enough have rejected, and that was approved before. */
async function rejectable(): Promise<TransactionRef> {
  const { alice, bob, carol } = world.org;
  const ref = await world.transaction(
    { to: payee, value: 5n },
    { policyId, approvers: [alice, bob], begun: false },
  );
  for (const member of [bob, carol]) await world.vote(ref, member, 'reject');
  return ref;
}

const row = ({ transactionId }: TransactionRef) =>
  world.db('authorizations').where({ transaction_id: transactionId });

/** Loses the row, as a failover to a standby that is behind does. */
function lose(ref: TransactionRef): Promise<void> {
  return world.db.transaction(async (tx) => {
    await tx.raw('ALTER TABLE authorizations DISABLE TRIGGER authorizations_kept');
    await tx('authorizations').where({ transaction_id: ref.transactionId }).delete();
    await tx.raw('ALTER TABLE authorizations ENABLE TRIGGER authorizations_kept');
  });
}

function journalWith(append: Journal['append']): Journal {
  return Object.assign(Object.create(world.journal), { append });
}

/** The records say that it was approved and is executed: nothing of it is signed. */
async function expectNever(ref: TransactionRef) {
  expect(world.journal.isRejected(ref.transactionId)).toBe(true);
  const terms = await world.terms(await world.transaction({ to: payee, value: 5n }));
  await world.db('votes').where({ approval_id: ref.transactionId, type: 'reject' }).delete();
  await world.db('votes').where({ approval_id: ref.transactionId, type: 'approve' }).delete();
  for (const member of [world.org.alice, world.org.bob]) await world.vote(ref, member, 'approve');
  await world.begin(ref);
  for (const _ of ['running', 'started again']) {
    const answer = await world.signer.signTransaction({ ...ref, terms });
    expect(answer).not.toHaveProperty('envelopeId');
    expect(JSON.stringify(answer)).toContain('rejected');
    expect(await world.attempts(ref)).toEqual([]);
    expect(world.journal.authorizationOf(ref.transactionId)).toBeUndefined();
    await world.restartSigner();
  }
  const before = await world.balanceOf(payee);
  await world.mine();
  expect(await world.balanceOf(payee)).toBe(before);
}

/** A way to Postgres on which a commit is a rollback, while the test says so, as in a failover that loses it. */
async function losingCommits() {
  const { hostname, port } = new URL(world.database.signerUrl);
  const folder = decodeURIComponent(hostname);
  const state = { loses: false, lost: 0 };
  const server = createServer((client) => {
    const real = connect(
      folder.startsWith('/')
        ? { path: join(folder, `.s.PGSQL.${port}`) }
        : { host: folder, port: Number(port) },
    );
    client.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      if (state.loses && /COMMIT;?\0/.test(text)) {
        state.lost += 1;
        // Of the same length.
        real.write(Buffer.from(text.replace(/COMMIT(?=;?\0)/, 'ABORT '), 'latin1'));
      } else real.write(bytes);
    });
    real.on('data', (bytes) => client.write(bytes));
    for (const [one, other] of [
      [client, real],
      [real, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('end', () => other.end());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(world.database.signerUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const db = createDatabase(url.toString(), { poolMax: 2 });
  return {
    db,
    state,
    async stop() {
      await db.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a rejection', () => {
  test('whose commit the database has lost is in the journal, and its transaction is never signed', async () => {
    const ref = await rejectable();
    const way = await losingCommits();
    try {
      const signer = world.signerWith({ db: way.db });
      way.state.loses = true;
      expect(await signer.recordRejection(ref)).toEqual({ ok: true, value: null });
      expect(way.state.lost).toBe(1);
    } finally {
      way.state.loses = false;
      await way.stop();
    }
    expect(await row(ref)).toEqual([]);
    const { missing } = await compareJournal(world.journal, world.db);
    expect(missing.rejections).toEqual([ref.transactionId]);
    await expectNever(ref);
    // It is recorded again: nothing is missing.
    await world.signer.recordRejection(ref);
    const rejected = await row(ref);
    if (rejected.length > 0) expect(rejected).toMatchObject([{ outcome: 'rejected' }]);
    expect((await compareJournal(world.journal, world.db)).missing.rejections).toEqual([]);
  });

  test('whose row is lost before the journal has it is in the journal, and its transaction is never signed', async () => {
    const ref = await rejectable();
    const signer = world.signerWith({
      journal: journalWith(async (...entries) => {
        if (entries.some(({ type }) => type === 'rejection')) await lose(ref);
        await world.journal.append(...entries);
      }),
    });
    expect(await signer.recordRejection(ref)).toEqual({ ok: true, value: null });
    const entry = await world.journal.rejection(ref.transactionId);
    expect(entry).toMatchObject({
      type: 'rejection',
      organizationId: world.org.id,
      policyId,
      amount: '5',
      destination: payee,
    });
    await lose(ref);
    await expectNever(ref);
  });

  test('that the journal cannot take fails, and is recorded when it is asked for again', async () => {
    const ref = await rejectable();
    const signer = world.signerWith({
      journal: journalWith(() => Promise.reject(new Error('the disk is full'))),
    });
    await expect(signer.recordRejection(ref)).rejects.toThrow('the disk is full');
    expect(world.journal.isRejected(ref.transactionId)).toBe(false);
    for (const _ of ['once', 'again']) {
      expect(await world.signer.recordRejection(ref)).toEqual({ ok: true, value: null });
    }
    expect(await row(ref)).toMatchObject([{ outcome: 'rejected' }]);
    await expectNever(ref);
  });

  test('that only the journal has is recorded without its votes', async () => {
    const ref = await rejectable();
    expect(await world.signer.recordRejection(ref)).toEqual({ ok: true, value: null });
    const lines = world.journal.lines();
    await lose(ref);
    expect(await world.signer.recordRejection(ref)).toEqual({ ok: true, value: null });
    expect(await row(ref)).toMatchObject([{ outcome: 'rejected' }]);
    expect(world.journal.lines()).toBe(lines);
  });

  test('of what the journal has authorized is refused, though the database has lost that', async () => {
    const { alice, bob, carol } = world.org;
    const ref = await world.transaction({ to: payee, value: 5n }, { policyId, approvers: [alice, bob] });
    await world.sign(ref);
    await world.db('approvals').where({ id: ref.transactionId }).update({ execution_status: null });
    for (const member of [bob, carol]) await world.vote(ref, member, 'reject');
    await lose(ref);
    expect(await world.signer.recordRejection(ref)).toMatchObject({ ok: false });
    expect(world.journal.isRejected(ref.transactionId)).toBe(false);
    expect(await row(ref)).toEqual([]);
  });
});
