import type { Hex } from 'viem';
import { newId } from '../../src/db/ids';
import { requireRow } from '../../src/db/rows';
import type { TransactionTerms } from '../../src/domain/terms';
import type { TransactionRef } from '../../src/domain/transaction';
import { anAddress } from '../support/builders';
import { remember } from '../support/lostBlocks';
import { aTransferPolicy } from '../support/transactions';
import { until } from '../support/until';
import { GatedPayments } from './gatedPayments';
import { ETHER, envelopeOf, TransactionWorld } from './transactionWorld';

let world: TransactionWorld;

// Each with a chain of its own: they take blocks away from it.
beforeEach(async () => {
  world = await TransactionWorld.start(41_151);
});
afterEach(() => world?.stop());

/** Finds what the chain has lost. */
async function findLost(): Promise<readonly string[]> {
  const lost = await world.chain.findLostTransactions({ networkId: world.network.id });
  return lost.map(({ transactionId }) => transactionId).sort();
}

const idsOf = (...refs: readonly TransactionRef[]) => refs.map(({ transactionId }) => transactionId).sort();

async function rawOf(ref: TransactionRef): Promise<Hex[]> {
  return (await world.envelopes(ref)).map(({ raw_transaction: raw }) => raw as Hex);
}

/** What of a transaction an envelope carries. */
async function kindOf(envelopeId: string): Promise<string> {
  const envelope = await world
    .db('chain_envelopes')
    .where({ id: BigInt(envelopeId) })
    .first();
  const id = requireRow(envelope).attempt_id;
  return requireRow(await world.db('chain_attempts').where({ id }).first()).kind;
}

const EXECUTED = { outcome: { kind: 'executed' } };
const CANCELLED = { outcome: { kind: 'cancelled' } };

describe('a failure that the chain has undone', () => {
  let payments: GatedPayments;
  let first: TransactionRef;
  let terms: TransactionTerms;
  let back: () => Promise<void>;

  beforeEach(async () => {
    payments = await GatedPayments.open(world);
    terms = await payments.terms();
    first = await payments.ask();
    envelopeOf(await world.signer.signTransaction({ ...first, terms }));
    back = await remember(world.url);
    await payments.fail(first);
  });

  const replace = async () => {
    const second = await payments.ask({ replaces: first.transactionId });
    envelopeOf(await world.signer.signTransaction({ ...second, terms: { ...terms, accountNonce: '1' } }));
    return second;
  };

  async function replaced(): Promise<TransactionRef> {
    const second = await replace();
    expect(await world.execute(second)).toMatchObject(EXECUTED);
    expect(await payments.paid()).toBe(1);
    return second;
  }

  test('of a transaction that was replaced leaves it only its cancellation', async () => {
    const second = await replaced();
    await back();
    expect(await payments.paid()).toBe(0);
    expect(await findLost()).toEqual(idsOf(first, second));
    expect(await world.signer.confirmOutcome(first)).toEqual({ outcome: null });
    const envelopeId = envelopeOf(await world.signer.signTransaction({ ...first, terms }));
    expect(await kindOf(envelopeId)).toBe('cancellation');
    expect(world.journal.cancellationOf(first.transactionId)).toMatchObject({ safeNonce: '0' });
    // Whoever asks again gets the same.
    expect(await world.signer.signTransaction({ ...first, terms })).toEqual({ envelopeId });
    expect(await world.execute(first)).toMatchObject(CANCELLED);
    expect(await world.execute(second)).toMatchObject(EXECUTED);
    expect(await payments.paid()).toBe(1);
    expect(await world.nonceOf(payments.account)).toBe(2n);
    await payments.sendAll(first, second);
    expect(await payments.paid()).toBe(1);
  });

  test('of a transaction that was replaced leaves it only its cancellation before anybody has read that', async () => {
    await replaced();
    await back();
    await findLost();
    const envelopeId = envelopeOf(await world.signer.signTransaction({ ...first, terms }));
    expect(await kindOf(envelopeId)).toBe('cancellation');
  });

  test.each<[string, (second: TransactionRef) => readonly TransactionRef[]]>([
    ['first', (second) => [first, second]],
    ['last', (second) => [second, first]],
  ])('of a transaction that was replaced is not paid when its workflow goes on %s', async (_, order) => {
    const second = await replaced();
    await back();
    expect(await findLost()).toEqual(idsOf(first, second));
    // Beside each other, as their workflows: one waits for the other one.
    const executed = (ref: TransactionRef) =>
      until('it is decided', async () => {
        const done = await world.execute(ref).catch((error: Error) => {
          expect(error.message).toContain('held');
          return undefined;
        });
        return done !== undefined;
      });
    await Promise.all(order(second).map(executed));
    expect(await payments.paid()).toBe(1);
    expect(await world.record(first)).toMatchObject({ executionStatus: 'failed' });
    expect(await world.record(second)).toMatchObject({ executionStatus: 'completed' });
  });

  test('of a transaction whose replacement is in flight leaves it only its cancellation', async () => {
    const second = await replace();
    await back();
    expect(await findLost()).toEqual(idsOf(first));
    expect(await world.signer.confirmOutcome(first)).toEqual({ outcome: null });
    const envelopeId = envelopeOf(await world.signer.signTransaction({ ...first, terms }));
    expect(await kindOf(envelopeId)).toBe('cancellation');
    expect(await world.execute(first)).toMatchObject(CANCELLED);
    expect(await world.execute(second)).toMatchObject(EXECUTED);
    expect(await payments.paid()).toBe(1);
  });

  test('of a transaction that was replaced keeps its cancellation after the signer has started again', async () => {
    const second = await replaced();
    await back();
    await findLost();
    expect(await world.signer.confirmOutcome(first)).toEqual({ outcome: null });
    await world.restartSigner();
    const envelopeId = envelopeOf(await world.signer.signTransaction({ ...first, terms }));
    expect(await kindOf(envelopeId)).toBe('cancellation');
    await world.restartSigner();
    expect(await world.signer.signTransaction({ ...first, terms })).toEqual({ envelopeId });
    expect(await world.execute(first)).toMatchObject(CANCELLED);
    expect(await world.execute(second)).toMatchObject(EXECUTED);
    expect(await payments.paid()).toBe(1);
  });

  test('lets what was not replaced go on with the same bytes', async () => {
    const raws = await rawOf(first);
    await back();
    expect(await findLost()).toEqual(idsOf(first));
    expect(await world.execute(first)).toMatchObject(EXECUTED);
    expect(await payments.paid()).toBe(1);
    expect(await rawOf(first)).toEqual(raws);
    expect(await world.attempts(first)).toHaveLength(1);
    const later = await payments.ask({ replaces: first.transactionId });
    expect(await world.signer.signTransaction({ ...later, terms })).toHaveProperty('refused');
  });

  test('lets what was replaced by a cancelled transaction go on', async () => {
    const second = await replace();
    expect(await payments.cancel(second)).toMatchObject(CANCELLED);
    await back();
    expect(await findLost()).toEqual(idsOf(first, second));
    for (const ref of [first, second]) {
      expect(await world.signer.confirmOutcome(ref)).toEqual({ outcome: null });
    }
    // Its cancellation is signed, and so it can still be paid: the first one gets its own.
    for (const ref of [first, second]) await world.execute(ref);
    expect(await payments.paid()).toBeLessThanOrEqual(1);
  });
});

describe('a failure that the chain has undone, under a budget', () => {
  const LIMIT = ETHER;
  const PART = (ETHER * 6n) / 10n;
  let policyId: string;

  beforeEach(async () => {
    policyId = newId('pol');
    const all = 'ALL_ITEMS' as const;
    const limitation = { hours: 24, initiatorScope: all, sourceAccountScope: all, destinationScope: all };
    const condition = { amountThreshold: String(LIMIT) };
    const policy = aTransferPolicy(condition, { networkId: world.network.id, limitation });
    await world.storePolicy({ ...policy, id: policyId });
  });

  /** One that has failed, and another one that was paid with what it had given back; what makes the chain lose both. */
  async function spentTwice() {
    const failing = await GatedPayments.open(world, { value: PART });
    const spending = await GatedPayments.open(world, { value: PART });
    const terms = await failing.terms();
    const first = await failing.ask({ policyId });
    envelopeOf(await world.signer.signTransaction({ ...first, terms }));
    const back = await remember(world.url);
    await failing.fail(first);
    const second = await spending.ask({ policyId });
    envelopeOf(await world.signer.signTransaction({ ...second, terms }));
    expect(await world.execute(second)).toMatchObject(EXECUTED);
    const spent = async () => (await failing.paid()) + (await spending.paid());
    return { first, second, terms, back, spent };
  }

  test('that was spent since leaves only the cancellation', async () => {
    const { first, second, terms, back, spent } = await spentTwice();
    await back();
    expect(await findLost()).toEqual(idsOf(first, second));
    expect(await world.signer.confirmOutcome(first)).toEqual({ outcome: null });
    const envelopeId = envelopeOf(await world.signer.signTransaction({ ...first, terms }));
    expect(await kindOf(envelopeId)).toBe('cancellation');
    for (const ref of [second, first]) await world.execute(ref);
    expect(await spent()).toBe(1);
    expect(await world.record(first)).toMatchObject({ executionStatus: 'failed' });
  });

  test('that was spent since leaves only the cancellation before anybody has read that', async () => {
    const { first, terms, back } = await spentTwice();
    await back();
    await findLost();
    const envelopeId = envelopeOf(await world.signer.signTransaction({ ...first, terms }));
    expect(await kindOf(envelopeId)).toBe('cancellation');
  });

  test('that was spent since is not exceeded when their workflows go on', async () => {
    const { first, second, back, spent } = await spentTwice();
    await back();
    await findLost();
    for (const ref of [first, second]) await world.execute(ref);
    expect(await spent()).toBe(1);
  });

  test('that it fits lets it go on with the same bytes', async () => {
    const payments = await GatedPayments.open(world, { value: PART });
    const terms = await payments.terms();
    const first = await payments.ask({ policyId });
    envelopeOf(await world.signer.signTransaction({ ...first, terms }));
    const raws = await rawOf(first);
    const back = await remember(world.url);
    await payments.fail(first);
    await back();
    expect(await findLost()).toEqual(idsOf(first));
    expect(await world.execute(first)).toMatchObject(EXECUTED);
    expect(await payments.paid()).toBe(1);
    expect(await rawOf(first)).toEqual(raws);
    // It counts again.
    const other = await world.transaction(
      { to: anAddress() as `0x${string}`, value: PART },
      { account: payments.account, policyId },
    );
    expect(await world.signer.signTransaction({ ...other, terms })).toMatchObject({
      refused: { code: 'budget' },
    });
  });
});
