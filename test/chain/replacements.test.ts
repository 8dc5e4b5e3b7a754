import type { TransactionRef } from '../../src/domain/transaction';
import { GatedPayments } from './gatedPayments';
import { TransactionWorld } from './transactionWorld';

let world: TransactionWorld;

beforeAll(async () => {
  world = await TransactionWorld.start(41_141);
});
afterAll(() => world?.stop());

const SIGNED = { envelopeId: expect.any(String) };
const HELD = { held: expect.stringContaining('whose outcome the signer has not read yet') };
const refused = (by: TransactionRef) => ({
  refused: { code: 'stale', message: expect.stringContaining(`${by.transactionId}, which was executed`) },
});

/** Those that replace the same transaction. */
const replacing = (payments: GatedPayments, { transactionId: replaces }: TransactionRef) =>
  payments.ask({ replaces });

async function expectNothing(ref: TransactionRef) {
  expect(await world.attempts(ref)).toEqual([]);
  expect(await world.authorization(ref)).toBeUndefined();
  expect(world.journal.authorizationOf(ref.transactionId)).toBeUndefined();
}

describe.each<['askFailed' | 'askUnsigned', string]>([
  ['askFailed', 'a transaction that has failed on chain'],
  ['askUnsigned', 'a transaction that was never authorized'],
])('of two that replace %s (%s)', (ask) => {
  let payments: GatedPayments;
  let first: TransactionRef;
  let second: TransactionRef;
  let third: TransactionRef;

  beforeEach(async () => {
    payments = await GatedPayments.open(world);
    first = await payments[ask]();
    second = await replacing(payments, first);
    third = await replacing(payments, first);
    expect(await payments.sign(second)).toEqual(SIGNED);
  });

  test('the second one is held while the other one is undecided', async () => {
    expect(await payments.sign(third)).toEqual(HELD);
    await expectNothing(third);
    expect(await payments.sign(third)).toEqual(HELD);
    await payments.sendAll(first, second, third);
    expect(await payments.paid()).toBe(1);
  });

  test('the second one is refused once the other one is executed', async () => {
    await world.execute(second);
    expect(await payments.sign(third)).toEqual(refused(second));
    await expectNothing(third);
    expect(await payments.paid()).toBe(1);
  });

  test('the second one is signed once the other one has failed', async () => {
    await payments.fail(second);
    expect(await payments.sign(third)).toEqual(SIGNED);
    expect(await world.execute(third)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await payments.paid()).toBe(1);
  });

  test('the second one is signed once the other one is cancelled', async () => {
    expect(await payments.cancel(second)).toMatchObject({ outcome: { kind: 'cancelled' } });
    expect(await payments.sign(third)).toEqual(SIGNED);
    expect(await world.execute(third)).toMatchObject({ outcome: { kind: 'executed' } });
    await payments.sendAll(first, second, third);
    expect(await payments.paid()).toBe(1);
  });

  test('the second one is held after the signer has started again, and refused after another start', async () => {
    await world.restartSigner();
    expect(await payments.sign(third)).toEqual(HELD);
    await world.execute(second);
    await world.restartSigner();
    expect(await payments.sign(third)).toEqual(refused(second));
    await expectNothing(third);
    expect(await payments.paid()).toBe(1);
  });

  test('the journal says what they replace', async () => {
    const known = world.journal.authorizationOf(second.transactionId);
    if (!known) throw new Error('it is not in the journal');
    expect(await world.journal.readAuthorization(known)).toMatchObject({ replaces: first.transactionId });
  });
});

describe.each<['askFailed' | 'askUnsigned', string]>([
  ['askFailed', 'a transaction that has failed on chain'],
  ['askUnsigned', 'a transaction that was never authorized'],
])('of several that replace %s at once (%s)', (ask) => {
  test('one is signed, and the payee is paid once', async () => {
    const payments = await GatedPayments.open(world);
    const first = await payments[ask]();
    const all: TransactionRef[] = [];
    for (let i = 0; i < 5; i += 1) all.push(await replacing(payments, first));
    const terms = await payments.terms();
    const answers = await Promise.all(all.map((ref) => world.signer.signTransaction({ ...ref, terms })));
    const signed = all.filter((_, i) => 'envelopeId' in (answers[i] ?? {}));
    expect(signed).toHaveLength(1);
    expect(answers.filter((answer) => 'held' in answer)).toHaveLength(4);
    await payments.sendAll(...all);
    expect(await payments.paid()).toBe(1);
    for (const ref of signed) await world.execute(ref);
    const again = await Promise.all(
      all
        .filter((ref) => !signed.includes(ref))
        .map((ref) => world.signer.signTransaction({ ...ref, terms })),
    );
    expect(again.map((answer) => 'refused' in answer)).toEqual([true, true, true, true]);
    await payments.sendAll(...all);
    expect(await payments.paid()).toBe(1);
  });
});

/** What the first two of a chain have come to: the second replaces the first. */
const CHAINS = [
  ['askFailed', 'askFailed'],
  ['askUnsigned', 'askFailed'],
  ['askFailed', 'askUnsigned'],
  ['askUnsigned', 'askUnsigned'],
] as const;

describe.each(CHAINS)('along a chain (%s, then %s that replaces it)', (root, middle) => {
  let payments: GatedPayments;
  let first: TransactionRef;
  let second: TransactionRef;
  let third: TransactionRef;
  let fourth: TransactionRef;

  beforeEach(async () => {
    payments = await GatedPayments.open(world);
    first = await payments[root]();
    second = await payments[middle]({ replaces: first.transactionId });
    third = await replacing(payments, first);
    fourth = await replacing(payments, second);
  });

  const orders = [
    ['what replaces the first', () => [third, fourth]],
    ['what replaces the second', () => [fourth, third]],
  ] as const;

  test.each(orders)('%s is signed, and the other one held, then refused', async (_, order) => {
    const [one, other] = order() as [TransactionRef, TransactionRef];
    expect(await payments.sign(one)).toEqual(SIGNED);
    expect(await payments.sign(other)).toEqual(HELD);
    await expectNothing(other);
    await world.execute(one);
    expect(await payments.sign(other)).toEqual(refused(one));
    await payments.sendAll(first, second, one, other);
    expect(await payments.paid()).toBe(1);
  });

  test.each(orders)('%s has failed, and the other one is signed', async (_, order) => {
    const [one, other] = order() as [TransactionRef, TransactionRef];
    expect(await payments.sign(one)).toEqual(SIGNED);
    await payments.fail(one);
    expect(await payments.sign(other)).toEqual(SIGNED);
    await world.execute(other);
    expect(await payments.paid()).toBe(1);
  });

  test('one of both is signed when both are asked for at once', async () => {
    const terms = await payments.terms();
    const both = [third, fourth];
    const answers = await Promise.all(both.map((ref) => world.signer.signTransaction({ ...ref, terms })));
    expect(answers.filter((answer) => 'envelopeId' in answer)).toHaveLength(1);
    await payments.sendAll(first, second, third, fourth);
    expect(await payments.paid()).toBe(1);
  });

  test('the one that is signed is known after the signer has started again', async () => {
    expect(await payments.sign(fourth)).toEqual(SIGNED);
    await world.restartSigner();
    expect(await payments.sign(third)).toEqual(HELD);
    await payments.sendAll(first, second, third, fourth);
    expect(await payments.paid()).toBe(1);
  });
});
