import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { createLifecycleActivities, type TransactionActivities } from '../../activities/lifecycle';
import { deriveAccount } from '../../src/chain/safe';
import { insertAttempt } from '../../src/db/attempts';
import { createDatabase, type Db, databaseNow } from '../../src/db/database';
import { readAdmins } from '../../src/db/members';
import { findPolicies, insertPolicies, replacePolicy } from '../../src/db/policies';
import { requireRow } from '../../src/db/rows';
import { reopenTransaction } from '../../src/db/transactionReopening';
import type { Limitation, Policy } from '../../src/domain/policy';
import { accept } from '../../src/domain/refusal';
import { aHash, anAddress } from '../support/builders';
import { makeOrganization, type TestOrganization } from '../support/service';
import { createTestDatabase } from '../support/stack';
import { storeAccount, storeTransaction, storeVote } from '../support/storedTransactions';
import { aTransferPolicy, NETWORK_ID } from '../support/transactions';
import { Counts } from './operationWorld';

const HOUR_MS = 3_600_000;
const DESTINATIONS = [anAddress(), anAddress()];

/** A policy's budget as a story tells it: what may go out in a window, or (null) that one execution may. */
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
export type Act =
  | ({ readonly do: 'pay' } & Payment)
  | { readonly do: 'retry' | 'release' | 'revert' | 'reopen'; readonly which: number }
  /** It is in a block, that part of the way from its reservation to now. */
  | { readonly do: 'commit'; readonly which: number; readonly parts: number }
  | { readonly do: 'edit'; readonly budget: Budget };

/** Time goes on, and then several things happen at once. */
export interface Batch {
  readonly waitMs: number;
  readonly acts: readonly Act[];
}

export interface Story {
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

/** Stories in which up to so many things happen at once; edits and lost blocks only where they are asked for. */
export function storiesOf(
  atOnce: number,
  doing: readonly ('edit' | 'reopen')[] = ['edit', 'reopen'],
): fc.Arbitrary<Story> {
  const batch = fc.record({
    // Up to the end of a window of an hour, and just over it.
    waitMs: fc.constantFrom(0, 0, 0, HOUR_MS / 3, HOUR_MS - 50, HOUR_MS, HOUR_MS + 1),
    acts: fc.array(act(doing), { minLength: 1, maxLength: atOnce }),
  });
  const batches = fc.array(batch, { minLength: 6, maxLength: 12, size: 'max' });
  return fc.record({ budget, batches });
}

/** A database with one organization, and the activities that spend its budgets, over several connections. */
export interface BudgetStage {
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

export async function setBudgetStage(): Promise<BudgetStage> {
  const database = await createTestDatabase();
  const owner = createDatabase(database.url, { poolMax: 4 });
  const service = createDatabase(database.url, { role: 'orgwallet_service', poolMax: 10 });
  const signer = createDatabase(database.url, { role: 'orgwallet_signer', poolMax: 4 });
  const org = await makeOrganization(owner);
  const accounts = [await storeAccount(owner, org.id), await storeAccount(owner, org.id)];
  const activities = createLifecycleActivities({
    db: service,
    networks: [],
    // Signatures are not what is tried here: whoever is recorded has signed.
    identifyVoter: async ({ eligible: [member] }) => {
      if (!member) throw new Error('nobody may have signed');
      return accept({ member, signerAddress: member.walletAddress, scheme: 'eoa' as const });
    },
    deriveAccount,
    readToken: async () => ({ ok: false, reason: 'no token is read here' }),
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
      // What a connection has counted is there for others at the latest when it has ended.
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
  { org, service, accounts }: BudgetStage,
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

/** A transaction as a story remembers it. */
interface Told {
  readonly id: string;
  readonly payment: Payment;
  state: 'executing' | 'executed' | 'failed' | 'blocked';
  /** What was signed for its last execution. */
  attemptId: string | null;
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
function counts({ limitation }: Budget, told: Told, nowMs: number): boolean {
  if (told.state === 'executing') return true;
  return told.state === 'executed' && nowMs - (told.blockMs ?? 0) <= limitation.hours * HOUR_MS;
}

/** Whether a payment fits beside those; with a plain sum. */
function fits({ cap }: Budget, payment: Payment, beside: readonly Told[]): boolean {
  if (cap === null) return beside.length === 0;
  let sum = payment.amount;
  for (const other of beside) sum += other.payment.amount;
  return sum <= cap;
}

/** What came of trying to execute one. */
interface Tried {
  readonly told: Told;
  readonly allowed: boolean;
  readonly code: string | null;
  /** When its database transaction began. */
  readonly nowMs: number;
  /** Place of its reservation among all. */
  readonly place: bigint | null;
}

/** One policy and everything that happened under it. */
class Telling {
  private readonly told: Told[] = [];
  private readonly policyId: string;
  private nonces = 0n;

  private constructor(
    private readonly stage: BudgetStage,
    private budget: Budget,
    policy: Policy,
  ) {
    this.policyId = policy.id;
  }

  static async of(stage: BudgetStage, budget: Budget): Promise<Telling> {
    const policy = aTransferPolicy();
    const made = policyOf(policy.id, budget);
    await stage.service.transaction((tx) => insertPolicies(tx, stage.org.id, [made]));
    return new Telling(stage, budget, policy);
  }

  private ref(told: Told) {
    return { subject: 'transaction' as const, organizationId: this.stage.org.id, id: told.id };
  }

  async happen({ waitMs, acts }: Batch): Promise<void> {
    await this.wait(waitMs);
    const before = this.told.map((told) => ({ ...told }));
    const budgets = [this.budget];
    const free = new Set(this.told);
    const tried: Promise<Tried>[] = [];
    const others: Promise<void>[] = [];
    for (const act of acts) {
      if (act.do === 'pay') {
        const { do: _, ...payment } = act;
        tried.push(this.pay(payment));
      } else if (act.do === 'edit') {
        budgets.push(act.budget);
      } else {
        const told = this.pick(act, free);
        if (!told) continue;
        free.delete(told);
        if (act.do === 'retry') tried.push(this.begin(told));
        else others.push(this.conclude(told, act));
      }
    }
    others.push(this.edit(budgets.slice(1)));
    const [outcomes] = await Promise.all([Promise.all(tried), Promise.all(others)]);
    this.judge(outcomes, before, budgets);
    this.stage.counts.steps += acts.length;
  }

  private pick(act: Exclude<Act, { do: 'pay' | 'edit' }>, free: ReadonlySet<Told>): Told | undefined {
    const can = [...free].filter(({ state, attemptId }) => {
      if (act.do === 'retry') return state === 'failed' || state === 'blocked';
      if (act.do === 'reopen') return attemptId !== null && (state === 'executed' || state === 'failed');
      return state === 'executing';
    });
    return can[act.which % Math.max(1, can.length)];
  }

  /** Lets time go on: everything that was is so much longer ago. */
  private async wait(ms: number): Promise<void> {
    if (ms === 0) return;
    for (const told of this.told) {
      told.reservedMs -= ms;
      if (told.blockMs !== null) told.blockMs -= ms;
    }
    const earlier = (column: string) =>
      this.stage.owner.raw(`${column} - make_interval(secs => ?::double precision)`, [ms / 1_000]);
    await this.stage
      .owner('policy_usage')
      .where({ policy_id: this.policyId })
      .update({ reserved_at: earlier('reserved_at'), block_at: earlier('block_at') });
  }

  private async pay(payment: Payment): Promise<Tried> {
    const id = await storeInitiated(this.stage, this.policyId, payment);
    const told: Told = { id, payment, state: 'blocked', attemptId: null, reservedMs: 0, blockMs: null };
    this.told.push(told);
    return this.begin(told);
  }

  private async begin(told: Told): Promise<Tried> {
    const { activities, owner, counts } = this.stage;
    const again = told.state === 'failed' || told.reservedMs !== 0;
    const began = await activities.beginExecution({
      ...this.ref(told),
      messageId: randomUUID(),
      type: 'approve',
    });
    if (!began.ok) throw new Error(`beginning ${told.id}: ${began.refusal.message}`);
    const { executionStatus, failure } = began.state;
    const allowed = executionStatus === 'processing';
    counts.add(allowed ? 'allowed' : `blocked: ${failure?.code}`);
    if (again) counts.add(allowed ? 'allowed at another try' : 'blocked at another try');
    if (!allowed) {
      told.state = 'blocked';
      return { told, allowed, code: failure?.code ?? '', nowMs: Date.parse(failure?.at ?? ''), place: null };
    }
    const row = requireRow(
      await owner('policy_usage').where({ transaction_id: told.id, status: 'reserved' }).first(),
    );
    const nowMs = row.reserved_at.getTime();
    Object.assign(told, { state: 'executing', attemptId: null, reservedMs: nowMs, blockMs: null });
    return { told, allowed, code: null, nowMs, place: row.id };
  }

  private async conclude(told: Told, act: Exclude<Act, { do: 'pay' | 'edit' | 'retry' }>): Promise<void> {
    const { activities, service, counts } = this.stage;
    counts.add(act.do);
    const ref = this.ref(told);
    if (act.do === 'reopen') {
      const reopened = await reopenTransaction(service, {
        organizationId: ref.organizationId,
        transactionId: told.id,
        attemptId: told.attemptId ?? '',
      });
      if (!reopened) throw new Error(`${told.id} was not taken up again`);
      Object.assign(told, { state: 'executing', blockMs: null });
      return;
    }
    if (act.do === 'release') {
      // One that was taken up again has something signed: it cannot just fail.
      if (told.attemptId !== null) return;
      const failure = { code: 'rpc' as const, message: 'the network does not answer' };
      await activities.finishTransaction({ ...ref, result: { status: 'failed', failure } });
      told.state = 'failed';
      return;
    }
    told.attemptId ??= await this.sign(told);
    const nowMs = (await databaseNow(service)).getTime();
    const parts = act.do === 'commit' ? act.parts : 4;
    const blockMs = told.reservedMs + Math.floor(((nowMs - told.reservedMs) * parts) / 4);
    const block = {
      attemptId: told.attemptId,
      transactionHash: aHash(),
      blockNumber: '1',
      blockHash: aHash(),
      blockTime: new Date(blockMs).toISOString(),
    };
    const outcome =
      act.do === 'commit'
        ? { ...block, kind: 'executed' as const }
        : { ...block, kind: 'reverted' as const, reason: 'it reverted' };
    const { executionStatus } = await activities.finishTransaction({
      ...ref,
      result: { status: 'decided', outcome },
    });
    const committed = executionStatus === 'completed';
    Object.assign(told, { state: committed ? 'executed' : 'failed', blockMs: committed ? blockMs : null });
  }

  private async sign({ id, payment }: Told): Promise<string> {
    this.nonces += 1n;
    const { signer, org, accounts } = this.stage;
    const attempt = {
      kind: 'transaction' as const,
      organizationId: org.id,
      transactionId: id,
      accountId: accounts[payment.account] ?? '',
      networkId: NETWORK_ID,
      to: DESTINATIONS[payment.destination] ?? '',
      value: BigInt(payment.amount),
      data: '0x',
      safeNonce: BigInt(Date.now()) * 1_000_000n + BigInt(this.stage.counts.sequences) * 1_000n + this.nonces,
      safeTxGas: 1n,
      safeTxHash: aHash(),
      signature: '0x',
      fromBlock: 1n,
    };
    return String((await signer.transaction((tx) => insertAttempt(tx, attempt))).id);
  }

  /** Edits the policy, one edit after the other, as executions of proposals do. */
  private async edit(budgets: readonly Budget[]): Promise<void> {
    const { service, org, counts } = this.stage;
    for (const budget of budgets) {
      counts.add('edit');
      await service.transaction(async (tx) => {
        await readAdmins(tx, org.id, { lock: 'update' });
        await findPolicies(tx, org.id, [this.policyId], { lock: 'update' });
        await replacePolicy(tx, policyOf(this.policyId, budget));
      });
      this.budget = budget;
    }
  }

  /**
   * Compares what was allowed and what was blocked with a plain sum. What changed at the same time may have been seen or
   * not, and a budget that was edited may have been the older one: where nothing did, the answer is exact.
   */
  private judge(outcomes: readonly Tried[], before: readonly Told[], budgets: readonly Budget[]): void {
    const now = new Map(this.told.map((told) => [told.id, told]));
    const tries = new Set(outcomes.map(({ told }) => told.id));
    for (const { told, allowed, code, nowMs, place } of outcomes) {
      const shares = (budget: Budget, other: Told) => sameKey(budget, told.payment, other.payment);
      const sure = (budget: Budget): readonly Told[] => {
        const stayed = before.filter((other) => {
          const after = now.get(other.id);
          return counts(budget, other, nowMs) && after !== undefined && counts(budget, after, nowMs);
        });
        const earlier = outcomes.flatMap((other) =>
          place !== null && other.place !== null && other.place < place ? [other.told] : [],
        );
        return [...stayed, ...earlier].filter((other) => shares(budget, other));
      };
      const possible = (budget: Budget): readonly Told[] =>
        this.told.filter((other) => {
          const was = before.find(({ id }) => id === other.id);
          const seen =
            other !== told && (counts(budget, other, nowMs) || (was && counts(budget, was, nowMs)));
          return seen && shares(budget, other);
        });
      const explained = budgets.some((budget) =>
        allowed ? fits(budget, told.payment, sure(budget)) : !fits(budget, told.payment, possible(budget)),
      );
      if (!explained) {
        const what = JSON.stringify({ allowed, nowMs, payment: told.payment, budgets, before });
        throw new Error(`${told.id} was ${allowed ? 'allowed' : 'blocked'} against the sum: ${what}`);
      }
      if (!allowed) {
        const tooMuchAtOnce = budgets.some(({ cap }) => cap !== null && told.payment.amount > cap);
        expect(tooMuchAtOnce ? ['budget', 'policy'] : ['budget']).toContain(code);
        if (tries.size === 1 && budgets.length === 1) this.stage.counts.add('blocked alone');
      }
    }
  }

  /** Compares what is stored with what was told. */
  async expectStored(): Promise<void> {
    const rows = await this.stage.owner('policy_usage').where({ policy_id: this.policyId }).orderBy('id');
    const newest = new Map(rows.map((row) => [row.transaction_id, row]));
    const STATUS = { executing: 'reserved', executed: 'committed', failed: 'released' } as const;
    for (const { id, state, blockMs } of this.told) {
      const row = newest.get(id);
      if (state === 'blocked') expect(row?.status ?? 'released').toBe('released');
      else expect([row?.status, row?.block_at?.getTime() ?? null]).toEqual([STATUS[state], blockMs]);
    }
    // Whatever was tried again: at most one of a transaction is not released.
    const live = rows.filter(({ status }) => status !== 'released').map((row) => row.transaction_id);
    expect(new Set(live).size).toBe(live.length);
  }

  /**
   * Looks at all that went out, afterwards: in no window of that length, wherever it begins, is more than the budget.
   * Holds where the budget was never edited and no block was lost.
   */
  expectNoWindowAbove(): void {
    const windowMs = this.budget.limitation.hours * HOUR_MS;
    const sent = this.told.filter(({ state }) => state === 'executed' || state === 'executing');
    const at = (told: Told) => told.blockMs ?? told.reservedMs;
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

/** Plays one story and compares after each batch. */
export async function tell(stage: BudgetStage, { budget, batches }: Story): Promise<void> {
  const telling = await Telling.of(stage, budget);
  const acts = batches.flatMap((batch) => batch.acts);
  for (const batch of batches) await telling.happen(batch);
  await telling.expectStored();
  if (!acts.some((act) => act.do === 'edit' || act.do === 'reopen')) telling.expectNoWindowAbove();
  stage.counts.sequences += 1;
}
