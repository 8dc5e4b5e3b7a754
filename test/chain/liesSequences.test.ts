/** @deep */
import fc from 'fast-check';
import type { Address, Hex } from 'viem';
import { newId } from '../../src/db/ids';
import type { TransactionTerms } from '../../src/domain/terms';
import type { AttemptOutcome, TransactionRef } from '../../src/domain/transaction';
import { anAddress } from '../support/builders';
import { rpc } from '../support/stack';
import { DEEP } from '../support/suite';
import { aTransferPolicy } from '../support/transactions';
import { TransactionWorld } from './transactionWorld';

jest.setTimeout(3_600_000);

/**
 * Whoever has the service's login, its workers, Temporal and the node of its workers, against a signer that runs. Each
 * batch has an organization of its own: what is decided for every sequence makes its state larger.
 */
const BATCHES = DEEP ? 10 : 1;
const RUNS = DEEP ? 100 : 10;
const BUDGET = 4n;
const KINDS = ['executed', 'reverted', 'cancelled'] as const;

interface Payment extends TransactionRef {
  readonly policyId: string;
  readonly to: Address;
  readonly amount: bigint;
}

type Lie =
  /** An execution is begun, whatever the record says; the budget of the service is made up. */
  | { readonly do: 'begin' }
  /** The signer is asked with terms that a worker made up. */
  | { readonly do: 'sign' | 'execute' | 'cancel'; readonly nonceAhead: number }
  /** An activity is completed by hand. */
  | { readonly do: 'finish'; readonly kind: (typeof KINDS)[number] }
  /** The service's login edits what it may edit. */
  | { readonly do: 'forgeOutcome'; readonly kind: (typeof KINDS)[number] | null }
  | { readonly do: 'close' }
  /** Signed bytes reach the chain, from anybody. */
  | { readonly do: 'send' }
  | { readonly do: 'mine' | 'confirm' };

const kind = fc.constantFrom(...KINDS);
const nonceAhead = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 5);
const lie: fc.Arbitrary<Lie> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('begin' as const) }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('execute' as const), nonceAhead }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('sign' as const), nonceAhead }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('cancel' as const), nonceAhead }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('finish' as const), kind }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('forgeOutcome' as const), kind: fc.option(kind) }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constantFrom(...(['close', 'send', 'send', 'mine', 'confirm'] as const)),
    }),
  },
);

let world: TransactionWorld;
let terms: TransactionTerms;
const seen = { signed: 0, refused: 0, paid: 0, cancelled: 0 };

/** Nothing of the policy is reserved or spent, the service says, but what this one needs. */
async function begin({ transactionId: id, policyId, ...ref }: Payment): Promise<void> {
  const { serviceDb } = world;
  await serviceDb('policy_usage').where({ policy_id: policyId }).update({
    status: 'released',
    block_at: null,
    decided_at: serviceDb.fn.now(),
  });
  await serviceDb('approvals').where({ id }).update({ closed_at: null, frozen: null });
  await world.begin({ ...ref, transactionId: id });
}

async function sign(payment: Payment, cancels: boolean, ahead: number): Promise<void> {
  const used = await world.client.rpc.getTransactionCount({ address: world.relayer });
  const lying = { ...terms, accountNonce: String(ahead), chainNonce: used };
  const ask = cancels ? world.signer.signCancellation : world.signer.signTransaction;
  const { organizationId, transactionId } = payment;
  const answer = await ask({ organizationId, transactionId, terms: lying });
  seen['envelopeId' in answer ? 'signed' : 'refused'] += 1;
}

function outcome(kindOf: (typeof KINDS)[number]): AttemptOutcome {
  const block = {
    transactionHash: `0x${'ab'.repeat(32)}`,
    blockNumber: '1',
    blockHash: `0x${'cd'.repeat(32)}`,
    blockTime: new Date().toISOString(),
  };
  return kindOf === 'reverted'
    ? { ...block, kind: kindOf, reason: 'so they say' }
    : { ...block, kind: kindOf };
}

/** Sends every signed envelope of these, whatever is recorded of it, to the node. */
async function send(payments: readonly TransactionRef[]): Promise<void> {
  for (const payment of payments) {
    for (const { raw_transaction: raw } of await world.envelopes(payment)) {
      await rpc<Hex>(world.url, 'eth_sendRawTransaction', [raw]).catch(() => undefined);
    }
  }
}

async function tell(payment: Payment, told: Lie): Promise<void> {
  const { serviceDb } = world;
  const { transactionId: id } = payment;
  switch (told.do) {
    case 'begin':
      return begin(payment);
    case 'execute':
      await begin(payment);
      return sign(payment, false, told.nonceAhead);
    case 'sign':
      return sign(payment, false, told.nonceAhead);
    case 'cancel':
      // An operator's request that nobody made.
      await serviceDb('transactions').where({ id }).update({ cancelling: true });
      return sign(payment, true, told.nonceAhead);
    case 'finish':
      // It fails where the record has no reservation to commit.
      await world.finishWith(payment, outcome(told.kind)).catch(() => undefined);
      return;
    case 'forgeOutcome':
      await serviceDb('chain_attempts')
        .where({ transaction_id: id })
        .update({ outcome: told.kind, decided_at: told.kind && serviceDb.fn.now() });
      return;
    case 'close':
      await serviceDb('approvals')
        .where({ id })
        .update({ execution_status: 'failed', closed_at: serviceDb.fn.now() });
      return;
    case 'send':
      return send([payment]);
    case 'mine':
      await world.mine();
      return;
    case 'confirm':
      await world.signer.confirmOutcome(payment);
  }
}

async function play(amounts: readonly number[], acts: readonly (readonly [number, Lie])[]): Promise<void> {
  const policyId = newId('pol');
  const all = 'ALL_ITEMS' as const;
  const limitation = { hours: 24, initiatorScope: all, sourceAccountScope: all, destinationScope: all };
  const condition = { amountThreshold: String(BUDGET) };
  await world.storePolicy({
    ...aTransferPolicy(condition, { networkId: world.network.id, limitation }),
    id: policyId,
  });
  const account = await world.account();
  const payments: Payment[] = [];
  for (const amount of amounts) {
    const to = anAddress() as Address;
    const value = BigInt(amount);
    const ref = await world.transaction({ to, value }, { account, policyId, begun: false });
    payments.push({ ...ref, policyId, to, amount: value });
  }
  for (const [which, told] of acts) {
    const payment = payments[which % payments.length];
    if (payment) await tell(payment, told);
  }
  // Everything that was ever signed reaches the chain, in the order of its nonces, more than once.
  for (let times = 0; times < 3; times += 1) {
    await send(payments);
    await world.mine();
  }
  let spent = 0n;
  for (const payment of payments) {
    const received = await world.client.rpc.getBalance({ address: payment.to });
    expect([0n, payment.amount]).toContain(received);
    spent += received;
    if (received > 0n) seen.paid += 1;
    const attempts = await world.attempts(payment);
    expect(attempts.length).toBeLessThanOrEqual(2);
    if (attempts.length === 2) seen.cancelled += 1;
  }
  expect(spent).toBeLessThanOrEqual(BUDGET);
}

describe.each(Array.from({ length: BATCHES }, (_, index) => index + 1))('in batch %i', () => {
  beforeAll(async () => {
    world = await TransactionWorld.start(41_081);
    terms = await world.terms(await world.transaction({ to: anAddress() as Address, value: 1n }));
  });
  afterAll(() => world?.stop());

  it('no authorization pays twice, and no budget is exceeded, whatever the service, its workers and Temporal say', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 2, maxLength: 3 }),
        fc.array(fc.tuple(fc.nat({ max: 5 }), lie), { minLength: 8, maxLength: 24 }),
        play,
      ),
      { numRuns: RUNS, endOnFailure: true },
    );
    const rare = DEEP ? [seen.cancelled] : [];
    expect(Math.min(seen.signed, seen.refused, seen.paid, ...rare)).toBeGreaterThan(0);
  });
});

afterAll(() => process.stderr.write(`${JSON.stringify(seen)}\n`));
