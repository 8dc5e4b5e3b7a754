// Millions of looks: jest's own expectations are slow to make.
import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import type { Policy } from '../../../src/domain/policy';
import type { MemberSummary } from '../../../src/domain/proposal';
import type { Outcome } from '../../../src/domain/refusal';
import {
  checkTransactionExecution,
  checkTransactionVote,
  collectsTransactionSignatures,
  initiatorVote,
  isTransactionOpen,
  maySign,
  type TransactionNow,
  type TransactionRecord,
  type TransactionStanding,
  transactionStanding,
  transactionState,
} from '../../../src/domain/transaction';
import { aFailure, aHash, aMember, anAddress, anId, SEED } from '../../support/builders';
import { aTransaction } from '../../support/transactionRecords';
import { aPolicy } from '../../support/transactions';
import {
  answerToExecution,
  answerToVote,
  begun,
  type How,
  isOver,
  mayGive,
  type OracleWorld,
  type Rules,
  type Sentence,
  type Setting,
  type Story,
  stand,
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
  | { readonly do: 'sign'; readonly who: string; readonly how: How }
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
  weighted(3, fc.constant({ do: 'sign', who: INITIATOR.id, how: 'initiator' } as const)),
  weighted(1, fc.record({ do: is('sign'), who, how: fc.constant('initiator' as const) })),
  weighted(
    8,
    fc.record({ do: is('sign'), who, how: fc.constantFrom('approve' as const, 'reject' as const) }),
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
  let approverSetting: Policy['approverSetting'] = null;
  if (!automatic && 'member' in approvers) {
    approverSetting = { type: 'user', memberId: approvers.member, excludeInitiator };
  }
  if (!automatic && 'group' in approvers) {
    approverSetting = { type: 'group', groupId: approvers.group, threshold, excludeInitiator };
  }
  const type = automatic ? 'AUTO_APPROVAL' : 'MANUAL_APPROVAL';
  return aPolicy({ id: POLICY_ID, type, initiatorSetting, approverSetting });
}

const codeOf = (outcome: Outcome<null>) => (outcome.ok ? 'ok' : outcome.refusal.code);

/** One story, told twice: as the service stores it, and as the oracle remembers it. */
class Telling {
  record: TransactionRecord = aTransaction()
    .by(INITIATOR)
    .under({ id: POLICY_ID })
    .expiringAt(new Date(EXPIRY_MS))
    .build();
  readonly story: Story = {
    initiator: INITIATOR.id,
    expiresMs: EXPIRY_MS,
    said: [],
    execution: 'none',
    last: null,
  };
  private world: OracleWorld;
  /** What the hash of a signature in the record is in the story. */
  private readonly sentences = new Map<string, Sentence>();

  constructor({ rules: first, groups }: Beginning) {
    this.world = {
      members: PEOPLE.map(({ id, walletAddress: wallet }) => ({ id, wallet })),
      groups: new Map(GROUPS.map((id, place) => [id, groups[place] ?? []])),
      rules: first,
      nowMs: EXPIRY_MS - 2_000,
    };
  }

  get now(): TransactionNow {
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

  private close(change: Partial<TransactionRecord>): void {
    this.story.last = stand(this.story, this.world);
    this.set({ frozen: transactionStanding(this.record, this.now), closed: true, ...change });
  }

  take(event: Event): void {
    const { story, world, record, now } = this;
    switch (event.do) {
      case 'sign': {
        const member = now.members.get(event.who);
        const allowed = member !== undefined && maySign(record, now, event.how, member);
        assert.equal(allowed, mayGive(story, world, event.how, event.who));
        if (!member || !allowed) return;
        const answer = codeOf(checkTransactionVote(record, now, { member, type: event.how }));
        assert.equal(answer, answerToVote(story, world, event.how, event.who));
        if (answer !== 'ok') return;
        const hash = aHash();
        const on = event.how === 'initiator' ? undefined : initiatorVote(record, now);
        const sentence: Sentence = {
          by: member.id,
          wallet: member.walletAddress,
          how: event.how,
          about: on ? (this.sentences.get(on.signatureHash) ?? null) : null,
        };
        this.sentences.set(hash, sentence);
        story.said.push(sentence);
        const vote = {
          memberId: member.id,
          type: event.how,
          signerAddress: member.walletAddress,
          signatureHash: hash,
          initiatorSignatureHash: on?.signatureHash ?? null,
        };
        this.set({ votes: [...record.votes, vote] });
        return;
      }
      case 'execute': {
        const answer = codeOf(checkTransactionExecution(record, now, event.how));
        assert.equal(answer, answerToExecution(story, world, event.how));
        if (answer !== 'ok') return;
        this.expectSigned(event.how);
        if (event.how === 'reject') {
          story.execution = 'rejected';
          this.close({ executionStatus: 'rejected', result: { resolution: 'rejected' } });
          return;
        }
        story.execution = event.blocked ? 'blocked' : 'running';
        this.set(
          event.blocked
            ? { executionStatus: 'blocked', failure: aFailure({ code: 'budget' }) }
            : { executionStatus: 'processing', failure: null },
        );
        return;
      }
      case 'decide':
        if (story.execution !== 'running') return;
        if (event.ok) {
          // It stands as it does while it is processing: what is being executed does not expire.
          this.close({ executionStatus: 'completed', result: { resolution: 'approved' } });
          story.execution = 'completed';
        } else {
          story.execution = 'failed';
          this.set({ executionStatus: 'failed', failure: aFailure() });
        }
        return;
      case 'reopen':
        if (story.execution !== 'completed') return;
        story.execution = 'running';
        story.last = null;
        this.set({ executionStatus: 'processing', frozen: null, closed: false, result: null });
        return;
      case 'wait':
        this.world = { ...world, nowMs: world.nowMs + event.ms };
        return;
      case 'timer':
        if (!story.last && isOver(story, world)) this.close({});
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

  /** Counted in the story by hand, whatever the record says: enough different people of now have signed just this. */
  private expectSigned(how: 'approve' | 'reject'): void {
    const { story, world } = this;
    const first = begun(story, world);
    assert.notEqual(first, null);
    const signers = new Set(
      story.said
        .filter((one) => one.how === how && one.about === first)
        .filter((one) => world.members.some(({ id, wallet }) => id === one.by && wallet === one.wallet))
        .filter((one) => mayGive(story, world, how, one.by))
        .map((one) => one.by),
    );
    const { automatic, approvers, threshold } = world.rules;
    const manual = 'group' in approvers ? threshold : 1;
    const automatically = how === 'approve' ? 0 : 1;
    assert.ok(signers.size >= (automatic ? automatically : manual));
  }

  /** Whether both say the same of now. Answers how it stands. */
  compare(): TransactionStanding {
    const { story, world, record, now } = this;
    const is = transactionStanding(record, now);
    const { ready, open, closed } = transactionState(record, now);
    const collects = collectsTransactionSignatures(record, now.time);
    const said = { ...shown(is), ready, open, closed, collects, isOpen: isTransactionOpen(record, now.time) };
    const mayChange = !story.last && !isOver(story, world);
    const told = {
      ...stand(story, world),
      ready: (['approve', 'reject'] as const).filter((how) => answerToExecution(story, world, how) === 'ok'),
      open: mayChange,
      closed: story.last !== null,
      collects: mayChange && story.execution !== 'running',
      isOpen: mayChange,
    };
    // Texts compare faster, and these are compared many thousand times.
    if (JSON.stringify(said) !== JSON.stringify(told)) expect(said).toEqual(told);
    for (const voters of [said.approvals, said.rejections]) {
      if (new Set(voters).size !== voters.length) throw new Error(`somebody counts twice: ${voters}`);
    }
    return is;
  }

  /** How it ended, in words. */
  get end(): string {
    if (this.story.execution === 'none' || this.story.execution === 'failed') {
      if (this.story.last) return `expired, ${this.story.execution}`;
    }
    return this.story.execution;
  }
}

const shown = (is: TransactionStanding) => ({
  status: is.signatureStatus,
  threshold: is.threshold,
  approvals: is.approvals.map(({ id }) => id),
  rejections: is.rejections.map(({ id }) => id),
});

function play(beginning: Beginning, events: readonly Event[], seen = new Set<string>()): Telling {
  const telling = new Telling(beginning);
  let before = telling.compare();
  for (const event of events) {
    const { record } = telling;
    telling.take(event);
    const after = telling.compare();
    seen.add(after.signatureStatus);
    // Only the chain, which may lose a block, takes a closed one up again.
    if (record.closed && event.do !== 'reopen' && (telling.record !== record || after !== before)) {
      throw new Error(`a closed transaction has changed by ${event.do}`);
    }
    before = after;
  }
  return telling;
}

describe('a transaction, through any story', () => {
  it('stands, at every moment, where a simple account of what happened says', () => {
    fc.assert(
      fc.property(beginnings, fc.array(event, { maxLength: 40, size: 'max' }), (beginning, events) => {
        play(beginning, events);
      }),
      { numRuns: 150 },
    );
  });

  it('reaches every end that there is, so that the stories are worth telling', () => {
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
    const ends = new Set<string>();
    const statuses = new Set<string>();
    const isDone = () =>
      wantedEnds.every((end) => ends.has(end)) && wantedStatuses.every((status) => statuses.has(status));
    const itsTimeIsOver: readonly Event[] = [{ do: 'wait', ms: 30 * 86_400_000 }, { do: 'timer' }];
    // As many stories as it takes, each batch other ones, each story as it is and with its time over.
    for (let batch = 0; batch < 20 && !isDone(); batch += 1) {
      const stories = fc.sample(
        fc.tuple(beginnings, fc.array(event, { minLength: 20, maxLength: 60, size: 'max' })),
        { numRuns: 50, seed: SEED + batch },
      );
      for (const [beginning, events] of stories) {
        ends.add(play(beginning, events, statuses).end);
        ends.add(play(beginning, [...events, ...itsTimeIsOver], statuses).end);
      }
    }
    expect([...ends]).toEqual(expect.arrayContaining(wantedEnds));
    expect([...statuses].sort()).toEqual(wantedStatuses);
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
          const now: TransactionNow = {
            time: new Date(EXPIRY_MS + off),
            policy: policyOf(later),
            policyRemoved: false,
            members,
            groups: new Map(GROUPS.map((id) => [id, PEOPLE])),
          };
          const answers = [
            ...PEOPLE.flatMap((one) =>
              (['initiator', 'approve', 'reject'] as const).map((type) =>
                checkTransactionVote(record, now, { member: one, type }),
              ),
            ),
            checkTransactionExecution(record, now, 'approve'),
            checkTransactionExecution(record, now, 'reject'),
          ];
          assert.deepEqual(
            answers.filter(({ ok }) => ok),
            [],
          );
          assert.equal(transactionStanding(record, now), record.frozen);
        },
      ),
      { numRuns: 100, maxSkipsPerRun: 1_000 },
    );
  });
});
