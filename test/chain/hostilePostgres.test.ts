/** @deep */
import fc from 'fast-check';
import type { Address } from 'viem';
import type { DeploymentKey } from '../../src/domain/proposal';
import type { TransactionTerms } from '../../src/domain/terms';
import type { TransactionRef } from '../../src/domain/transaction';
import { anAddress } from '../support/builders';
import { KINDS_OF_LIES, type Lie } from '../support/lies';
import { drawFrom, seed } from '../support/random';
import { DEEP } from '../support/suite';
import { type Crash, HostileWorld } from './hostileWorld';
import { type Approved, Unauthorized } from './signedOracle';
import { falsifyStored, TABLES } from './storedLies';

jest.setTimeout(3_600_000);

/** Each batch has an organization and a journal of its own: both become larger with every sequence. */
const SEQUENCES = Number(process.env.DEEP_SEQUENCES ?? 3_000);
const RUNS = DEEP ? 250 : 60;
const BATCHES = DEEP ? Math.ceil(SEQUENCES / RUNS) : 1;
/** A failure is shrunk for so long. */
const SHRINK_MS = DEEP ? 120_000 : 40_000;

type Payment = Approved & TransactionRef;

const KINDS = ['approved', 'approved', 'approved', 'approved', 'approved', 'unapproved', 'rejected'] as const;

interface Step {
  readonly do:
    | 'sign'
    | 'signBoth'
    | 'replace'
    | 'cancel'
    | 'confirm'
    | 'mine'
    | 'close'
    | 'reject'
    | 'turn'
    | 'fill'
    | 'deploy'
    | 'begin'
    | 'edit'
    | 'forget'
    | 'restart'
    | 'heal';
  readonly which: number;
  readonly crash: Crash | null;
  readonly lies: readonly Lie[];
  readonly salt: number;
}

const lie: fc.Arbitrary<Lie> = fc.record({
  how: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('cell' as const, 'cells' as const, 'parameter' as const) },
    { weight: 2, arbitrary: fc.constantFrom(...KINDS_OF_LIES) },
  ),
  table: fc.constantFrom(null, null, null, ...TABLES, 'chain_attempts', 'chain_attempts', 'authorizations'),
  nth: fc.constantFrom(0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8),
  sticky: fc.nat({ max: 4 }).map((number) => number === 4),
  salt: fc.nat({ max: 1_000_000 }),
});

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.oneof(
    { weight: 14, arbitrary: fc.constant('sign' as const) },
    {
      weight: 6,
      arbitrary: fc.constantFrom(...(['cancel', 'mine', 'confirm', 'reject', 'signBoth', 'deploy'] as const)),
    },
    {
      weight: 6,
      arbitrary: fc.constantFrom(
        ...([
          'replace',
          'close',
          'turn',
          'fill',
          'begin',
          'edit',
          'edit',
          'forget',
          'restart',
          'heal',
        ] as const),
      ),
    },
  ),
  which: fc.nat({ max: 5 }),
  crash: fc.constantFrom(null, null, null, null, null, null, 'journal' as const, 'key' as const),
  lies: fc.array(lie, { minLength: 1, maxLength: 4, size: 'max' }),
  salt: fc.nat({ max: 1_000_000 }),
});

const payment = fc.record({ kind: fc.constantFrom(...KINDS), amount: fc.integer({ min: 1, max: 3 }) });

let hostile: HostileWorld;
const seen: Record<string, number> = {};
const told: Record<string, number> = {};
const count = (what: string, of = seen) => {
  of[what] = (of[what] ?? 0) + 1;
};

/** What an activity may answer. */
const ANSWERS = ['envelopeId', 'held', 'refused', 'unreachable', 'outcome', 'ok'];

/** One account, what it is to pay, and what became of that. */
class Sequence {
  private readonly envelopes = new Map<string, string>();
  /** The signer has said that they are rejected. */
  private readonly rejected = new Set<string>();
  private nonce = 0n;
  private deployment: DeploymentKey | undefined;

  constructor(
    private readonly payments: readonly Payment[],
    /** Those that their approver has rejected, and that can still be approved. */
    private readonly rejectable = new Set<string>(),
  ) {}

  private at({ which }: Pick<Step, 'which'>): Payment {
    return this.payments[which % this.payments.length] as Payment;
  }

  /** The answer of an activity; undefined where it has failed, as it does where the database does. */
  private async answered<T extends object>(asked: Promise<T>): Promise<T | undefined> {
    let answer: T;
    try {
      answer = await asked;
    } catch (error) {
      const { code, name } = error as Error & { readonly code?: string };
      count(code === undefined ? `threw ${name}` : 'failed');
      hostile.liar.note(`threw ${(error as Error).message.slice(-160)}`);
      return undefined;
    }
    const kind = Object.keys(answer).find((key) => ANSWERS.includes(key));
    if (kind === undefined) throw new Error(`the signer answers ${JSON.stringify(answer)}`);
    count(kind);
    hostile.liar.note(JSON.stringify(answer).slice(0, 300));
    return answer;
  }

  async sign(of: Payment, change: Partial<TransactionTerms> = {}): Promise<object | undefined> {
    const { organizationId, transactionId } = of;
    const terms = { ...hostile.terms(this.nonce), ...change };
    const answer = await this.answered(
      hostile.signer.signTransaction({ organizationId, transactionId, terms }),
    );
    if (answer && 'envelopeId' in answer) this.envelopes.set(transactionId, answer.envelopeId);
    return answer;
  }

  private async cancel(of: Payment): Promise<void> {
    of.isCancelling = true;
    const { organizationId, transactionId } = of;
    await hostile.world.requestCancellation(of);
    const terms = { ...hostile.terms(this.nonce, 50_000n), gas: hostile.terms(0n, 50_000n).gas };
    await this.answered(hostile.signer.signCancellation({ organizationId, transactionId, terms }));
  }

  /** Everything that was signed at the next nonce of the account reaches the chain. */
  private async mine(of: Payment): Promise<void> {
    const calls = hostile.oracle.callsOf(of);
    if (calls.length === 0) return;
    await hostile.deploy({ id: of.accountId, name: '', address: of.account });
    for (const call of calls.toReversed()) {
      if (!(await hostile.send(call))) continue;
      count('mined');
      this.nonce += 1n;
      if (call.cancels) of.isCancelled = true;
      return;
    }
  }

  /** The service says that its chain has decided it. */
  private async close({ transactionId }: Payment): Promise<void> {
    const { serviceDb } = hostile.world;
    await serviceDb('chain_attempts')
      .where({ transaction_id: transactionId })
      .update({ outcome: 'executed', decided_at: serviceDb.fn.now() });
  }

  /** Nothing of it is reserved, the service says, and its execution begins again. */
  private async begin(of: Payment): Promise<void> {
    const { serviceDb, db } = hostile.world;
    await serviceDb('policy_usage')
      .where({ transaction_id: of.transactionId })
      .update({ status: 'released', block_at: null, decided_at: serviceDb.fn.now() });
    await db('approvals').where({ id: of.transactionId }).update({ closed_at: null, frozen: null });
    await hostile.world.begin(of);
  }

  private async reject(of: Payment): Promise<void> {
    const { organizationId, transactionId } = of;
    const answer = await this.answered(hostile.signer.recordRejection({ organizationId, transactionId }));
    if (!answer?.ok || !this.rejectable.has(transactionId)) return;
    // From now on its vote of approval comes too late.
    this.rejectable.delete(transactionId);
    this.rejected.add(transactionId);
    count('rejected');
  }

  /** Its approver has signed both; the service shows one vote first and then the other. */
  private async turn(of: Payment): Promise<void> {
    const { transactionId } = of;
    const { db, org } = hostile.world;
    const isRejected = this.rejected.delete(transactionId);
    if (!this.rejectable.delete(transactionId) && !isRejected) return;
    await db('votes').where({ approval_id: transactionId, member_id: org.alice.id, type: 'reject' }).delete();
    await hostile.world.vote(of, org.alice, 'approve');
    of.isApproved = !isRejected;
    await this.begin(of);
    count(isRejected ? 'turned too late' : 'turned');
  }

  private async fill(of: Payment): Promise<void> {
    const envelopeId = this.envelopes.get(of.transactionId);
    if (envelopeId === undefined) return;
    const { world } = hostile;
    const row = await world
      .db('chain_envelopes')
      .where({ id: BigInt(envelopeId) })
      .first('relayer_nonce');
    if (!row) return;
    await this.close(of);
    const terms = { ...hostile.terms(), replaces: envelopeId };
    terms.maxFeePerGas = String(BigInt(terms.maxFeePerGas) * 2n);
    terms.maxPriorityFeePerGas = String(BigInt(terms.maxPriorityFeePerGas) * 2n);
    const nonce = Number(row.relayer_nonce);
    const filled = { networkId: world.network.id, nonce, terms };
    await this.answered(hostile.signer.fillNonce(filled));
  }

  /** Its account is deployed, once more or again. */
  private async deploy({ accountId: id }: Payment): Promise<void> {
    this.deployment ??= await hostile.deployment({ id });
    const terms = { ...hostile.terms(), gas: '400000' };
    await this.answered(hostile.signer.signDeployment({ ...this.deployment, terms }));
  }

  private replace(of: Payment): Promise<unknown> {
    const replaces = this.envelopes.get(of.transactionId);
    if (replaces === undefined) return this.sign(of);
    const { maxFeePerGas, maxPriorityFeePerGas } = hostile.terms();
    return this.sign(of, {
      replaces,
      maxFeePerGas: String(BigInt(maxFeePerGas) * 2n),
      maxPriorityFeePerGas: String(BigInt(maxPriorityFeePerGas) * 2n),
    });
  }

  private perform(one: Step): Promise<unknown> {
    const of = this.at(one);
    // What is left of a record may be too little for the service to go on with it.
    const tried = (work: Promise<void>) =>
      work.catch((error: Error) => hostile.liar.note(`failed: ${error.message.slice(-160)}`));
    switch (one.do) {
      case 'sign':
        return this.sign(of);
      case 'signBoth':
        return Promise.all([this.sign(of), this.sign(this.at({ which: one.which + one.salt }))]);
      case 'replace':
        return this.replace(of);
      case 'cancel':
        return this.cancel(of);
      case 'confirm': {
        const { organizationId, transactionId } = of;
        return this.answered(hostile.signer.confirmOutcome({ organizationId, transactionId }));
      }
      case 'mine':
        return this.mine(of);
      case 'close':
        return tried(this.close(of));
      case 'reject':
        return this.reject(of);
      case 'turn':
        return tried(this.turn(of));
      case 'fill':
        return tried(this.fill(of));
      case 'deploy':
        return this.deploy(of);
      case 'begin':
        return tried(this.begin(of));
      case 'edit':
      case 'forget':
        return falsifyStored(hostile, of, { draw: drawFrom(one.salt), deletes: one.do === 'forget' });
      case 'restart':
        return hostile.restart();
      case 'heal':
        return this.sign(of);
    }
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const one of steps) {
      const { transactionId } = this.at(one);
      hostile.liar.note(`--- ${one.do} ${transactionId}${one.crash ? `, ends at its ${one.crash}` : ''}`);
      hostile.lie(one.do === 'heal' ? [] : one.lies);
      count(`do ${one.do}`);
      for (const _ of one.lies) count('lies');
      if (one.crash) await hostile.crashing(one.crash, () => this.perform(one));
      else await this.perform(one);
      hostile.lie([]);
      await hostile.check();
    }
  }

  /** The database is honest again: each goes on, or the signer says what holds it. */
  async heal(): Promise<void> {
    hostile.liar.note('--- healed');
    hostile.forgetMemory();
    for (const one of this.payments) {
      const answer = await this.sign(one);
      count(answer ? `healed: ${Object.keys(answer)[0]}` : 'not healed');
    }
    await hostile.check();
  }
}

async function prepared(
  wanted: readonly { readonly kind: (typeof KINDS)[number]; readonly amount: number }[],
): Promise<Sequence> {
  const account = await hostile.account();
  const payments: Payment[] = [];
  for (const { kind, amount } of wanted) {
    const asked = { to: anAddress() as Address, value: BigInt(amount) };
    const isApproved = kind === 'rejected' ? kind : kind === 'approved';
    payments.push(await hostile.payment(account, { ...asked, isApproved }));
  }
  const rejectable = payments.filter((_, index) => wanted[index]?.kind === 'rejected');
  return new Sequence(payments, new Set(rejectable.map(({ transactionId }) => transactionId)));
}

/** An account of which nobody has lied is paid from, whatever was said of others. */
async function payHonestly(): Promise<void> {
  hostile.lie([]);
  const account = await hostile.account();
  const asked = { to: anAddress() as Address, value: 1n, isApproved: true };
  const honest = await hostile.payment(account, asked);
  expect(await new Sequence([honest]).sign(honest)).toEqual({ envelopeId: expect.any(String) });
  await hostile.check();
}

let failedAt: number | undefined;
let played = 0;

async function playSequence(wanted: Parameters<typeof prepared>[0], steps: readonly Step[]): Promise<void> {
  if (failedAt !== undefined && performance.now() - failedAt > SHRINK_MS) return;
  played += 1;
  const liar = hostile.newLiar();
  try {
    const sequence = await prepared(wanted);
    await sequence.play(steps);
    await sequence.heal();
    if (played % 10 === 0) await payHonestly();
  } catch (error) {
    failedAt ??= performance.now();
    hostile.lie([]);
    await hostile.restart();
    if (error instanceof Unauthorized) count(`broken ${error.invariant}`);
    (error as Error).message += `\nWhat was said:\n${liar.log.join('\n')}`;
    throw error;
  } finally {
    for (const [how, times] of Object.entries(liar.told)) told[how] = (told[how] ?? 0) + times;
  }
}

describe.each(Array.from({ length: BATCHES }, (_, index) => index))('in batch %i', (batch) => {
  beforeAll(async () => {
    failedAt = undefined;
    hostile = await HostileWorld.start(41_091);
  });
  afterAll(() => hostile?.stop());

  it('no payment is signed outside of its authorization, whatever a database says and forgets', async () => {
    const begun = performance.now();
    await fc.assert(
      fc.asyncProperty(
        fc.array(payment, { minLength: 1, maxLength: 3, size: 'max' }),
        fc.array(step, { minLength: 2, maxLength: DEEP ? 8 : 4, size: 'max' }),
        playSequence,
      ),
      { numRuns: RUNS, seed: seed() + batch },
    );
    await payHonestly();
    // Enough was lied about, and enough went on all the same.
    const least = [told.cell, told.cells, told.parameter, seen.envelopeId, seen.refused];
    for (const times of least) expect(times ?? 0).toBeGreaterThan(0);
    const perSecond = (played * 1_000) / (performance.now() - begun);
    process.stderr.write(`${perSecond.toFixed(1)} sequences per second\n`);
    played = 0;
  });
});

afterAll(() => process.stderr.write(`${JSON.stringify({ seen, told })}\n`));
