import fc from 'fast-check';
import { isSameAddress } from '../../../src/domain/address';
import {
  type ApprovalContext,
  type ApprovalRecord,
  type ApprovalRules,
  assertNever,
  checkExecution,
  countedVoters,
  countedVotes,
  type Decision,
  type ExecutionStatus,
  isExpired,
  type MemberSummary,
  type Vote,
} from '../../../src/domain/approval';
import {
  approvalState,
  collectsSignatures,
  DECISIONS,
  isOpen,
  reviewStatus,
  tally,
} from '../../../src/domain/approvalState';
import { type ProposalContext, type ProposalRecord, proposalRules } from '../../../src/domain/proposal';
import type { Result } from '../../../src/domain/refusal';
import {
  type EvaluationContext,
  type TransactionRecord,
  transactionRules,
} from '../../../src/domain/transaction';
import { checkOpenToVotes, checkVote, decisionOfVote } from '../../../src/domain/voting';
import { adminsOf, aFailure, aHash, aMember, anAddress, anId, aProposal } from '../../support/builders';
import { aTransaction, aTransactionNow } from '../../support/transactionRecords';
import { aPolicy } from '../../support/transactions';

const EXPIRY = new Date('2025-06-08T12:00:00.000Z');
const BEFORE = new Date(EXPIRY.getTime() - 1);
const AFTER = new Date(EXPIRY.getTime() + 1);

const byId = (members: readonly MemberSummary[]) =>
  [...members].sort((one, two) => (one.id < two.id ? -1 : 1));
const [ada, bo, chidi] = byId([
  aMember().named('Ada').build(),
  aMember().named('Bo').build(),
  aMember().named('Chidi').bot().build(),
]) as [MemberSummary, MemberSummary, MemberSummary];
const initiator = aMember().named('Ines').build();
const stranger = aMember().named('Stranger').build();

const STATUSES: readonly (ExecutionStatus | null)[] = [
  null,
  'processing',
  'completed',
  'rejected',
  'failed',
  'blocked',
];
/** Those that an open record can have. */
const OPEN_STATUSES = [null, 'processing', 'failed', 'blocked'] as const;

/** What a record is given: who voted, in the order of voting, and any other shared fields. */
type Given = Partial<ApprovalRecord> & {
  readonly approve?: readonly MemberSummary[];
  readonly reject?: readonly MemberSummary[];
};

/** Who may vote now, how many of them it takes, and the time. */
interface Electorate {
  readonly voters?: readonly MemberSummary[];
  readonly threshold?: number;
  readonly time?: Date;
}

/** One subject, decided by two of Ada, Bo and Chidi unless changed. Nothing of it is done on chain. */
interface World<R extends ApprovalRecord, N extends ApprovalContext> {
  readonly rules: ApprovalRules<R, N>;
  record(given?: Given): R;
  now(electorate?: Electorate): N;
}

const proposals: World<ProposalRecord, ProposalContext> = {
  rules: proposalRules,
  record({ approve = [], reject = [], ...change } = {}) {
    return aProposal()
      .expiringAt(EXPIRY)
      .approvedBy(...approve)
      .rejectedBy(...reject)
      .having(change)
      .build();
  },
  now: ({ voters = [ada, bo, chidi], threshold = 2, time = BEFORE } = {}) =>
    adminsOf(...voters)
      .withThreshold(threshold)
      .at(time),
};

const GROUP = anId('grp');
const transactions: World<TransactionRecord, EvaluationContext> = {
  rules: transactionRules,
  record({ approve = [], reject = [], ...change } = {}) {
    return aTransaction()
      .by(initiator)
      .expiringAt(EXPIRY)
      .initiated()
      .approvedBy(...approve)
      .rejectedBy(...reject)
      .having(change)
      .build();
  },
  now: ({ voters = [ada, bo, chidi], threshold = 2, time = BEFORE } = {}) =>
    aTransactionNow(initiator, stranger)
      .under(
        aPolicy({
          type: 'MANUAL_APPROVAL',
          approverSetting: { type: 'group', groupId: GROUP, threshold, excludeInitiator: false },
        }),
      )
      .grouped(GROUP, ...voters)
      .at(time)
      .build(),
};

/** `ok`, or the code of the refusal. */
function codeOf(outcome: Result<unknown>): string {
  return outcome.ok ? 'ok' : outcome.refusal.code;
}

/** `new`, `repeated`, or the code of the refusal. */
function voteOf(outcome: Result<'new' | 'repeated'>): string {
  return outcome.ok ? outcome.value : outcome.refusal.code;
}

describe('a proposal', () => sharedRules(proposals));
describe('a transaction', () => sharedRules(transactions));

/** What the rules of a subject are asked, in short. */
function asked<R extends ApprovalRecord, N extends ApprovalContext>({ rules, record, now }: World<R, N>) {
  const open = now();
  const tallyOf = (given: Given = {}, electorate: Electorate = {}) =>
    tally(rules, record(given), now(electorate));
  return {
    open,
    over: now({ time: AFTER }),
    tallyOf,
    statusOf: (given: Given = {}, electorate: Electorate = {}) => tallyOf(given, electorate).signatureStatus,
    vote: (of: R, member: MemberSummary, type: Decision = 'approve', by = open) =>
      checkVote(rules, of, by, { member, type }),
  };
}

/** What holds for both subjects. */
function sharedRules<R extends ApprovalRecord, N extends ApprovalContext>(world: World<R, N>): void {
  describe('expiry', () => expiryRules(world));
  describe('votes that count', () => countingRules(world));
  describe('the threshold', () => thresholdRules(world));
  describe('while it is processing', () => processingRules(world));
  describe('once frozen', () => frozenRules(world));
  describe('what is open', () => openRules(world));
  describe('voting', () => votingRules(world));
  describe('voting again with execute', () => repeatedVoteRules(world));
  describe('executing', () => executionRules(world));
  describe('the state that a workflow keeps', () => stateRules(world));
}

/** By execution status: before its expiry, and after it. */
const ALLOWED: Record<string, [beforeExpiry: boolean, afterExpiry: string]> = {
  null: [true, 'proposalExpired'],
  processing: [false, 'conflict'],
  completed: [false, 'conflict'],
  rejected: [false, 'conflict'],
  failed: [true, 'proposalExpired'],
  blocked: [true, 'proposalExpired'],
};

function expiryRules<R extends ApprovalRecord, N extends ApprovalContext>(world: World<R, N>): void {
  const { rules, record, now } = world;
  const { subject } = world.rules;
  const { over, tallyOf, statusOf, vote } = asked(world);

  it.each([
    [-1_000, false],
    [-1, false],
    [0, false],
    [1, true],
    [1_000, true],
  ])('comes after its instant: %d ms later, expired is %s', (offset, expired) => {
    const time = new Date(EXPIRY.getTime() + offset);
    const then = now({ time });
    for (const executionStatus of [null, 'blocked', 'failed'] as const) {
      const of = record({ executionStatus });
      expect(isExpired(of, time)).toBe(expired);
      expect(isOpen(rules, of, time)).toBe(!expired);
      expect(collectsSignatures(of, time)).toBe(!expired);
      expect(tally(rules, of, then).signatureStatus).toBe(expired ? 'expired' : 'pendingReviewSignatures');
      expect(codeOf(checkOpenToVotes(rules, of, then, 'approve'))).toBe(expired ? 'proposalExpired' : 'ok');
      expect(voteOf(vote(of, ada, 'approve', then))).toBe(expired ? 'proposalExpired' : 'new');
      const approved = record({ executionStatus, approve: [ada, bo] });
      expect(codeOf(checkExecution(rules, approved, then, 'approve'))).toBe(
        expired ? 'proposalExpired' : 'ok',
      );
    }
  });

  it('is after every instant up to the one that was signed, and before every later one', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (offset) => {
        expect(isExpired(record(), new Date(EXPIRY.getTime() + offset))).toBe(offset > 0);
      }),
    );
  });

  it('never comes while it is processing', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (offset) => {
        const time = new Date(EXPIRY.getTime() + offset);
        const of = record({ approve: [ada, bo], executionStatus: 'processing' });
        expect(tally(rules, of, now({ time })).signatureStatus).toBe('approvalReady');
        expect(isOpen(rules, of, time)).toBe(true);
        expect(collectsSignatures(of, time)).toBe(false);
      }),
    );
  });

  it.each(STATUSES)('passed while the execution is %s: expired, unless it is processing', (status) => {
    expect(statusOf({ approve: [ada, bo], executionStatus: status }, { time: AFTER })).toBe(
      status === 'processing' ? 'approvalReady' : 'expired',
    );
  });

  it('leaves the list of those who signed', () => {
    expect(tallyOf({ approve: [ada], reject: [bo] }, { time: AFTER })).toMatchObject({
      signatureStatus: 'expired',
      threshold: 2,
      approvals: [ada],
      rejections: [bo],
    });
  });

  it('is named in the refusals, with the time', () => {
    for (const refused of [
      vote(record(), ada, 'approve', over),
      checkExecution(rules, record(), over, 'approve'),
    ]) {
      expect(refused).toMatchObject({
        ok: false,
        refusal: {
          code: 'proposalExpired',
          message: expect.stringMatching(new RegExp(`^${subject} \\S+ expired at 2025-06-08T12:00:00.000Z$`)),
        },
      });
    }
  });
}

function countingRules<R extends ApprovalRecord, N extends ApprovalContext>(world: World<R, N>): void {
  const { rules, record } = world;
  const { open, tallyOf, statusOf } = asked(world);

  it('are those of the type that is asked for', () => {
    const of = record({ approve: [ada], reject: [bo] });
    expect(countedVoters(rules, of, open, 'approve')).toEqual([ada]);
    expect(countedVoters(rules, of, open, 'reject')).toEqual([bo]);
    expect(countedVotes(rules, of, open, 'approve').map(({ memberId }) => memberId)).toEqual([ada.id]);
  });

  it('count once for a member, however often the member is recorded', () => {
    expect(tallyOf({ approve: [ada, ada, ada] })).toMatchObject({
      approvals: [ada],
      signatureStatus: 'pendingReviewSignatures',
    });
    expect(codeOf(checkExecution(rules, record({ approve: [ada, ada, ada] }), open, 'approve'))).toBe(
      'thresholdNotMet',
    );
  });

  it('count for both decisions when a member signed both', () => {
    expect(tallyOf({ approve: [ada, bo], reject: [ada, bo] })).toMatchObject({
      signatureStatus: 'approvalAndRejectionReady',
      threshold: 2,
      approvals: [ada, bo],
      rejections: [ada, bo],
    });
  });

  it('do not depend on the case in which an address is written', () => {
    const lower = { ...ada, walletAddress: ada.walletAddress.toLowerCase() };
    expect(tallyOf({ approve: [lower] }).approvals).toEqual([ada]);
  });

  it('are not those of somebody who is not eligible', () => {
    expect(tallyOf({ approve: [stranger, aMember().build()] }).approvals).toEqual([]);
  });

  it('are not those of another member who has the wallet now', () => {
    const heir = aMember().withWallet(ada.walletAddress).build();
    expect(tallyOf({ approve: [ada] }, { voters: [heir, bo] }).approvals).toEqual([]);
  });

  it('come in the order of the ids, whatever the order of signing', () => {
    expect(tallyOf({ approve: [chidi, ada] }).approvals).toEqual([ada, chidi]);
  });

  it('stop counting when their member leaves, and count again on return', () => {
    const given = { approve: [ada, bo] };
    expect(statusOf(given)).toBe('approvalReady');
    expect(tallyOf(given, { voters: [ada, chidi] })).toMatchObject({
      signatureStatus: 'pendingReviewSignatures',
      approvals: [ada],
    });
    expect(statusOf(given, { voters: [chidi, ada, bo] })).toBe('approvalReady');
  });

  it('count when their member becomes eligible later', () => {
    const given = { approve: [ada, stranger] };
    expect(statusOf(given)).toBe('pendingReviewSignatures');
    expect(statusOf(given, { voters: byId([ada, stranger]) })).toBe('approvalReady');
  });

  it('are those of the wallets of now', () => {
    const moved = { ...ada, walletAddress: anAddress() };
    const then = { voters: [moved, bo, chidi] };
    expect(tallyOf({ approve: [ada, bo] }, then).approvals).toEqual([bo]);
    expect(tallyOf({ approve: [moved, bo] }, then).approvals).toEqual([moved, bo]);
  });

  it('are those of the kinds of wallets of now', () => {
    const contract = { ...ada, walletKind: 'contract' as const };
    const then = { voters: [contract, bo, chidi] };
    expect(tallyOf({ approve: [ada, bo] }, then).approvals).toEqual([bo]);
    expect(tallyOf({ approve: [contract, bo] }, then).approvals).toEqual([contract, bo]);
    expect(tallyOf({ approve: [contract, bo] }, { voters: [ada, bo, chidi] }).approvals).toEqual([bo]);
  });

  it('show the name that their member has now', () => {
    const renamed = { ...ada, name: 'Ada Lovelace' };
    expect(tallyOf({ approve: [ada] }, { voters: [renamed, bo] }).approvals).toEqual([renamed]);
  });
}

function thresholdRules<R extends ApprovalRecord, N extends ApprovalContext>(world: World<R, N>): void {
  const { tallyOf } = asked(world);

  it.each<[number, string]>([
    [1, 'approvalAndRejectionReady'],
    [2, 'approvalReady'],
    [3, 'pendingReviewSignatures'],
  ])('is that of now: %d', (threshold, signatureStatus) => {
    expect(tallyOf({ approve: [ada, bo], reject: [chidi] }, { threshold })).toMatchObject({
      threshold,
      signatureStatus,
    });
  });
}

function processingRules<R extends ApprovalRecord, N extends ApprovalContext>(world: World<R, N>): void {
  const { tallyOf, statusOf } = asked(world);

  const begun = tallyOf({ approve: [ada, bo], reject: [chidi] });
  const worlds: readonly Electorate[] = [
    {},
    { time: AFTER },
    { voters: [chidi] },
    { threshold: 3 },
    { threshold: 1 },
    { voters: [{ ...ada, name: 'Other', walletAddress: anAddress() }, bo] },
    { voters: [], time: AFTER },
  ];

  it('the tally is that of its beginning, whatever changes', () => {
    const processing = {
      approve: [ada, bo],
      reject: [chidi],
      executionStatus: 'processing' as const,
      executedWith: begun,
    };
    for (const electorate of worlds) expect(tallyOf(processing, electorate)).toEqual(begun);
  });

  it.each(['failed', 'blocked', null] as const)('only: once it is %s, the votes of now count', (status) => {
    const ended = { approve: [ada, bo], executionStatus: status, executedWith: begun };
    expect(tallyOf(ended, { voters: [bo, chidi], threshold: 1 })).toMatchObject({
      signatureStatus: 'approvalReady',
      threshold: 1,
      approvals: [bo],
      rejections: [],
    });
    expect(statusOf(ended, { time: AFTER })).toBe('expired');
  });
}

function frozenRules<R extends ApprovalRecord, N extends ApprovalContext>(world: World<R, N>): void {
  const { rules, record, now } = world;
  const { tallyOf } = asked(world);

  it.each(STATUSES)('(%s) the tally does not change with people, thresholds, wallets or time', (status) => {
    const frozen = tallyOf({ approve: [ada, bo] });
    const executedWith = tallyOf({ approve: [ada, bo, chidi] });
    const of = record({
      approve: [ada, bo],
      executionStatus: status,
      closed: true,
      finalTally: frozen,
      executedWith,
    });
    for (const electorate of [
      {},
      { time: AFTER },
      { voters: [bo] },
      { threshold: 3, time: AFTER },
      { voters: [{ ...ada, name: 'Other', walletAddress: anAddress() }, bo] },
      { voters: [], time: AFTER },
    ]) {
      expect(tally(rules, of, now(electorate))).toBe(frozen);
    }
  });
}

function openRules<R extends ApprovalRecord, N extends ApprovalContext>(world: World<R, N>): void {
  const { rules, record, now } = world;
  const { vote } = asked(world);

  it.each(STATUSES)('(%s) can still change up to its expiry', (executionStatus) => {
    expect(isOpen(rules, record({ executionStatus }), EXPIRY)).toBe(true);
  });

  it.each(STATUSES)('(%s) is open past its expiry only while it is processing', (executionStatus) => {
    expect(isOpen(rules, record({ executionStatus }), AFTER)).toBe(executionStatus === 'processing');
  });

  it.each(STATUSES)('(%s) is never what is closed', (executionStatus) => {
    const of = record({ executionStatus, closed: true });
    for (const time of [BEFORE, EXPIRY, AFTER]) {
      expect(isOpen(rules, of, time)).toBe(false);
      expect(collectsSignatures(of, time)).toBe(false);
    }
  });

  it.each(OPEN_STATUSES)('(%s) collects signatures unless it is processing', (executionStatus) => {
    expect(collectsSignatures(record({ executionStatus }), EXPIRY)).toBe(executionStatus !== 'processing');
  });

  it('collects signatures whenever, and only when, somebody eligible could still vote', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<ExecutionStatus | null>(...OPEN_STATUSES),
        fc.constantFrom(BEFORE, EXPIRY, AFTER),
        (executionStatus, time) => {
          const of = record({ executionStatus });
          expect(collectsSignatures(of, time)).toBe(vote(of, ada, 'approve', now({ time })).ok);
        },
      ),
    );
  });
}

function votingRules<R extends ApprovalRecord, N extends ApprovalContext>(world: World<R, N>): void {
  const { rules, record, now } = world;
  const { subject } = world.rules;
  const { open, over, tallyOf, vote } = asked(world);

  it.each(STATUSES)('on what is %s is accepted or refused by that', (executionStatus) => {
    const [accepts, afterExpiry] = ALLOWED[String(executionStatus)] ?? [];
    const of = record({ executionStatus });
    for (const type of DECISIONS) {
      expect(voteOf(vote(of, ada, type, now({ time: EXPIRY })))).toBe(accepts ? 'new' : 'conflict');
      expect(voteOf(vote(of, ada, type, over))).toBe(afterExpiry);
      expect(codeOf(checkOpenToVotes(rules, of, now({ time: EXPIRY }), type))).toBe(
        accepts ? 'ok' : 'conflict',
      );
      expect(codeOf(checkOpenToVotes(rules, of, over, type))).toBe(afterExpiry);
    }
  });

  it.each([
    ['processing', 'is being executed'],
    ['completed', 'has been executed'],
    ['rejected', 'has been rejected'],
  ] as const)('on what is %s is refused with: it %s', (executionStatus, words) => {
    const of = record({ executionStatus });
    for (const refused of [vote(of, ada), checkExecution(rules, of, open, 'approve')]) {
      expect(refused).toEqual({
        ok: false,
        refusal: { code: 'conflict', message: `${subject} ${of.id} ${words}` },
      });
    }
  });

  it('on what an operator has closed is a conflict, before its expiry and after it', () => {
    const failure = aFailure({ code: 'closedByOperator' });
    for (const executionStatus of [null, 'failed'] as const) {
      const of = record({
        approve: [ada, bo],
        executionStatus,
        failure,
        closed: true,
        finalTally: tallyOf(),
      });
      for (const then of [open, over]) {
        for (const refused of [
          vote(of, chidi, 'approve', then),
          checkExecution(rules, of, then, 'approve'),
        ]) {
          expect(refused).toEqual({
            ok: false,
            refusal: { code: 'conflict', message: `${subject} ${of.id} has been closed by an operator` },
          });
        }
      }
    }
  });

  it('on what was closed without a decision is refused as expired', () => {
    const of = record({ closed: true, finalTally: tallyOf({}, { time: AFTER }) });
    for (const type of DECISIONS) expect(voteOf(vote(of, ada, type, over))).toBe('proposalExpired');
  });

  it('for both decisions is accepted', () => {
    expect(voteOf(vote(record({ approve: [ada] }), ada, 'reject'))).toBe('new');
    expect(voteOf(vote(record({ reject: [ada] }), ada, 'approve'))).toBe('new');
  });

  it.each(DECISIONS)('twice to %s is a conflict that says so, whatever the case of the address', (type) => {
    const lower = { ...ada, walletAddress: ada.walletAddress.toLowerCase() };
    const of = record({ [type]: [lower] });
    expect(vote(of, ada, type)).toEqual({
      ok: false,
      refusal: {
        code: 'conflict',
        message: `member ${ada.id} has already signed to ${type} ${subject} ${of.id}`,
      },
    });
  });

  it('again is accepted after the wallet changed, and a conflict after it changed back', () => {
    const of = record({ approve: [ada] });
    const moved = { ...ada, walletAddress: anAddress() };
    expect(voteOf(vote(of, moved, 'approve', now({ voters: [moved, bo, chidi] })))).toBe('new');
    expect(voteOf(vote(of, ada))).toBe('conflict');
  });

  it('again is accepted after the kind of the wallet changed', () => {
    const contract = { ...ada, walletKind: 'contract' as const };
    const of = record({ approve: [ada] });
    expect(voteOf(vote(of, contract, 'approve', now({ voters: [contract, bo, chidi] })))).toBe('new');
  });

  it('with a wallet that another member signed with is accepted: a vote belongs to a member', () => {
    const heir = aMember().withWallet(ada.walletAddress).build();
    expect(voteOf(vote(record({ approve: [ada] }), heir, 'approve', now({ voters: [heir, bo] })))).toBe(
      'new',
    );
  });

  it('past expiry by one who has voted already is refused as expired, not as a second vote', () => {
    expect(voteOf(vote(record({ approve: [ada] }), ada, 'approve', over))).toBe('proposalExpired');
  });
}

function repeatedVoteRules<R extends ApprovalRecord, N extends ApprovalContext>(world: World<R, N>): void {
  const { rules, record, now } = world;
  const { open } = asked(world);

  const again = (given: Given, type: Decision, electorate: Electorate = {}) =>
    voteOf(checkVote(rules, record(given), now(electorate), { member: ada, type, execute: true }));

  it.each<[string, string, Given, Decision, Electorate]>([
    ['repeated', 'to approve, with enough approvals', { approve: [ada, bo] }, 'approve', {}],
    ['repeated', 'to reject, with enough rejections', { reject: [ada, bo] }, 'reject', {}],
    ['repeated', 'with enough of both', { approve: [ada, bo], reject: [ada, bo] }, 'reject', {}],
    ['repeated', 'at its expiry', { approve: [ada, bo] }, 'approve', { time: EXPIRY }],
    ['repeated', 'after the threshold was lowered', { approve: [ada] }, 'approve', { threshold: 1 }],
    ['repeated', 'of what failed', { approve: [ada, bo], executionStatus: 'failed' }, 'approve', {}],
    ['repeated', 'of what was blocked', { approve: [ada, bo], executionStatus: 'blocked' }, 'approve', {}],
    ['conflict', 'below the threshold', { approve: [ada] }, 'approve', {}],
    ['conflict', 'below a threshold that was raised', { approve: [ada, bo] }, 'approve', { threshold: 3 }],
    ['conflict', 'when the other one has left', { approve: [ada, bo] }, 'approve', { voters: [ada, chidi] }],
    [
      'conflict',
      'with enough of the other decision only',
      { approve: [ada], reject: [ada, bo] },
      'approve',
      {},
    ],
    [
      'conflict',
      'while it is processing',
      { approve: [ada, bo], executionStatus: 'processing' },
      'approve',
      {},
    ],
    ['conflict', 'once it is completed', { approve: [ada, bo], executionStatus: 'completed' }, 'approve', {}],
    ['proposalExpired', 'past its expiry', { approve: [ada, bo] }, 'approve', { time: AFTER }],
  ])('is %s %s', (expected, _when, given, type, electorate) => {
    expect(again(given, type, electorate)).toBe(expected);
  });

  it('is a conflict where the same vote without execute is one, even when it can be executed', () => {
    const of = record({ approve: [ada, bo] });
    for (const execute of [false, undefined]) {
      expect(voteOf(checkVote(rules, of, open, { member: ada, type: 'approve', execute }))).toBe('conflict');
    }
  });

  it('is new for one who has not voted, whether it can be executed or not', () => {
    for (const approve of [[], [bo], [bo, chidi]]) expect(again({ approve }, 'approve')).toBe('new');
  });

  it('is new with another wallet than the first time', () => {
    const moved = { ...ada, walletAddress: anAddress() };
    expect(again({ approve: [moved, bo, chidi] }, 'approve')).toBe('new');
  });

  it('is repeated exactly when the vote counts and its decision can be executed', () => {
    const someone = fc.subarray([ada, bo, chidi]);
    fc.assert(
      fc.property(
        someone,
        someone,
        someone,
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom(...STATUSES),
        fc.constantFrom(...DECISIONS),
        fc.constantFrom(BEFORE, AFTER),
        (approve, reject, voters, threshold, executionStatus, type, time) => {
          const given = { approve, reject, executionStatus };
          const then = { voters, threshold, time };
          const isVoter = voters.includes(ada) && (type === 'approve' ? approve : reject).includes(ada);
          const executes = checkExecution(rules, record(given), now(then), type).ok;
          expect(again(given, type, then) === 'repeated').toBe(isVoter && executes);
        },
      ),
    );
  });
}

function executionRules<R extends ApprovalRecord, N extends ApprovalContext>(world: World<R, N>): void {
  const { rules, record, now } = world;
  const { subject } = world.rules;
  const { open, over, tallyOf, vote } = asked(world);

  it.each(STATUSES)(
    'what has enough votes for both decisions and is %s depends on that',
    (executionStatus) => {
      const [accepts, afterExpiry] = ALLOWED[String(executionStatus)] ?? [];
      const of = record({ approve: [ada, bo], reject: [ada, bo], executionStatus });
      for (const type of DECISIONS) {
        const code = (time: Date) => codeOf(checkExecution(rules, of, now({ time }), type));
        expect([code(EXPIRY), code(AFTER)]).toEqual([accepts ? 'ok' : 'conflict', afterExpiry]);
      }
    },
  );

  it.each(DECISIONS)('below the threshold (%s) is refused, and says what is missing', (type) => {
    const of = record({ [type]: [ada] });
    expect(checkExecution(rules, of, open, type)).toEqual({
      ok: false,
      refusal: {
        code: 'thresholdNotMet',
        message: `${subject} ${of.id} has 1 of 2 signatures needed to ${type} it`,
      },
    });
  });

  it.each(DECISIONS)('needs votes for that very decision (%s)', (type) => {
    const other = type === 'approve' ? 'reject' : 'approve';
    const of = record({ [other]: [ada, bo, chidi] });
    expect(codeOf(checkExecution(rules, of, open, type))).toBe('thresholdNotMet');
    expect(codeOf(checkExecution(rules, of, open, other))).toBe('ok');
  });

  it.each(DECISIONS)('counts again by the voters, wallets and threshold of now (%s)', (type) => {
    const code = (electorate: Electorate) =>
      codeOf(checkExecution(rules, record({ [type]: [ada, bo] }), now(electorate), type));
    expect(code({})).toBe('ok');
    expect(code({ voters: [bo, chidi] })).toBe('thresholdNotMet');
    expect(code({ threshold: 3 })).toBe('thresholdNotMet');
    expect(code({ voters: [ada, { ...bo, walletAddress: anAddress() }] })).toBe('thresholdNotMet');
    expect(code({ voters: [bo, chidi], threshold: 1 })).toBe('ok');
  });

  it('what was closed without a decision is refused as expired, for either decision', () => {
    const given = { approve: [ada, bo], reject: [ada, bo] };
    const of = record({ ...given, closed: true, finalTally: tallyOf(given, { time: AFTER }) });
    for (const type of DECISIONS) {
      expect(codeOf(checkExecution(rules, of, over, type))).toBe('proposalExpired');
      expect(codeOf(checkExecution(rules, of, open, type))).toBe('proposalExpired');
    }
  });

  it('below the threshold past expiry is refused as expired', () => {
    expect(codeOf(checkExecution(rules, record(), over, 'approve'))).toBe('proposalExpired');
  });

  it('refuses a status that the types rule out, with the value', () => {
    const of = record({ executionStatus: 'surprise' as never });
    expect(() => vote(of, ada)).toThrow('unexpected value: surprise');
    expect(() => checkExecution(rules, of, open, 'approve')).toThrow('unexpected value: surprise');
  });
}

function stateRules<R extends ApprovalRecord, N extends ApprovalContext>(world: World<R, N>): void {
  const { rules, record, now } = world;
  const { open, over, tallyOf, vote } = asked(world);

  const stateOf = (given: Given = {}, electorate: Electorate = {}) =>
    approvalState(rules, record(given), now(electorate));

  it('is made of the record and its tally', () => {
    const note = { at: '2025-06-02T00:00:00.000Z', code: 'adminLeft', message: 'an admin left' };
    const failure = aFailure({ code: 'stale' });
    const of = record({
      approve: [ada, bo],
      reject: [chidi],
      executionStatus: 'failed',
      failure,
      notes: [note],
      version: 4,
    });
    expect(approvalState(rules, of, open)).toEqual({
      id: of.id,
      organizationId: of.organizationId,
      version: 4,
      summary: of.summary,
      signatureStatus: 'approvalReady',
      executionStatus: 'failed',
      decision: null,
      threshold: 2,
      approvals: [ada, bo],
      rejections: [chidi],
      ready: ['approve'],
      createdAt: '2025-06-01T12:00:00.000Z',
      expiresAt: '2025-06-08T12:00:00.000Z',
      open: true,
      expired: false,
      closed: false,
      failure,
      notes: [note],
    });
  });

  it.each<[string[], string, Given, Electorate]>([
    [[], 'nothing, without votes', {}, {}],
    [['approve'], 'what is approved', { approve: [ada, bo], reject: [ada] }, {}],
    [['reject'], 'what is rejected', { approve: [ada], reject: [ada, bo] }, {}],
    [['approve', 'reject'], 'both', { approve: [ada, bo], reject: [ada, bo] }, {}],
    [['approve'], 'what was blocked', { approve: [ada, bo], executionStatus: 'blocked' }, {}],
    [[], 'nothing that is processing', { approve: [ada, bo], executionStatus: 'processing' }, {}],
    [[], 'nothing that expired', { approve: [ada, bo] }, { time: AFTER }],
  ])('has %j as ready: %s', (ready, _what, given, electorate) => {
    expect(stateOf(given, electorate).ready).toEqual(ready);
  });

  it('says expired only once the expiry is recorded, and closed once nothing is left to do', () => {
    expect(stateOf({}, { time: AFTER })).toMatchObject({
      signatureStatus: 'expired',
      expired: false,
      open: false,
      closed: false,
    });
    const frozen = tallyOf({}, { time: AFTER });
    expect(stateOf({ finalTally: frozen, closed: true })).toMatchObject({
      expired: true,
      open: false,
      closed: true,
    });
  });

  it('is that of the end once it is closed', () => {
    const frozen = tallyOf({ approve: [ada, bo] });
    const { initiator: _, ...votes } = frozen;
    const of = {
      approve: [ada, bo],
      executionStatus: 'completed' as const,
      finalTally: frozen,
      closed: true,
    };
    for (const electorate of [{}, { voters: [chidi] }, { threshold: 1, time: AFTER }]) {
      expect(stateOf(of, electorate)).toMatchObject({ ...votes, ready: [], open: false, closed: true });
    }
  });

  it('cuts a long summary between characters, and keeps the latest of many notes', () => {
    const notes = Array.from({ length: 30 }, (_, n) => ({ at: '', code: 'c', message: String(n) }));
    const state = stateOf({ summary: '💶'.repeat(2_001), notes });
    expect(state.summary).toBe(`${'💶'.repeat(2_000)} …`);
    expect(state.notes).toEqual(notes.slice(10));
    const exact = '💶'.repeat(2_000);
    expect(stateOf({ summary: exact, notes: notes.slice(0, 20) })).toMatchObject({
      summary: exact,
      notes: notes.slice(0, 20),
    });
  });

  it('survives being written as JSON, as messages and histories do', () => {
    const state = stateOf({ approve: [ada], executionStatus: 'failed', failure: aFailure() });
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  });

  it('leaves the record as it is, as every check does', () => {
    const of = record({ approve: [ada, bo], reject: [chidi], executionStatus: 'failed' });
    const before = structuredClone(of);
    approvalState(rules, of, over);
    vote(of, chidi, 'reject');
    checkExecution(rules, of, open, 'reject');
    expect(of).toEqual(before);
  });
}

describe('the signature status', () => {
  it.each([
    [0, 0, 1, 1, 'pendingReviewSignatures'],
    [1, 0, 1, 1, 'approvalReady'],
    [0, 1, 1, 1, 'rejectionReady'],
    [1, 1, 1, 1, 'approvalAndRejectionReady'],
    [1, 1, 2, 2, 'pendingReviewSignatures'],
    [2, 1, 2, 2, 'approvalReady'],
    [3, 2, 2, 2, 'approvalAndRejectionReady'],
    [0, 0, 0, 1, 'approvalReady'],
    [0, 1, 0, 1, 'approvalAndRejectionReady'],
  ])(
    'with %d approvals and %d rejections, of %d and %d that are needed, is %s',
    (approvals, rejections, approve, reject, status) => {
      expect(reviewStatus({ approvals, rejections }, { approve, reject })).toBe(status);
    },
  );
});

describe('a vote', () => {
  it.each([
    ['initiator', 'approve'],
    ['approve', 'approve'],
    ['reject', 'reject'],
  ] as const)('of the type %s counts for the decision %s', (type, decision) => {
    expect(decisionOfVote(type)).toBe(decision);
  });

  it('that is bound to something which does not hold any more does not count', () => {
    const given = { approve: [ada, bo] };
    const [first] = proposals.record(given).votes as readonly [Vote];
    const unbound: typeof proposalRules = {
      ...proposalRules,
      isBound: (_record, _now, vote) => vote.memberId !== first.memberId,
    };
    expect(countedVoters(unbound, proposals.record(given), proposals.now(), 'approve')).toEqual([bo]);
    expect(codeOf(checkExecution(unbound, proposals.record(given), proposals.now(), 'approve'))).toBe(
      'thresholdNotMet',
    );
  });
});

describe('an address', () => {
  it('is the same whatever the case of its digits', () => {
    const address = anAddress();
    expect(isSameAddress(address, address.toLowerCase())).toBe(true);
    expect(isSameAddress(address.toUpperCase(), address)).toBe(true);
    expect(isSameAddress(address, aHash().slice(0, 42))).toBe(false);
  });
});

describe('a value that the types rule out', () => {
  it('is refused where it appears, with the value', () => {
    expect(() => assertNever('surprise' as never)).toThrow('unexpected value: surprise');
  });
});
