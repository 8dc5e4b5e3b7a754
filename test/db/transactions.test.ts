import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { reopenTransaction } from '../../activities/transactions/reopen';
import { updateApproval } from '../../src/db/approvals';
import { readTags } from '../../src/db/approvalTags';
import { decideAttempt } from '../../src/db/attemptOutcomes';
import { createDatabase, type Db, databaseNow } from '../../src/db/database';
import { insertGroups } from '../../src/db/groups';
import { updateMembers } from '../../src/db/members';
import { insertPolicies, removePolicies, replacePolicy } from '../../src/db/policies';
import { insertMessage, isMessageReceived } from '../../src/db/receivedMessages';
import { readReferencedRecords } from '../../src/db/referencedRecords';
import { commitUsage, releaseUsage, reserveUsage } from '../../src/db/reservedUsage';
import { requireRow } from '../../src/db/rows';
import type { StoredTransaction, TransactionSnapshot } from '../../src/db/storedTransactions';
import { listTransactions, pageOfTransactions } from '../../src/db/transactionLists';
import {
  findTransactionById,
  lockTransaction,
  readTransaction,
  readTransactionForMessage,
  updateExecution,
} from '../../src/db/transactions';
import type { MemberSummary } from '../../src/domain/approval';
import { tally } from '../../src/domain/approvalState';
import { NATIVE_CURRENCY, type Policy } from '../../src/domain/policy';
import { NO_REFERENCES } from '../../src/domain/references';
import { transactionRules } from '../../src/domain/transaction';
import { insertEnvelope } from '../../src/signer/store/reservations';
import { insertAttempt } from '../../src/signer/store/signedAttempts';
import { aFailure, aHash, anAddress, anId } from '../support/builders';
import { makeOrganization, type TestMember, type TestOrganization } from '../support/service';
import { createTestDatabase } from '../support/stack';
import { storeRequest } from '../support/storedRequests';
import { storeAccount, storeTransaction, storeVote } from '../support/storedTransactions';
import { aPolicy, NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';

const MAX = 2n ** 256n - 1n;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: Db;
let service: Db;
let signer: Db;
let org: TestOrganization;
let account: { readonly id: string; readonly address: string };

beforeAll(async () => {
  database = await createTestDatabase();
  owner = createDatabase(database.url);
  service = createDatabase(database.serviceUrl, { poolMax: 4 });
  signer = createDatabase(database.signerUrl, { poolMax: 2 });
});
beforeEach(async () => {
  org = await makeOrganization(owner);
  account = await storeAccount(owner, org.id);
});
afterAll(async () => {
  await Promise.all([owner, service, signer].map((db) => db?.destroy()));
  await database?.drop();
});

const summary = ({ id, name, type, wallet }: TestMember): MemberSummary => ({
  id,
  name,
  type,
  walletAddress: wallet.address,
  walletKind: 'key',
});
const ref = (transactionId: string, organizationId = org.id) => ({ organizationId, transactionId });
const key = (id: string, organizationId = org.id) => ({ organizationId, id });
const tallyOf = ({ record, now }: TransactionSnapshot) => tally(transactionRules, record, now);

async function storePolicy(change: Partial<Policy> = {}): Promise<Policy> {
  const policy = aPolicy(change);
  await service.transaction((tx) => insertPolicies(tx, org.id, [policy]));
  return policy;
}

/** A transaction of Dave's under a policy that is made for it, unless another is given; its id. */
async function store(
  change: Parameters<typeof storeTransaction>[2] & { policy?: Policy } = {},
): Promise<string> {
  const { policy, ...fields } = change;
  const { id: policyId } = policy ?? (await storePolicy());
  const of = { organizationId: org.id, accountId: account.id, policyId, initiatorId: org.dave.id };
  return storeTransaction(service, of, fields);
}

async function read(transactionId: string): Promise<TransactionSnapshot> {
  const found = await readTransaction(service, ref(transactionId));
  if (!found) throw new Error(`there is no ${transactionId}`);
  return found;
}

const update = (id: string, change: Parameters<typeof updateApproval>[2]) =>
  service.transaction((tx) => updateApproval(tx, id, change));
const execute = async (id: string, change: Parameters<typeof updateExecution>[2]) => {
  const { record } = await read(id);
  await service.transaction((tx) => updateExecution(tx, record, change));
};
const people = ({ now }: TransactionSnapshot) => [...now.members.keys()].sort();
const idsOf = (...members: TestMember[]) => members.map(({ id }) => id).sort();
const refused = (code: string) => expect.objectContaining({ code });

describe('a stored transaction', () => {
  it('is read as it was written', async () => {
    const expiresAt = new Date('2035-06-08T12:00:00.000Z');
    const written = {
      networkId: 2 ** 40,
      description: 'Dörte’s "last" one 💶',
      type: 'CONTRACT_INTERACTION' as const,
      to: anAddress(),
      value: MAX,
      calldata: '0xDEADbeef',
      content: { toAddress: 'x', functionParameters: [{ name: '', type: 'uint256', value: String(MAX) }] },
      summary: 'Call "x"',
      mentions: ['account:acc_1', 'policy:pol_1'],
      createdBy: 'key_1',
      expiresAt,
      position: 7n,
    };
    const policy = await storePolicy();
    const id = await store({ policy, ...written });
    const { record, now } = await read(id);
    const { mentions: _, ...fields } = written;
    expect(record).toEqual({
      ...fields,
      id,
      organizationId: org.id,
      accountId: account.id,
      accountAddress: account.address,
      accountName: 'Treasury',
      accountNetworkIds: [NETWORK_ID],
      policyId: policy.id,
      initiator: summary(org.dave),
      createdAt: expect.any(Date),
      updatedAt: record.createdAt,
      version: 1,
      executionStatus: null,
      executionAttempt: 0,
      decision: null,
      decidedBy: null,
      executedWith: null,
      waitingFor: null,
      awaitsRelayerWei: null,
      replaces: null,
      cancelling: false,
      signerOutcome: null,
      reopenings: 0,
      references: NO_REFERENCES,
      fees: null,
      failure: null,
      notes: [],
      result: null,
      chain: null,
      closed: false,
      finalTally: null,
      votes: [],
    });
    expect(now).toMatchObject({ policy, policyRemoved: false });
    expect(await findTransactionById(service, id)).toMatchObject({ record: { id }, now: { policy } });
  });

  it('is there for its own organization alone', async () => {
    const id = await store();
    const other = await makeOrganization(owner);
    expect(await readTransaction(service, ref(id, other.id))).toBeUndefined();
    expect(await readTransactionForMessage(service, key(id, other.id))).toBeUndefined();
    expect(await service.transaction((tx) => lockTransaction(tx, key(id, other.id)))).toBeUndefined();
    expect(await listTransactions(service, { organizationId: other.id, limit: 10 })).toEqual([]);
    expect(await readTransaction(service, ref(anId('txn')))).toBeUndefined();
    expect(await findTransactionById(service, anId('txn'))).toBeUndefined();
  });

  it('has the tag that it was read with until it changes or expires', async () => {
    const id = await store({ expiresAt: new Date('2035-06-08T12:00:00.000Z') });
    const tags = async () => {
      const found = await readTransaction(service, ref(id));
      return [found?.tag, (await readTags(service, [id, anId('txn')])).get(id)];
    };
    const [created, again] = await tags();
    expect(created).toMatch(/^1\/\d+\.\d+\/\d+\/f$/);
    expect(again).toBe(created);
    await update(id, { waitingFor: 'a change' });
    const [changed, changedAgain] = await tags();
    expect(changed).toMatch(/^2\/.*\/f$/);
    expect(changedAgain).toBe(changed);
    await owner('approvals')
      .where({ id })
      .update({ expires_at: new Date('2025-06-08T12:00:00.000Z') });
    const [expired, expiredAgain] = await tags();
    expect(expired).toBe(changed?.replace(/f$/, 't'));
    expect(expiredAgain).toBe(expired);
  });

  it('is read with the people that it names, however many members there are', async () => {
    const id = await store();
    const { initiator, policyId } = (await read(id)).record;
    const tx = await owner.transaction();
    const membersRead = async () => {
      const counts =
        'SELECT seq_tup_read + idx_tup_fetch AS n FROM pg_stat_xact_user_tables WHERE relname = ?';
      return Number((await tx.raw(counts, ['members'])).rows[0].n);
    };
    try {
      await tx.raw(
        `INSERT INTO members (id, organization_id, name, type, wallet_address, position)
         SELECT 'mem_' || n, ?, n, 'api', '0x' || lpad(to_hex(n), 40, '0'), 1000000 + n FROM generate_series(1, 2000) n`,
        [org.id],
      );
      await tx.raw('ANALYZE members');
      const before = await membersRead();
      expect((await readTransaction(tx, ref(id)))?.now.members.size).toBeGreaterThan(0);
      const { walletAddress } = initiator;
      const of = {
        organizationId: org.id,
        accountId: account.id,
        walletAddress,
        policyId,
        replaces: undefined,
        externalId: undefined,
      };
      expect((await readReferencedRecords(tx, of)).initiator).toEqual(initiator);
      expect(await membersRead()).toBeLessThan(before + 20);
    } finally {
      await tx.rollback();
    }
  });

  it('is judged at the time of the database, which stands still inside a transaction', async () => {
    const id = await store();
    await service.transaction(async (tx) => {
      const time = await databaseNow(tx);
      expect((await readTransaction(tx, ref(id)))?.now.time).toEqual(time);
      await tx.raw('SELECT pg_sleep(0.005)');
      expect((await lockTransaction(tx, key(id)))?.now.time).toEqual(time);
    });
  });

  it('cannot be worth less than nothing, nor have a type that is none', async () => {
    await expect(store({ value: -1n })).rejects.toEqual(refused('23514'));
    await expect(store({ type: 'ANY' as never })).rejects.toEqual(refused('23514'));
    const nowhere = { organizationId: org.id, accountId: account.id, initiatorId: org.dave.id };
    await expect(storeTransaction(service, { ...nowhere, policyId: anId('pol') })).rejects.toEqual(
      refused('23503'),
    );
  });
});

describe('the people that a transaction is judged by', () => {
  it('are its initiator, those whom its policy names, and those who have voted', async () => {
    const policy = await storePolicy({
      type: 'MANUAL_APPROVAL',
      initiatorSetting: { type: 'user', memberId: org.alice.id },
      approverSetting: { type: 'user', memberId: org.bob.id, excludeInitiator: false },
    });
    const id = await store({ policy });
    expect(people(await read(id))).toEqual(idsOf(org.dave, org.alice, org.bob));
    await storeVote(service, id, summary(org.carol), 'reject', aHash());
    const snapshot = await read(id);
    expect(people(snapshot)).toEqual(idsOf(org.dave, org.alice, org.bob, org.carol));
    expect(snapshot.now.members.get(org.carol.id)).toEqual(summary(org.carol));
    expect(snapshot.now.groups.size).toBe(0);
  });

  it('are the members of its groups too, each group with those who are in it now', async () => {
    const [initiators, approvers, others] = [anId('grp'), anId('grp'), anId('grp')];
    await service.transaction((tx) =>
      insertGroups(tx, org.id, [
        { id: initiators, name: 'Initiators', memberIds: [org.dave.id] },
        { id: approvers, name: 'Approvers', memberIds: [org.carol.id, org.alice.id, org.bob.id] },
        { id: others, name: 'Others', memberIds: [org.bot.id] },
      ]),
    );
    const id = await store({
      policy: await storePolicy({
        type: 'MANUAL_APPROVAL',
        initiatorSetting: { type: 'group', groupId: initiators },
        approverSetting: { type: 'group', groupId: approvers, threshold: 2, excludeInitiator: false },
      }),
    });
    const groups = async () =>
      [...(await read(id)).now.groups]
        .map(([group, members]) => [group, members.map((one) => one.id)])
        .sort();
    expect(await groups()).toEqual(
      [
        [initiators, idsOf(org.dave)],
        [approvers, idsOf(org.alice, org.bob, org.carol)],
      ].sort(),
    );
    await owner('members').where({ id: org.bob.id }).update({ removed_at: new Date() });
    await owner('group_members').where({ group_id: initiators }).delete();
    expect(await groups()).toEqual([[approvers, idsOf(org.alice, org.carol)]]);
    await owner('groups').where({ id: approvers }).update({ deleted_at: new Date() });
    expect(await groups()).toEqual([]);
  });

  it('are no longer those who were removed; the initiator is shown as they were when they left', async () => {
    const id = await store();
    const initiated = await storeVote(service, id, summary(org.dave), 'initiator');
    await storeVote(service, id, summary(org.alice), 'reject', initiated);
    const before = await read(id);
    expect(tallyOf(before).signatureStatus).toBe('approvalAndRejectionReady');
    await owner('members').where({ id: org.alice.id }).update({ removed_at: new Date() });
    const without = await read(id);
    expect(people(without)).toEqual(idsOf(org.dave));
    expect(tallyOf(without)).toMatchObject({
      signatureStatus: 'approvalReady',
      rejections: [],
    });
    await owner('members').where({ id: org.dave.id }).update({ removed_at: new Date() });
    const alone = await read(id);
    expect(people(alone)).toEqual([]);
    expect(alone.record.initiator).toEqual(summary(org.dave));
    expect(tallyOf(alone).signatureStatus).toBe('pendingInitiatorSignature');
  });

  it('have the wallets and names of now', async () => {
    const id = await store();
    const moved = { ...summary(org.dave), name: 'David', walletAddress: anAddress() };
    await storeVote(service, id, summary(org.dave), 'initiator');
    await service.transaction((tx) => updateMembers(tx, [moved]));
    const { record, now } = await read(id);
    expect(record.initiator).toEqual(moved);
    expect(now.members.get(org.dave.id)).toEqual(moved);
    expect(tally(transactionRules, record, now).signatureStatus).toBe('pendingInitiatorSignature');
  });

  it('live under its policy of now, or its last words once it is removed', async () => {
    const policy = await storePolicy();
    const id = await store({ policy });
    const edited = {
      ...policy,
      name: 'Edited',
      initiatorSetting: { type: 'user', memberId: org.bob.id },
    } as Policy;
    await service.transaction((tx) => replacePolicy(tx, edited));
    const after = await read(id);
    expect(after.now).toMatchObject({ policy: edited, policyRemoved: false });
    expect(people(after)).toEqual(idsOf(org.dave, org.bob));
    await service.transaction((tx) => removePolicies(tx, [policy.id]));
    expect((await read(id)).now).toMatchObject({ policy: edited, policyRemoved: true });
  });

  it('and a policy of which anything is unknown is not read at all', async () => {
    const policy = await storePolicy();
    const id = await store({ policy });
    await owner.raw(`UPDATE policies SET definition = definition || '{"wider": true}' WHERE id = ?`, [
      policy.id,
    ]);
    await expect(read(id)).rejects.toThrow('wider');
    await service.transaction((tx) => replacePolicy(tx, policy));
    expect((await read(id)).now.policy).toEqual(policy);
  });
});

describe('votes on a transaction', () => {
  it('are read in their order, with their evidence', async () => {
    const id = await store();
    const initiated = await storeVote(service, id, summary(org.dave), 'initiator');
    const approved = await storeVote(service, id, summary(org.bob), 'approve', initiated);
    expect((await read(id)).record.votes).toEqual([
      {
        memberId: org.dave.id,
        type: 'initiator',
        signerAddress: org.dave.wallet.address,
        scheme: 'eoa',
        signature: expect.stringMatching(/^0x/),
        signatureHash: initiated,
        initiatorSignatureHash: null,
        createdAt: expect.any(Date),
      },
      expect.objectContaining({
        memberId: org.bob.id,
        signatureHash: approved,
        initiatorSignatureHash: initiated,
      }),
    ]);
  });

  it('are stored once for each type, wallet, signature and signature of the initiator', async () => {
    const id = await store();
    const [dave, bob] = [summary(org.dave), summary(org.bob)];
    const initiated = await storeVote(service, id, dave, 'initiator');
    const [{ signature } = { signature: '' }] = (await read(id)).record.votes;
    const again = storeVote(service, id, dave, 'initiator', null, signature);
    await expect(again).rejects.toEqual(refused('23505'));
    const approval = aHash();
    await storeVote(service, id, bob, 'approve', initiated, approval);
    const repeated = storeVote(service, id, bob, 'approve', initiated, approval);
    await expect(repeated).rejects.toEqual(refused('23505'));
    await storeVote(service, id, bob, 'reject', initiated);
    await storeVote(service, id, bob, 'approve', aHash());
    await storeVote(service, id, { ...bob, walletAddress: anAddress() }, 'approve', initiated);
    await storeVote(service, id, { ...dave, walletAddress: anAddress() }, 'initiator');
    expect((await read(id)).record.votes).toHaveLength(6);
  });

  it('count only when they name the signature of the initiator, and that names none', async () => {
    const id = await store();
    await expect(storeVote(service, id, summary(org.dave), 'initiator', aHash())).rejects.toEqual(
      refused('23514'),
    );
    const initiated = await storeVote(service, id, summary(org.dave), 'initiator');
    await storeVote(service, id, summary(org.bob), 'reject');
    expect(tallyOf(await read(id)).rejections).toEqual([]);
    await storeVote(service, id, summary(org.bob), 'reject', initiated);
    expect(tallyOf(await read(id)).rejections).toEqual([summary(org.bob)]);
  });

  it('count the version up, with their message', async () => {
    const id = await store();
    await storeVote(service, id, summary(org.dave), 'initiator');
    expect((await read(id)).record.version).toBe(2);
    expect(await owner('received_messages').where({ approval_id: id }).pluck('kind')).toEqual(['sign']);
  });
});

describe('a change of a transaction', () => {
  it('counts its version up, and says when it was', async () => {
    const id = await store();
    const before = (await read(id)).record;
    await owner('approvals').where({ id }).update({ updated_at: '2020-01-01' });
    const note = { at: '2025-06-02T00:00:00.000Z', code: 'c', message: 'm' };
    const failure = aFailure({ code: 'relayerFunds' });
    await update(id, {
      executionStatus: 'failed',
      executionAttempt: 2,
      failure,
      notes: [note],
      waitingFor: 'funds',
    });
    await execute(id, { awaitsRelayerWei: MAX, cancelling: true });
    const after = (await read(id)).record;
    expect(after).toEqual({
      ...before,
      version: 2,
      updatedAt: after.updatedAt,
      executionStatus: 'failed',
      executionAttempt: 2,
      failure,
      notes: [note],
      waitingFor: 'funds',
      awaitsRelayerWei: MAX,
      cancelling: true,
    });
    expect(after.updatedAt.getTime()).toBeGreaterThanOrEqual(before.createdAt.getTime());
  });

  it('leaves alone what it does not name, and can empty what it names', async () => {
    const id = await store();
    await update(id, {
      failure: aFailure(),
      waitingFor: 'x',
      executionStatus: 'failed',
    });
    await execute(id, { awaitsRelayerWei: 1n, cancelling: true });
    await update(id, {});
    await execute(id, { cancelling: false });
    expect((await read(id)).record).toMatchObject({
      waitingFor: 'x',
      awaitsRelayerWei: 1n,
      cancelling: false,
      version: 3,
    });
    await update(id, {
      failure: null,
      waitingFor: null,
      executionStatus: 'processing',
    });
    await execute(id, { awaitsRelayerWei: null });
    expect((await read(id)).record).toMatchObject({
      failure: null,
      waitingFor: null,
      awaitsRelayerWei: null,
      executionStatus: 'processing',
    });
  });

  it('freezes the tally when it closes it, whoever leaves afterwards', async () => {
    const id = await store();
    await storeVote(service, id, summary(org.dave), 'initiator');
    const { record, now } = await read(id);
    const closedWith = tally(transactionRules, record, now);
    await update(id, { executionStatus: 'completed', result: { resolution: 'approved' }, closedWith });
    await owner('members').where({ id: org.dave.id }).update({ removed_at: new Date() });
    const closed = await read(id);
    expect(closed.record).toMatchObject({
      closed: true,
      finalTally: closedWith,
      result: { resolution: 'approved' },
    });
    expect(tallyOf(closed)).toEqual(closedWith);
    await update(id, { reopened: true, executionStatus: 'processing', result: null });
    expect((await read(id)).record).toMatchObject({ closed: false, finalTally: null, result: null });
  });

  it('announces the end of its execution after the commit, and nothing else', async () => {
    const id = await store();
    const heard: string[] = [];
    const listener = new Client({ connectionString: database.url });
    await listener.connect();
    try {
      listener.on('notification', ({ payload }) => heard.push(payload ?? ''));
      await listener.query('LISTEN execution_ended');
      const undone = service.transaction(async (tx) => {
        await updateApproval(tx, id, { executionStatus: 'failed' });
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      await update(id, { executionStatus: 'processing' });
      await update(id, { waitingFor: 'x' });
      await update(id, { executionStatus: 'failed' });
      await until('the end is heard', async () => heard.length > 0);
      await update(id, { executionStatus: 'processing' });
      await update(id, { executionStatus: 'failed' });
      await until('the next end is heard', async () => heard.length > 1);
      expect(heard).toEqual([id, id]);
    } finally {
      await listener.end();
    }
  });
});

describe('the list of transactions', () => {
  const list = async (page: Partial<Parameters<typeof listTransactions>[1]> = {}) =>
    (await listTransactions(service, { organizationId: org.id, limit: 100, ...page })).map(
      ({ record }) => record.id,
    );

  it('is in the order of commit, newest first, a page at a time', async () => {
    const policy = await storePolicy();
    const [second, third, first] = [
      await store({ policy, position: 2n }),
      await store({ policy, position: 3n }),
      await store({ policy, position: 1n }),
    ];
    expect(await list()).toEqual([third, second, first]);
    expect(await list({ limit: 2 })).toEqual([third, second]);
    expect(await list({ before: 2n })).toEqual([first]);
    expect(await list({ before: 1n })).toEqual([]);
  });

  it('reads no more of a long history than a page', async () => {
    const id = await store();
    const tx = await owner.transaction();
    try {
      for (const table of ['approvals', 'transactions']) {
        const columns = Object.keys(requireRow(await tx(table).where({ id }).first()));
        const copied = columns.map((column) => {
          if (column === 'id') return "id || '_' || n";
          return column === 'position' ? 'position + n' : column;
        });
        // A statement that takes long is ended.
        for (let first = 1; first <= 5_000; first += 500) {
          await tx.raw(
            `INSERT INTO ${table} (${columns}) SELECT ${copied} FROM ${table}, generate_series(?::integer, ?::integer) AS n
              WHERE id = ?`,
            [first, first + 499, id],
          );
        }
      }
      await tx.raw('ANALYZE approvals, transactions');
      const statements: { sql: string; bindings: never[] }[] = [];
      tx.on('query', (query) => statements.push(query));
      const filter = { organizationId: org.id, limit: 20 };
      expect((await pageOfTransactions(tx, filter, 1_000_000)).snapshots).toHaveLength(20);
      for (const { sql, bindings } of [...statements]) {
        const text = sql.replace(/\$[0-9]+/g, () => '?');
        const { rows } = await tx.raw(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, bindings);
        const read = [...JSON.stringify(rows).matchAll(/"Actual Rows":([0-9.]+)/g)].map(([, n]) => Number(n));
        expect(Math.max(...read)).toBeLessThanOrEqual(22);
      }
      expect(statements.length).toBeGreaterThanOrEqual(2);
    } finally {
      await tx.rollback();
    }
  });

  it('of all organizations is in the order of ids', async () => {
    const ids = [await store({ position: 9n }), await store({ position: 1n })];
    org = await makeOrganization(owner);
    account = await storeAccount(owner, org.id);
    ids.push(await store({ position: 5n }));
    const all = await listTransactions(service, { limit: 1_000 });
    const order = all.map(({ record }) => record.id);
    expect(order).toEqual([...order].sort().reverse());
    expect(order).toEqual(expect.arrayContaining(ids));
  });

  it('is of one account, or of one key, where that is asked for', async () => {
    const policy = await storePolicy();
    const one = await store({ policy, createdBy: 'key_1' });
    account = await storeAccount(owner, org.id);
    const two = await store({ policy, createdBy: 'key_2' });
    expect(await list({ accountId: account.id })).toEqual([two]);
    expect(await list({ createdBy: 'key_1' })).toEqual([one]);
    expect(await list({ createdBy: 'key_1', accountId: account.id })).toEqual([]);
  });

  it('separates what can still change from what was executed, by the clock of the database', async () => {
    const policy = await storePolicy();
    const past = new Date('2020-01-01T00:00:00.000Z');
    const make = async (
      change: Parameters<typeof updateApproval>[2],
      more: { expiresAt?: Date; closed?: true } = {},
    ) => {
      const id = await store({ policy, ...(more.expiresAt ? { expiresAt: more.expiresAt } : {}) });
      const { record, now } = await read(id);
      const closedWith = more.closed ? { closedWith: tally(transactionRules, record, now) } : {};
      await update(id, { ...change, ...closedWith });
      return id;
    };
    const made = {
      new: await make({}),
      blocked: await make({ executionStatus: 'blocked' }),
      failed: await make({ executionStatus: 'failed' }),
      processing: await make({ executionStatus: 'processing' }),
      late: await make({ executionStatus: 'processing' }, { expiresAt: past }),
      expired: await make({}, { expiresAt: past }),
      expiredFailed: await make({ executionStatus: 'failed' }, { expiresAt: past }),
      closedExpired: await make({ expired: true }, { expiresAt: past, closed: true }),
      closedByOperator: await make({ executionStatus: 'failed' }, { closed: true }),
      completed: await make({ executionStatus: 'completed' }, { closed: true }),
      rejected: await make({ executionStatus: 'rejected' }, { closed: true, expiresAt: past }),
    };
    const names = async (page: Parameters<typeof list>[0]) => {
      const ids = await list(page);
      return Object.entries(made)
        .filter(([, id]) => ids.includes(id))
        .map(([name]) => name);
    };
    expect(await names({})).toEqual(Object.keys(made));
    expect(await names({ status: 'queued' })).toEqual(['new', 'blocked', 'failed', 'processing', 'late']);
    expect(await names({ status: 'executed' })).toEqual([
      'expiredFailed',
      'closedByOperator',
      'completed',
      'rejected',
    ]);
    expect(await names({ unclosed: true })).toEqual([
      'new',
      'blocked',
      'failed',
      'processing',
      'late',
      'expired',
      'expiredFailed',
    ]);
    expect(await names({ executionStatus: ['failed', 'blocked'], unclosed: true })).toEqual([
      'blocked',
      'failed',
      'expiredFailed',
    ]);
    expect(await names({ executionStatus: [] })).toEqual([]);
  });
});

/** Waits until somebody waits for a lock in this database. */
async function untilWaiting(): Promise<void> {
  await until('somebody waits for a lock', async () => {
    const { rows } = await owner.raw(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
}

describe('a transaction under its lock', () => {
  it('waits for whoever has it, and then sees what that one did', async () => {
    const id = await store();
    const first = await service.transaction();
    await lockTransaction(first, key(id));
    const second = service.transaction(async (tx) => (await lockTransaction(tx, key(id)))?.record.waitingFor);
    await untilWaiting();
    await updateApproval(first, id, { waitingFor: 'the first' });
    await first.commit();
    expect(await second).toBe('the first');
  });

  it('is signed by nobody meanwhile: an attempt of it waits, and is stored after what has been decided', async () => {
    const id = await store();
    const deciding = await service.transaction();
    await lockTransaction(deciding, key(id));
    const signing = attempt(id);
    await untilWaiting();
    await updateApproval(deciding, id, { executionStatus: 'failed' });
    await deciding.commit();
    const { id: attemptId } = await signing;
    expect((await read(id)).record.executionStatus).toBe('failed');
    expect(
      await owner('chain_attempts')
        .where({ id: BigInt(attemptId) })
        .pluck('transaction_id'),
    ).toEqual([id]);
  });

  it('keeps people and policies of its organization from changing, and does not keep others from it', async () => {
    const [one, two] = [await store(), await store()];
    await service.transaction(async (tx) => {
      await lockTransaction(tx, key(one));
      await service.transaction((other) => lockTransaction(other, key(two)));
      const change = service.transaction((other) =>
        other('admin_sets').where({ organization_id: org.id }).forUpdate().noWait().first('id'),
      );
      await expect(change).rejects.toEqual(refused('55P03'));
    });
  });

  it('knows which messages have had their effect on it, each on one transaction', async () => {
    const [one, two] = [await store(), await store()];
    const messageId = randomUUID();
    const taken = async (id: string) => [
      (await readTransactionForMessage(service, { ...key(id), messageId }))?.messageTaken,
      await isMessageReceived(service, id, messageId),
    ];
    expect(await taken(one)).toEqual([false, false]);
    await service.transaction((tx) => insertMessage(tx, one, messageId, 'sign'));
    expect(await taken(one)).toEqual([true, true]);
    expect(await taken(two)).toEqual([false, false]);
    expect((await readTransactionForMessage(service, key(one)))?.messageTaken).toBe(false);
    const again = service.transaction((tx) => insertMessage(tx, one, messageId, 'execute'));
    await expect(again).rejects.toEqual(refused('23505'));
    await service.transaction((tx) => insertMessage(tx, two, messageId, 'sign'));
  });

  it('knows the API key of a request about it, and takes no other text for one', async () => {
    const [id, other] = [await store(), await store()];
    const requestId = await storeRequest(owner, {
      ...{ organizationId: org.id, credentialId: org.adminKeyId },
      ...{ path: `/api/v1/transactions/${id}/execute`, body: {}, resourceId: id },
    });
    const keyOf = async (transactionId: string, request: string) =>
      (await readTransactionForMessage(service, { ...key(transactionId), requestId: request }))?.credentialId;
    expect(await keyOf(id, requestId)).toBe(org.adminKeyId);
    expect(await keyOf(other, requestId)).toBeNull();
    for (const text of [randomUUID(), 'x', `'; --`, `${requestId} `])
      expect(await keyOf(id, text)).toBeNull();
  });
});

let nonce = 0n;

/** Stores an attempt of a transaction, or the empty call at its nonce, with envelopes that were sent then or (null) not. */
async function attempt(
  transactionId: string,
  options: {
    sent?: readonly (Date | null)[];
    kind?: 'transaction' | 'cancellation';
    safeNonce?: bigint;
  } = {},
) {
  nonce += 1n;
  const { sent = [], kind = 'transaction', safeNonce = nonce } = options;
  const envelopes = sent.map((at) => ({ at, transactionHash: aHash() }));
  const id = await signer.transaction(async (tx) => {
    const made = await insertAttempt(tx, {
      kind,
      organizationId: org.id,
      transactionId,
      accountId: account.id,
      networkId: NETWORK_ID,
      to: anAddress(),
      value: MAX,
      data: '0x',
      safeNonce,
      safeTxGas: 1n,
      safeTxHash: aHash(),
      fromBlock: 1n,
    });
    for (const { transactionHash } of envelopes) {
      await insertEnvelope(tx, {
        attemptId: made,
        networkId: NETWORK_ID,
        relayerAddress: anAddress(),
        relayerNonce: 0,
        gas: 1n,
        maxFeePerGas: 1n,
        maxPriorityFeePerGas: 1n,
        transactionHash,
        rawTransaction: '0x',
      });
    }
    return made;
  });
  for (const { at, transactionHash } of envelopes) {
    await service('chain_envelopes').where({ transaction_hash: transactionHash }).update({ sent_at: at });
  }
  return { id: String(id), safeNonce, hashes: envelopes.map(({ transactionHash }) => transactionHash) };
}

const decided = (attemptId: string, kind: 'executed' | 'reverted' | 'cancelled' = 'executed') => ({
  attemptId,
  kind,
  transactionHash: aHash(),
  blockNumber: '12',
  blockHash: aHash(),
  blockTime: '2025-06-02T00:00:00.000Z',
});

describe('what a transaction shows of its chain', () => {
  const [early, later] = [new Date('2025-06-02T00:00:00.000Z'), new Date('2025-06-02T00:01:00.000Z')];
  const chainOf = async (id: string) => (await read(id)).record.chain;

  it('is nothing before something was sent', async () => {
    const id = await store();
    expect(await chainOf(id)).toBeNull();
    await attempt(id);
    expect(await chainOf(id)).toBeNull();
    const other = await store();
    await attempt(other, { sent: [null, null] });
    expect(await chainOf(other)).toBeNull();
  });

  it('is the newest envelope that was sent, and since when one was', async () => {
    const id = await store();
    const { hashes } = await attempt(id, { sent: [early, later, null] });
    expect(await chainOf(id)).toEqual({ transactionHash: hashes[1], submittedAt: early, confirmations: 0 });
  });

  it('is the transaction that carried it once that is known, with its confirmations', async () => {
    const id = await store();
    const { id: attemptId } = await attempt(id, { sent: [early] });
    const outcome = decided(attemptId);
    await service.transaction((tx) => decideAttempt(tx, id, outcome));
    await service('chain_attempts')
      .where({ id: BigInt(attemptId) })
      .update({ confirmations: 3 });
    const { transactionHash } = outcome;
    expect(await chainOf(id)).toEqual({ transactionHash, submittedAt: early, confirmations: 3 });
  });

  it('is never the call that takes its nonce', async () => {
    const id = await store();
    const { hashes, safeNonce } = await attempt(id, { sent: [early] });
    await attempt(id, { sent: [later], kind: 'cancellation', safeNonce });
    expect(await chainOf(id)).toMatchObject({ transactionHash: hashes[0] });
  });
});

describe('an attempt of a transaction', () => {
  it('is one for ever, and one for a nonce of its account', async () => {
    const [id, other] = [await store(), await store()];
    const { id: attemptId, safeNonce } = await attempt(id);
    await expect(attempt(id)).rejects.toEqual(refused('23505'));
    await expect(attempt(other, { safeNonce })).rejects.toEqual(refused('23505'));
    await attempt(id, { kind: 'cancellation', safeNonce });
    await service.transaction((tx) => decideAttempt(tx, id, decided(attemptId, 'reverted')));
    await expect(attempt(id)).rejects.toEqual(refused('23505'));
  });

  it('is decided with the call at its nonce', async () => {
    const id = await store();
    const { id: attemptId, safeNonce } = await attempt(id);
    await attempt(id, { kind: 'cancellation', safeNonce });
    await service.transaction((tx) => decideAttempt(tx, id, decided(attemptId, 'cancelled')));
    expect(
      await owner('chain_attempts').where({ transaction_id: id }).orderBy('id').pluck('outcome'),
    ).toEqual(['cancelled', 'executed']);
  });
});

describe('a transaction whose block the chain has lost', () => {
  /** A transaction whose execution has ended in that way, as an execution ends. */
  async function ended(status: StoredTransaction['executionStatus']) {
    const policy = await storePolicy();
    const id = await store({ policy });
    await storeVote(service, id, summary(org.dave), 'initiator');
    const made = await attempt(id, { sent: [new Date()] });
    const { record, now } = await read(id);
    const usage = {
      organizationId: org.id,
      policyId: policy.id,
      transactionId: id,
      networkId: NETWORK_ID,
      tokenAddress: NATIVE_CURRENCY,
      amount: 1n,
      initiatorId: org.dave.id,
      accountId: account.id,
      destination: record.to,
    };
    await service.transaction(async (tx) => {
      await reserveUsage(tx, usage);
      const outcome = decided(made.id, status === 'completed' ? 'executed' : 'reverted');
      await decideAttempt(tx, id, outcome);
      if (status === 'completed') await commitUsage(tx, id, new Date(outcome.blockTime));
      else await releaseUsage(tx, id);
      await updateApproval(tx, id, {
        executionStatus: status,
        ...(status === 'completed'
          ? { result: { resolution: 'approved' as const }, closedWith: tally(transactionRules, record, now) }
          : { failure: aFailure({ code: 'reverted' }) }),
      });
    });
    return { ...made, id, usage };
  }
  const reopen = (transactionId: string) => reopenTransaction(service, ref(transactionId));
  const usageOf = (id: string) =>
    owner('policy_usage').where({ transaction_id: id }).orderBy('id').pluck('status');
  const reopenings = (id: string) =>
    owner('audit_log').where({ resource_id: id, action: 'transaction.reopened' }).pluck('details');

  it.each(['completed', 'failed'] as const)(
    'is executed again, having been %s, with its budget',
    async (status) => {
      const { id, safeNonce } = await ended(status);
      const before = (await read(id)).record;
      await attempt(id, { kind: 'cancellation', safeNonce });
      await reopen(id);
      expect((await read(id)).record).toMatchObject({
        executionStatus: 'processing',
        closed: false,
        finalTally: null,
        result: null,
        failure: null,
        version: before.version + 1,
      });
      expect(await usageOf(id)).toEqual(['reserved']);
      const columns = ['outcome', 'outcome_hash', 'block_number', 'block_hash', 'block_at', 'decided_at'];
      for (const row of await owner('chain_attempts').where({ transaction_id: id }).select(columns)) {
        expect(Object.values(row)).toEqual(columns.map(() => null));
      }
      expect(await reopenings(id)).toEqual([
        expect.objectContaining({ before: expect.objectContaining({ executionStatus: status }) }),
      ]);
      await reopen(id);
      expect(await reopenings(id)).toHaveLength(1);
    },
  );

  it('is not executed again where another block has decided it since', async () => {
    const { id } = await ended('completed');
    const [blockHash] = await owner('chain_attempts').where({ transaction_id: id }).pluck('block_hash');
    expect(await reopenTransaction(service, ref(id), { lostBlockHash: aHash() })).toBe(false);
    expect(await reopenings(id)).toEqual([]);
    expect(await reopenTransaction(service, ref(id), { lostBlockHash: blockHash as string })).toBe(true);
    expect(await reopenings(id)).toHaveLength(1);
  });

  it('takes back what it has used, whatever was recorded of it', async () => {
    const { id } = await ended('failed');
    await reopen(id);
    await service.transaction((tx) => commitUsage(tx, id, new Date()));
    expect(await usageOf(id)).toEqual(['committed']);
  });
});
