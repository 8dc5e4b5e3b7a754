import { noteNetworks } from '../../activities/reconciler/noteNetworks';
import { noteSent } from '../../activities/relayer/noteSent';
import { closeApproval, closeOpenOfKey } from '../../src/approvals/closing';
import { revokeApiKey } from '../../src/credentials/apiKeys';
import { guardVersion, lockExpected, undefinedOnConflict } from '../../src/db/approvalLocks';
import { listNotedSince, noteOnOpenApprovals } from '../../src/db/approvalNotes';
import {
  type Creation,
  insertApproval,
  readCreationRequest,
  storeApproval,
  updateApproval,
} from '../../src/db/approvals';
import { appendAudit, verifyAudit } from '../../src/db/audit';
import { createDatabase, type Db } from '../../src/db/database';
import type { UnsentEnvelope } from '../../src/db/envelopes';
import { findEnvelopePayload } from '../../src/db/followedAttempts';
import { insertMessage, isMessageReceived, restartedMessageId } from '../../src/db/receivedMessages';
import {
  closedOrLost,
  hasRecordedItself,
  openRanges,
  readRepairable,
  restartsLastHour,
  stalledApprovals,
} from '../../src/db/reconciler';
import { requireRow } from '../../src/db/rows';
import type { StoredTransaction } from '../../src/db/storedTransactions';
import { findTransactionTrouble } from '../../src/db/transactionHealth';
import { readTransaction, readTransactionForMessage } from '../../src/db/transactions';
import { OPERATOR, SYSTEM } from '../../src/domain/actor';
import type { ExternalEvent } from '../../src/domain/externalEvents';
import { type OpenApproval, openApprovals } from '../../src/reconciler/openApprovals';
import { readJournaledRecord } from '../../src/signer/store/journaledRecords';
import { writeJournaledRecord } from '../../src/signer/store/writtenBack';
import { aHash, anAddress, anId } from '../support/builders';
import { makeOrganization, type TestOrganization } from '../support/service';
import { createTestDatabase } from '../support/stack';
import { storeRequest } from '../support/storedRequests';
import { storeAttempt, storeEnvelope, storeTransactionOf, storeUsage } from '../support/storedTrails';
import { storeVote } from '../support/storedTransactions';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';

const refused = (code: string) => expect.objectContaining({ code });

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: Db;
let service: Db;
let org: TestOrganization;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = createDatabase(database.url);
  service = createDatabase(database.serviceUrl, { poolMax: 3 });
});
beforeEach(async () => {
  org = await makeOrganization(owner);
});
afterEach(async () => {
  expect(await verifyAudit(owner, org.id)).toMatchObject({ ok: true });
});
afterAll(async () => {
  await Promise.all([owner, service].map((db) => db?.destroy()));
  await database?.drop();
});

async function openOf(networkIds: readonly number[] = [NETWORK_ID]): Promise<OpenApproval[]> {
  const found: OpenApproval[] = [];
  for await (const page of openApprovals(service, networkIds)) {
    found.push(...page.filter(({ organizationId }) => organizationId === org.id));
  }
  return found;
}

const refOf = ({ id, organizationId }: StoredTransaction) =>
  ({ subject: 'transaction', organizationId, id }) as const;

async function seen({ id }: StoredTransaction) {
  const found = await readTransaction(service, { organizationId: org.id, transactionId: id });
  if (!found) throw new Error(`there is no ${id}`);
  return found.record;
}

/** Stores a proposal to remove a policy. `columns` are of its row in `approvals`, `more` of that in `proposals`. */
async function storeProposal(columns: object = {}, more: object = {}): Promise<string> {
  const id = anId('prop');
  await owner('approvals').insert({
    id,
    subject: 'proposal',
    organization_id: org.id,
    summary: 'Remove a policy',
    expires_at: owner.raw(`now() + interval '1 day'`),
    position: 0,
    created_by: org.adminKeyId,
    ...columns,
  });
  await owner('proposals').insert({
    id,
    resource_type: 'policies',
    action: 'remove',
    data: '{}',
    ...more,
  });
  return id;
}

describe('a change upon what was read', () => {
  async function readBasis({ id }: StoredTransaction) {
    return requireRow(await readTransactionForMessage(service, { organizationId: org.id, id }));
  }
  const change = (basis: Awaited<ReturnType<typeof readBasis>>, messageId: string) =>
    undefinedOnConflict(() => {
      const message = insertMessage(service, basis.record.id, messageId, 'sign');
      const guard = guardVersion(service, basis);
      return updateApproval(service, basis.record.id, { waitingFor: messageId }, [message], guard);
    });

  it('is written once', async () => {
    const stored = await storeTransactionOf(owner, org);
    const basis = await readBasis(stored);
    expect(await change(basis, 'first')).toMatchObject({
      version: basis.record.version + 1,
      waitingFor: 'first',
    });
    expect(await change(basis, 'second')).toBeUndefined();
    expect(await isMessageReceived(service, stored.id, 'first')).toBe(true);
    expect(await isMessageReceived(service, stored.id, 'second')).toBe(false);
    expect(await seen(stored)).toMatchObject({ waitingFor: 'first' });
  });

  it('is written by one of eight concurrent writers', async () => {
    const stored = await storeTransactionOf(owner, org);
    const basis = await readBasis(stored);
    const made = await Promise.all(Array.from({ length: 8 }, (_, n) => change(basis, `message ${n}`)));
    expect(made.filter((one) => one !== undefined)).toHaveLength(1);
    expect(await seen(stored)).toMatchObject({ version: basis.record.version + 1 });
  });

  it('is not written when the admins have decided something meanwhile, also while it waits', async () => {
    const stored = await storeTransactionOf(owner, org);
    const before = await readBasis(stored);
    const projected = (db: Pick<Db, 'raw'>) =>
      db.raw('UPDATE organizations SET projected_sequence = projected_sequence + 1 WHERE id = ?', [org.id]);
    await projected(owner);
    expect(await change(before, 'late')).toBeUndefined();
    const basis = await readBasis(stored);
    const changing = await owner.transaction(async (tx) => {
      await tx.raw('SELECT FROM admin_sets WHERE organization_id = ? FOR UPDATE', [org.id]);
      const waiting = change(basis, 'waiting');
      await until('it waits for the lock', async () => {
        const { rows } = await owner.raw(`SELECT FROM pg_stat_activity WHERE datname = current_database()
          AND wait_event_type = 'Lock'`);
        return rows.length > 0;
      });
      await projected(tx);
      return { waiting };
    });
    expect(await changing.waiting).toBeUndefined();
    expect(await isMessageReceived(service, stored.id, 'waiting')).toBe(false);
  });
});

describe('a new approval', () => {
  const place = (id: string, over: Partial<Creation> = {}) => {
    const limits = { credentialId: org.adminKeyId, createdBy: org.adminKeyId, maxOpen: 1_000 };
    const of = { id, organizationId: org.id, claims: ['policy:pol_1'], sequence: 0n, ...limits, ...over };
    const approval = insertApproval(service, 'proposal', {
      ...{
        id,
        organizationId: org.id,
        summary: '',
        mentions: [],
        expiresAt: new Date(),
        createdBy: of.createdBy,
      },
      position: 0n,
    });
    return storeApproval(service, of, [approval]);
  };
  const isStored = async (id: string) => (await owner('approvals').where({ id }).first('id')) !== undefined;

  async function sequenceNow(): Promise<bigint> {
    const row = requireRow(await owner('organizations').where({ id: org.id }).first('projected_sequence'));
    return row.projected_sequence;
  }

  it('is one of at most so many of its creator, however many are stored at once', async () => {
    const sequence = await sequenceNow();
    const limits = { sequence, claims: [], createdBy: 'key_busy', maxOpen: 3 };
    const placed = await Promise.all(Array.from({ length: 12 }, () => place(anId('prop'), limits)));
    expect(placed.filter((result) => result === 'stored')).toHaveLength(3);
    expect(placed.filter((result) => result === 'tooManyOpen')).toHaveLength(9);
    const open = await owner('approvals').where({ organization_id: org.id, created_by: 'key_busy' });
    expect(open).toHaveLength(3);
    expect(await place(anId('prop'), { ...limits, createdBy: 'key_other' })).toBe('stored');
  });

  it('takes its claims, or says who has one and stores nothing', async () => {
    const sequence = await sequenceNow();
    const [first, second, third] = [anId('prop'), anId('prop'), anId('prop')];
    expect(await place(first, { sequence })).toBe('stored');
    const taken = { claim: 'policy:pol_1', holder: first };
    expect(await place(second, { sequence, claims: ['policy:pol_0', 'policy:pol_1'] })).toEqual(taken);
    // Another attempt of the same creation finds itself.
    expect(await place(first, { sequence })).toEqual(taken);
    expect(await isStored(second)).toBe(false);
    expect(await place(third, { sequence, claims: ['policy:pol_0'] })).toBe('stored');
  });

  it('is not stored when the tables show another decision than it was planned upon', async () => {
    const id = anId('prop');
    expect(await place(id, { sequence: (await sequenceNow()) + 1n })).toBeUndefined();
    expect(await isStored(id)).toBe(false);
  });

  it('is not stored when its credential has ended since it was planned', async () => {
    const id = anId('prop');
    const sequence = await sequenceNow();
    await owner.transaction((tx) => revokeApiKey(tx, { apiKeyId: org.adminKeyId, actor: OPERATOR }));
    expect(await place(id, { sequence, claims: [] })).toBeUndefined();
    expect(await place(id, { sequence, claims: [], credentialId: 'ses_unknown' })).toBeUndefined();
    expect(await isStored(id)).toBe(false);
  });
});

describe('the idempotency key of an approval', () => {
  const key = '22222222-2222-4222-8222-222222222222';
  const hash = Buffer.alloc(32, 7);
  const requestedWith = { idempotency_key: key, request_hash: hash };
  const keyOf = async (id: string) =>
    owner('approvals').where({ id }).first('idempotency_key', 'request_hash');

  it('belongs to one of its organization, and comes with the hash of its request', async () => {
    await storeProposal(requestedWith);
    await expect(storeProposal(requestedWith)).rejects.toEqual(refused('23505'));
    const otherKey = '33333333-3333-4333-8333-333333333333';
    await expect(storeProposal({ idempotency_key: otherKey })).rejects.toEqual(refused('23514'));
    await expect(storeProposal({ request_hash: hash })).rejects.toEqual(refused('23514'));
    const [other] = await Promise.all([storeProposal(), storeProposal()]);
    expect(await keyOf(other ?? '')).toEqual({ idempotency_key: null, request_hash: null });
  });

  it('is not changed by the service', async () => {
    const id = await storeProposal(requestedWith);
    await expect(service('approvals').where({ id }).update({ idempotency_key: null })).rejects.toEqual(
      refused('42501'),
    );
  });

  it('lets no other request create another', async () => {
    await storeProposal(requestedWith);
    const resourceId = anId('prop');
    await owner('idempotency_requests').insert({
      id: key,
      organization_id: org.id,
      credential_id: org.adminKeyId,
      key,
      lease_owner: key,
      request_hash: hash,
      method: 'POST',
      path: '/x',
      body: '{}',
      resource_id: resourceId,
      lease_until: owner.fn.now(),
    });
    const read = { organizationId: org.id, id: resourceId, requestId: key };
    expect((await readCreationRequest(service, read)).request).toBeUndefined();
    await owner('approvals')
      .where({ idempotency_key: key })
      .update({ idempotency_key: null, request_hash: null });
    expect((await readCreationRequest(service, read)).request).toMatchObject({ key, hash });
  });

  it('comes back with a transaction that is written back, unless another has it', async () => {
    const stored = await storeTransactionOf(owner, org, {}, requestedWith);
    const record = requireRow(await readJournaledRecord(service, stored.id));
    const without = { idempotency_key: null, request_hash: null };
    // Of a database that lacks the transaction: the row of one that it has keeps its key for ever.
    const writtenBack = async () => {
      const id = anId('txn');
      await owner.transaction((tx) =>
        writeJournaledRecord(tx, JSON.parse(JSON.stringify(record).replaceAll(stored.id, id))),
      );
      return keyOf(id);
    };
    expect(await writtenBack()).toEqual(without);
    await owner('approvals').where({ id: stored.id }).update(without);
    expect(await writtenBack()).toEqual(requestedWith);
    expect(await writtenBack()).toEqual(without);
  });
});

describe('what is locked upon what was read', () => {
  it('is locked, unless it has changed', async () => {
    const { id } = await storeTransactionOf(owner, org);
    const basis = requireRow(await readTransactionForMessage(service, { organizationId: org.id, id }));
    expect(await service.transaction((tx) => lockExpected(tx, basis))).toBe(true);
    const { policyId } = basis.record;
    const lockPolicy = 'SELECT FROM policies WHERE id = ? FOR NO KEY UPDATE NOWAIT';
    await service.transaction(async (tx) => {
      expect(await lockExpected(tx, basis)).toBe(true);
      await owner.raw(lockPolicy, [policyId]);
      expect(await lockExpected(tx, basis, policyId)).toBe(true);
      await expect(owner.raw(lockPolicy, [policyId])).rejects.toThrow(/could not obtain lock/);
    });
    await service.transaction((tx) => updateApproval(tx, id, {}));
    expect(await service.transaction((tx) => lockExpected(tx, basis))).toBe(false);
  });
});

describe('the first broadcast of a transaction', () => {
  it('is audited once, however many of its envelopes are noted at once', async () => {
    const stored = await storeTransactionOf(owner, org, {}, { execution_status: 'processing' });
    const attemptId = await storeAttempt(owner, stored);
    const of = { attemptId, relayerAddress: anAddress() };
    for (let nonce = 0; nonce < 2; nonce += 1) {
      await storeEnvelope(owner, of, { relayer_nonce: nonce, sent_at: null });
    }
    const ids = await owner('chain_envelopes').where({ attempt_id: attemptId }).pluck('id');
    const read = await Promise.all(ids.map((id) => findEnvelopePayload(service, id)));
    const envelopes = read.map((carried) => requireRow(carried).envelope);
    const note = async (id: bigint, read?: UnsentEnvelope | null): Promise<void> => {
      if (!(await noteSent(service, id, read))) await note(id);
    };
    const asRead = envelopes.map(({ id, unsent }) => note(id, requireRow(unsent)));
    await Promise.all([...asRead, ...ids.map((id) => note(id))]);
    await Promise.all(envelopes.map(({ id, unsent }) => note(id, unsent)));
    const sent = await owner('chain_envelopes').where({ attempt_id: attemptId }).whereNotNull('sent_at');
    expect(sent).toHaveLength(2);
    const audited = await owner('audit_log').where({
      resource_id: stored.id,
      action: 'transaction.broadcast',
    });
    expect(audited).toHaveLength(1);
  });
});

describe('the approvals that the reconciler reads', () => {
  it('are the open proposals and transactions, with their age', async () => {
    const hour = owner.raw(`now() - interval '1 hour'`);
    const open = await storeTransactionOf(owner, org, {}, { created_at: hour, updated_at: hour });
    const processing = await storeTransactionOf(
      owner,
      org,
      {},
      { execution_status: 'processing', updated_at: hour },
    );
    const closed = await storeTransactionOf(owner, org, {}, { closed_at: hour });
    const proposalId = await storeProposal();
    const found = await openOf();
    expect(found.map(({ id }) => id).sort()).toEqual([open.id, processing.id, proposalId].sort());
    const [one] = found.filter(({ id }) => id === open.id);
    expect(one).toMatchObject({ subject: 'transaction', changedNetworks: [] });
    expect(one?.ageMs).toBeGreaterThanOrEqual(3_600_000);
    const [still, ...others] = await stalledApprovals(service, 3_600_000);
    expect(still).toMatchObject({ subject: 'transaction', organizationId: org.id, id: processing.id });
    expect(still?.unchangedMs).toBeGreaterThanOrEqual(3_600_000);
    expect(others).toEqual([]);
    expect(found).toContainEqual(
      expect.objectContaining({ subject: 'proposal', resourceType: 'policies', action: 'remove' }),
    );
    const longAgo = (id: string) => ({ id, startedAt: new Date(0) });
    expect(await closedOrLost(service, [open.id, closed.id, proposalId].map(longAgo), 10_000)).toEqual([
      closed.id,
    ]);
    expect(await closedOrLost(service, [closed.id].map(longAgo), 2 * 3_600_000)).toEqual([]);
    const lost = [...[open.id, 'txn_lost'].map(longAgo), { id: 'txn_begun', startedAt: new Date() }];
    expect(await closedOrLost(service, lost, 10_000)).toEqual(['txn_lost']);
  });

  it('are counted when they are old enough, in ranges of their expiry that leave nothing out', async () => {
    const old = { created_at: owner.raw(`now() - interval '1 minute'`) };
    await storeTransactionOf(owner, org, {}, old);
    await storeTransactionOf(owner, org);
    await storeTransactionOf(owner, org, {}, { ...old, closed_at: owner.fn.now() });
    // Those that expire at once are in one range, however many.
    for (const days of [1, 2, 2, 2, 3]) {
      await storeProposal({
        ...old,
        expires_at: owner.raw(`date_trunc('day', now()) + ${days} * interval '1 day'`),
      });
    }
    const open = await owner('approvals').whereNull('closed_at').select('id', 'expires_at', 'created_at');
    for (const size of [1, 2, 1_000]) {
      const { ranges, before } = await openRanges(service, { size, milliseconds: 10_000 });
      expect([ranges[0]?.from, ranges.at(-1)?.to]).toEqual([null, null]);
      expect(ranges.slice(1).map(({ from }) => from)).toEqual(ranges.slice(0, -1).map(({ to }) => to));
      for (const { from, to, open: counted } of ranges) {
        const within = open.filter(
          ({ expires_at: at, created_at }) =>
            created_at < before && (from === null || at >= from) && (to === null || at < to),
        );
        expect(within).toHaveLength(counted);
        const read = [];
        for await (const page of openApprovals(service, [NETWORK_ID], { from, to })) read.push(...page);
        const counts = new Set(within.map(({ id }) => id));
        expect(read.filter(({ id }) => counts.has(id))).toHaveLength(counted);
      }
      if (size === 1_000) expect(ranges).toHaveLength(1);
      else expect(ranges.length).toBeGreaterThan(2);
    }
  });

  it('are read with the fields that repairs need, and whether a new run has begun', async () => {
    const stored = await storeTransactionOf(owner, org);
    const ref = refOf(stored);
    expect(await readRepairable(service, ref)).toMatchObject({
      record: { id: stored.id, votes: [], executionStatus: null },
    });
    expect(await readRepairable(service, { ...ref, id: anId('txn') })).toBeUndefined();
    const runId = 'e6a1f0a2-5b1c-4a52-9a70-3a1c6f9d2b11';
    expect(await hasRecordedItself(service, ref, runId)).toBe(false);
    await service.transaction((tx) => insertMessage(tx, stored.id, restartedMessageId(runId), 'restore'));
    expect(await hasRecordedItself(service, ref, runId)).toBe(true);
    const restored = {
      action: 'transaction.restored',
      actor: SYSTEM,
      resourceType: 'transaction',
      resourceId: stored.id,
      details: {},
    } as const;
    await service.transaction((tx) => appendAudit(tx, org.id, [restored, restored]));
    expect(await restartsLastHour(service, ref)).toBe(2);
  });

  it('are noted once when their network is not configured anymore, and once when it is again', async () => {
    const stored = await storeTransactionOf(owner, org);
    const [gone] = await openOf([1]);
    expect(gone).toMatchObject({ id: stored.id, changedNetworks: [{ networkId: NETWORK_ID, isGone: true }] });
    if (!gone) throw new Error('it is not found');
    expect(await noteNetworks(service, gone)).toBe(true);
    expect(await noteNetworks(service, gone)).toBe(false);
    expect((await seen(stored)).notes).toEqual([
      {
        at: expect.stringMatching(/Z$/),
        code: 'networkGone',
        message: expect.stringContaining(
          `network ${NETWORK_ID}, which the transaction names, is not configured anymore`,
        ),
      },
    ]);
    expect(await openOf([1])).toMatchObject([{ changedNetworks: [] }]);
    const [back] = await openOf([NETWORK_ID]);
    expect(back).toMatchObject({ changedNetworks: [{ networkId: NETWORK_ID, isGone: false }] });
    if (!back) throw new Error('it is not found');
    expect([await noteNetworks(service, back), await noteNetworks(service, back)]).toEqual([true, false]);
    expect((await seen(stored)).notes.map(({ code }) => code)).toEqual(['networkGone', 'networkBack']);
    expect(await openOf([NETWORK_ID])).toMatchObject([{ changedNetworks: [] }]);
    expect(await openOf([1])).toMatchObject([{ changedNetworks: [{ isGone: true }] }]);
  });
});

describe('closing transactions as an operator', () => {
  it('freezes their tally, and is audited', async () => {
    const stored = await storeTransactionOf(owner, org, {}, { waiting_for: 'funds' });
    await owner('transactions').where({ id: stored.id }).update({ awaits_relayer_wei: '5' });
    const closing = { reason: 'not wanted', details: { found: 'x' }, mayClose: () => true };
    expect(await closeApproval(service, refOf(stored), closing)).toBe(true);
    expect(await closeApproval(service, refOf(stored), closing)).toBe(false);
    expect(await seen(stored)).toMatchObject({
      executionStatus: 'failed',
      failure: { code: 'closedByOperator', message: 'not wanted', attempt: 0 },
      closed: true,
      finalTally: { signatureStatus: 'pendingInitiatorSignature' },
      awaitsRelayerWei: null,
      waitingFor: null,
    });
    const [entry] = await owner('audit_log').where({ resource_id: stored.id });
    expect(entry).toMatchObject({
      action: 'transaction.closed',
      actor: { type: 'operator' },
      resource_type: 'transaction',
      details: { accountId: stored.accountId, networkId: NETWORK_ID, reason: 'not wanted', found: 'x' },
    });
  });

  it('is refused when it must not be closed, or does not exist', async () => {
    const stored = await storeTransactionOf(owner, org);
    const closing = { reason: '', mayClose: () => false };
    expect(await closeApproval(service, refOf(stored), closing)).toBe(false);
    const other = { ...refOf(stored), id: anId('txn') };
    expect(await closeApproval(service, other, { ...closing, mayClose: () => true })).toBe(false);
    expect(await seen(stored)).toMatchObject({ closed: false, version: 1 });
  });

  it('closes those of one key, except those in flight', async () => {
    const waiting = await storeTransactionOf(owner, org);
    const failed = await storeTransactionOf(owner, org, {}, { execution_status: 'failed' });
    const blocked = await storeTransactionOf(owner, org, {}, { execution_status: 'blocked' });
    const processing = await storeTransactionOf(owner, org, {}, { execution_status: 'processing' });
    const foreign = await storeTransactionOf(owner, org, { createdBy: 'key_other' });
    const proposalId = await storeProposal();
    const ofKey = { organizationId: org.id, apiKeyId: org.adminKeyId };
    const { closed, left } = await closeOpenOfKey(service, ofKey);
    expect(closed.map(({ subject, id }) => `${subject} ${id}`).sort()).toEqual(
      [...[waiting, failed, blocked].map(({ id }) => `transaction ${id}`), `proposal ${proposalId}`].sort(),
    );
    expect(left).toMatchObject([{ subject: 'transaction', id: processing.id }]);
    for (const one of [processing, foreign]) expect((await seen(one)).closed).toBe(false);
    expect((await seen(waiting)).failure?.message).toContain(
      `${org.adminKeyId} that proposed it was revoked`,
    );
  });
});

describe('an outside event', () => {
  const note = (events: readonly ExternalEvent[], except = 'prop_x') =>
    service.transaction((tx) => noteOnOpenApprovals(tx, org.id, except, events));
  const changed = (subject: string): ExternalEvent => ({
    target: { subject },
    code: 'changed',
    message: subject,
  });

  it('is noted on the open transactions that name it', async () => {
    const stored = await storeTransactionOf(owner, org);
    const { names } = requireRow(await owner('approvals').where({ id: stored.id }).first('names'));
    const closed = await storeTransactionOf(owner, org, { mentions: names }, { closed_at: new Date() });
    const other = await storeTransactionOf(owner, org);
    expect(await note([changed(`policy:${stored.policyId}`), changed(`account:${stored.accountId}`)])).toBe(
      2,
    );
    expect((await seen(stored)).notes.map(({ message }) => message)).toEqual([
      `policy:${stored.policyId}`,
      `account:${stored.accountId}`,
    ]);
    for (const one of [other, closed]) expect(await seen(one)).toMatchObject({ notes: [], version: 1 });
    expect((await seen(stored)).version).toBe(3);
  });

  it('about a member is noted on the transactions that they have signed, and not on such proposals', async () => {
    const stored = await storeTransactionOf(owner, org);
    const proposalId = await storeProposal();
    expect(await note([changed(`member:${org.carol.id}`)])).toBe(0);
    const carol = { id: org.carol.id, walletAddress: org.carol.wallet.address };
    await storeVote(service, stored.id, carol, 'reject', aHash());
    await storeVote(service, stored.id, carol, 'approve', aHash());
    await storeVote(service, proposalId, carol, 'reject');
    expect(await note([changed(`member:${org.carol.id}`)])).toBe(1);
  });

  it('about the admins is noted on proposals alone', async () => {
    const stored = await storeTransactionOf(owner, org);
    await storeProposal();
    expect(
      await note([
        { target: { all: true }, code: 'thresholdChanged', message: 'x' },
        { target: { signedBy: org.dave.id }, code: 'adminRemoved', message: 'y' },
      ]),
    ).toBe(1);
    expect((await seen(stored)).notes).toEqual([]);
  });

  it('is for the workflows of both subjects', async () => {
    const stored = await storeTransactionOf(owner, org);
    const named = await storeProposal({ names: [`policy:${stored.policyId}`] });
    const executed = await storeProposal({}, { applied_at: owner.fn.now() });
    await storeTransactionOf(owner, org);
    await note([changed(`policy:${stored.policyId}`)], executed);
    const noted = await listNotedSince(service, { organizationId: org.id, proposalId: executed });
    expect(noted).toEqual([
      { subject: 'proposal', organizationId: org.id, id: named, resourceType: 'policies', action: 'remove' },
      { subject: 'transaction', organizationId: org.id, id: stored.id },
    ]);
  });
});

it('counts the open proposals and transactions of a key together', async () => {
  await storeTransactionOf(owner, org);
  await storeTransactionOf(owner, org, {}, { closed_at: owner.fn.now() });
  await storeProposal();
  const proposalId = anId('prop');
  const requestId = await storeRequest(owner, {
    ...{ organizationId: org.id, credentialId: org.adminKeyId },
    ...{ path: '/x', body: {}, resourceId: proposalId },
  });
  const { open } = await readCreationRequest(service, {
    organizationId: org.id,
    id: proposalId,
    requestId,
  });
  expect(open).toBe(2);
});

describe('trouble with transactions', () => {
  const relayerAddress = anAddress();
  const minute = () => ({ created_at: owner.raw(`now() - interval '1 minute'`) });
  const troubled = async () => {
    const ids: string[] = await owner('approvals').where({ organization_id: org.id }).pluck('id');
    const { withoutEnvelope: uncarried, reserved, awaiting } = await findTransactionTrouble(service, 30);
    return {
      uncarried: uncarried.filter((id) => ids.includes(id)),
      reserved: reserved.filter((id) => ids.includes(id)),
      awaiting,
    };
  };

  it('is a signed attempt without an envelope', async () => {
    const stored = await storeTransactionOf(owner, org, {}, { execution_status: 'processing' });
    const attemptId = await storeAttempt(owner, stored);
    expect((await troubled()).uncarried).toEqual([]);
    await owner('chain_attempts').where({ id: attemptId }).update(minute());
    expect((await troubled()).uncarried).toEqual([stored.id]);
    const dropped = { outcome: 'dropped', decided_at: owner.fn.now() };
    await storeEnvelope(owner, { attemptId, relayerAddress }, dropped);
    expect((await troubled()).uncarried).toEqual([stored.id]);
    await storeEnvelope(owner, { attemptId, relayerAddress });
    expect((await troubled()).uncarried).toEqual([]);
    await owner('chain_envelopes')
      .where({ attempt_id: attemptId })
      .update({ ...dropped, outcome: 'mined' });
    expect((await troubled()).uncarried).toEqual([]);
  });

  it('is not an attempt with an in-flight cancellation', async () => {
    const stored = await storeTransactionOf(owner, org, {}, { execution_status: 'processing' });
    await storeAttempt(owner, stored, minute());
    const attemptId = await storeAttempt(owner, stored, { ...minute(), kind: 'cancellation' });
    await storeEnvelope(owner, { attemptId, relayerAddress });
    expect((await troubled()).uncarried).toEqual([]);
  });

  it('is a budget without an execution', async () => {
    const running = await storeTransactionOf(owner, org, {}, { execution_status: 'processing' });
    const failed = await storeTransactionOf(owner, org, {}, { execution_status: 'failed' });
    await storeUsage(owner, running);
    await storeUsage(owner, failed);
    await storeUsage(owner, running, { status: 'released', decided_at: owner.fn.now() });
    expect((await troubled()).reserved).toEqual([failed.id]);
  });

  it('is an execution that waits for funds, by network, with the highest balance needed', async () => {
    const waits = async (wei: number, columns: object = {}) => {
      const failed = { execution_status: 'failed', ...columns };
      const { id } = await storeTransactionOf(owner, org, { networkId: 77 }, failed);
      await owner('transactions')
        .where({ id })
        .update({ awaits_relayer_wei: String(wei) });
    };
    await waits(5);
    await waits(7);
    await waits(9, { closed_at: owner.fn.now() });
    expect((await troubled()).awaiting).toContainEqual({ networkId: 77, count: 2, wei: 7n });
  });
});
