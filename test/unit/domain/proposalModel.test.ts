// Millions of looks: jest's own expectations are slow to make.
import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import {
  type AdminSet,
  canFinishAfterExpiry,
  checkExecution,
  checkVote,
  collectsSignatures,
  type Deployment,
  isExpired,
  isOpen,
  type MemberSummary,
  type ProposalRecord,
  type Standing,
  standing,
  type VoteType,
} from '../../../src/domain/proposal';
import type { Outcome } from '../../../src/domain/refusal';
import { adminsFrom, aFailure, aMember, anAddress, aProposal, SEED } from '../../support/builders';

const EXPIRY_MS = Date.parse('2025-06-08T12:00:00.000Z');
const NETWORKS = [1, 2];
const WALLETS = [anAddress(), anAddress()];
const PEOPLE: readonly MemberSummary[] = [0, 1, 2, 3].map(() => aMember().build());

/** What can happen to a proposal, as small numbers that fast-check shrinks well. */
type Event =
  | { do: 'vote'; who: number; type: VoteType }
  | { do: 'execute'; type: VoteType; blocked: boolean; offChain: boolean }
  | { do: 'deployed'; network: number; ok: boolean }
  | { do: 'wait'; ms: number }
  | { do: 'timer' }
  | { do: 'leave' | 'join'; who: number }
  | { do: 'move'; who: number; wallet: number }
  | { do: 'threshold'; to: number };

const type = fc.constantFrom<VoteType>('approve', 'reject');
const who = fc.nat({ max: PEOPLE.length - 1 });
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('vote' as const), who, type }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('execute' as const),
      type,
      blocked: fc.boolean(),
      offChain: fc.boolean(),
    }),
  },
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

/** The same story told without the record: who signed what with which wallet, and what has been done. */
interface Model {
  readonly signed: Set<string>;
  phase: 'new' | 'running' | 'done' | 'rejected' | 'failed' | 'blocked';
  /** Network to what became of it, once the change was made. */
  networks: Map<number, 'pending' | 'there' | 'failed'> | null;
  /** How it stood when it was settled. */
  settled: string | null;
  /** Nothing more can happen to it. */
  over: boolean;
}

interface World {
  admins: AdminSet;
  timeMs: number;
}

const key = (member: MemberSummary, vote: VoteType) => `${member.id} ${vote} ${member.walletAddress}`;

function signers(model: Model, world: World, vote: VoteType): string[] {
  return world.admins.members.filter((m) => model.signed.has(key(m, vote))).map((m) => m.id);
}

const late = (world: World) => world.timeMs > EXPIRY_MS;
const isThere = (model: Model) => [...(model.networks?.values() ?? [])].includes('there');

/** How the model says it stands: status, threshold, who approved, who rejected. */
function modelStanding(model: Model, world: World): string {
  if (model.settled) return model.settled;
  const yes = signers(model, world, 'approve');
  const no = signers(model, world, 'reject');
  const { threshold } = world.admins;
  const [approved, rejected] = [yes.length >= threshold, no.length >= threshold];
  let status = 'pendingReviewSignatures';
  if (approved) status = 'approvalReady';
  if (rejected) status = 'rejectionReady';
  if (approved && rejected) status = 'approvalAndRejectionReady';
  if (late(world) && model.phase !== 'running') status = 'expired';
  return JSON.stringify([status, threshold, yes, no]);
}

function recordStanding(is: Standing): string {
  return JSON.stringify([
    is.signatureStatus,
    is.threshold,
    is.approvals.map((m) => m.id),
    is.rejections.map((m) => m.id),
  ]);
}

function settledCode(model: Model): string | null {
  return ['running', 'done', 'rejected'].includes(model.phase) ? 'conflict' : null;
}

function modelVote(model: Model, world: World, member: MemberSummary, vote: VoteType): string {
  const settled = settledCode(model);
  if (settled) return settled;
  if (late(world) || model.over) return 'proposalExpired';
  return model.signed.has(key(member, vote)) ? 'conflict' : 'ok';
}

function modelExecution(model: Model, world: World, vote: VoteType): string {
  const settled = settledCode(model);
  if (settled) return settled;
  if (model.over) return 'proposalExpired';
  if (late(world)) {
    return vote === 'approve' && model.phase === 'failed' && isThere(model) ? 'ok' : 'proposalExpired';
  }
  if (signers(model, world, vote).length < world.admins.threshold) return 'thresholdNotMet';
  return vote === 'reject' && isThere(model) ? 'conflict' : 'ok';
}

const codeOf = (outcome: Outcome<null>) => (outcome.ok ? 'ok' : outcome.refusal.code);

/** Plays a story on the record, as the service stores it, and on the model, and compares them after each event. */
function play(events: readonly Event[]): ProposalRecord {
  let record = aProposal().expiringAt(new Date(EXPIRY_MS)).build();
  const model: Model = { signed: new Set(), phase: 'new', networks: null, settled: null, over: false };
  const world: World = {
    admins: { threshold: 2, members: PEOPLE.slice(0, 3) },
    timeMs: EXPIRY_MS - 2_000,
  };
  const now = () => ({ admins: world.admins, time: new Date(world.timeMs) });
  const close = (change: Partial<ProposalRecord>) => {
    const frozen = standing(record, now());
    model.settled = modelStanding(model, world);
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

  const happen = (what: Event): void => {
    switch (what.do) {
      case 'vote': {
        const member = memberAt(what.who);
        const allowed = codeOf(checkVote(record, now(), { member, type: what.type }));
        assert.equal(allowed, modelVote(model, world, member, what.type));
        if (allowed !== 'ok') return;
        model.signed.add(key(member, what.type));
        const vote = { memberId: member.id, type: what.type, signerAddress: member.walletAddress };
        set({ votes: [...record.votes, vote] });
        return;
      }
      case 'execute': {
        const allowed = codeOf(checkExecution(record, now(), what.type));
        assert.equal(allowed, modelExecution(model, world, what.type));
        if (allowed !== 'ok') return;
        if (what.type === 'reject') {
          close({ executionStatus: 'rejected', result: { resolution: 'rejected', resources: [] } });
          model.phase = 'rejected';
          return;
        }
        if (!record.applied && what.blocked) {
          model.phase = 'blocked';
          set({ executionStatus: 'blocked', failure: aFailure({ code: 'stale' }) });
          return;
        }
        const result = { resolution: 'approved' as const, resources: [] };
        if (!record.applied && what.offChain) {
          close({ executionStatus: 'completed', applied: true, result });
          model.phase = 'done';
          return;
        }
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
        set({ executionStatus: 'processing', applied: true, failure: null, result, deployments });
        return;
      }
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
        if (!canFinishAfterExpiry(record)) {
          close({});
          return;
        }
        model.settled = modelStanding(model, world);
        set({ frozen: standing(record, now()) });
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
    const settledBefore = before.closed ? recordStanding(standing(before, now())) : null;
    happen(what);

    assert.equal(recordStanding(standing(record, now())), modelStanding(model, world));
    const time = new Date(world.timeMs);
    const mayChange =
      !model.over &&
      (!late(world) || model.phase === 'running' || (model.phase === 'failed' && isThere(model)));
    assert.equal(isOpen(record, time), mayChange);
    assert.equal(collectsSignatures(record, time), !model.over && model.phase !== 'running' && !late(world));
    if (settledBefore !== null) {
      assert.equal(record, before);
      assert.equal(recordStanding(standing(record, now())), settledBefore);
    }
  }
  return record;
}

describe('a proposal, through any story', () => {
  it('stands, at every moment, where a simple account of what happened says', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40, size: 'max' }), (events) => {
        play(events);
      }),
      { numRuns: 400 },
    );
  });

  it('reaches every end that there is, so that the stories are worth telling', () => {
    const wanted = ['blocked', 'completed', 'expired', 'failed', 'processing', 'rejected'];
    const ends = new Set<string>();
    // As many stories as it takes, each batch other ones.
    for (let batch = 0; batch < 20 && !wanted.every((end) => ends.has(end)); batch += 1) {
      const story = fc.array(event, { minLength: 20, maxLength: 60, size: 'max' });
      for (const events of fc.sample(story, { numRuns: 100, seed: SEED + batch })) {
        const end = play(events);
        ends.add(end.closed && end.executionStatus === null ? 'expired' : String(end.executionStatus));
      }
    }
    expect([...ends].sort()).toEqual(expect.arrayContaining(wanted));
  });

  it('has at most one outcome: nothing that is settled can be voted on or executed', () => {
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
            assert.equal(checkVote(record, now, { member, type: vote }).ok, false);
            assert.equal(checkExecution(record, now, vote).ok, false);
          }
        },
      ),
      { numRuns: 100, maxSkipsPerRun: 1_000 },
    );
  });
});
