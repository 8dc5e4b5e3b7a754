import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { reopenTransaction } from '../../activities/transactions/reopen';
import { createLifecycleActivities, type TransactionActivities } from '../../activities/worker';
import { createDatabase, type Db, databaseNow } from '../../src/db/database';
import { insertPolicies, replacePolicy } from '../../src/db/policies';
import { requireRow } from '../../src/db/rows';
import { type Limitation, NATIVE_CURRENCY, type Policy } from '../../src/domain/policy';
import { accept } from '../../src/domain/refusal';
import { insertAttempt } from '../../src/signer/store/signedAttempts';
import { decideAuthorizations, insertAuthorization } from '../../src/signer/store/signedAuthorizations';
import { aHash, anAddress } from '../support/builders';
import { makeOrganization, type TestOrganization } from '../support/service';
import { createTestDatabase } from '../support/stack';
import { storeAccount, storeTransaction, storeVote } from '../support/storedTransactions';
import { aTransferPolicy, NETWORK_ID } from '../support/transactions';
import { Counts } from './operationWorld';

const HOUR_MS = 3_600_000;
const DESTINATIONS = [anAddress(), anAddress()];

/** A policy's budget as a sequence describes it: what may be spent in a window, or (null) that one execution may. */
export interface Budget {
  readonly cap: number | null;
  readonly limitation: Limitation;
}

/** Who sends how much from where to where, as small numbers that fast-check shrinks well. */
interface Payment {
  readonly initiator: number;
  readonly account: number;
  readonly destination: number;
  readonly amount: number;
}

/** What happens to one transaction, or to the policy. `which` picks among those to which it can happen. */
type Act =
  | ({ readonly do: 'pay' } & Payment)
  | { readonly do: 'retry' | 'release' | 'revert' | 'reopen'; readonly which: number }
  /** It is in a block, that part of the way from its reservation to now. */
  | { readonly do: 'commit'; readonly which: number; readonly parts: number }
  | { readonly do: 'edit'; readonly budget: Budget };

/** Time passes, and then several acts run concurrently. */
interface Batch {
  readonly waitMs: number;
  readonly acts: readonly Act[];
}

interface BudgetSequence {
  readonly budget: Budget;
  readonly batches: readonly Batch[];
}

const scope = fc.constantFrom('ALL_ITEMS' as const, 'ALL_ITEMS' as const, 'PER_ITEM' as const);
const budget: fc.Arbitrary<Budget> = fc.record({
  cap: fc.option(fc.integer({ min: 3, max: 12 }), { freq: 5 }),
  limitation: fc.record({
    hours: fc.integer({ min: 1, max: 3 }),
    initiatorScope: scope,
    sourceAccountScope: scope,
    destinationScope: scope,
  }),
});
const which = fc.nat({ max: 9 });
const act = (doing: readonly ('edit' | 'reopen')[]): fc.Arbitrary<Act> =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('pay' as const),
        initiator: fc.nat({ max: 1 }),
        account: fc.nat({ max: 1 }),
        destination: fc.nat({ max: 1 }),
        amount: fc.integer({ min: 1, max: 5 }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant('commit' as const), which, parts: fc.nat({ max: 4 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'revert' as const), which }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('retry' as const), which }) },
    ...(doing.includes('reopen')
      ? [{ weight: 2, arbitrary: fc.record({ do: fc.constant('reopen' as const), which }) }]
      : []),
    ...(doing.includes('edit')
      ? [{ weight: 1, arbitrary: fc.record({ do: fc.constant('edit' as const), budget }) }]
      : []),
  );

/** Sequences of up to `atOnce` concurrent acts; with edits and lost blocks where `doing` names them. */
export function budgetSequences(
  atOnce: number,
  doing: readonly ('edit' | 'reopen')[] = ['edit', 'reopen'],
): fc.Arbitrary<BudgetSequence> {
  const batch = fc.record({
    // Up to the end of a window of an hour, and just over it.
    waitMs: fc.constantFrom(0, 0, 0, HOUR_MS / 3, HOUR_MS - 50, HOUR_MS, HOUR_MS + 1),
    acts: fc.array(act(doing), { minLength: 1, maxLength: atOnce }),
  });
  const batches = fc.array(batch, { minLength: 6, maxLength: 12, size: 'max' });
  return fc.record({ budget, batches });
}

/** A database with one organization, and the activities that spend its budgets, over several connections. */
export interface BudgetFixture {
  readonly owner: Db;
  readonly service: Db;
  readonly signer: Db;
  readonly activities: TransactionActivities;
  readonly org: TestOrganization;
  readonly accounts: readonly string[];
  readonly counts: Counts;
  /** How many deadlocks there were. Ends the connections of the service. */
  deadlocks(): Promise<bigint>;
  end(): Promise<void>;
}

/** A database of its own, with an organization and the activities that decide about its budgets. */
export async function startBudgetFixture(): Promise<BudgetFixture> {
  const database = await createTestDatabase();
  const owner = createDatabase(database.url, { poolMax: 4 });
  const service = createDatabase(database.serviceUrl, { poolMax: 10 });
  const signer = createDatabase(database.signerUrl, { poolMax: 4 });
  const org = await makeOrganization(owner);
  const accounts = [await storeAccount(owner, org.id), await storeAccount(owner, org.id)];
  const activities = createLifecycleActivities({
    db: service,
    production: false,
    networks: [],
    // Signatures are not under test: every recorded voter has signed.
    identifyVoter: async ({ eligible: [member] }) => {
      if (!member) throw new Error('nobody may have signed');
      return accept({ member, signerAddress: member.walletAddress, scheme: 'eoa' as const });
    },
    readToken: async () => ({ ok: false, reason: 'no token is read here' }),
    readWalletCode: async () => 'unknown',
    refresh: async () => undefined,
    proposalLifetimeMs: HOUR_MS,
    maxOpenPerKey: 1_000,
  });
  return {
    owner,
    service,
    signer,
    activities,
    org,
    accounts: accounts.map(({ id }) => id),
    counts: new Counts(),
    async deadlocks() {
      // A connection's statistics are visible to others once it has ended.
      await Promise.all([service.destroy(), signer.destroy()]);
      const { rows } = await owner.raw(
        'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
      );
      return rows[0].deadlocks;
    },
    async end() {
      await Promise.all([owner, service, signer].map((db) => db.destroy()));
      await database.drop();
    },
  };
}

/** Stores a payment that its initiator has signed; answers its id. */
export async function storeInitiated(
  { org, service, accounts }: BudgetFixture,
  policyId: string,
  payment: Payment,
): Promise<string> {
  const { id: initiatorId, wallet } = payment.initiator === 0 ? org.alice : org.bob;
  const accountId = accounts[payment.account] ?? '';
  const of = { organizationId: org.id, accountId, policyId, initiatorId };
  const to = DESTINATIONS[payment.destination] ?? '';
  const id = await storeTransaction(service, of, { to, value: BigInt(payment.amount) });
  await storeVote(service, id, { id: initiatorId, walletAddress: wallet.address }, 'initiator');
  return id;
}

/** A transaction in the model. */
interface ModelTransaction {
  readonly id: string;
  readonly payment: Payment;
  state: 'executing' | 'executed' | 'failed' | 'blocked';
  /** What was signed for its last execution. */
  attemptId: string | null;
  /** The signer has read that it failed. */
  reverted: boolean;
  /** When its last execution began, and the time of its block. */
  reservedMs: number;
  blockMs: number | null;
}

/** A policy with that budget. */
export function policyOf(id: string, { cap, limitation }: Budget): Policy {
  const amountThreshold = cap === null ? null : String(cap);
  return aTransferPolicy({ amountThreshold }, { id, limitation });
}

/** Whether two payments share one budget. */
function sameKey({ limitation }: Budget, one: Payment, two: Payment): boolean {
  if (limitation.initiatorScope === 'PER_ITEM' && one.initiator !== two.initiator) return false;
  if (limitation.sourceAccountScope === 'PER_ITEM' && one.account !== two.account) return false;
  return !(limitation.destinationScope === 'PER_ITEM' && one.destination !== two.destination);
}

/** "From its reservation until `hours` after the time of the block it is in." */
function counts({ limitation }: Budget, transaction: ModelTransaction, nowMs: number): boolean {
  if (transaction.state === 'executing') return true;
  return transaction.state === 'executed' && nowMs - (transaction.blockMs ?? 0) <= limitation.hours * HOUR_MS;
}

/** Whether a payment fits beside those; with a plain sum. */
function fits({ cap }: Budget, payment: Payment, beside: readonly ModelTransaction[]): boolean {
  if (cap === null) return beside.length === 0;
  let sum = payment.amount;
  for (const other of beside) sum += other.payment.amount;
  return sum <= cap;
}

/** The decision about one execution. */
interface Tried {
  readonly transaction: ModelTransaction;
  readonly allowed: boolean;
  readonly code: string | null;
  /** When its database transaction began. */
  readonly nowMs: number;
  /** Id of its reservation: ids increase in the order of reservation. */
  readonly reservationId: bigint | null;
}

/** One policy and everything that happened under it. */
class SequenceRun {
  private readonly transactions: ModelTransaction[] = [];
  private readonly policyId: string;
  private nonces = 0n;

  private constructor(
    private readonly fixture: BudgetFixture,
    private budget: Budget,
    policy: Policy,
  ) {
    this.policyId = policy.id;
  }

  static async of(fixture: BudgetFixture, budget: Budget): Promise<SequenceRun> {
    const policy = aTransferPolicy();
    const made = policyOf(policy.id, budget);
    await fixture.service.transaction((tx) => insertPolicies(tx, fixture.org.id, [made]));
    return new SequenceRun(fixture, budget, policy);
  }

  private ref(transaction: ModelTransaction) {
    return { subject: 'transaction' as const, organizationId: this.fixture.org.id, id: transaction.id };
  }

  async playBatch({ waitMs, acts }: Batch): Promise<void> {
    await this.wait(waitMs);
    const before = this.transactions.map((transaction) => ({ ...transaction }));
    const budgets = [this.budget];
    const free = new Set(this.transactions);
    const tried: Promise<Tried>[] = [];
    const others: Promise<void>[] = [];
    for (const act of acts) {
      if (act.do === 'pay') {
        const { do: _, ...payment } = act;
        tried.push(this.pay(payment));
      } else if (act.do === 'edit') {
        budgets.push(act.budget);
      } else {
        const transaction = this.pick(act, free);
        if (!transaction) continue;
        free.delete(transaction);
        if (act.do === 'retry') tried.push(this.begin(transaction));
        else others.push(this.conclude(transaction, act));
      }
    }
    others.push(this.edit(budgets.slice(1)));
    const [outcomes] = await Promise.all([Promise.all(tried), Promise.all(others)]);
    this.expectDecisions(outcomes, before, budgets);
    this.fixture.counts.steps += acts.length;
  }

  private pick(
    act: Exclude<Act, { do: 'pay' | 'edit' }>,
    free: ReadonlySet<ModelTransaction>,
  ): ModelTransaction | undefined {
    const can = [...free].filter(({ state, attemptId }) => {
      if (act.do === 'retry') return (state === 'failed' && attemptId === null) || state === 'blocked';
      if (act.do === 'reopen') return attemptId !== null && (state === 'executed' || state === 'failed');
      return state === 'executing';
    });
    return can[act.which % Math.max(1, can.length)];
  }

  /** Lets time pass: moves all times of the records into the past. */
  private async wait(ms: number): Promise<void> {
    if (ms === 0) return;
    for (const transaction of this.transactions) {
      transaction.reservedMs -= ms;
      if (transaction.blockMs !== null) transaction.blockMs -= ms;
    }
    const earlier = (column: string) =>
      this.fixture.owner.raw(`${column} - make_interval(secs => ?::double precision)`, [ms / 1_000]);
    await this.fixture
      .owner('policy_usage')
      .where({ policy_id: this.policyId })
      .update({ reserved_at: earlier('reserved_at'), block_at: earlier('block_at') });
  }

  private async pay(payment: Payment): Promise<Tried> {
    const id = await storeInitiated(this.fixture, this.policyId, payment);
    const transaction: ModelTransaction = {
      id,
      payment,
      state: 'blocked',
      attemptId: null,
      reverted: false,
      reservedMs: 0,
      blockMs: null,
    };
    this.transactions.push(transaction);
    return this.begin(transaction);
  }

  private async begin(transaction: ModelTransaction): Promise<Tried> {
    const { activities, owner, counts } = this.fixture;
    const again = transaction.state === 'failed' || transaction.reservedMs !== 0;
    const began = await activities.beginExecution({
      ...this.ref(transaction),
      messageId: randomUUID(),
      type: 'approve',
    });
    if (!began.ok) throw new Error(`beginning ${transaction.id}: ${began.refusal.message}`);
    const { executionStatus, failure } = began.state;
    const allowed = executionStatus === 'processing';
    counts.add(allowed ? 'allowed' : `blocked: ${failure?.code}`);
    if (again) counts.add(allowed ? 'allowed when retried' : 'blocked when retried');
    if (!allowed) {
      transaction.state = 'blocked';
      return {
        transaction,
        allowed,
        code: failure?.code ?? '',
        nowMs: Date.parse(failure?.at ?? ''),
        reservationId: null,
      };
    }
    const row = requireRow(
      await owner('policy_usage').where({ transaction_id: transaction.id, status: 'reserved' }).first(),
    );
    const nowMs = row.reserved_at.getTime();
    Object.assign(transaction, { state: 'executing', attemptId: null, reservedMs: nowMs, blockMs: null });
    return { transaction, allowed, code: null, nowMs, reservationId: row.id };
  }

  private async conclude(
    transaction: ModelTransaction,
    act: Exclude<Act, { do: 'pay' | 'edit' | 'retry' }>,
  ): Promise<void> {
    const { activities, service, counts } = this.fixture;
    counts.add(act.do);
    const ref = this.ref(transaction);
    if (act.do === 'reopen') {
      const { organizationId } = ref;
      await reopenTransaction(service, { organizationId, transactionId: transaction.id });
      Object.assign(transaction, { state: 'executing', blockMs: null });
      return;
    }
    if (act.do === 'release') {
      // One that was reopened has something signed: it cannot just fail.
      if (transaction.attemptId !== null) return;
      const failure = { code: 'rpc' as const, message: 'the network does not answer' };
      await activities.finishTransaction({ ...ref, result: { status: 'failed', failure } });
      transaction.state = 'failed';
      return;
    }
    transaction.attemptId ??= await this.sign(transaction);
    const nowMs = (await databaseNow(service)).getTime();
    const parts = act.do === 'commit' ? act.parts : 4;
    const blockMs = transaction.reservedMs + Math.floor(((nowMs - transaction.reservedMs) * parts) / 4);
    const { reopenings } = requireRow(
      await service('transactions').where({ id: transaction.id }).first('reopenings'),
    );
    const block = {
      attemptId: transaction.attemptId,
      transactionHash: aHash(),
      blockNumber: '1',
      blockHash: aHash(),
      blockTime: new Date(blockMs).toISOString(),
      reopenings,
    };
    const outcome =
      act.do === 'commit'
        ? { ...block, kind: 'executed' as const }
        : { ...block, kind: 'reverted' as const, reason: 'it reverted' };
    // The signer reads what failed, and reads again what it has seen fail.
    if (act.do !== 'commit' || transaction.reverted) {
      const read = { outcome: outcome.kind, blockAt: new Date(blockMs) };
      await decideAuthorizations(this.fixture.signer, [{ transactionId: transaction.id, ...read }]);
    }
    transaction.reverted = outcome.kind === 'reverted';
    const { executionStatus } = await activities.finishTransaction({
      ...ref,
      result: { status: 'decided', outcome },
    });
    const committed = executionStatus === 'completed';
    Object.assign(transaction, {
      state: committed ? 'executed' : 'failed',
      blockMs: committed ? blockMs : null,
    });
  }

  private async sign({ id, payment }: ModelTransaction): Promise<string> {
    this.nonces += 1n;
    const { signer, org, accounts } = this.fixture;
    const attempt = {
      kind: 'transaction' as const,
      organizationId: org.id,
      transactionId: id,
      accountId: accounts[payment.account] ?? '',
      networkId: NETWORK_ID,
      to: DESTINATIONS[payment.destination] ?? '',
      value: BigInt(payment.amount),
      data: '0x',
      safeNonce:
        BigInt(Date.now()) * 1_000_000n + BigInt(this.fixture.counts.sequences) * 1_000n + this.nonces,
      safeTxGas: 1n,
      safeTxHash: aHash(),
      signature: '0x',
      fromBlock: 1n,
    };
    const { safeNonce, safeTxHash, organizationId, accountId, networkId, to, value } = attempt;
    return signer.transaction(async (tx) => {
      await insertAuthorization(tx, {
        ...{ organizationId, accountId, networkId, safeNonce, safeTxHash },
        transactionId: id,
        policyId: this.policyId,
        tokenAddress: NATIVE_CURRENCY,
        amount: value,
        initiatorId: (payment.initiator === 0 ? org.alice : org.bob).id,
        destination: to,
        authorizedAt: await databaseNow(tx),
      });
      return String(await insertAttempt(tx, attempt));
    });
  }

  /** Edits the policy, one edit after the other, as executions of proposals do. */
  private async edit(budgets: readonly Budget[]): Promise<void> {
    const { service, counts } = this.fixture;
    for (const budget of budgets) {
      counts.add('edit');
      await service.transaction((tx) => replacePolicy(tx, policyOf(this.policyId, budget)));
      this.budget = budget;
    }
  }

  /**
   * Compares what was allowed and what was blocked with a plain sum. What changed at the same time may have been seen or
   * not, and a budget that was edited may have been the older one: where nothing did, the answer is exact.
   */
  private expectDecisions(
    outcomes: readonly Tried[],
    before: readonly ModelTransaction[],
    budgets: readonly Budget[],
  ): void {
    const now = new Map(this.transactions.map((transaction) => [transaction.id, transaction]));
    const tries = new Set(outcomes.map(({ transaction }) => transaction.id));
    for (const { transaction, allowed, code, nowMs, reservationId } of outcomes) {
      const shares = (budget: Budget, other: ModelTransaction) =>
        sameKey(budget, transaction.payment, other.payment);
      const sure = (budget: Budget): readonly ModelTransaction[] => {
        const stayed = before.filter((other) => {
          const after = now.get(other.id);
          return counts(budget, other, nowMs) && after !== undefined && counts(budget, after, nowMs);
        });
        const earlier = outcomes.flatMap((other) =>
          reservationId !== null && other.reservationId !== null && other.reservationId < reservationId
            ? [other.transaction]
            : [],
        );
        return [...stayed, ...earlier].filter((other) => shares(budget, other));
      };
      const possible = (budget: Budget): readonly ModelTransaction[] =>
        this.transactions.filter((other) => {
          const was = before.find(({ id }) => id === other.id);
          const seen =
            other !== transaction && (counts(budget, other, nowMs) || (was && counts(budget, was, nowMs)));
          return seen && shares(budget, other);
        });
      const explained = budgets.some((budget) =>
        allowed
          ? fits(budget, transaction.payment, sure(budget))
          : !fits(budget, transaction.payment, possible(budget)),
      );
      if (!explained) {
        const what = JSON.stringify({ allowed, nowMs, payment: transaction.payment, budgets, before });
        throw new Error(`${transaction.id} was ${allowed ? 'allowed' : 'blocked'} against the sum: ${what}`);
      }
      if (!allowed) {
        const tooMuchAtOnce = budgets.some(({ cap }) => cap !== null && transaction.payment.amount > cap);
        expect(tooMuchAtOnce ? ['budget', 'policy'] : ['budget']).toContain(code);
        if (tries.size === 1 && budgets.length === 1) this.fixture.counts.add('blocked without concurrency');
      }
    }
  }

  /** Compares the stored usage with the model. */
  async expectStored(): Promise<void> {
    const rows = await this.fixture.owner('policy_usage').where({ policy_id: this.policyId }).orderBy('id');
    const newest = new Map(rows.map((row) => [row.transaction_id, row]));
    const STATUS = { executing: 'reserved', executed: 'committed', failed: 'released' } as const;
    for (const { id, state, blockMs } of this.transactions) {
      const row = newest.get(id);
      if (state === 'blocked') expect(row?.status ?? 'released').toBe('released');
      else expect([row?.status, row?.block_at?.getTime() ?? null]).toEqual([STATUS[state], blockMs]);
    }
    // Whatever was retried, at most one reservation of a transaction is not released.
    const live = rows.filter(({ status }) => status !== 'released').map((row) => row.transaction_id);
    expect(new Set(live).size).toBe(live.length);
  }

  /**
   * Checks all payments afterwards: no window of that length exceeds the budget, wherever it begins.
   * Holds where the budget was never edited and no block was lost.
   */
  expectNoWindowAbove(): void {
    const windowMs = this.budget.limitation.hours * HOUR_MS;
    const sent = this.transactions.filter(({ state }) => state === 'executed' || state === 'executing');
    const at = (transaction: ModelTransaction) => transaction.blockMs ?? transaction.reservedMs;
    for (const first of sent) {
      const together = sent.filter(
        (other) =>
          at(other) >= at(first) &&
          at(other) <= at(first) + windowMs &&
          sameKey(this.budget, first.payment, other.payment),
      );
      const [one, ...more] = together;
      if (one) expect(fits(this.budget, one.payment, more)).toBe(true);
    }
  }
}

/** Plays one sequence; compares after each batch. */
export async function playSequence(
  fixture: BudgetFixture,
  { budget, batches }: BudgetSequence,
): Promise<void> {
  const run = await SequenceRun.of(fixture, budget);
  const acts = batches.flatMap((batch) => batch.acts);
  for (const batch of batches) await run.playBatch(batch);
  await run.expectStored();
  if (!acts.some((act) => act.do === 'edit' || act.do === 'reopen')) run.expectNoWindowAbove();
  fixture.counts.sequences += 1;
}
