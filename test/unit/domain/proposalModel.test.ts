// Millions of looks: jest's own expectations are slow to make.
import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import {
  checkExecution,
  checkVote,
  collectsSignatures,
  DECISIONS,
  type Decision,
  isExpired,
  isOpen,
  type MemberSummary,
  type Tally,
  tally,
} from '../../../src/domain/approval';
import {
  type AdminSet,
  type Deployment,
  type ProposalRecord,
  proposalRules,
  proposalState,
} from '../../../src/domain/proposal';
import type { Outcome } from '../../../src/domain/refusal';
import { adminsFrom, aFailure, aHash, aMember, anAddress, aProposal } from '../../support/builders';
import { seed } from '../../support/random';

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

const codeOf = (outcome: Outcome<unknown>) => (outcome.ok ? 'ok' : outcome.refusal.code);
const voteOf = (outcome: Outcome<string>) => (outcome.ok ? outcome.value : outcome.refusal.code);

/** Applies events to the record, as the service stores it, and to the model, and compares them after each event. */
function play(events: readonly Event[], votes = new Set<string>()): ProposalRecord {
  let record = aProposal().expiringAt(new Date(EXPIRY_MS)).build();
  const model: Model = {
    signed: new Set(),
    phase: 'new',
    networks: null,
    began: '',
    last: null,
    over: false,
  };
  const world: World = {
    admins: { threshold: 2, members: PEOPLE.slice(0, 3) },
    timeMs: EXPIRY_MS - 2_000,
  };
  const now = () => ({ admins: world.admins, time: new Date(world.timeMs) });
  const close = (change: Partial<ProposalRecord>) => {
    const frozen = tally(proposalRules, record, now());
    model.last = modelTally(model, world);
    model.over = true;
    record = { ...record, ...change, frozen, closed: true };
  };
  const set = (change: Partial<ProposalRecord>) => {
    record = { ...record, ...change };
  };
  const memberAt = (index: number) => {
    const person = PEOPLE[index % PEOPLE.length] as MemberSummary;
    return world.admins.members.find(({ id }) => id === person.id) ?? person;
  };

  const execute = (type: Decision, { blocked, offChain }: Execution): void => {
    const allowed = codeOf(checkExecution(proposalRules, record, now(), type));
    assert.equal(allowed, modelExecution(model, world, type));
    if (allowed !== 'ok') return;
    if (type === 'reject') {
      close({ executionStatus: 'rejected', result: { resolution: 'rejected', resources: [] } });
      model.phase = 'rejected';
      return;
    }
    if (!record.applied && blocked) {
      model.phase = 'blocked';
      set({ executionStatus: 'blocked', failure: aFailure({ code: 'stale' }) });
      return;
    }
    const result = { resolution: 'approved' as const, resources: [] };
    if (!record.applied && offChain) {
      close({ executionStatus: 'completed', applied: true, result });
      model.phase = 'done';
      return;
    }
    const executedWith = tally(proposalRules, record, now());
    model.began = modelTally(model, world);
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
    set({ executionStatus: 'processing', executedWith, applied: true, failure: null, result, deployments });
  };

  const happen = (what: Event): void => {
    switch (what.do) {
      case 'vote': {
        const member = memberAt(what.who);
        const isAdmin = world.admins.members.some(({ id }) => id === member.id);
        assert.equal(proposalRules.mayVote(record, now(), what.type, member), isAdmin);
        if (!isAdmin) return;
        const vote = { member, type: what.type, execute: what.execute !== null };
        const answer = voteOf(checkVote(proposalRules, record, now(), vote));
        assert.equal(answer, modelVote(model, world, vote));
        votes.add(answer);
        if (answer === 'new') {
          model.signed.add(key(member, what.type));
          const stored = {
            memberId: member.id,
            type: what.type,
            signerAddress: member.walletAddress,
            signatureHash: aHash(),
            initiatorSignatureHash: null,
          };
          set({ votes: [...record.votes, stored] });
        }
        if (what.execute && (answer === 'new' || answer === 'repeated')) execute(what.type, what.execute);
        if (answer === 'repeated') assert.notEqual(record.executionStatus, null);
        return;
      }
      case 'execute':
        execute(what.type, what.execution);
        return;
      case 'deployed': {
        const networkId = NETWORKS[what.network];
        if (record.executionStatus !== 'processing' || networkId === undefined) return;
        if (model.networks?.get(networkId) !== 'pending') return;
        model.networks.set(networkId, what.ok ? 'there' : 'failed');
        set({
          deployments: record.deployments.map((d) =>
            d.networkId === networkId ? { ...d, status: what.ok ? 'completed' : 'failed' } : d,
          ),
        });
        const ended = [...model.networks.values()];
        if (ended.includes('pending')) return;
        if (ended.includes('failed')) {
          model.phase = 'failed';
          set({ executionStatus: 'failed', failure: aFailure() });
          return;
        }
        close({ executionStatus: 'completed' });
        model.phase = 'done';
        return;
      }
      case 'wait':
        world.timeMs += what.ms;
        return;
      case 'timer': {
        const early =
          record.closed ||
          record.frozen !== null ||
          record.executionStatus === 'processing' ||
          !isExpired(record, new Date(world.timeMs));
        if (early) return;
        if (!proposalRules.isFinishable(record)) {
          close({});
          return;
        }
        model.last = modelTally(model, world);
        set({ frozen: tally(proposalRules, record, now()) });
        return;
      }
      case 'leave': {
        if (world.admins.members.length > 1) {
          world.admins = adminsFrom(world.admins).without(memberAt(what.who)).build();
        }
        return;
      }
      case 'join': {
        const member = memberAt(what.who);
        world.admins = adminsFrom(world.admins).without(member).with(member).build();
        return;
      }
      case 'move': {
        const member = memberAt(what.who);
        const walletAddress = WALLETS[what.wallet] as string;
        if (world.admins.members.some((other) => other.walletAddress === walletAddress)) return;
        world.admins = adminsFrom(world.admins)
          .replacing({ ...member, walletAddress })
          .build();
        return;
      }
      case 'threshold':
        world.admins = adminsFrom(world.admins).withThreshold(what.to).build();
        return;
    }
  };

  for (const what of events) {
    const before = record;
    const closedWith = before.closed ? shown(tally(proposalRules, before, now())) : null;
    happen(what);

    assert.equal(shown(tally(proposalRules, record, now())), modelTally(model, world));
    const time = new Date(world.timeMs);
    const mayChange =
      !model.over &&
      (!late(world) || model.phase === 'running' || (model.phase === 'failed' && isThere(model)));
    assert.equal(isOpen(proposalRules, record, time), mayChange);
    assert.equal(collectsSignatures(record, time), !model.over && model.phase !== 'running' && !late(world));
    assert.deepEqual(
      proposalState(record, now()).ready,
      DECISIONS.filter((decision) => modelExecution(model, world, decision) === 'ok'),
    );
    if (closedWith !== null) {
      assert.equal(record, before);
      assert.equal(shown(tally(proposalRules, record, now())), closedWith);
    }
  }
  return record;
}

describe('a proposal, through any sequence of events', () => {
  it('has at every moment the tally that a plain model of it has', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40, size: 'max' }), (events) => {
        play(events);
      }),
      { numRuns: 400 },
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
      { numRuns: 100, maxSkipsPerRun: 1_000 },
    );
  });
});
