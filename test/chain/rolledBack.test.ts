import type { Address } from 'viem';
import { listAuthorizations } from '../../src/db/authorizations';
import { newId } from '../../src/db/ids';
import { requireRow } from '../../src/db/rows';
import { listSeals } from '../../src/db/seals';
import type { TransactionRef } from '../../src/domain/transaction';
import { journalDifference } from '../../src/proof/journalDifference';
import { compareJournal } from '../../src/signer/comparison/compareJournal';
import type { JournalReader } from '../../src/signer/journal/journalReader';
import { withTimeLimit } from '../../src/timeLimit';
import { anAddress } from '../support/builders';
import { aTransferPolicy } from '../support/transactions';
import { envelopeOf, type TestAccount, TransactionWorld } from './transactionWorld';

const HOUR_MS = 3_600_000;

let world: TransactionWorld;
let policyId: string;
let account: TestAccount;
let paid: TransactionRef;

beforeAll(async () => {
  world = await TransactionWorld.start(41_181);
});
afterAll(() => world?.stop());

const payee = anAddress() as Address;
const payment = () =>
  world.transaction({ to: payee, value: 5n }, { account, policyId, expiresInMs: 9 * HOUR_MS });

beforeEach(async () => {
  policyId = newId('pol');
  const all = 'ALL_ITEMS' as const;
  const limitation = { hours: 1, initiatorScope: all, sourceAccountScope: all, destinationScope: all };
  const policy = aTransferPolicy({ amountThreshold: '12' }, { networkId: world.network.id, limitation });
  await world.storePolicy({ ...policy, id: policyId });
  account = await world.account();
  paid = await payment();
  expect(await world.execute(paid)).toMatchObject({ outcome: { kind: 'executed' } });
});

/** What `audit export` compares before it signs anything. */
async function differenceInProof(): Promise<string | undefined> {
  const { id: organizationId } = world.org;
  const journal: JournalReader = Object.assign(Object.create(world.journal), {
    authorizations: () => [],
    rejectedIds: () => [],
  });
  const read = async () => ({
    organizationId,
    seals: await listSeals(world.db, organizationId, { after: -1 }),
    // What another test has left is none of this one.
    authorizations: (await listAuthorizations(world.db, organizationId)).filter(
      ({ transactionId }) => transactionId === paid.transactionId,
    ),
  });
  return journalDifference(journal, await read(), read);
}

/** Says that a transaction is being executed, as whoever has the login of the service can. */
function reopen({ transactionId }: TransactionRef): Promise<unknown> {
  return world
    .serviceDb('approvals')
    .where({ id: transactionId })
    .update({ execution_status: 'processing', closed_at: null });
}

async function expectSame(outcome: string | null) {
  expect(world.journal.outcomeOf(paid.transactionId)?.outcome ?? null).toBe(outcome);
  expect(requireRow(await world.authorization(paid)).outcome).toBe(outcome);
  const { missing } = await compareJournal(world.journal, world.db);
  expect(missing.outcomes.map(({ transactionId }) => transactionId)).not.toContain(paid.transactionId);
  expect(await differenceInProof()).toBeUndefined();
}

/** Another payment fits into the budget, and a third one does not. */
async function expectUsable() {
  const next = await payment();
  const terms = {
    ...(await world.terms(await world.transaction({ to: payee, value: 5n }))),
    accountNonce: '1',
  };
  envelopeOf(await world.signer.signTransaction({ ...next, terms }));
  const third = await payment();
  expect(await world.signer.signTransaction({ ...third, terms })).toMatchObject({
    refused: { code: 'budget' },
  });
}

test.each<[string, object]>([
  ['gas below what it needs', { gas: '21000' }],
  ['gas above what it can need', { gas: '4900000' }],
  ['gas above the ceiling', { gas: '9000000' }],
  ['a fee above the ceiling', { maxFeePerGas: String(10n ** 15n), maxPriorityFeePerGas: '1' }],
  ['a tip above the fee', { maxFeePerGas: '1', maxPriorityFeePerGas: '2' }],
])(
  'a signature of a recorded outcome that is refused for %s leaves no line in the journal',
  async (_, change) => {
    expect(await world.signer.confirmOutcome(paid)).toEqual({ outcome: 'executed' });
    const terms = await world.terms(await world.transaction({ to: payee, value: 5n }));
    await reopen(paid);
    // Nothing of it is in flight: an envelope would be reserved.
    await world
      .db('chain_envelopes')
      .whereIn('attempt_id', world.attempts(paid).clearOrder().select('id'))
      .update({ outcome: 'dropped' });
    const lines = world.journal.lines();
    expect(await world.signer.signTransaction({ ...paid, terms: { ...terms, ...change } })).toHaveProperty(
      'refused',
    );
    expect(world.journal.lines()).toBe(lines);
    await expectSame('executed');
    await expectUsable();
  },
);

test('a signature of a recorded outcome whose commit fails leaves no line in the journal', async () => {
  expect(await world.signer.confirmOutcome(paid)).toEqual({ outcome: 'executed' });
  const terms = await world.terms(await world.transaction({ to: payee, value: 5n }));
  await reopen(paid);
  await world
    .db('chain_envelopes')
    .whereIn('attempt_id', world.attempts(paid).clearOrder().select('id'))
    .update({ outcome: 'dropped' });
  await world.db.raw(`CREATE FUNCTION refuse_late() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`);
  await world.db.raw(`CREATE CONSTRAINT TRIGGER refused_late AFTER UPDATE ON authorizations
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_late()`);
  const lines = world.journal.lines();
  try {
    await expect(world.signer.signTransaction({ ...paid, terms })).rejects.toThrow('the disk is full');
    expect(world.journal.lines()).toBe(lines);
  } finally {
    await world.db.raw('DROP TRIGGER refused_late ON authorizations');
    await world.db.raw('DROP FUNCTION refuse_late');
  }
  await expectSame('executed');
  await expectUsable();
});

test('a look whose commit fails leaves no line in the journal, and the next one is recorded', async () => {
  await world.db.raw(`CREATE FUNCTION refuse_late() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`);
  await world.db.raw(`CREATE CONSTRAINT TRIGGER refused_late AFTER UPDATE ON authorizations
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_late()`);
  const lines = world.journal.lines();
  try {
    await expect(world.signer.confirmOutcome(paid)).rejects.toThrow('the disk is full');
    expect(world.journal.lines()).toBe(lines);
  } finally {
    await world.db.raw('DROP TRIGGER refused_late ON authorizations');
    await world.db.raw('DROP FUNCTION refuse_late');
  }
  await expectSame(null);
  expect(await world.signer.confirmOutcome(paid)).toEqual({ outcome: 'executed' });
  await expectSame('executed');
});

test('a signature that goes on is undecided in the table and in the journal', async () => {
  expect(await world.signer.confirmOutcome(paid)).toEqual({ outcome: 'executed' });
  const terms = await world.terms(await world.transaction({ to: payee, value: 5n }));
  await reopen(paid);
  envelopeOf(await world.signer.signTransaction({ ...paid, terms }));
  await expectSame(null);
  expect(await world.signer.confirmOutcome(paid)).toEqual({ outcome: 'executed' });
  await expectSame('executed');
});

describe('an outcome that only the table has', () => {
  /** An hour later it counts in no window any more. */
  const later = () =>
    world.signerWith({
      steady: { now: () => Date.now() + 3 * HOUR_MS, look: Date.now, adopt: () => undefined },
    });

  beforeEach(async () => {
    const block = requireRow((await world.attempts(paid))[0]).block_at;
    await world
      .db('authorizations')
      .where({ transaction_id: paid.transactionId })
      .update({ outcome: 'executed', block_at: block });
    expect(world.journal.outcomeOf(paid.transactionId)?.outcome ?? null).toBeNull();
  });

  test('is read by the next signature, which goes on', async () => {
    const next = await world.transaction(
      { to: payee, value: 9n },
      { account, policyId, expiresInMs: 9 * HOUR_MS },
    );
    const terms = {
      ...(await world.terms(await world.transaction({ to: payee, value: 5n }))),
      accountNonce: '1',
    };
    envelopeOf(await later().signTransaction({ ...next, terms }));
    await expectSame('executed');
  });

  test('holds the next signature while the signer cannot read it', async () => {
    const next = await world.transaction(
      { to: payee, value: 9n },
      { account, policyId, expiresInMs: 9 * HOUR_MS },
    );
    const terms = {
      ...(await world.terms(await world.transaction({ to: payee, value: 5n }))),
      accountNonce: '1',
    };
    const blind = world.signerWith({
      networks: [{ ...world.network, signerRpcUrls: [] }],
      steady: { now: () => Date.now() + 3 * HOUR_MS, look: Date.now, adopt: () => undefined },
    });
    const answer = await blind.signTransaction({ ...next, terms });
    expect(answer).not.toHaveProperty('envelopeId');
    expect(answer).not.toHaveProperty('refused');
    expect(await world.attempts(next)).toEqual([]);
    envelopeOf(await later().signTransaction({ ...next, terms }));
  });
});

test('a table that forgets every outcome at once does not keep a signature waiting for ever', async () => {
  await world.db.raw(`CREATE FUNCTION forget_outcome() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.outcome := NULL; NEW.block_at := NULL; RETURN NEW; END $$`);
  await world.db.raw(`CREATE TRIGGER forgets BEFORE UPDATE ON authorizations
    FOR EACH ROW EXECUTE FUNCTION forget_outcome()`);
  const asked = { to: payee, value: 9n };
  const next = await world.transaction(asked, { account, policyId, expiresInMs: 9 * HOUR_MS });
  const terms = {
    ...(await world.terms(await world.transaction({ to: payee, value: 5n }))),
    accountNonce: '1',
  };
  try {
    const answer = world.signer.signTransaction({ ...next, terms });
    expect(await withTimeLimit(answer, 10_000)).toMatchObject({ refused: { code: 'budget' } });
    expect(await world.attempts(next)).toEqual([]);
  } finally {
    await world.db.raw('DROP TRIGGER forgets ON authorizations');
    await world.db.raw('DROP FUNCTION forget_outcome');
    await world.signer.confirmOutcome(paid);
  }
});
