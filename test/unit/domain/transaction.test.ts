import {
  checkExecution,
  countedVoters,
  type Decision,
  type ExecutionStatus,
  type MemberSummary,
  type VoteType,
} from '../../../src/domain/approval';
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
import { checkOpenToVotes, checkVote } from '../../../src/domain/voting';
import { aFailure, aHash, aMember, anAddress, anId } from '../../support/builders';
import {
  aTransaction,
  aTransactionNow,
  type TransactionRecordBuilder,
} from '../../support/transactionRecords';
import { aPolicy, changed, type PolicyChange } from '../../support/transactions';

const EXPIRY = new Date('2025-06-08T12:00:00.000Z');
const BEFORE = new Date(EXPIRY.getTime() - 1);
const AFTER = new Date(EXPIRY.getTime() + 1);

/** Ada initiates; Bo, Chidi, Dörte and Eve are a group; Fay is a member of nothing. */
const ada = aMember().named('Ada').build();
const bo = aMember().named('Bo').build();
const chidi = aMember().named('Chidi').bot().build();
const dorte = aMember().named('Dörte').build();
const eve = aMember().named('Eve').build();
const fay = aMember().named('Fay').build();
const stranger = aMember().named('Stranger').build();
const everybody = [ada, bo, chidi, dorte, eve, fay];
const GROUP = anId('grp');
const POLICY = anId('pol');

const groupOf = (threshold: number, excludeInitiator = false): ApproverSetting => ({
  type: 'group',
  groupId: GROUP,
  threshold,
  excludeInitiator,
});
const oneMember = ({ id: memberId }: MemberSummary, excludeInitiator = false): ApproverSetting => ({
  type: 'user',
  memberId,
  excludeInitiator,
});
const manual = (approverSetting: ApproverSetting, more: PolicyChange = {}): Policy =>
  aPolicy({ id: POLICY, type: 'MANUAL_APPROVAL', approverSetting, ...more });
const auto = (more: PolicyChange = {}): Policy => aPolicy({ id: POLICY, ...more });

/** Everybody is there, and the four are a group. */
const world = aTransactionNow(...everybody).grouped(GROUP, bo, chidi, dorte, eve);
const under = (policy: Policy, time = BEFORE) => world.under(policy).at(time).build();

const transaction = () => aTransaction().by(ada).under({ id: POLICY }).expiringAt(EXPIRY);
const initiated = () => transaction().initiated();

const codeOf = (outcome: Result<unknown>): string => (outcome.ok ? 'ok' : outcome.refusal.code);
const tallyOf = (record: TransactionRecord, now: EvaluationContext) => tally(transactionRules, record, now);
const execution = (record: TransactionRecord, now: EvaluationContext, decision: Decision) =>
  codeOf(checkExecution(transactionRules, record, now, decision));
const isOpenAt = (record: TransactionRecord, time: Date) => isOpen(transactionRules, record, time);
const { mayVote } = transactionRules;
const ids = (members: readonly MemberSummary[]) => members.map(({ id }) => id).sort();
const statusOf = (record: TransactionRecordBuilder, now: EvaluationContext) =>
  tallyOf(record.build(), now).signatureStatus;

/** What is answered to each message; those who approve and reject are such as have not yet. */
function answers(
  record: TransactionRecord,
  now: EvaluationContext,
  voters: { approve: MemberSummary; reject: MemberSummary },
) {
  const vote = (type: VoteType, member: MemberSummary) =>
    codeOf(checkVote(transactionRules, record, now, { member, type }));
  return [
    vote('initiator', ada),
    vote('approve', voters.approve),
    vote('reject', voters.reject),
    execution(record, now, 'approve'),
    execution(record, now, 'reject'),
  ].join(' ');
}

const NEW = 'ok conflict conflict thresholdNotMet thresholdNotMet';
const SETTLED = 'conflict conflict conflict conflict conflict';
const OVER = 'proposalExpired proposalExpired proposalExpired proposalExpired proposalExpired';
const votes = (approve: 'ok' | 'no', reject: 'ok' | 'no') =>
  `conflict ok ok ${[approve, reject].map((can) => (can === 'ok' ? 'ok' : 'thresholdNotMet')).join(' ')}`;

interface Stage {
  readonly record: TransactionRecordBuilder;
  readonly time?: Date;
}

/** Every status that a transaction can have, after signatures given by `sign`. */
function everyStatus(sign: TransactionRecordBuilder) {
  const at = (status: ExecutionStatus | null) => sign.inState(status).failedWith(aFailure());
  const counted = tallyOf(sign.build(), under(auto()));
  const frozen = { ...counted, signatureStatus: 'expired' as const };
  return {
    processing: { record: sign.inState('processing') },
    'processing, past its expiry': { record: sign.inState('processing'), time: AFTER },
    completed: { record: sign.inState('completed').closedAs(counted) },
    'completed, past its expiry': { record: sign.inState('completed').closedAs(counted), time: AFTER },
    rejected: { record: sign.inState('rejected').closedAs(counted) },
    'past its expiry': { record: sign, time: AFTER },
    'past its expiry, blocked': { record: at('blocked'), time: AFTER },
    'past its expiry, failed': { record: at('failed'), time: AFTER },
    'closed by its expiry': { record: sign.closedAs(frozen), time: AFTER },
    'closed by its expiry, failed': { record: at('failed').closedAs(frozen), time: AFTER },
    'closed by an operator': {
      record: sign.failedWith(aFailure({ code: 'closedByOperator' })).closedAs(counted),
    },
    'closed by an operator, failed before': {
      record: at('failed')
        .failedWith(aFailure({ code: 'closedByOperator' }))
        .closedAs(counted),
    },
  } satisfies Record<string, Stage>;
}

const AFTERWARDS: readonly (readonly [keyof ReturnType<typeof everyStatus>, string, boolean, boolean])[] = [
  // status, answers, open, collects signatures
  ['processing', SETTLED, true, false],
  ['processing, past its expiry', SETTLED, true, false],
  ['completed', SETTLED, false, false],
  ['completed, past its expiry', SETTLED, false, false],
  ['rejected', SETTLED, false, false],
  ['past its expiry', OVER, false, false],
  ['past its expiry, blocked', OVER, false, false],
  ['past its expiry, failed', OVER, false, false],
  ['closed by its expiry', OVER, false, false],
  ['closed by its expiry, failed', OVER, false, false],
  ['closed by an operator', SETTLED, false, false],
  ['closed by an operator, failed before', SETTLED, false, false],
];

describe('a transaction that two of a group approve', () => {
  const now = under(manual(groupOf(2)));
  const stages: Record<string, TransactionRecordBuilder> = {
    new: transaction(),
    signed: initiated(),
    'approved once': initiated().approvedBy(bo),
    'approved twice': initiated().approvedBy(bo, chidi),
    'rejected once': initiated().rejectedBy(bo),
    'rejected twice': initiated().rejectedBy(bo, chidi),
    'once each': initiated().approvedBy(bo).rejectedBy(chidi),
    'both by the same two': initiated().approvedBy(bo, chidi).rejectedBy(bo, chidi),
  };

  describe.each<[string, string, string]>([
    ['new', 'pendingInitiatorSignature', NEW],
    ['signed', 'pendingReviewSignatures', votes('no', 'no')],
    ['approved once', 'pendingReviewSignatures', votes('no', 'no')],
    ['approved twice', 'approvalReady', votes('ok', 'no')],
    ['rejected once', 'pendingReviewSignatures', votes('no', 'no')],
    ['rejected twice', 'rejectionReady', votes('no', 'ok')],
    ['once each', 'pendingReviewSignatures', votes('no', 'no')],
    ['both by the same two', 'approvalAndRejectionReady', votes('ok', 'ok')],
  ])('%s', (stage, status, expected) => {
    it.each<ExecutionStatus | null>([null, 'blocked', 'failed'])('answers, having been %s', (before) => {
      const record = (stages[stage] ?? transaction()).inState(before).build();
      expect(tallyOf(record, now)).toMatchObject({ signatureStatus: status, threshold: 2 });
      expect(answers(record, now, { approve: dorte, reject: eve })).toBe(expected);
      expect(isOpenAt(record, BEFORE)).toBe(true);
      expect(collectsSignatures(record, BEFORE)).toBe(true);
    });

    it.each(AFTERWARDS)('answers, being %s', (after, settled, open, collects) => {
      const { record, time = BEFORE } = everyStatus(stages[stage] ?? transaction())[after] as Stage;
      const later = { ...now, time };
      expect(answers(record.build(), later, { approve: dorte, reject: eve })).toBe(settled);
      expect(isOpenAt(record.build(), time)).toBe(open);
      expect(collectsSignatures(record.build(), time)).toBe(collects);
    });
  });
});

describe('a transaction that one member approves', () => {
  const now = under(manual(oneMember(bo)));

  it.each<[string, TransactionRecordBuilder, string, string]>([
    ['new', transaction(), 'pendingInitiatorSignature', NEW],
    ['signed', initiated(), 'pendingReviewSignatures', votes('no', 'no')],
  ])('answers, %s', (_, record, status, expected) => {
    expect(tallyOf(record.build(), now)).toMatchObject({ signatureStatus: status, threshold: 1 });
    expect(answers(record.build(), now, { approve: bo, reject: bo })).toBe(expected);
  });

  it.each<[string, TransactionRecordBuilder, string, string]>([
    ['approved', initiated().approvedBy(bo), 'approvalReady', 'conflict conflict ok ok thresholdNotMet'],
    ['rejected', initiated().rejectedBy(bo), 'rejectionReady', 'conflict ok conflict thresholdNotMet ok'],
    [
      'approved and rejected',
      initiated().approvedBy(bo).rejectedBy(bo),
      'approvalAndRejectionReady',
      'conflict conflict conflict ok ok',
    ],
  ])('answers, %s: a second vote of the same type is a conflict', (_, record, status, expected) => {
    expect(statusOf(record, now)).toBe(status);
    expect(answers(record.build(), now, { approve: bo, reject: bo })).toBe(expected);
  });

  it('has one approver and nobody else', () => {
    for (const type of ['approve', 'reject'] as const) {
      const may = everybody.filter((member) => mayVote(initiated().build(), now, type, member));
      expect(may).toEqual([bo]);
    }
  });

  it('may be approved by its initiator, unless the policy bars that', () => {
    const itself = initiated().approvedBy(ada);
    expect(statusOf(itself, under(manual(oneMember(ada))))).toBe('approvalReady');
    const barred = under(manual(oneMember(ada, true)));
    expect(tallyOf(itself.build(), barred)).toMatchObject({
      signatureStatus: 'pendingReviewSignatures',
      approvals: [],
      threshold: 1,
    });
    expect(mayVote(itself.build(), barred, 'approve', ada)).toBe(false);
    expect(mayVote(itself.build(), barred, 'reject', ada)).toBe(false);
    expect(execution(itself.build(), barred, 'approve')).toBe('thresholdNotMet');
  });
});

describe('a transaction that needs no approval', () => {
  const now = under(auto());

  it.each<[string, TransactionRecordBuilder, string, string]>([
    ['new', transaction(), 'pendingInitiatorSignature', NEW],
    ['signed', initiated(), 'approvalReady', votes('ok', 'no')],
    ['rejected', initiated().rejectedBy(bo), 'approvalAndRejectionReady', votes('ok', 'ok')],
    ['rejected twice', initiated().rejectedBy(bo, chidi), 'approvalAndRejectionReady', votes('ok', 'ok')],
    [
      'rejected by its own initiator',
      initiated().rejectedBy(ada),
      'approvalAndRejectionReady',
      votes('ok', 'ok'),
    ],
  ])('answers, %s', (_, record, status, expected) => {
    for (const before of [null, 'blocked', 'failed'] as const) {
      const again = record.inState(before).build();
      expect(tallyOf(again, now)).toMatchObject({
        signatureStatus: status,
        threshold: 0,
        approvals: [],
      });
      expect(answers(again, now, { approve: dorte, reject: eve })).toBe(expected);
    }
  });

  it.each(AFTERWARDS)('answers, being %s', (after, settled, open) => {
    const { record, time = BEFORE } = everyStatus(initiated())[after] as Stage;
    expect(answers(record.build(), { ...now, time }, { approve: dorte, reject: eve })).toBe(settled);
    expect(isOpenAt(record.build(), time)).toBe(open);
  });

  it('is approved by nobody, and rejected by whoever may initiate under its policy', () => {
    const may = (policy: Policy, type: VoteType) =>
      [...everybody, stranger].filter((member) => mayVote(initiated().build(), under(policy), type, member));
    expect(may(auto(), 'approve')).toEqual([]);
    expect(may(auto(), 'reject')).toEqual(everybody);
    expect(may(auto({ initiatorSetting: { type: 'user', memberId: fay.id } }), 'reject')).toEqual([fay]);
    expect(may(auto({ initiatorSetting: { type: 'group', groupId: GROUP } }), 'reject')).toEqual([
      bo,
      chidi,
      dorte,
      eve,
    ]);
    expect(may(auto({ initiatorSetting: { type: 'group', groupId: anId('grp') } }), 'reject')).toEqual([]);
  });

  it('has no rejection any more when the one who rejected may not initiate any more', () => {
    const rejected = initiated().rejectedBy(bo);
    const only = (member: MemberSummary) =>
      under(auto({ initiatorSetting: { type: 'user', memberId: member.id } }));
    expect(statusOf(rejected, only(bo))).toBe('approvalAndRejectionReady');
    expect(statusOf(rejected, only(ada))).toBe('approvalReady');
    expect(statusOf(rejected, world.under(auto()).without(bo).build())).toBe('approvalReady');
  });
});

describe('the signature of the initiator', () => {
  const now = under(manual(groupOf(1)));

  it('can be given by the initiator alone', () => {
    const may = [...everybody, stranger].filter((member) =>
      mayVote(transaction().build(), now, 'initiator', member),
    );
    expect(may).toEqual([ada]);
  });

  it('comes first: any other is a conflict before it, said before anybody looks at who signs', () => {
    for (const type of ['approve', 'reject'] as const) {
      expect(codeOf(checkOpenToVotes(transactionRules, transaction().build(), now, type))).toBe('conflict');
      expect(codeOf(checkOpenToVotes(transactionRules, initiated().build(), now, type))).toBe('ok');
      const refused = checkVote(transactionRules, transaction().build(), now, { member: stranger, type });
      expect(refused).toMatchObject({
        refusal: { code: 'conflict', message: expect.stringContaining('initiator first') },
      });
    }
    expect(codeOf(checkOpenToVotes(transactionRules, transaction().build(), now, 'initiator'))).toBe('ok');
  });

  it('does not count when it was given as another statement, by another member or with another wallet', () => {
    const { votes: given } = initiated().build();
    const [signed] = given;
    if (!signed) throw new Error('nothing was signed');
    for (const change of [
      { type: 'approve' as const, initiatorSignatureHash: aHash() },
      { memberId: bo.id },
      { signerAddress: anAddress() },
      { memberId: bo.id, signerAddress: bo.walletAddress },
    ]) {
      const record = transaction()
        .voted({ ...signed, ...change })
        .build();
      expect(initiatorVote(record, now)).toBeUndefined();
      expect(statusOf(transaction().voted({ ...signed, ...change }), now)).toBe('pendingInitiatorSignature');
    }
  });

  it('counts however its wallet is written', () => {
    const lower = { ...ada, walletAddress: ada.walletAddress.toLowerCase() };
    expect(statusOf(transaction().by(lower).initiated(), now)).toBe('pendingReviewSignatures');
  });

  const approved = () => initiated().approvedBy(bo).rejectedBy(chidi);

  it('counts no more, and no vote on it does, when the initiator was removed', () => {
    const left = world
      .under(manual(groupOf(1)))
      .without(ada)
      .build();
    expect(tallyOf(approved().build(), left)).toMatchObject({
      signatureStatus: 'pendingInitiatorSignature',
      approvals: [],
      rejections: [],
      initiator: ada,
    });
    expect(answers(approved().build(), left, { approve: bo, reject: bo })).toBe(NEW);
    const back = world
      .under(manual(groupOf(1)))
      .without(ada)
      .with(ada)
      .build();
    expect(statusOf(approved(), back)).toBe('approvalAndRejectionReady');
  });

  it('counts no more, and no vote on it does, when the initiator has another wallet', () => {
    const moved = { ...ada, walletAddress: anAddress() };
    const now = world
      .under(manual(groupOf(1)))
      .with(moved)
      .build();
    expect(tallyOf(approved().build(), now)).toMatchObject({
      signatureStatus: 'pendingInitiatorSignature',
      approvals: [],
      rejections: [],
    });
    expect(answers(approved().build(), now, { approve: bo, reject: bo })).toBe(NEW);
  });

  describe('given again with another wallet', () => {
    const [first, second] = [aHash(), aHash()];
    const moved = { ...ada, walletAddress: anAddress() };
    const now = world
      .under(manual(groupOf(1)))
      .with(moved)
      .build();
    const again = () =>
      transaction().initiated(first).approvedBy(bo).rejectedBy(chidi).by(moved).initiated(second);

    it('leaves the votes on the older one uncounted, and they can be given again', () => {
      expect(tallyOf(again().build(), now)).toMatchObject({
        signatureStatus: 'pendingReviewSignatures',
        approvals: [],
        rejections: [],
      });
      expect(initiatorVote(again().build(), now)?.signatureHash).toBe(second);
      expect(answers(again().build(), now, { approve: bo, reject: chidi })).toBe(votes('no', 'no'));
      expect(ids(countedVoters(transactionRules, again().approvedBy(bo).build(), now, 'approve'))).toEqual([
        bo.id,
      ]);
      expect(statusOf(again().approvedBy(bo), now)).toBe('approvalReady');
    });

    it('counts again as it was, with the votes on it, when the first wallet is back', () => {
      const back = under(manual(groupOf(1)));
      expect(initiatorVote(again().build(), back)?.signatureHash).toBe(first);
      expect(tallyOf(again().approvedBy(dorte).build(), back)).toMatchObject({
        signatureStatus: 'approvalAndRejectionReady',
        approvals: [bo],
        rejections: [chidi],
      });
    });
  });
});

describe('an approval', () => {
  const now = under(manual(groupOf(2)));

  it('is not a rejection, and none of the initiator', () => {
    const record = initiated().approvedBy(bo).build();
    expect(countedVoters(transactionRules, record, now, 'approve')).toEqual([bo]);
    expect(countedVoters(transactionRules, record, now, 'reject')).toEqual([]);
    expect(countedVoters(transactionRules, record, now, 'initiator')).toEqual([ada]);
  });

  it('of somebody who is not an approver does not count', () => {
    const record = initiated().approvedBy(ada, fay, stranger);
    expect(tallyOf(record.build(), now).approvals).toEqual([]);
  });

  it('of the initiator, who is in the group, counts unless the policy bars that', () => {
    const inGroup = world.grouped(GROUP, ada, bo, chidi).at(BEFORE);
    const record = initiated().approvedBy(ada, bo);
    expect(statusOf(record, inGroup.under(manual(groupOf(2))).build())).toBe('approvalReady');
    expect(tallyOf(record.build(), inGroup.under(manual(groupOf(2, true))).build())).toMatchObject({
      approvals: [bo],
      signatureStatus: 'pendingReviewSignatures',
    });
  });

  it('counts no more when the approver was removed from the organization, or from the group', () => {
    const record = initiated().approvedBy(bo, chidi);
    const policy = manual(groupOf(2));
    expect(statusOf(record, world.under(policy).without(bo).build())).toBe('pendingReviewSignatures');
    expect(statusOf(record, world.under(policy).grouped(GROUP, chidi, dorte).build())).toBe(
      'pendingReviewSignatures',
    );
    expect(statusOf(record, world.under(policy).grouped(GROUP, chidi, dorte, bo).build())).toBe(
      'approvalReady',
    );
  });

  it('counts when its member becomes an approver only later: those of now decide', () => {
    const record = initiated().approvedBy(bo, fay);
    const policy = manual(groupOf(2));
    expect(statusOf(record, world.under(policy).build())).toBe('pendingReviewSignatures');
    expect(statusOf(record, world.under(policy).grouped(GROUP, bo, fay).build())).toBe('approvalReady');
  });

  it('counts no more when its member has another wallet, and can then be given again', () => {
    const moved = { ...bo, walletAddress: anAddress() };
    const now = world
      .under(manual(groupOf(2)))
      .with(moved)
      .build();
    const record = initiated().approvedBy(bo, chidi);
    expect(tallyOf(record.build(), now).approvals).toEqual([chidi]);
    expect(codeOf(checkVote(transactionRules, record.build(), now, { member: moved, type: 'approve' }))).toBe(
      'ok',
    );
    expect(tallyOf(record.approvedBy(moved).build(), now)).toMatchObject({
      signatureStatus: 'approvalReady',
      approvals: [moved, chidi].sort((one, two) => (one.id < two.id ? -1 : 1)),
    });
  });

  it('of a signature of the initiator that nobody knows does not count', () => {
    const [, vote] = initiated().approvedBy(bo).build().votes;
    if (!vote) throw new Error('nobody approved');
    for (const initiatorSignatureHash of [aHash(), null]) {
      const record = initiated().voted({ ...vote, initiatorSignatureHash });
      expect(tallyOf(record.build(), now).approvals).toEqual([]);
    }
  });

  it('is never enough without eligible approvers', () => {
    const record = initiated().approvedBy(bo, chidi, dorte, eve).rejectedBy(bo, chidi, dorte, eve);
    for (const policy of [
      manual(groupOf(5)),
      manual({ type: 'group', groupId: anId('grp'), threshold: 1, excludeInitiator: false }),
      manual(oneMember(stranger)),
      changed(manual(groupOf(1)), { approverSetting: undefined }),
    ]) {
      expect(statusOf(record, under(policy))).toBe('pendingReviewSignatures');
      expect(execution(record.build(), under(policy), 'approve')).toBe('thresholdNotMet');
      expect(execution(record.build(), under(policy), 'reject')).toBe('thresholdNotMet');
    }
  });
});

describe('a policy that is edited while a transaction is open', () => {
  it('from automatic to manual makes it wait for its approvers, and back makes it ready', () => {
    const record = initiated();
    expect(statusOf(record, under(auto()))).toBe('approvalReady');
    expect(statusOf(record, under(manual(groupOf(2))))).toBe('pendingReviewSignatures');
    expect(execution(record.build(), under(manual(groupOf(2))), 'approve')).toBe('thresholdNotMet');
    const approved = record.approvedBy(bo, chidi);
    expect(tallyOf(approved.build(), under(auto()))).toMatchObject({
      signatureStatus: 'approvalReady',
      threshold: 0,
      approvals: [],
    });
    expect(statusOf(approved, under(manual(groupOf(2))))).toBe('approvalReady');
  });

  it('counts a rejection of before if its signer may reject now', () => {
    // Fay may initiate under the automatic policy, and is not an approver of the manual one.
    const byFay = initiated().rejectedBy(fay);
    expect(statusOf(byFay, under(auto()))).toBe('approvalAndRejectionReady');
    expect(statusOf(byFay, under(manual(groupOf(1))))).toBe('pendingReviewSignatures');
    expect(statusOf(initiated().rejectedBy(bo), under(manual(groupOf(1))))).toBe('rejectionReady');
  });

  it.each<[number, string]>([
    [1, 'approvalAndRejectionReady'],
    [2, 'approvalReady'],
    [3, 'pendingReviewSignatures'],
  ])('decides by its threshold of now: %s', (threshold, status) => {
    const record = initiated().approvedBy(bo, chidi).rejectedBy(dorte);
    expect(tallyOf(record.build(), under(manual(groupOf(threshold))))).toMatchObject({
      threshold,
      signatureStatus: status,
    });
  });

  it('that is removed still permits votes and rejection under its last version', () => {
    const gone = (policy: Policy) => world.under(policy).withoutPolicy().at(BEFORE).build();
    const record = initiated().rejectedBy(bo, chidi);
    expect(statusOf(record, gone(manual(groupOf(2))))).toBe('rejectionReady');
    expect(execution(record.build(), gone(manual(groupOf(2))), 'reject')).toBe('ok');
    expect(statusOf(record, gone(auto()))).toBe('approvalAndRejectionReady');
    const vote = { member: dorte, type: 'approve' as const };
    expect(codeOf(checkVote(transactionRules, record.build(), gone(manual(groupOf(2))), vote))).toBe('ok');
  });
});

describe('the expiry of a transaction', () => {
  it.each([
    [-1, 'pendingInitiatorSignature'],
    [0, 'pendingInitiatorSignature'],
    [1, 'expired'],
  ])('comes also before its initiator has signed: %d ms after its instant it is %s', (offset, status) => {
    const now = under(manual(groupOf(1)), new Date(EXPIRY.getTime() + offset));
    expect(statusOf(transaction(), now)).toBe(status);
  });
});

describe('signing again with execute', () => {
  const again = (record: TransactionRecordBuilder, policy: Policy, type: VoteType, member: MemberSummary) => {
    const vote = { member, type, execute: true };
    const outcome = checkVote(transactionRules, record.build(), under(policy), vote);
    return outcome.ok ? outcome.value : outcome.refusal.code;
  };

  it.each<[string, string, TransactionRecordBuilder, Policy]>([
    ['new', 'before it has signed', transaction(), auto()],
    ['repeated', 'where no approval is needed', initiated(), auto()],
    ['repeated', 'where no approval is needed, and it is rejected too', initiated().rejectedBy(bo), auto()],
    ['conflict', 'before it is approved', initiated().approvedBy(bo), manual(groupOf(2))],
    ['repeated', 'once it is approved', initiated().approvedBy(bo, chidi), manual(groupOf(2))],
    ['conflict', 'once it is rejected', initiated().rejectedBy(bo, chidi), manual(groupOf(2))],
    ['conflict', 'while it is processing', initiated().inState('processing'), auto()],
  ])('by the initiator is %s %s: it executes the approval', (expected, _, record, policy) => {
    expect(again(record, policy, 'initiator', ada)).toBe(expected);
  });

  it('to reject executes the rejection, where the policy needs no approval too', () => {
    expect(again(initiated().rejectedBy(bo), auto(), 'reject', bo)).toBe('repeated');
    expect(again(initiated().rejectedBy(bo), auto(), 'reject', chidi)).toBe('new');
  });

  it('before the initiator has signed with their wallet of now is a conflict', () => {
    const moved = { ...ada, walletAddress: anAddress() };
    const now = world
      .under(manual(groupOf(1)))
      .with(moved)
      .at(BEFORE)
      .build();
    const record = initiated().approvedBy(bo).build();
    const vote = { member: bo, type: 'approve' as const, execute: true };
    expect(codeOf(checkVote(transactionRules, record, now, vote))).toBe('conflict');
  });

  it('without execute says that the initiator has signed already', () => {
    const record = initiated().build();
    expect(checkVote(transactionRules, record, under(auto()), { member: ada, type: 'initiator' })).toEqual({
      ok: false,
      refusal: { code: 'conflict', message: `member ${ada.id} has already signed transaction ${record.id}` },
    });
  });
});

describe('a transaction that is being executed', () => {
  const begun = tallyOf(initiated().approvedBy(bo, chidi).build(), under(manual(groupOf(2))));
  const moved = { ...ada, name: 'Ada Lovelace', walletAddress: anAddress() };
  const record = initiated()
    .approvedBy(bo, chidi)
    .by(moved)
    .inState('processing')
    .executedWith(begun)
    .build();

  it('keeps the tally of its beginning, whatever changes in members, policy and time', () => {
    for (const now of [
      under(auto()),
      under(manual(groupOf(4)), AFTER),
      world
        .under(manual(groupOf(2)))
        .without(bo)
        .with(moved)
        .build(),
      world
        .under(manual(groupOf(2)))
        .withoutPolicy()
        .build(),
    ]) {
      expect(tallyOf(record, now)).toBe(begun);
      expect(transactionState(record, now)).toMatchObject({ ...begun, ready: [], open: true });
    }
    expect(begun).toMatchObject({ initiator: ada, threshold: 2, signatureStatus: 'approvalReady' });
  });

  it('is decided by the current votes once it has failed', () => {
    const failed = { ...record, executionStatus: 'failed' as const };
    const now = world
      .under(manual(groupOf(2)))
      .with(moved)
      .at(BEFORE)
      .build();
    expect(tallyOf(failed, now)).toMatchObject({
      initiator: moved,
      signatureStatus: 'pendingInitiatorSignature',
    });
  });
});

describe('a transaction that is closed', () => {
  const ended = tallyOf(initiated().approvedBy(bo, chidi).build(), under(manual(groupOf(2))));
  const record = initiated().approvedBy(bo, chidi).inState('completed').closedAs(ended).build();

  it('does not change with members, policy and time', () => {
    const worlds = [
      under(auto()),
      under(manual(groupOf(4)), AFTER),
      world
        .under(manual(groupOf(2)))
        .without(bo)
        .without(ada)
        .build(),
      world
        .under(manual(groupOf(2)))
        .with({ ...bo, name: 'Bob', walletAddress: anAddress() })
        .build(),
      world
        .under(manual(groupOf(2)))
        .withoutPolicy()
        .build(),
    ];
    for (const now of worlds) {
      expect(tallyOf(record, now)).toBe(ended);
      expect(transactionState(record, now)).toMatchObject({
        ...ended,
        ready: [],
        open: false,
        closed: true,
      });
    }
  });

  it('shows members as they were at closing', () => {
    expect(ended).toMatchObject({ initiator: ada, threshold: 2, signatureStatus: 'approvalReady' });
    expect(ids(ended.approvals)).toEqual(ids([bo, chidi]));
  });
});

describe('what a workflow keeps of a transaction', () => {
  it('identifies it', () => {
    const failure = aFailure({ code: 'relayerFunds' });
    const record = initiated()
      .approvedBy(bo)
      .inState('failed')
      .failedWith(failure)
      .having({
        waitingFor: 'native currency',
        awaitsRelayerWei: 2n ** 255n,
        version: 7,
        chain: { transactionHash: aHash(), submittedAt: BEFORE, confirmations: 1 },
      })
      .build();
    expect(transactionState(record, under(manual(groupOf(1))))).toEqual({
      id: record.id,
      organizationId: record.organizationId,
      accountId: record.accountId,
      networkId: record.networkId,
      policyId: record.policyId,
      operation: 'transfer',
      amount: '0.000000000000000001 ETH',
      version: 7,
      summary: record.summary,
      signatureStatus: 'approvalReady',
      executionStatus: 'failed',
      decision: null,
      initiator: ada,
      threshold: 1,
      approvals: [bo],
      rejections: [],
      ready: ['approve'],
      createdAt: '2025-06-01T12:00:00.000Z',
      expiresAt: '2025-06-08T12:00:00.000Z',
      open: true,
      expired: false,
      closed: false,
      failure,
      notes: [],
      transactionHash: record.chain?.transactionHash,
      waitingFor: 'native currency',
      awaitsRelayerWei: String(2n ** 255n),
      cancelling: false,
      rejecting: false,
    });
  });

  it('says which outcomes can be executed now', () => {
    const ready = (record: TransactionRecordBuilder, policy: Policy, time = BEFORE) =>
      transactionState(record.build(), under(policy, time)).ready;
    expect(ready(transaction(), auto())).toEqual([]);
    expect(ready(initiated(), auto())).toEqual(['approve']);
    expect(ready(initiated().rejectedBy(bo), auto())).toEqual(['approve', 'reject']);
    expect(ready(initiated().rejectedBy(bo), manual(groupOf(1)))).toEqual(['reject']);
    expect(ready(initiated().inState('processing'), auto())).toEqual([]);
    expect(ready(initiated(), auto(), AFTER)).toEqual([]);
  });
});
