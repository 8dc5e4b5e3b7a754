/** @deep */
// Millions of looks: jest's own expectations are slow to make.
import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import {
  checkExecution,
  type Decision,
  isExpired,
  type MemberSummary,
  type Tally,
} from '../../../src/domain/approval';
import { collectsSignatures, DECISIONS, isOpen, tally } from '../../../src/domain/approvalState';
import {
  type AdminSet,
  type Deployment,
  type ProposalRecord,
  proposalRules,
  proposalState,
} from '../../../src/domain/proposal';
import type { Result } from '../../../src/domain/refusal';
import { checkVote } from '../../../src/domain/voting';
import { adminsFrom, aFailure, aHash, aMember, anAddress, aProposal } from '../../support/builders';
import { seed } from '../../support/random';
import { DEEP } from '../../support/suite';

const EXPIRY_MS = Date.parse('2025-06-08T12:00:00.000Z');
const NETWORKS = [1, 2];
const WALLETS = [anAddress(), anAddress()];
const PEOPLE: readonly MemberSummary[] = [0, 1, 2, 3].map(() => aMember().build());

/** What comes of an execution: a check refuses it, or it is done, with or without deployments. */
interface Execution {
  blocked: boolean;
  offChain: boolean;
}

/** What can happen to a proposal, as small numbers that fast-check shrinks well. */
type Event =
  | { do: 'vote'; who: number; type: Decision; execute: Execution | null }
  | { do: 'execute'; type: Decision; execution: Execution }
  | { do: 'deployed'; network: number; ok: boolean }
  | { do: 'wait'; ms: number }
  | { do: 'timer' }
  | { do: 'leave' | 'join'; who: number }
  | { do: 'move'; who: number; wallet: number }
  | { do: 'threshold'; to: number };

const type = fc.constantFrom<Decision>('approve', 'reject');
const who = fc.nat({ max: PEOPLE.length - 1 });
const execution: fc.Arbitrary<Execution> = fc.record({ blocked: fc.boolean(), offChain: fc.boolean() });
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('vote' as const),
      who,
      type,
      execute: fc.option(execution, { nil: null }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('execute' as const), type, execution }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('deployed' as const),
      network: fc.nat({ max: NETWORKS.length - 1 }),
      ok: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 2, 500, 999, 1_000) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('timer' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('leave' as const, 'join' as const), who }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('move' as const),
      who,
      wallet: fc.nat({ max: WALLETS.length - 1 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('threshold' as const), to: fc.integer({ min: 1, max: 3 }) }),
  },
);

/** The same without the record: who signed what with which wallet, and what has been done. */
interface Model {
  readonly signed: Set<string>;
  phase: 'new' | 'running' | 'done' | 'rejected' | 'failed' | 'blocked';
  /** Each network with the status of its deployment, once the change was made. */
  networks: Map<number, 'pending' | 'there' | 'failed'> | null;
  /** The tally when the last execution began. */
  began: string;
  /** The tally when it could not change any more. */
  last: string | null;
  /** Nothing more can happen to it. */
  over: boolean;
}

interface World {
  admins: AdminSet;
  timeMs: number;
}

const key = (member: MemberSummary, vote: Decision) => `${member.id} ${vote} ${member.walletAddress}`;

function signers(model: Model, world: World, vote: Decision): string[] {
  return world.admins.members.filter((m) => model.signed.has(key(m, vote))).map((m) => m.id);
}

const late = (world: World) => world.timeMs > EXPIRY_MS;
const isThere = (model: Model) => [...(model.networks?.values() ?? [])].includes('there');

/** The tally of the model: status, threshold, who approved, who rejected. */
function modelTally(model: Model, world: World): string {
  if (model.last) return model.last;
  if (model.phase === 'running') return model.began;
  const yes = signers(model, world, 'approve');
  const no = signers(model, world, 'reject');
  const { threshold } = world.admins;
  const [approved, rejected] = [yes.length >= threshold, no.length >= threshold];
  let status = 'pendingReviewSignatures';
  if (approved) status = 'approvalReady';
  if (rejected) status = 'rejectionReady';
  if (approved && rejected) status = 'approvalAndRejectionReady';
  if (late(world)) status = 'expired';
  return JSON.stringify([status, threshold, yes, no]);
}

function shown(is: Tally): string {
  return JSON.stringify([
    is.signatureStatus,
    is.threshold,
    is.approvals.map((m) => m.id),
    is.rejections.map((m) => m.id),
  ]);
}

function isDecided(model: Model): boolean {
  return ['running', 'done', 'rejected'].includes(model.phase);
}

function modelVote(
  model: Model,
  world: World,
  { member, type: vote, execute }: { member: MemberSummary; type: Decision; execute: boolean },
): string {
  if (isDecided(model)) return 'conflict';
  if (late(world) || model.over) return 'proposalExpired';
  if (!model.signed.has(key(member, vote))) return 'new';
  // "a second of the same type is 409, except with execute: true while that threshold is met"
  return execute && modelExecution(model, world, vote) === 'ok' ? 'repeated' : 'conflict';
}

function modelExecution(model: Model, world: World, vote: Decision): string {
  if (isDecided(model)) return 'conflict';
  if (model.over) return 'proposalExpired';
  if (late(world)) {
    return vote === 'approve' && model.phase === 'failed' && isThere(model) ? 'ok' : 'proposalExpired';
  }
  if (signers(model, world, vote).length < world.admins.threshold) return 'thresholdNotMet';
  return vote === 'reject' && isThere(model) ? 'conflict' : 'ok';
}

function mayChange(model: Model, world: World): boolean {
  const finishes = model.phase === 'running' || (model.phase === 'failed' && isThere(model));
  return !model.over && (!late(world) || finishes);
}

const codeOf = (outcome: Result<unknown>) => (outcome.ok ? 'ok' : outcome.refusal.code);
const voteOf = (outcome: Result<string>) => (outcome.ok ? outcome.value : outcome.refusal.code);

type EventOf<D extends Event['do']> = Extract<Event, { do: D }>;

/** A proposal as the service stores it and as a model, which the same events happen to. */
class Play {
  record = aProposal().expiringAt(new Date(EXPIRY_MS)).build();
  private readonly model: Model = {
    signed: new Set(),
    phase: 'new',
    networks: null,
    began: '',
    last: null,
    over: false,
  };
  private readonly world: World = {
    admins: { threshold: 2, members: PEOPLE.slice(0, 3) },
    timeMs: EXPIRY_MS - 2_000,
  };

  /** `answers` takes up what votes are answered with. */
  constructor(private readonly answers: Set<string>) {}

  private get now() {
    return { admins: this.world.admins, time: new Date(this.world.timeMs) };
  }

  private tally(record = this.record): Tally {
    return tally(proposalRules, record, this.now);
  }

  private set(change: Partial<ProposalRecord>): void {
    this.record = { ...this.record, ...change };
  }

  private close(change: Partial<ProposalRecord>): void {
    const frozen = this.tally();
    this.model.last = modelTally(this.model, this.world);
    this.model.over = true;
    this.set({ ...change, finalTally: frozen, closed: true });
  }

  private memberAt(index: number): MemberSummary {
    const person = PEOPLE[index % PEOPLE.length] as MemberSummary;
    return this.world.admins.members.find(({ id }) => id === person.id) ?? person;
  }

  /** Something happens, and the record is compared with the model. */
  take(event: Event): void {
    const before = this.record;
    const closedWith = before.closed ? shown(this.tally()) : null;
    this.happen(event);
    this.compare();
    if (closedWith !== null) {
      assert.equal(this.record, before);
      assert.equal(shown(this.tally()), closedWith);
    }
  }

  private compare(): void {
    const { record, model, world } = this;
    assert.equal(shown(this.tally()), modelTally(model, world));
    assert.equal(isOpen(proposalRules, record, this.now.time), mayChange(model, world));
    assert.equal(
      collectsSignatures(record, this.now.time),
      !model.over && model.phase !== 'running' && !late(world),
    );
    assert.deepEqual(
      proposalState(record, this.now).ready,
      DECISIONS.filter((decision) => modelExecution(model, world, decision) === 'ok'),
    );
  }

  private happen(event: Event): void {
    switch (event.do) {
      case 'vote':
        this.vote(event);
        break;
      case 'execute':
        this.execute(event.type, event.execution);
        break;
      case 'deployed':
        this.deployed(event);
        break;
      case 'wait':
        this.world.timeMs += event.ms;
        break;
      case 'timer':
        this.timerFires();
        break;
      default:
        this.world.admins = this.adminsAfter(event);
    }
  }

  private vote({ who, type, execute }: EventOf<'vote'>): void {
    const { model, world } = this;
    const member = this.memberAt(who);
    const isAdmin = world.admins.members.some(({ id }) => id === member.id);
    assert.equal(proposalRules.mayVote(this.record, this.now, type, member), isAdmin);
    if (!isAdmin) return;
    const vote = { member, type, execute: execute !== null };
    const answer = voteOf(checkVote(proposalRules, this.record, this.now, vote));
    assert.equal(answer, modelVote(model, world, vote));
    this.answers.add(answer);
    if (answer === 'new') this.storeVote(member, type);
    if (execute && (answer === 'new' || answer === 'repeated')) this.execute(type, execute);
    if (answer === 'repeated') assert.notEqual(this.record.executionStatus, null);
  }

  private storeVote(member: MemberSummary, type: Decision): void {
    this.model.signed.add(key(member, type));
    const stored = {
      memberId: member.id,
      type,
      signerAddress: member.walletAddress,
      scheme: 'eoa' as const,
      signatureHash: aHash(),
      initiatorSignatureHash: null,
    };
    this.set({ votes: [...this.record.votes, stored] });
  }

  private execute(type: Decision, { blocked, offChain }: Execution): void {
    const { model, record } = this;
    const allowed = codeOf(checkExecution(proposalRules, record, this.now, type));
    assert.equal(allowed, modelExecution(model, this.world, type));
    if (allowed !== 'ok') return;
    const result = { resolution: 'approved' as const, resources: [] };
    if (type === 'reject') {
      this.close({ executionStatus: 'rejected', result: { resolution: 'rejected', resources: [] } });
      model.phase = 'rejected';
    } else if (!record.applied && blocked) {
      this.set({ executionStatus: 'blocked', failure: aFailure({ code: 'stale' }) });
      model.phase = 'blocked';
    } else if (!record.applied && offChain) {
      this.close({ executionStatus: 'completed', applied: true, result });
      model.phase = 'done';
    } else {
      this.deploy({ result });
    }
  }

  /** Starts what is not there yet on every network. */
  private deploy(change: Partial<ProposalRecord>): void {
    const { model, record } = this;
    const executedWith = this.tally();
    model.began = modelTally(model, this.world);
    model.phase = 'running';
    model.networks = new Map(
      NETWORKS.map((id) => [id, model.networks?.get(id) === 'there' ? 'there' : 'pending']),
    );
    const known = new Map(record.deployments.map((d) => [d.networkId, d]));
    const deployments = NETWORKS.map((networkId): Deployment => {
      const before = known.get(networkId);
      if (before?.status === 'completed') return before;
      return {
        accountId: 'acc_1',
        networkId,
        status: 'pending',
        transactionHash: null,
        failure: null,
        waitingFor: null,
      };
    });
    this.set({
      ...change,
      executionStatus: 'processing',
      executedWith,
      applied: true,
      failure: null,
      deployments,
    });
  }

  private deployed({ network, ok }: EventOf<'deployed'>): void {
    const { model, record } = this;
    const networkId = NETWORKS[network];
    if (record.executionStatus !== 'processing' || networkId === undefined) return;
    if (model.networks?.get(networkId) !== 'pending') return;
    model.networks.set(networkId, ok ? 'there' : 'failed');
    this.set({
      deployments: record.deployments.map((d) =>
        d.networkId === networkId ? { ...d, status: ok ? 'completed' : 'failed' } : d,
      ),
    });
    const ended = [...model.networks.values()];
    if (!ended.includes('pending')) this.finish(!ended.includes('failed'));
  }

  private finish(succeeded: boolean): void {
    if (succeeded) {
      this.close({ executionStatus: 'completed' });
      this.model.phase = 'done';
    } else {
      this.set({ executionStatus: 'failed', failure: aFailure() });
      this.model.phase = 'failed';
    }
  }

  private timerFires(): void {
    const { record } = this;
    const isDue = isExpired(record, this.now.time) && record.executionStatus !== 'processing';
    if (record.closed || record.finalTally !== null || !isDue) return;
    if (!proposalRules.isFinishable(record)) {
      this.close({});
      return;
    }
    this.model.last = modelTally(this.model, this.world);
    this.set({ finalTally: this.tally() });
  }

  private adminsAfter(event: EventOf<'leave' | 'join' | 'move' | 'threshold'>): AdminSet {
    const { admins } = this.world;
    if (event.do === 'threshold') return adminsFrom(admins).withThreshold(event.to).build();
    const member = this.memberAt(event.who);
    if (event.do === 'move') {
      const walletAddress = WALLETS[event.wallet] as string;
      if (admins.members.some((other) => other.walletAddress === walletAddress)) return admins;
      return adminsFrom(admins)
        .replacing({ ...member, walletAddress })
        .build();
    }
    const others = adminsFrom(admins).without(member);
    if (event.do === 'join') return others.with(member).build();
    return admins.members.length > 1 ? others.build() : admins;
  }
}

/** Applies events, with a comparison after each, and answers the record in the end. */
function play(events: readonly Event[], answers = new Set<string>()): ProposalRecord {
  const proposal = new Play(answers);
  for (const event of events) proposal.take(event);
  return proposal.record;
}

describe('a proposal, through any sequence of events', () => {
  it('has the tally of its model at every moment', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40, size: 'max' }), (events) => {
        play(events);
      }),
      { numRuns: DEEP ? 1_000 : 150 },
    );
  });

  it('reaches every end and every answer to a vote, so that the model is worth comparing', () => {
    const wanted = ['blocked', 'completed', 'expired', 'failed', 'processing', 'rejected'];
    const wantedAnswers = ['conflict', 'new', 'proposalExpired', 'repeated'];
    const ends = new Set<string>();
    const answers = new Set<string>();
    const isDone = () =>
      wanted.every((end) => ends.has(end)) && wantedAnswers.every((answer) => answers.has(answer));
    // As many sequences as it takes, each batch other ones.
    for (let batch = 0; batch < 20 && !isDone(); batch += 1) {
      const sequence = fc.array(event, { minLength: 20, maxLength: 60, size: 'max' });
      for (const events of fc.sample(sequence, { numRuns: 100, seed: seed() + batch })) {
        const end = play(events, answers);
        ends.add(end.closed && end.executionStatus === null ? 'expired' : String(end.executionStatus));
      }
    }
    expect([...ends].sort()).toEqual(expect.arrayContaining(wanted));
    expect([...answers].sort()).toEqual(wantedAnswers);
  });

  it('has at most one outcome: nothing that is closed can be voted on or executed', () => {
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 10, maxLength: 40, size: 'max' }),
        who,
        type,
        (events, voter, vote) => {
          const record = play(events);
          fc.pre(record.closed);
          const member = PEOPLE[voter] as MemberSummary;
          for (const threshold of [0, 1]) {
            const now = { admins: { threshold, members: PEOPLE }, time: new Date(EXPIRY_MS - 5_000) };
            for (const execute of [true, false]) {
              assert.equal(checkVote(proposalRules, record, now, { member, type: vote, execute }).ok, false);
            }
            assert.equal(checkExecution(proposalRules, record, now, vote).ok, false);
          }
        },
      ),
      { numRuns: DEEP ? 500 : 40, maxSkipsPerRun: 1_000 },
    );
  });
});
