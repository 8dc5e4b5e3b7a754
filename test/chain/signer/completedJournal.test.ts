/** @deep */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from 'viem';
import { signerEndpoints } from '../../../src/chain/contractSignatures';
import { createIdentifyVoter } from '../../../src/chain/voter';
import { createDatabase, type Db, databaseNow } from '../../../src/db/database';
import { type JournalPosition, UNKNOWN_POSITION } from '../../../src/domain/signerLease';
import type { TransactionRef } from '../../../src/domain/transaction';
import { compareJournal } from '../../../src/signer/comparison/compareJournal';
import { assertNotForked } from '../../../src/signer/comparison/fork';
import { type Journal, openJournal } from '../../../src/signer/journal/journal';
import { completeJournal } from '../../../src/signer/recovery/completeJournal';
import { findUnknownExecutions } from '../../../src/signer/recovery/findUnknownExecutions';
import { insertAuthorization } from '../../../src/signer/store/signedAuthorizations';
import { insertUnknownExecution } from '../../../src/signer/store/unknownExecutionRecords';
import { usageOf } from '../../../src/transactions/policy';
import { anAddress } from '../../support/builders';
import { random } from '../../support/random';
import { temporaryDir } from '../../support/stack';
import { DEEP, describeDeep } from '../../support/suite';
import { aTransferPolicy } from '../../support/transactions';
import { type AskedWith, type TestAccount, TransactionWorld } from '../transactionWorld';

const PRICE = 5n;
/** As long as every request of these tests can be signed. */
const LIFETIME_MS = 3_600_000;

let world: TransactionWorld;

/** A transaction, and where it pays to. */
type Payment = TransactionRef & { readonly to: Address };

beforeAll(async () => {
  world = await TransactionWorld.start(41_907);
  // Whoever owns the tables needs no foreign keys.
  const { rows } = await world.db.raw(
    `SELECT conrelid::regclass AS table, conname AS name FROM pg_constraint
      WHERE contype = 'f' AND conrelid::regclass::text IN ('authorizations', 'chain_attempts', 'transactions')`,
  );
  for (const { table, name } of rows) await world.db.raw(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
});
afterAll(() => world?.stop());

async function asked(
  account: TestAccount,
  how: AskedWith = {},
  to = anAddress() as Address,
): Promise<Payment> {
  const ref = await world.transaction({ to, value: PRICE }, { account, ...how });
  return { ...ref, to };
}

async function paid(...args: Parameters<typeof asked>): Promise<Payment> {
  const payment = await asked(...args);
  await world.execute(payment);
  expect(await received(payment)).toBe(PRICE);
  return payment;
}

const received = ({ to }: Payment) => world.balanceOf(to);

/** What the owner of the tables does, past the triggers that keep their rows. */
async function owning(table: string, sql: string, ...bindings: readonly string[]): Promise<void> {
  await world.db.transaction(async (tx) => {
    await tx.raw(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
    await tx.raw(sql, [...bindings]);
    await tx.raw(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
  });
}

/** Puts what was signed for one transaction under another id. */
async function relabel({ transactionId: from }: TransactionRef, to: string): Promise<void> {
  await owning(
    'chain_attempts',
    'UPDATE chain_attempts SET transaction_id = ? WHERE transaction_id = ?',
    to,
    from,
  );
  await owning(
    'authorizations',
    'UPDATE authorizations SET transaction_id = ? WHERE transaction_id = ?',
    to,
    from,
  );
}

/** Deletes all that says that a transaction was signed. */
async function hide({ transactionId }: TransactionRef): Promise<void> {
  const of = 'attempt_id IN (SELECT id FROM chain_attempts WHERE transaction_id = ?)';
  for (const table of ['chain_envelopes', 'relayer_reservations', 'chain_signatures']) {
    await owning(table, `DELETE FROM ${table} WHERE ${of}`, transactionId);
  }
  await owning('chain_attempts', 'DELETE FROM chain_attempts WHERE transaction_id = ?', transactionId);
  await owning('authorizations', 'DELETE FROM authorizations WHERE transaction_id = ?', transactionId);
}

/**
 * A pool of connections that get another time from the database than it is, and no request that is later: whoever owns it says
 * what `now()` is.
 */
async function databaseBehind(): Promise<Db> {
  const { rows } = await world.db.raw('SELECT current_database() AS name');
  await world.db.raw(`CREATE SCHEMA behind; GRANT USAGE ON SCHEMA behind TO PUBLIC;
    CREATE FUNCTION behind.now() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.now() - interval '1 year' $$;
    CREATE VIEW behind.approvals AS SELECT * FROM public.approvals WHERE expires_at <= behind.now();
    GRANT SELECT ON behind.approvals TO PUBLIC;
    ALTER DATABASE ${rows[0].name} SET search_path = behind, pg_catalog, public`);
  const db = createDatabase(world.database.signerUrl, { poolMax: 3 });
  expect((await databaseNow(db)).getTime()).toBeLessThan(Date.now() - 300 * 24 * LIFETIME_MS);
  await world.db.raw(`ALTER DATABASE ${rows[0].name} RESET search_path`);
  return db;
}

/** Records what an account has executed and nobody here knows, as `reconcile-restore --write` does. */
async function explain({ id }: TestAccount): Promise<void> {
  const { signerDb, journal, keystore, network, client } = world;
  const { unknown: all } = await findUnknownExecutions(
    { db: signerDb, journal, keystore },
    network,
    [client],
    {
      isCompleted: true,
    },
  );
  const found = all.filter(({ accountId }) => accountId === id);
  await journal.append(...found);
  await world.db.transaction(async (tx) => {
    for (const one of found) await insertUnknownExecution(tx, { ...one, safeNonce: BigInt(one.safeNonce) });
  });
}

const tried: string[] = [];

/** What is signed and undecided goes on, as its workflows have it: nothing later is signed before. */
async function goOn({ id }: TestAccount): Promise<void> {
  const open = await world
    .db('chain_attempts')
    .where({ account_id: id, outcome: null })
    .whereNotNull('transaction_id')
    .orderBy('safe_nonce')
    .select('organization_id', 'transaction_id');
  for (const { organization_id: organizationId, transaction_id: transactionId } of open) {
    const ref = { organizationId: String(organizationId), transactionId: String(transactionId) };
    await world.execute(ref).catch((error: Error) => tried.push(`go on: ${error.message.slice(0, 80)}`));
  }
}

/** The journal is lost, and made anew from what the database has. */
async function complete(
  from?: string,
  db = world.signerDb,
  through = (journal: Journal) => journal,
): Promise<{ unvoted: readonly string[]; unproved: readonly string[] }> {
  const file = from ?? join(temporaryDir(), 'journal');
  await world.journal.close();
  world.journal = await openJournal({ file, waitMs: 0 });
  const completed = await completeJournal(
    {
      db,
      journal: through(world.journal),
      keystore: world.keystore,
      endpointsOf: () => [world.client],
      identifyVoter: createIdentifyVoter(signerEndpoints(world.network)),
      networks: [world.network],
      lifetimeMs: LIFETIME_MS,
    },
    { isLost: true },
  );
  world.signer = world.signerWith({});
  // What is requested from now on expires later.
  await sleep(1_100);
  return completed;
}

/** Shows a transaction as one that is about to be executed, and asks the signer for it; answers what the signer says. */
async function tryAgain(payment: Payment, account: TestAccount): Promise<string> {
  const { transactionId } = payment;
  await world
    .db('approvals')
    .where({ id: transactionId })
    .update({ closed_at: null, execution_status: null, failure: null, result: null });
  await owning('policy_usage', 'DELETE FROM policy_usage WHERE transaction_id = ?', transactionId);
  await world.begin(payment);
  const terms = await world.terms(await asked(account));
  const { organizationId } = payment;
  const answer = await world.signer.signTransaction({ organizationId, transactionId, terms });
  if ('envelopeId' in answer) await world.followToEnd({ organizationId, transactionId }, answer.envelopeId);
  await world.mine(2);
  return JSON.stringify(answer);
}

/** All cases in the deep tests, else the first: it proves the same rule. */
const firstOf = <Case>(cases: readonly Case[]) => (DEEP ? cases : cases.slice(0, 1));

describe('a journal that is completed from tables that their owner has rewritten', () => {
  let account: TestAccount;
  beforeEach(async () => {
    account = await world.account();
  });

  it.each<[string, (first: Payment) => Promise<unknown>]>([
    ['under an id that does not exist', (first) => relabel(first, 'txn_none')],
    [
      'under that of a payment that was not executed',
      async (first) => relabel(first, (await asked(account)).transactionId),
    ],
    [
      'under that of a payment of the same to the same',
      async (first) => relabel(first, (await asked(account, {}, first.to)).transactionId),
    ],
    ['nowhere', (first) => hide(first)],
  ])('pays nothing twice: what was paid is %s', async (_, rewrite) => {
    const first = await paid(account);
    await rewrite(first);
    await complete();
    // A nonce that the tables do not show is explained by what is paid next.
    expect(await tryAgain(first, account)).not.toContain('envelopeId');
    expect(await received(first)).toBe(PRICE);
  });

  it('goes on at a nonce that is hidden below another one', async () => {
    const [hidden, later] = [await asked(account), await asked(account)];
    await world.sign(hidden);
    await world.sign(later);
    await hide(hidden);
    await complete();
    const next = await asked(account);
    await world.sign(next);
    const nonceOf = async (payment: Payment) =>
      (await world.attempts(payment)).map(({ safe_nonce }) => safe_nonce);
    expect(await Promise.all([nonceOf(next), nonceOf(later)])).toEqual([[0n], [1n]]);
    await world.execute(next);
    expect(await world.execute(later)).toMatchObject({ outcome: { kind: 'executed' } });
    await paid(account);
    expect(await Promise.all([hidden, next, later].map(received))).toEqual([0n, PRICE, PRICE]);
  });

  it('pays nothing twice where two ids are swapped, and names both', async () => {
    const [first, second] = [await paid(account), await paid(account)];
    await relabel(first, 'txn_swapped');
    await relabel(second, first.transactionId);
    await relabel({ ...second, transactionId: 'txn_swapped' }, second.transactionId);
    const { unvoted } = await complete();
    expect([...unvoted].sort()).toEqual(
      expect.arrayContaining([first.transactionId, second.transactionId].sort()),
    );
    for (const one of [first, second]) {
      await tryAgain(one, account).catch(() => undefined);
      expect(await received(one)).toBe(PRICE);
    }
  });

  it('pays nothing twice where the rows come back after it was completed, under another id', async () => {
    const first = await paid(account);
    await relabel(first, 'txn_hidden');
    const kept = await world.db('chain_attempts').where({ transaction_id: 'txn_hidden' });
    await owning('authorizations', "DELETE FROM authorizations WHERE transaction_id = 'txn_hidden'");
    await complete();
    expect(kept).toHaveLength(1);
    const other = await asked(account);
    await relabel({ ...first, transactionId: 'txn_hidden' }, other.transactionId);
    await tryAgain(other, account).catch(() => undefined);
    await tryAgain(first, account).catch(() => undefined);
    expect(await received(first)).toBe(PRICE);
  });

  it('takes no other place of a payment than the one that was signed', async () => {
    const first = await asked(account);
    await world.sign(first);
    await world.requestCancellation(first);
    expect(await world.execute(first, { cancel: true })).toMatchObject({ outcome: { kind: 'cancelled' } });
    const second = await paid(account, { replaces: first.transactionId });
    await world.db('transactions').where({ id: second.transactionId }).update({ replaces: null });
    await complete();
    const third = await asked(account, { replaces: first.transactionId }, second.to);
    const answer = await world.signer.signTransaction({ ...third, terms: await world.terms(third) });
    expect(JSON.stringify(answer)).toContain('create it without replaces');
    expect(await received(second)).toBe(PRICE);
  });

  it('has what was signed of the replacement, whatever the column says', async () => {
    const first = await asked(account);
    await world.sign(first);
    await world.requestCancellation(first);
    await world.execute(first, { cancel: true });
    const second = await paid(account, { replaces: first.transactionId });
    await world.db('transactions').where({ id: second.transactionId }).update({ replaces: null });
    await complete();
    const others = world.journal.othersOf(first.transactionId, null);
    expect(others.map(({ transactionId }) => transactionId)).toEqual([second.transactionId]);
  });

  it.each(firstOf(['authorizations', 'authorizations and transactions']))(
    'makes no budget larger where another policy is written into %s',
    async (where) => {
      const policyId = await limitedPolicy(String(PRICE));
      const elsewhere = await world.policy();
      const first = await paid(account, { policyId });
      const { transactionId } = first;
      await owning(
        'authorizations',
        'UPDATE authorizations SET policy_id = ? WHERE transaction_id = ?',
        elsewhere,
        transactionId,
      );
      if (where.includes('transactions')) {
        await owning(
          'transactions',
          'UPDATE transactions SET policy_id = ? WHERE id = ?',
          elsewhere,
          transactionId,
        );
      }
      const { unvoted } = await complete();
      expect(unvoted.includes(transactionId)).toBe(where.includes('transactions'));
      const second = await asked(account, { policyId });
      const answer = await world.signer.signTransaction({ ...second, terms: await world.terms(second) });
      expect(answer).not.toHaveProperty('envelopeId');
      expect(await received(second)).toBe(0n);
    },
  );

  it.each(firstOf(['2001-01-01T00:00:00Z', '2101-01-01T00:00:00Z']))(
    'makes no budget larger where it is authorized at another time: %s',
    async (time) => {
      const policyId = await limitedPolicy(String(PRICE));
      const first = await paid(account, { policyId });
      await owning(
        'authorizations',
        'UPDATE authorizations SET authorized_at = ? WHERE transaction_id = ?',
        time,
        first.transactionId,
      );
      await complete();
      const known = world.journal.authorizationOf(first.transactionId);
      expect(known?.authorizedAt).toBeLessThanOrEqual(Date.now());
      const second = await asked(account, { policyId });
      const answer = await world.signer.signTransaction({ ...second, terms: await world.terms(second) });
      expect(answer).not.toHaveProperty('envelopeId');
    },
  );

  it('makes no budget larger where an execution that is not found is said to be old', async () => {
    const policyId = await limitedPolicy(String(PRICE));
    const { transactionId } = await paid(account, { policyId });
    // It is searched from where its row says that it was signed.
    await world.mine(600);
    await owning(
      'chain_envelopes',
      'DELETE FROM chain_envelopes WHERE attempt_id IN (SELECT id FROM chain_attempts WHERE transaction_id = ?)',
      transactionId,
    );
    await owning(
      'chain_attempts',
      'UPDATE chain_attempts SET from_block = from_block + 600 WHERE transaction_id = ?',
      transactionId,
    );
    await owning(
      'authorizations',
      "UPDATE authorizations SET outcome = 'executed', block_at = '2001-01-01', authorized_at = '2001-01-01' WHERE transaction_id = ?",
      transactionId,
    );
    await complete();
    const second = await asked(account, { policyId });
    const answer = await world.signer.signTransaction({ ...second, terms: await world.terms(second) });
    expect(answer).not.toHaveProperty('envelopeId');
  });

  it.each(firstOf(['does not permit it', 'was removed before']))(
    'makes no budget larger where its initiator has signed it under a policy that %s',
    async (which) => {
      const policyId = await limitedPolicy(String(PRICE));
      const removed = which === 'was removed before';
      const elsewhere = aTransferPolicy(
        { destinationAddresses: removed ? [] : [anAddress()] },
        { networkId: world.network.id },
      );
      await world.storePolicy(elsewhere);
      const to = anAddress() as Address;
      const label = await asked(account, { policyId: elsewhere.id }, to);
      if (removed) {
        await world.decide([{ type: 'policy', id: elsewhere.id, after: null }]);
        await world.decide([{ type: 'policy', id: await world.policy(), after: null }]);
      }
      const first = await paid(account, { policyId }, to);
      await relabel(first, label.transactionId);
      await owning(
        'authorizations',
        'UPDATE authorizations SET policy_id = ? WHERE transaction_id = ?',
        elsewhere.id,
        label.transactionId,
      );
      const { unvoted } = await complete();
      expect(unvoted).toContain(label.transactionId);
      const second = await asked(account, { policyId });
      const answer = await world.signer.signTransaction({ ...second, terms: await world.terms(second) });
      expect(answer).not.toHaveProperty('envelopeId');
    },
  );

  it('pays nothing twice where the clock of the database is behind while it is completed', async () => {
    const first = await paid(account);
    await hide(first);
    const db = await databaseBehind();
    await complete(undefined, db);
    await db.destroy();
    await explain(account);
    const answer = await tryAgain(first, account);
    expect(await received(first)).toBe(PRICE);
    expect(answer).toContain('create it again');
  });

  it('pays nothing twice where a request can be signed for longer than a cutoff lasts', async () => {
    const first = await asked(account, { expiresInMs: 300 * LIFETIME_MS });
    const signer = world.signerWith({ proposalLifetimeMs: LIFETIME_MS });
    expect(await signer.signTransaction({ ...first, terms: await world.terms(first) })).toEqual({
      held: expect.stringMatching(/expires at .*, which is more than PROPOSAL_LIFETIME \(1 h\) from now/),
    });
    expect(await world.attempts(first)).toEqual([]);
    // A journal cannot be completed while there is one.
    await world.db('approvals').where({ id: first.transactionId }).update({ expires_at: new Date() });
  });

  it('leaves rejected what was rejected, where database and journal have lost it', async () => {
    const policyId = await world.policy({
      type: 'MANUAL_APPROVAL',
      approverSetting: { type: 'user', memberId: world.org.alice.id, excludeInitiator: true },
    });
    const rejected = await asked(account, { policyId, begun: false });
    await world.vote(rejected, world.org.alice, 'approve');
    await world.vote(rejected, world.org.alice, 'reject');
    expect(await world.signer.recordRejection(rejected)).toMatchObject({ ok: true });
    await hide(rejected);
    await world.db('votes').where({ approval_id: rejected.transactionId, type: 'reject' }).delete();
    await complete();
    expect(await tryAgain(rejected, account)).toContain('create it again');
    expect(await received(rejected)).toBe(0n);
  });
});

/** A policy that permits so much in a day, from each account. */
async function limitedPolicy(amountThreshold: string): Promise<string> {
  const all = 'ALL_ITEMS' as const;
  const limitation = {
    hours: 24,
    initiatorScope: all,
    sourceAccountScope: 'PER_ITEM' as const,
    destinationScope: all,
  };
  const policy = aTransferPolicy({ amountThreshold }, { networkId: world.network.id, limitation });
  await world.storePolicy(policy);
  return policy.id;
}

describe('a journal from a backup', () => {
  it.each(firstOf([1, 101]))(
    'signs nothing after %s payments that it lacks, until it is completed',
    async (count) => {
      const account = await world.account();
      const policyId = await world.policy();
      const { file } = world.journal;
      await copyFile(file, `${file}.backup`);
      for (let i = 0; i < count; i += 1) await paid(account, { policyId });
      await world.journal.close();
      await copyFile(`${file}.backup`, file);
      world.journal = await openJournal({ file, waitMs: 0 });
      world.signer = world.signerWith({});
      const next = await asked(account, { policyId });
      expect(await world.signer.signTransaction({ ...next, terms: await world.terms(next) })).toEqual({
        held: expect.stringContaining('the journal has nothing at the nonces from 0 on'),
      });
      expect(await complete(file)).toMatchObject({ unvoted: [] });
      await paid(account, { policyId });
    },
    120_000,
  );

  it('goes on with the rest: what was requested before is created again, and what it was to get is cancelled', async () => {
    const account = await world.account();
    const policyId = await world.policy();
    await paid(account, { policyId });
    const before = await asked(account, { policyId });
    // A crash came before its entry: the attempt is stored, and nothing is signed.
    const append = () => Promise.reject(new Error('crashed'));
    const failing: Journal = Object.assign(Object.create(world.journal), { append });
    const terms = await world.terms(before);
    const crashed = world.signerWith({ journal: failing });
    await crashed.signTransaction({ ...before, terms }).catch(() => undefined);
    expect(await world.attempts(before)).toHaveLength(1);
    // Its nonce is kept for it for a minute.
    await world.db('relayer_reservations').update({ reserved_at: new Date(Date.now() - 61_000) });
    const { unproved, unvoted } = await complete();
    expect(unproved).toContain(before.transactionId);
    expect(unvoted).not.toContain(before.transactionId);
    expect(await world.execute(before)).toMatchObject({ outcome: { kind: 'cancelled' } });
    expect(await received(before)).toBe(0n);
    await paid(account, { policyId });
  });

  it('that has forked is refused: the database has not all of it, and knows more lines', async () => {
    const account = await world.account();
    const forked = await asked(account);
    await world.sign(forked);
    await hide(forked);
    const { missing } = await compareJournal(world.journal, world.db);
    const lines = world.journal.lines();
    const at = (more: number) => ({ lines: lines + more, hash: 'of another line' });
    const check = (stored: JournalPosition, signed: readonly string[] = []) =>
      assertNotForked(world.journal, stored, { missing, signed });
    expect(() => check(at(5))).toThrow(/lacks 1 authorization .*it has forked/);
    // A database that was rolled back knows fewer.
    expect(() => check(at(-1))).not.toThrow();
    // Where nobody knows how far the journal went, what is signed says that there were other lines.
    expect(() => check(UNKNOWN_POSITION)).not.toThrow();
    expect(() => check(UNKNOWN_POSITION, ['txn_other'])).toThrow(
      /lacks 1 authorization .* shows txn_other signed, .*it has forked/,
    );
    // One that has another transaction at that nonce is of another history.
    const other = await asked(account);
    const { organizationId } = forked;
    const { record } = await world.snapshot(other);
    const safeTxHash = `0x${'ab'.repeat(32)}`;
    const stored = {
      ...usageOf(record),
      organizationId,
      safeNonce: 0n,
      safeTxHash,
      authorizedAt: new Date(),
    };
    await world.db.transaction(async (tx) => {
      await insertAuthorization(tx, stored);
    });
    await expect(compareJournal(world.journal, world.db)).rejects.toThrow(/nonce 0 .* is of txn_/);
    await hide(other);
  });
});

describeDeep(
  'a journal that is lost again and again, whose tables are rewritten, and whose completion is killed',
  () => {
    /** A journal that fails at an entry, as a kill leaves it; and that entry is counted down. */
    function killedAt(journal: Journal, place: number): Journal {
      let left = place;
      const append: Journal['append'] = async (...entries) => {
        left -= entries.length;
        if (left < 0) throw new Error('killed');
        return journal.append(...entries);
      };
      return Object.assign(Object.create(journal), { append });
    }

    it.each(Array.from({ length: 12 }, (_, i) => i))('pays nothing twice: %i', async () => {
      const account = await world.account();
      const policyId = await world.policy();
      const payments: Payment[] = [];
      const backups: string[] = [];
      const oneOf = <T>(list: readonly T[]) => list[random(list.length)] as T;
      const steps: Readonly<Record<string, () => Promise<unknown>>> = {
        async pay() {
          payments.push(await asked(account, { policyId }));
          await world.execute(payments.at(-1) as Payment);
        },
        async sign() {
          payments.push(await asked(account, { policyId }));
          await world.sign(payments.at(-1) as Payment);
        },
        again: () => tryAgain(oneOf(payments), account),
        async backup() {
          const file = join(temporaryDir(), 'backup');
          await copyFile(world.journal.file, file);
          backups.push(file);
        },
        async lose() {
          for (const payment of payments) {
            const what = random(4);
            if (what === 0) await hide(payment);
            if (what === 1) await relabel(payment, oneOf(payments).transactionId);
          }
          const file = join(temporaryDir(), 'journal');
          if (backups.length > 0 && random(2) === 0) await copyFile(oneOf(backups), file);
          await complete(file, world.signerDb, (journal) => killedAt(journal, random(6))).catch(
            () => undefined,
          );
          await complete(file);
          await explain(account);
        },
      };
      await steps.pay?.();
      for (let i = 0; i < 14; i += 1) {
        const name = oneOf(Object.keys(steps));
        // A refusal is what is expected of most.
        await steps[name]?.().catch((error: Error) => tried.push(`${name}: ${error.message.slice(0, 80)}`));
        for (const payment of payments) expect([0n, PRICE]).toContain(await received(payment));
      }
      await complete(join(temporaryDir(), 'journal'));
      await explain(account);
      await goOn(account);
      await paid(account, { policyId: await world.policy() });
    });
    afterAll(() => process.stderr.write(`${tried.join('\n')}\n`));
  },
);
