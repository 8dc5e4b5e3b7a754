/** @deep */
// Millions of looks: jest's own expectations are slow to make.
import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { checkExecution, type MemberSummary, type Tally } from '../../../src/domain/approval';
import { collectsSignatures, isOpen, tally } from '../../../src/domain/approvalState';
import type { ApproverSetting, Policy } from '../../../src/domain/policy';
import type { Result } from '../../../src/domain/refusal';
import {
  type EvaluationContext,
  initiatorVote,
  type TransactionRecord,
  transactionRules,
} from '../../../src/domain/transaction';
import { transactionState } from '../../../src/domain/transactionState';
import { checkVote } from '../../../src/domain/voting';
import { aFailure, aHash, aMember, anAddress, anId } from '../../support/builders';
import { seed } from '../../support/random';
import { DEEP } from '../../support/suite';
import { aTransaction } from '../../support/transactionRecords';
import { aPolicy } from '../../support/transactions';
import {
  answerToExecution,
  answerToVote,
  type How,
  initiation,
  isOver,
  type Model,
  mayGive,
  type OracleWorld,
  oracleTally,
  type Rules,
  type Setting,
  type Signed,
} from './transactionOracle';

const EXPIRY_MS = Date.parse('2025-06-08T12:00:00.000Z');
const PEOPLE = [0, 1, 2, 3].map(() => aMember().build());
const IDS = PEOPLE.map(({ id }) => id);
const INITIATOR = PEOPLE[0] as MemberSummary;
const GROUPS = [anId('grp'), anId('grp')];
/** The wallets that somebody may move to; nobody's but theirs. */
const SPARE = new Map(IDS.map((id) => [id, anAddress()]));
const POLICY_ID = anId('pol');

type Event =
  | { readonly do: 'sign'; readonly who: string; readonly how: How; readonly execute: boolean }
  | { readonly do: 'execute'; readonly how: 'approve' | 'reject'; readonly blocked: boolean }
  | { readonly do: 'decide'; readonly ok: boolean }
  | { readonly do: 'reopen' }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'timer' }
  | { readonly do: 'leave' | 'join' | 'move'; readonly who: string }
  | { readonly do: 'regroup'; readonly group: string; readonly members: readonly string[] }
  | { readonly do: 'policy'; readonly rules: Rules };

const who = fc.constantFrom(...IDS);
const member = who.map((id): Setting => ({ member: id }));
const group = fc.constantFrom(...GROUPS).map((id): Setting => ({ group: id }));
const rules: fc.Arbitrary<Rules> = fc.record({
  automatic: fc.boolean(),
  initiators: fc.oneof(fc.constant<Setting>({ who: 'anyone' }), member, group),
  approvers: fc.oneof(member, group, group),
  threshold: fc.integer({ min: 1, max: 3 }),
  excludeInitiator: fc.boolean(),
});

const weighted = (weight: number, arbitrary: fc.Arbitrary<Event>) => ({ weight, arbitrary });
const is = <T extends string>(what: T) => fc.constant(what);
const event: fc.Arbitrary<Event> = fc.oneof(
  weighted(
    3,
    fc.record({
      do: is('sign'),
      who: fc.constant(INITIATOR.id),
      how: fc.constant('initiator' as const),
      execute: fc.boolean(),
    }),
  ),
  weighted(
    1,
    fc.record({ do: is('sign'), who, how: fc.constant('initiator' as const), execute: fc.boolean() }),
  ),
  weighted(
    8,
    fc.record({
      do: is('sign'),
      who,
      how: fc.constantFrom('approve' as const, 'reject' as const),
      execute: fc.boolean(),
    }),
  ),
  weighted(
    5,
    fc.record({
      do: is('execute'),
      how: fc.constantFrom('approve' as const, 'approve' as const, 'reject' as const),
      blocked: fc.boolean(),
    }),
  ),
  weighted(3, fc.record({ do: is('decide'), ok: fc.boolean() })),
  weighted(1, fc.constant({ do: 'reopen' } as const)),
  weighted(1, fc.record({ do: is('wait'), ms: fc.constantFrom(1, 2, 500, 999, 1_000) })),
  weighted(1, fc.constant({ do: 'timer' } as const)),
  weighted(
    2,
    fc.record({
      do: fc.constantFrom('leave' as const, 'join' as const, 'join' as const, 'move' as const),
      who,
    }),
  ),
  weighted(1, fc.record({ do: is('regroup'), group: fc.constantFrom(...GROUPS), members: fc.subarray(IDS) })),
  weighted(1, fc.record({ do: is('policy'), rules })),
);

const beginnings = fc.record({
  rules,
  groups: fc.tuple(fc.subarray(IDS, { minLength: 2 }), fc.subarray(IDS)),
});
type Beginning = typeof beginnings extends fc.Arbitrary<infer T> ? T : never;

/** Rules as the service stores them. */
function policyOf({ automatic, initiators, approvers, threshold, excludeInitiator }: Rules): Policy {
  let initiatorSetting: Policy['initiatorSetting'] = null;
  if ('member' in initiators) initiatorSetting = { type: 'user', memberId: initiators.member };
  if ('group' in initiators) initiatorSetting = { type: 'group', groupId: initiators.group };
  let approverSetting: ApproverSetting | undefined;
  if (!automatic && 'member' in approvers) {
    approverSetting = { type: 'user', memberId: approvers.member, excludeInitiator };
  }
  if (!automatic && 'group' in approvers) {
    approverSetting = { type: 'group', groupId: approvers.group, threshold, excludeInitiator };
  }
  const type = automatic ? 'AUTO_APPROVAL' : 'MANUAL_APPROVAL';
  return aPolicy({ id: POLICY_ID, type, initiatorSetting, approverSetting });
}

const codeOf = (outcome: Result<unknown>) => (outcome.ok ? 'ok' : outcome.refusal.code);

const voteOf = (outcome: Result<string>) => (outcome.ok ? outcome.value : outcome.refusal.code);

/** One transaction twice: as the service stores it, and as the oracle models it. */
class Run {
  record: TransactionRecord = aTransaction()
    .by(INITIATOR)
    .under({ id: POLICY_ID })
    .expiringAt(new Date(EXPIRY_MS))
    .build();
  readonly model: Model = {
    initiator: INITIATOR.id,
    expiresMs: EXPIRY_MS,
    signed: [],
    execution: 'none',
    began: null,
    last: null,
  };
  private world: OracleWorld;
  /** Every answer to a signature. */
  readonly answers = new Set<string>();
  /** What the hash of a signature in the record is in the model. */
  private readonly signatures = new Map<string, Signed>();

  constructor({ rules: first, groups }: Beginning) {
    this.world = {
      members: PEOPLE.map(({ id, walletAddress: wallet }) => ({ id, wallet })),
      groups: new Map(GROUPS.map((id, place) => [id, groups[place] ?? []])),
      rules: first,
      nowMs: EXPIRY_MS - 2_000,
    };
  }

  get now(): EvaluationContext {
    const members = new Map<string, MemberSummary>(
      this.world.members.map(({ id, wallet }) => {
        const person = PEOPLE.find((known) => known.id === id) as MemberSummary;
        return [id, { ...person, walletAddress: wallet }];
      }),
    );
    const groups = [...this.world.groups].map(
      ([id, ids]) => [id, ids.flatMap((one) => members.get(one) ?? [])] as const,
    );
    return {
      time: new Date(this.world.nowMs),
      policy: policyOf(this.world.rules),
      policyRemoved: false,
      members,
      groups: new Map(groups),
    };
  }

  private set(change: Partial<TransactionRecord>): void {
    this.record = { ...this.record, ...change };
  }

  private get tally(): Tally {
    return tally(transactionRules, this.record, this.now);
  }

  private close(change: Partial<TransactionRecord>): void {
    this.model.last = oracleTally(this.model, this.world);
    this.set({ finalTally: this.tally, closed: true, ...change });
  }

  private execute(how: 'approve' | 'reject', blocked: boolean): void {
    const { model, world, record, now } = this;
    const answer = codeOf(checkExecution(transactionRules, record, now, how));
    assert.equal(answer, answerToExecution(model, world, how));
    if (answer !== 'ok') return;
    this.expectSigned(how);
    if (how === 'reject') {
      this.close({ executionStatus: 'rejected', result: { resolution: 'rejected' } });
      model.execution = 'rejected';
      return;
    }
    if (blocked) {
      model.execution = 'blocked';
      this.set({ executionStatus: 'blocked', failure: aFailure({ code: 'budget' }) });
      return;
    }
    model.began = oracleTally(model, world);
    model.execution = 'running';
    this.set({ executedWith: this.tally, executionStatus: 'processing', failure: null });
  }

  private sign({ who: by, how, execute }: Extract<Event, { do: 'sign' }>): void {
    const { model, world, record, now } = this;
    const member = now.members.get(by);
    const allowed = member !== undefined && transactionRules.mayVote(record, now, how, member);
    assert.equal(allowed, mayGive(model, world, how, by));
    if (!member || !allowed) return;
    const answer = voteOf(checkVote(transactionRules, record, now, { member, type: how, execute }));
    assert.equal(answer, answerToVote(model, world, { how, by, execute }));
    this.answers.add(answer);
    if (answer === 'new') this.store(member, how);
    const decision = how === 'initiator' ? 'approve' : how;
    if (answer === 'repeated') {
      this.execute(decision, false);
      assert.equal(model.execution, decision === 'approve' ? 'running' : 'rejected');
    } else if (answer === 'new' && execute) this.execute(decision, false);
  }

  /** Records a signature in both. */
  private store(member: MemberSummary, how: How): void {
    const { model, record, now } = this;
    const hash = aHash();
    const on = how === 'initiator' ? undefined : initiatorVote(record, now);
    const signed: Signed = {
      by: member.id,
      wallet: member.walletAddress,
      how,
      about: on ? (this.signatures.get(on.signatureHash) ?? null) : null,
    };
    this.signatures.set(hash, signed);
    model.signed.push(signed);
    const vote = {
      memberId: member.id,
      type: how,
      signerAddress: member.walletAddress,
      scheme: 'eoa' as const,
      signatureHash: hash,
      initiatorSignatureHash: on?.signatureHash ?? null,
    };
    this.set({ votes: [...record.votes, vote] });
  }

  take(event: Event): void {
    const { model, world } = this;
    switch (event.do) {
      case 'sign':
        this.sign(event);
        return;
      case 'execute':
        this.execute(event.how, event.blocked);
        return;
      case 'decide':
        if (model.execution !== 'running') return;
        if (event.ok) {
          // Its tally is that of its beginning: what is being executed does not expire.
          this.close({ executionStatus: 'completed', result: { resolution: 'approved' } });
          model.execution = 'completed';
        } else {
          model.execution = 'failed';
          this.set({ executionStatus: 'failed', failure: aFailure() });
        }
        return;
      case 'reopen':
        if (model.execution !== 'completed') return;
        model.execution = 'running';
        model.last = null;
        this.set({ executionStatus: 'processing', finalTally: null, closed: false, result: null });
        return;
      case 'wait':
        this.world = { ...world, nowMs: world.nowMs + event.ms };
        return;
      case 'timer':
        if (!model.last && isOver(model, world)) this.close({});
        return;
      case 'leave':
        this.world = {
          ...world,
          members: world.members.filter(({ id }) => id !== event.who),
          // "Removing a member takes them out of every group."
          groups: new Map([...world.groups].map(([id, ids]) => [id, ids.filter((one) => one !== event.who)])),
        };
        return;
      case 'join': {
        if (world.members.some(({ id }) => id === event.who)) return;
        const { walletAddress: wallet } = PEOPLE.find(({ id }) => id === event.who) as MemberSummary;
        this.world = { ...world, members: [...world.members, { id: event.who, wallet }] };
        return;
      }
      case 'move': {
        const [home, spare] = [
          PEOPLE.find(({ id }) => id === event.who)?.walletAddress ?? '',
          SPARE.get(event.who) ?? '',
        ];
        this.world = {
          ...world,
          members: world.members.map((one) =>
            one.id === event.who ? { ...one, wallet: one.wallet === home ? spare : home } : one,
          ),
        };
        return;
      }
      case 'regroup':
        this.world = {
          ...world,
          groups: new Map([
            ...world.groups,
            [event.group, event.members.filter((id) => world.members.some((one) => one.id === id))],
          ]),
        };
        return;
      case 'policy':
        this.world = { ...world, rules: event.rules };
        return;
    }
  }

  /** Counted by hand, whatever the record says: enough different people of now have signed just this. */
  private expectSigned(how: 'approve' | 'reject'): void {
    const { model, world } = this;
    const first = initiation(model, world);
    assert.notEqual(first, null);
    const signers = new Set(
      model.signed
        .filter((one) => one.how === how && one.about === first)
        .filter((one) => world.members.some(({ id, wallet }) => id === one.by && wallet === one.wallet))
        .filter((one) => mayGive(model, world, how, one.by))
        .map((one) => one.by),
    );
    const { automatic, approvers, threshold } = world.rules;
    const manual = 'group' in approvers ? threshold : 1;
    const automatically = how === 'approve' ? 0 : 1;
    assert.ok(signers.size >= (automatic ? automatically : manual));
  }

  /** Whether both say the same of now. Returns the tally. */
  compare(): Tally {
    const { model, world, record, now } = this;
    const is = this.tally;
    const { ready, open, closed, expired } = transactionState(record, now);
    const collects = collectsSignatures(record, now.time);
    const isOpenNow = isOpen(transactionRules, record, now.time);
    const service = { ...shown(is), ready, open, closed, expired, collects, isOpen: isOpenNow };
    const mayChange = !model.last && !isOver(model, world);
    const oracle = {
      ...oracleTally(model, world),
      ready: (['approve', 'reject'] as const).filter((how) => answerToExecution(model, world, how) === 'ok'),
      open: mayChange,
      closed: model.last !== null,
      expired: model.last?.status === 'expired',
      collects: mayChange && model.execution !== 'running',
      isOpen: mayChange,
    };
    // Texts compare faster, and these are compared many thousand times.
    if (JSON.stringify(service) !== JSON.stringify(oracle)) expect(service).toEqual(oracle);
    for (const voters of [service.approvals, service.rejections]) {
      if (new Set(voters).size !== voters.length) throw new Error(`somebody counts twice: ${voters}`);
    }
    return is;
  }

  /** How it ended, in words. */
  get end(): string {
    if (this.model.execution === 'none' || this.model.execution === 'failed') {
      if (this.model.last) return `expired, ${this.model.execution}`;
    }
    return this.model.execution;
  }
}

const shown = (is: Tally) => ({
  status: is.signatureStatus,
  threshold: is.threshold,
  approvals: is.approvals.map(({ id }) => id),
  rejections: is.rejections.map(({ id }) => id),
});

function play(
  beginning: Beginning,
  events: readonly Event[],
  seen = { statuses: new Set<string>(), answers: new Set<string>() },
): Run {
  const run = new Run(beginning);
  let before = run.compare();
  for (const event of events) {
    const { record } = run;
    run.take(event);
    const after = run.compare();
    seen.statuses.add(after.signatureStatus);
    // Only the chain, which may lose a block, takes a closed one up again.
    if (record.closed && event.do !== 'reopen' && (run.record !== record || after !== before)) {
      throw new Error(`a closed transaction has changed by ${event.do}`);
    }
    before = after;
  }
  for (const answer of run.answers) seen.answers.add(answer);
  return run;
}

describe('a transaction, through any sequence of events', () => {
  it('has the tally of its model at every moment', () => {
    fc.assert(
      fc.property(beginnings, fc.array(event, { maxLength: 40, size: 'max' }), (beginning, events) => {
        play(beginning, events);
      }),
      { numRuns: DEEP ? 500 : 50 },
    );
  });

  it('reaches every end, status and answer to a vote, so that the model is worth comparing', () => {
    const wantedEnds = [
      'blocked',
      'completed',
      'expired, failed',
      'expired, none',
      'failed',
      'none',
      'rejected',
      'running',
    ];
    const wantedStatuses = [
      'approvalAndRejectionReady',
      'approvalReady',
      'expired',
      'pendingInitiatorSignature',
      'pendingReviewSignatures',
      'rejectionReady',
    ];
    const wantedAnswers = ['conflict', 'new', 'proposalExpired', 'repeated'];
    const ends = new Set<string>();
    const seen = { statuses: new Set<string>(), answers: new Set<string>() };
    const isDone = () =>
      wantedEnds.every((end) => ends.has(end)) &&
      wantedStatuses.every((status) => seen.statuses.has(status)) &&
      wantedAnswers.every((answer) => seen.answers.has(answer));
    const itsTimeIsOver: readonly Event[] = [{ do: 'wait', ms: 30 * 86_400_000 }, { do: 'timer' }];
    // As many sequences as it takes, each batch other ones, each as it is and with its time over.
    for (let batch = 0; batch < 20 && !isDone(); batch += 1) {
      const sequences = fc.sample(
        fc.tuple(beginnings, fc.array(event, { minLength: 20, maxLength: 60, size: 'max' })),
        { numRuns: 50, seed: seed() + batch },
      );
      for (const [beginning, events] of sequences) {
        ends.add(play(beginning, events, seen).end);
        ends.add(play(beginning, [...events, ...itsTimeIsOver], seen).end);
      }
    }
    expect([...ends]).toEqual(expect.arrayContaining(wantedEnds));
    expect([...seen.statuses].sort()).toEqual(wantedStatuses);
    expect([...seen.answers].sort()).toEqual(wantedAnswers);
  });

  it('has at most one outcome: nothing that is closed can be signed or executed in any world', () => {
    fc.assert(
      fc.property(
        beginnings,
        fc.array(event, { minLength: 10, maxLength: 40, size: 'max' }),
        rules,
        fc.integer({ min: -5_000, max: 5_000 }),
        (beginning, events, later, off) => {
          const { record } = play(beginning, events);
          fc.pre(record.closed);
          const members = new Map(PEOPLE.map((one) => [one.id, one]));
          const now: EvaluationContext = {
            time: new Date(EXPIRY_MS + off),
            policy: policyOf(later),
            policyRemoved: false,
            members,
            groups: new Map(GROUPS.map((id) => [id, PEOPLE])),
          };
          const answers = [
            ...PEOPLE.flatMap((one) =>
              (['initiator', 'approve', 'reject'] as const).map((type) =>
                checkVote(transactionRules, record, now, { member: one, type, execute: true }),
              ),
            ),
            checkExecution(transactionRules, record, now, 'approve'),
            checkExecution(transactionRules, record, now, 'reject'),
          ];
          assert.deepEqual(
            answers.filter(({ ok }) => ok),
            [],
          );
          assert.equal(tally(transactionRules, record, now), record.finalTally);
        },
      ),
      { numRuns: DEEP ? 500 : 30, maxSkipsPerRun: 1_000 },
    );
  });
});
