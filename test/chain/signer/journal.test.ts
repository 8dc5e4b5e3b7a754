import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from 'viem';
import { signerEndpoints } from '../../../src/chain/contractSignatures';
import type { SigningKey, SigningKeys } from '../../../src/chain/keys';
import type { SafeTransaction } from '../../../src/chain/safeTransaction';
import { createIdentifyVoter } from '../../../src/chain/voter';
import { newId } from '../../../src/db/ids';
import { requireRow } from '../../../src/db/rows';
import type { TransactionTerms } from '../../../src/domain/terms';
import type { AttemptOutcome, TransactionRef } from '../../../src/domain/transaction';
import { compareJournal } from '../../../src/signer/comparison/compareJournal';
import { type Journal, openJournal } from '../../../src/signer/journal/journal';
import { writeBack } from '../../../src/signer/recovery/writeBack';
import { createReadSealedState } from '../../../src/signer/sealedState';
import { insertAttempt } from '../../../src/signer/store/signedAttempts';
import { insertAuthorization } from '../../../src/signer/store/signedAuthorizations';
import { newAttempt } from '../../../src/signer/transaction/intents';
import { usageOf } from '../../../src/transactions/policy';
import { anAddress } from '../../support/builders';
import { temporaryDir } from '../../support/stack';
import { aTransferPolicy } from '../../support/transactions';
import { until } from '../../support/until';
import { ETHER, envelopeOf, TransactionWorld } from '../transactionWorld';

const RECIPIENT: Address = '0x00000000000000000000000000000000000A11cE';
const payment = { to: RECIPIENT, value: 5n };

let world: TransactionWorld;
const opened: Journal[] = [];

beforeAll(async () => {
  world = await TransactionWorld.start(41_061);
});
afterAll(async () => {
  for (const journal of opened) await journal.close();
  await world?.stop();
});

async function anotherJournal(): Promise<Journal> {
  const journal = await openJournal({ file: join(temporaryDir(), 'journal'), waitMs: 0 });
  opened.push(journal);
  return journal;
}

/** What a restored backup does not have. */
async function forget(ref: TransactionRef): Promise<void> {
  const attempts = world.attempts(ref).clearOrder().select('id');
  await world.db('chain_envelopes').whereIn('attempt_id', attempts.clone()).delete();
  await world.db('relayer_reservations').whereIn('attempt_id', attempts.clone()).delete();
  await world.db('chain_signatures').whereIn('attempt_id', attempts.clone()).delete();
  await world.db('chain_attempts').where({ transaction_id: ref.transactionId }).delete();
  await world.db.transaction(async (tx) => {
    await tx.raw('ALTER TABLE authorizations DISABLE TRIGGER authorizations_kept');
    await tx('authorizations').where({ transaction_id: ref.transactionId }).delete();
    await tx.raw('ALTER TABLE authorizations ENABLE TRIGGER authorizations_kept');
  });
}

/** The keys, each of whose signatures takes a while; `most` is how many were made at once. */
function slowKeys(
  ms: number,
  gate = Promise.resolve(),
): { readonly keystore: SigningKeys; readonly most: () => number } {
  let running = 0;
  let most = 0;
  const slowly = async <T>(make: () => Promise<T>): Promise<T> => {
    running += 1;
    most = Math.max(most, running);
    await sleep(ms);
    await gate;
    running -= 1;
    return make();
  };
  const slow = ({ address, sign, signTransaction }: SigningKey): SigningKey => ({
    address,
    sign: (...args) => slowly(() => sign(...args)),
    signTransaction: (...args) => slowly(() => signTransaction(...args)),
  });
  const { fingerprint, organizationKey, sealKey, relayerKey } = world.keystore;
  const keystore: SigningKeys = {
    fingerprint,
    organizationKey: (id) => slow(organizationKey(id)),
    sealKey,
    relayerKey: (networkId, index) => slow(relayerKey(networkId, index)),
  };
  return { keystore, most: () => most };
}

describe('an authorization', () => {
  test('is in the journal with its evidence and its record', async () => {
    const ref = await world.transaction(payment);
    await world.sign(ref);
    const found = world.journal.authorizationOf(ref.transactionId);
    if (!found) throw new Error('it is not in the journal');
    const entry = await world.journal.readAuthorization(found);
    const { initiator } = await world.record(ref);
    expect(entry).toMatchObject({
      organizationId: ref.organizationId,
      safeNonce: '0',
      value: '5',
      amount: '5',
      evidence: { votes: [{ memberId: initiator.id, type: 'initiator', scheme: 'eoa' }] },
    });
    expect(entry.record).toMatchObject({
      approval: { id: ref.transactionId, executionStatus: 'processing' },
      transaction: { to: RECIPIENT, value: '5' },
      votes: [{ type: 'initiator' }],
      usage: [{ status: 'reserved', amount: '5' }],
    });
  });

  test('that the database has lost is not made again, and not one of its nonce', async () => {
    const account = await world.account();
    const lost = await world.transaction(payment, { account });
    const terms = await world.terms(lost);
    await world.sign(lost, terms);
    await forget(lost);
    const other = await world.transaction(payment, { account });
    const refusals: string[] = [];
    const signer = world.signerWith({ countRefusal: (reason) => refusals.push(reason) });
    const again = await signer.signTransaction({ ...lost, terms });
    expect(again).toEqual({
      held: expect.stringContaining(`transaction ${lost.transactionId} was authorized`),
      reason: 'rollback',
    });
    expect(await signer.signTransaction({ ...other, terms })).toEqual({
      held: expect.stringMatching(`nonce 0 of account ${account.id} .* is taken by ${lost.transactionId}`),
      reason: 'rollback',
    });
    expect(refusals).toEqual(['rollback', 'rollback']);
    expect(await world.attempts(other)).toHaveLength(0);
    // Other accounts go on.
    await world.sign(await world.transaction(payment));
  });

  test('that the database has lost still counts in the budget of its policy, for every account', async () => {
    const all = 'ALL_ITEMS' as const;
    const limitation = { hours: 24, initiatorScope: all, sourceAccountScope: all, destinationScope: all };
    const id = newId('pol');
    const policy = aTransferPolicy({ amountThreshold: '8' }, { networkId: world.network.id, limitation });
    await world.storePolicy({ ...policy, id });
    const lost = await world.transaction(payment, { policyId: id });
    await world.sign(lost);
    const row = () => world.db('authorizations').where({ transaction_id: lost.transactionId });
    const other = await world.transaction(payment, { policyId: id });
    const terms = await world.terms(other);
    const refusals: string[] = [];
    const signer = world.signerWith({ countRefusal: (reason) => refusals.push(reason) });
    const held = {
      held: expect.stringContaining(
        `the journal has 1 authorizations of 0.000000000000000005 "ETH" in the window of policy ${id}`,
      ),
      reason: 'rollback',
    };
    // As one that has failed, too.
    await row().update({ outcome: 'reverted', block_at: new Date() });
    expect(await signer.signTransaction({ ...other, terms })).toEqual(held);
    await forget(lost);
    expect(await signer.signTransaction({ ...other, terms })).toEqual(held);
    expect(refusals).toEqual(['rollback', 'rollback']);
    expect(await world.attempts(other)).toHaveLength(0);
  });

  test('that the database has lost is written back, and only the same bytes are signed again', async () => {
    const lost = await world.transaction(payment);
    const terms = await world.terms(lost);
    await world.sign(lost, terms);
    const [before] = await world.attempts(lost);
    await forget(lost);
    const { transactionId } = lost;
    await world.db('approvals').where({ id: transactionId }).update({ execution_status: null });
    const { missing } = await compareJournal(world.journal, world.db);
    const own = {
      ...missing,
      authorizations: missing.authorizations.filter((one) => one.transactionId === transactionId),
    };
    expect(own.authorizations).toHaveLength(1);
    await writeBack(world, own);
    expect(await world.record(lost)).toMatchObject({ executionStatus: 'processing' });
    const { missing: found } = await compareJournal(world.journal, world.db);
    expect(found.authorizations.map((one) => one.transactionId)).not.toContain(transactionId);
    await world.sign(lost, terms);
    const { id: _, created_at: __, ...same } = requireRow(before);
    expect(await world.attempts(lost)).toEqual([expect.objectContaining(same)]);
    const audited = world.db('audit_log').where({ resource_id: transactionId });
    expect(await audited.pluck('action')).toContain('transaction.recovered');
  });

  test('that another history has is not written back', async () => {
    const ref = await world.transaction(payment);
    await world.sign(ref);
    const { transactionId } = ref;
    await world
      .db('authorizations')
      .where({ transaction_id: transactionId })
      .update({ safe_tx_hash: '0x01' });
    await expect(compareJournal(world.journal, world.db)).rejects.toThrow(/not of the same history/);
    const [attempt] = await world.attempts(ref);
    await world
      .db('authorizations')
      .where({ transaction_id: transactionId })
      .update({ safe_tx_hash: requireRow(attempt).safe_tx_hash });
  });

  test('that differs from the journal gets no further envelope', async () => {
    const ref = await world.transaction(payment);
    const terms = await world.terms(ref);
    await world.sign(ref, terms);
    const { transactionId } = ref;
    await world
      .db('chain_attempts')
      .where({ transaction_id: transactionId })
      .update({ safe_tx_hash: '0x00' });
    const held = { held: expect.stringMatching(/^chain_attempts \d+ has 0x00 /), reason: 'rollback' };
    expect(await world.signer.signTransaction({ ...ref, terms })).toEqual(held);
    await world.requestCancellation(ref);
    expect(await world.signer.signCancellation({ ...ref, terms })).toEqual(held);
    // What comes later of its relayer would wait until it is stuck, and its nonce filled.
    await world.db('transactions').where({ id: transactionId }).update({ cancelling: false });
  });

  test('that is signed, and that a journal has not, is neither taken over nor cancelled', async () => {
    const ref = await world.transaction(payment);
    const terms = await world.terms(ref);
    const envelopeId = await world.sign(ref, terms);
    const { id } = requireRow((await world.attempts(ref))[0]);
    const journal = await anotherJournal();
    const signer = world.signerWith({ journal });
    const held = {
      held: expect.stringContaining(
        `chain_attempts ${id} of transaction ${ref.transactionId} has a signature`,
      ),
      reason: 'rollback',
    };
    expect(await signer.signTransaction({ ...ref, terms })).toEqual(held);
    await world.db('transactions').where({ id: ref.transactionId }).update({ cancelling: true });
    expect(await signer.signCancellation({ ...ref, terms })).toEqual(held);
    expect(journal.authorizationOf(ref.transactionId)).toBeUndefined();
    await world.db('transactions').where({ id: ref.transactionId }).update({ cancelling: false });
    // The signer that has written it goes on.
    expect(await world.signer.signTransaction({ ...ref, terms })).toEqual({ envelopeId });
  });

  test('is signed after a crash before its journal entry, with the evidence verified again', async () => {
    const ref = await world.transaction(payment);
    const terms = await world.terms(ref);
    const crashing = await anotherJournal();
    const append: Journal['append'] = (...entries) =>
      entries.some(({ type }) => type === 'authorization')
        ? Promise.reject(new Error('crash'))
        : crashing.append(...entries);
    const signer = world.signerWith({ journal: Object.assign(Object.create(crashing), { append }) });
    await expect(signer.signTransaction({ ...ref, terms })).rejects.toThrow('crash');
    const intent = requireRow((await world.attempts(ref))[0]);
    expect(await world.envelopes(ref)).toHaveLength(0);
    expect(await world.prepare(ref)).toMatchObject({ kind: 'needsEnvelope', attempted: true });

    await world.db('votes').where({ approval_id: ref.transactionId }).update({ signature: '0x' });
    expect(await world.signer.signTransaction({ ...ref, terms })).toHaveProperty('refused');
    await world.db('votes').where({ approval_id: ref.transactionId }).delete();
    await world.vote(ref, world.org.dave, 'initiator');
    const envelopeId = envelopeOf(await world.signer.signTransaction({ ...ref, terms }));
    expect(await world.attempts(ref)).toEqual([intent]);
    const [reserved] = await world.db('relayer_reservations').where({ attempt_id: intent.id });
    expect(await world.envelopes(ref)).toMatchObject([
      { id: BigInt(envelopeId), reservation_id: reserved?.id, relayer_nonce: reserved?.relayer_nonce },
    ]);
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  });
});

describe('what only the tables have, of a transaction that its voters have signed', () => {
  const thief = anAddress() as Address;

  /** Another call of the account than the one that was asked for. */
  async function forge(
    ref: TransactionRef,
    kind: 'transaction' | 'cancellation',
    { safeTxGas }: TransactionTerms,
  ): Promise<void> {
    const record = await world.record(ref);
    const content: SafeTransaction = {
      ...{ networkId: world.network.id, account: record.accountAddress as Address, nonce: 0n },
      ...{ to: thief, value: ETHER / 2n, data: '0x', safeTxGas: BigInt(safeTxGas) },
    };
    await world.db.transaction(async (tx) => {
      const { id: transactionId, organizationId, accountId } = record;
      const of = { kind, organizationId, transactionId, accountId, content };
      const attempt = newAttempt(of, { fromBlock: 0n });
      const { safeNonce, safeTxHash } = attempt;
      await insertAttempt(tx, attempt);
      if (kind === 'cancellation') return;
      const authorizedAt = new Date();
      await insertAuthorization(tx, { ...usageOf(record), safeNonce, safeTxHash, authorizedAt });
    });
  }

  async function expectHeld(signed: Promise<object>, message: string): Promise<void> {
    expect(await signed).toEqual({ held: expect.stringContaining(message), reason: 'rollback' });
  }

  const forgedOf = (ref: TransactionRef, kind: string) =>
    world
      .db('chain_attempts as a')
      .leftJoin('chain_signatures as s', 's.attempt_id', 'a.id')
      .leftJoin('chain_envelopes as e', 'e.attempt_id', 'a.id')
      .where({ transaction_id: ref.transactionId, kind })
      .select('s.signature', 'e.raw_transaction');

  test('is not signed in its place', async () => {
    const ref = await world.transaction(payment);
    const terms = await world.terms(ref);
    await forge(ref, 'transaction', terms);
    await expectHeld(world.signer.signTransaction({ ...ref, terms }), 'is not what transaction');
    expect(await forgedOf(ref, 'transaction')).toEqual([{ signature: null, raw_transaction: null }]);
    expect(world.journal.authorizationOf(ref.transactionId)).toBeUndefined();
  });

  test('is not signed as its cancellation', async () => {
    const ref = await world.transaction(payment);
    const terms = await world.terms(ref);
    await world.sign(ref, terms);
    await forge(ref, 'cancellation', terms);
    await world.requestCancellation(ref);
    await expectHeld(world.signer.signCancellation({ ...ref, terms }), 'is not the cancellation of nonce 0');
    await expectHeld(world.signer.signTransaction({ ...ref, terms }), 'is not the cancellation of nonce 0');
    expect(await forgedOf(ref, 'cancellation')).toEqual([{ signature: null, raw_transaction: null }]);
  });

  test('does not make a cancellation of an execution', async () => {
    const ref = await world.transaction(payment);
    await world.sign(ref);
    const row = () => world.attempts(ref).where({ kind: 'transaction' });
    const { safe_tx_hash: hash } = requireRow(await row().first());
    const { outcome } = (await world.execute(ref)) as { outcome: AttemptOutcome };
    expect(outcome.kind).toBe('executed');
    await forge(ref, 'cancellation', await world.terms(await world.transaction(payment)));
    const cancellation = () => world.attempts(ref).where({ kind: 'cancellation' }).clearOrder();
    const { safe_tx_hash: forged } = requireRow(await cancellation().first());
    const held = (message: string) => ({ unreachable: expect.stringContaining(message) });
    expect(await world.signer.confirmOutcome(ref)).toEqual(held('is not the cancellation of nonce 0'));
    await row().clearOrder().update({ safe_tx_hash: '0x02' });
    await cancellation().update({ safe_tx_hash: hash });
    expect(await world.signer.confirmOutcome(ref)).toEqual(held('has 0x02 ('));
    await cancellation().update({ safe_tx_hash: forged });
    await row().clearOrder().update({ safe_tx_hash: hash });
    expect(world.journal.outcomeOf(ref.transactionId)).toBeUndefined();
  });

  test('costs no more gas than an envelope may', async () => {
    const ref = await world.transaction(payment);
    const terms = await world.terms(ref);
    const broken = world.signerWith({ keystore: slowKeys(0, Promise.reject(new Error('crash'))).keystore });
    await expect(broken.signTransaction({ ...ref, terms })).rejects.toThrow('crash');
    const [attempt] = await world.attempts(ref);
    const reserved = () => world.db('relayer_reservations').where({ attempt_id: requireRow(attempt).id });
    const { max_fee_per_gas, max_priority_fee_per_gas } = requireRow(await reserved().first());
    await reserved().update({ max_fee_per_gas: String(ETHER), max_priority_fee_per_gas: String(ETHER) });
    await expectHeld(world.signer.signTransaction({ ...ref, terms }), 'relayer_reservations');
    expect(await world.envelopes(ref)).toHaveLength(0);
    await reserved().update({ max_fee_per_gas, max_priority_fee_per_gas });
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  });
});

describe('a signature that takes a while', () => {
  test('holds no lock and serializes no relayer', async () => {
    const ms = 150;
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { keystore, most } = slowKeys(ms, gate);
    const signer = world.signerWith({ keystore });
    const refs: TransactionRef[] = [];
    for (let i = 0; i < 6; i += 1) refs.push(await world.transaction(payment));
    const terms: TransactionTerms[] = [];
    for (const ref of refs) terms.push(await world.terms(ref));
    const signing = Promise.all(
      refs.map(async (ref, i) =>
        signer.signTransaction({ ...ref, terms: terms[i] ?? (await world.terms(ref)) }),
      ),
    );
    // All are made at once: none waits for the one before it.
    await until('all of them sign', async () => most() === refs.length);
    // Nobody waits for the relayer's row meanwhile.
    await world.db.transaction(async (tx) => {
      await tx.raw(`SET LOCAL lock_timeout = '100ms'`);
      await tx('relayers').forUpdate();
    });
    open();
    const signed = (await signing).map(envelopeOf);
    const nonces = await world.db('chain_envelopes').whereIn('id', signed).pluck('relayer_nonce');
    expect(new Set(nonces).size).toBe(6);
    for (const ref of refs) expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  });

  test('is stored once when two have made it', async () => {
    const signer = world.signerWith({ keystore: slowKeys(50).keystore });
    const ref = await world.transaction(payment);
    const terms = await world.terms(ref);
    const both = await Promise.all([1, 2].map(() => signer.signTransaction({ ...ref, terms })));
    expect(both[0]).toEqual(both[1]);
    expect(await world.envelopes(ref)).toHaveLength(1);
  });
});

test('two signers at once, each with a journal of its own, sign each transaction at one nonce', async () => {
  const account = await world.account();
  const to = anAddress() as Address;
  const refs: TransactionRef[] = [];
  for (let i = 0; i < 4; i += 1) refs.push(await world.transaction({ to, value: 5n }, { account }));
  const terms = await world.terms(requireRow(refs[0]));
  const signers = [world.signer, world.signerWith({ journal: await anotherJournal() })];
  const answers = (ref: TransactionRef) =>
    Promise.all(signers.map((signer) => signer.signTransaction({ ...ref, terms })));
  // One waits where the other has stored what it has not signed yet, and for good where the other has signed it.
  const isSigned = (ref: TransactionRef) =>
    until('one of them has signed it', async () => {
      const all = await answers(ref);
      for (const answer of all) if (!('held' in answer)) expect(answer).toHaveProperty('envelopeId');
      return all.some((answer) => 'envelopeId' in answer);
    });
  await Promise.all(refs.map(isSigned));
  const attempts = (await Promise.all(refs.map((ref) => world.attempts(ref)))).flat();
  expect(attempts.map(({ safe_nonce }) => Number(safe_nonce)).sort()).toEqual([0, 1, 2, 3]);
  for (const ref of refs) {
    const envelopeId = await until(
      'it is signed',
      async () =>
        (await answers(ref)).flatMap((answer) => ('envelopeId' in answer ? [answer.envelopeId] : []))[0],
    );
    expect(await world.followToEnd(ref, envelopeId)).toMatchObject({ outcome: { kind: 'executed' } });
  }
  expect(await world.balanceOf(to)).toBe(20n);
});

test('a nonce whose signer has ended is filled, and its transaction gets another one', async () => {
  const ref = await world.transaction(payment);
  const terms = await world.terms(ref);
  const broken = {
    sign: () => Promise.reject(new Error('crash')),
    signTransaction: () => Promise.reject(new Error('crash')),
  };
  const keystore: SigningKeys = {
    ...world.keystore,
    organizationKey: (id) => ({ ...world.keystore.organizationKey(id), ...broken }) as never,
  };
  await expect(world.signerWith({ keystore }).signTransaction({ ...ref, terms })).rejects.toThrow('crash');
  const [reserved] = await world.db('relayer_reservations').orderBy('id', 'desc').limit(1);
  const nonce = Number(reserved?.relayer_nonce);
  const later = await world.transaction(payment);
  const envelopeId = await world.sign(later);
  // It may still be signed: it is not a gap yet.
  expect(await world.signer.fillNonce({ networkId: world.network.id, nonce, terms })).toMatchObject({
    refused: { message: expect.stringContaining('is being signed for') },
  });
  await world.db('relayer_reservations').update({ reserved_at: new Date(Date.now() - 61_000) });
  expect(await world.followToEnd(later, envelopeId)).toMatchObject({ kind: 'gap', nonce });
  expect(await world.execute(later)).toMatchObject({ outcome: { kind: 'executed' } });
  expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
});

test('beyond the gas budget nothing is signed but cancellations, and what waits continues', async () => {
  const first = await openJournal({ file: join(temporaryDir(), 'journal'), waitMs: 0 });
  const refusals: string[] = [];
  const refs = [await world.transaction(payment), await world.transaction(payment)] as const;
  const terms = await world.terms(refs[0]);
  const cost = BigInt(terms.gas) * BigInt(terms.maxFeePerGas);
  // Three quarters of it are enough for one, and not for two.
  const signing = (journal: Journal, gasBudgetPerHour = 2n * cost) =>
    world.signerWith({ journal, gasBudgetPerHour, countRefusal: (reason) => refusals.push(reason) });
  const signer = signing(first);
  const answers = await Promise.all(refs.map((ref) => signer.signTransaction({ ...ref, terms })));
  const at = answers.findIndex((answer) => 'envelopeId' in answer);
  const [signed, waiting] = at === 0 ? refs : [refs[1], refs[0]];
  const held = {
    held: expect.stringContaining(`the gas budget of ${signed.organizationId} on Own Chain is used up`),
  };
  expect(answers[1 - at]).toEqual(held);
  expect(await world.attempts(waiting)).toHaveLength(0);
  await first.close();

  const journal = await openJournal({ file: first.file, waitMs: 0 });
  opened.push(journal);
  const restarted = signing(journal);
  expect(await restarted.signTransaction({ ...waiting, terms })).toEqual(held);
  await world.requestCancellation(signed);
  const seen = await world.prepare(signed, true);
  if (seen.kind !== 'needsEnvelope') throw new Error(JSON.stringify(seen));
  envelopeOf(await restarted.signCancellation({ ...signed, terms: seen.terms }));
  expect(await restarted.signTransaction({ ...waiting, terms })).toEqual(held);
  expect(refusals).toEqual(['gas', 'gas', 'gas']);
  envelopeOf(await signing(journal, 20n * cost).signTransaction({ ...waiting, terms }));
});

test('behind a freeze nothing is signed but cancellations, and what waits continues after it', async () => {
  const account = await world.account();
  const signed = await world.transaction(payment, { account });
  await world.sign(signed);
  const waiting = await world.transaction(payment, { account });
  const terms = await world.terms(waiting);
  const { organizationId } = waiting;
  await world.journal.append({ type: 'freeze', organizationId, id: 'a' });
  const held = { held: expect.stringContaining(`${organizationId} is frozen since`) };
  expect(await world.signer.signTransaction({ ...waiting, terms })).toEqual(held);
  expect(await world.attempts(waiting)).toHaveLength(0);
  await world.requestCancellation(signed);
  expect(await world.execute(signed, { cancel: true })).toMatchObject({ outcome: { kind: 'cancelled' } });
  await world.journal.append({ type: 'unfreeze', organizationId, id: 'b' });
  expect(await world.execute(waiting)).toMatchObject({ outcome: { kind: 'executed' } });
});

test('a decision that is sealed while the state of its organization is read is not a rollback', async () => {
  const { db, keystore, journal, org } = world;
  let isRead = false;
  const later = { sequence: 1_000_000, hash: `0x${'1'.repeat(64)}` };
  const readSealedState = createReadSealedState({
    keystore,
    journal: {
      latestSealed: (id) => (isRead ? later : journal.latestSealed(id)),
      append: (...entries) => journal.append(...entries),
    },
  });
  const whileAnotherSeals = new Proxy(db, {
    apply(target, _, [table]: [string]) {
      isRead = true;
      return target(table);
    },
  });
  const { state } = await readSealedState(whileAnotherSeals, org.id);
  expect(state.id).toBe(org.id);
  await expect(readSealedState(db, org.id)).rejects.toMatchObject({ reason: 'rollback' });
});

test('a state that was verified before is not taken for that of another decision', async () => {
  const { db, keystore, journal, org } = world;
  const readSealedState = createReadSealedState({ keystore, journal });
  const { state, stored } = await readSealedState(db, org.id);
  const row = db('sealed_states').where({ organization_id: org.id });
  await row.clone().update({ sequence: stored.sequence + 1 });
  await expect(readSealedState(db, org.id)).rejects.toThrow('is not the one that was sealed');
  await row.clone().update({ sequence: stored.sequence });
  expect((await readSealedState(db, org.id)).state).toEqual(state);
});

test('nothing is signed of a transaction that was changed while its votes were verified', async () => {
  const ref = await world.transaction(payment, { account: await world.account() });
  const terms = await world.terms(ref);
  const row = world.db('transactions').where({ id: ref.transactionId });
  const identify = createIdentifyVoter(signerEndpoints(world.network));
  const signer = world.signerWith({
    async identifyVoter(...asked) {
      await row.clone().update({ value: '6' });
      return identify(...asked);
    },
  });
  expect(await signer.signTransaction({ ...ref, terms })).toMatchObject({
    refused: { message: expect.stringContaining('was changed while its votes were verified') },
  });
  expect(await world.attempts(ref)).toHaveLength(0);
});
