/** @deep */
import { createChainClients } from '../../src/chain/clients';
import { deriveAccount } from '../../src/chain/safeAccount';
import { requireRow } from '../../src/db/rows';
import type { TransactionRef } from '../../src/domain/transaction';
import { registerRelayers } from '../../src/signer/registerRelayers';
import { startOwnChain } from '../support/stack';
import { DEEP } from '../support/suite';
import { GatedPayments } from './gatedPayments';
import { ETHER, TransactionWorld } from './transactionWorld';
import { deployAsFunder } from './wallets';

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

describe.each(DEEP ? CHAINS : CHAINS.slice(1, 3))(
  'along a chain (%s, then %s that replaces it)',
  (root, middle) => {
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
  },
);

test.each([
  ['first', true],
  ['last', false],
])(
  'along a chain of which only the root was authorized, its end is signed %s, and the payee is paid once',
  async (_, isEndFirst) => {
    const payments = await GatedPayments.open(world);
    const root = await payments.askFailed();
    const second = await payments.askUnsigned({ replaces: root.transactionId });
    const third = await payments.askUnsigned({ replaces: second.transactionId });
    const end = await replacing(payments, third);
    const other = await replacing(payments, root);
    const [one, two] = isEndFirst ? [end, other] : [other, end];
    expect(await payments.sign(one)).toEqual(SIGNED);
    await world.execute(one);
    expect(await payments.sign(two)).toEqual(refused(one));
    await payments.sendAll(root, second, third, one, two);
    expect(await payments.paid()).toBe(1);
  },
);

describe('of two that replace a failed transaction on two networks', () => {
  let other: TransactionWorld;
  let here: GatedPayments;
  let there: GatedPayments;
  let first: TransactionRef;

  beforeAll(async () => {
    const own = await startOwnChain(41_142);
    const urls = [own.current.rpcUrl];
    const network = { ...world.network, id: 41_142, name: 'Other Chain', rpcUrls: urls, signerRpcUrls: urls };
    await registerRelayers({ db: world.signerDb, keystore: world.keystore, networks: [network] });
    const client = requireRow(createChainClients([network]).get(network.id));
    // All else, the signer too, is that of the first network.
    const chain = world.chainWith(network);
    // Names of accounts are unique.
    const accounts = 1_000;
    other = Object.assign(Object.create(world), { own, network, client, chain, accounts });
    await other.fundRelayer();
  });
  afterAll(() => other?.own.stop());

  beforeEach(async () => {
    world.signer = world.signerWith({ networks: [world.network, other.network] });
    here = await GatedPayments.open(world);
    const { account } = here;
    const networkIds = [world.network.id, other.network.id];
    await world.decide([{ type: 'account', id: account.id, after: { ...account, networkIds } }]);
    await deployAsFunder(
      other.url,
      deriveAccount(world.keystore.organizationKey(world.org.id).address, account.id),
    );
    await world
      .db('account_networks')
      .insert({ account_id: account.id, network_id: other.network.id, deployed_at: new Date() });
    await other.setBalance(account.address, ETHER);
    there = await GatedPayments.open(other, { account });
    first = await here.askFailed();
  });

  const orders = [
    ['on its own network', true],
    ['on the other network', false],
  ] as const;

  /** Both, the one that is signed first in front. */
  async function both(isHereFirst: boolean) {
    const one = { at: world, payments: here, ref: await replacing(here, first) };
    const two = { at: other, payments: there, ref: await replacing(there, first) };
    return isHereFirst ? ([one, two] as const) : ([two, one] as const);
  }

  const paid = async () => (await here.paid()) + (await there.paid());

  test.each(orders)('the one %s is signed, and the other one held, then refused', async (_, isHereFirst) => {
    const [one, two] = await both(isHereFirst);
    expect(await one.payments.sign(one.ref)).toEqual(SIGNED);
    expect(await two.payments.sign(two.ref)).toEqual(HELD);
    await expectNothing(two.ref);
    expect(await one.at.execute(one.ref)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await two.payments.sign(two.ref)).toEqual(refused(one.ref));
    await one.payments.sendAll(one.ref);
    await two.payments.sendAll(two.ref);
    expect(await paid()).toBe(1);
  });

  test.each(orders)('the one %s has failed, and the other one is signed', async (_, isHereFirst) => {
    const [one, two] = await both(isHereFirst);
    expect(await one.payments.sign(one.ref)).toEqual(SIGNED);
    await one.payments.fail(one.ref);
    expect(await two.payments.sign(two.ref)).toEqual(SIGNED);
    expect(await two.at.execute(two.ref)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await paid()).toBe(1);
  });

  test('one of both is signed when both are asked for at once', async () => {
    const asked = await both(true);
    const inputs: Parameters<typeof world.signer.signTransaction>[0][] = [];
    for (const { payments, ref } of asked) inputs.push({ ...ref, terms: await payments.terms() });
    const answers = await Promise.all(inputs.map((input) => world.signer.signTransaction(input)));
    expect(answers.filter((answer) => 'envelopeId' in answer)).toHaveLength(1);
    for (const { payments, ref } of asked) await payments.sendAll(ref);
    expect(await paid()).toBe(1);
  });
});
