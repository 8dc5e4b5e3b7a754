import type { Approval, Proposal, Schema, Transaction } from '@orgwallet/client';
import { outcomesOf, type Viewer, votesOf } from '../../../console/src/domain/eligibility.ts';
import { byDeadline, tabOf } from '../../../console/src/domain/requestTab.ts';
import {
  executeLabel,
  isDecisive,
  stateOf,
  tallyText,
  taskOf,
  voteLabel,
} from '../../../console/src/text/labels.ts';
import { duration } from '../../../console/src/text/time.ts';

const person = (id: string) =>
  ({ id, name: id, type: 'user', walletKind: 'key', walletAddress: '0x' }) as const;
const REVIEW = { approvePayload: '{}', rejectPayload: '{}' };

const proposal = (fields: Partial<Proposal> = {}) =>
  ({
    id: 'prop_1',
    resourceType: 'members',
    action: 'create',
    signatureStatus: 'pendingReviewSignatures',
    executionStatus: null,
    threshold: 2,
    approvals: [],
    rejections: [],
    expiresAt: '2026-12-01T00:00:00.000Z',
    signingPayloads: REVIEW,
    ...fields,
  }) as unknown as Approval;

const transaction = (fields: Partial<Transaction> = {}) =>
  ({
    id: 'txn_1',
    signatureStatus: 'pendingReviewSignatures',
    executionStatus: null,
    threshold: 1,
    initiator: person('mem_i'),
    policy: { id: 'pol_1', threshold: 1 },
    approvals: [],
    rejections: [],
    expiresAt: '2026-12-01T00:00:00.000Z',
    signingPayloads: REVIEW,
    ...fields,
  }) as unknown as Approval;

const policies = (approverSetting: object | undefined, initiatorSetting: object | null = null) =>
  [{ id: 'pol_1', approverSetting, initiatorSetting }] as unknown as readonly Schema['Policy'][];
const GROUPS = [{ id: 'grp_1', members: [person('mem_a'), person('mem_i')] }];
const BY_GROUP = { type: 'group', groupId: 'grp_1', threshold: 1, excludeInitiator: true };

const viewer = (memberId: string, fields: Partial<Viewer> = {}): Viewer => ({
  memberId,
  isAdmin: false,
  policies: policies(BY_GROUP),
  groups: GROUPS,
  ...fields,
});
const ADMIN = viewer('mem_a', { isAdmin: true });

describe('who can sign', () => {
  it('a proposal: an admin, once of each type', () => {
    expect(votesOf(proposal(), ADMIN)).toEqual({ initiator: false, approve: true, reject: true });
    expect(votesOf(proposal({ approvals: [person('mem_a')] }), ADMIN)).toMatchObject({
      approve: false,
      reject: true,
    });
    expect(votesOf(proposal(), viewer('mem_a'))).toMatchObject({ approve: false, reject: false });
  });

  it('again, whose contract wallet may not accept the signature for which it was blocked', () => {
    const safe = (id: string) => ({ ...person(id), walletKind: 'contract' }) as const;
    const blocked: object = { executionStatus: 'blocked', failure: { code: 'stale' } };
    const voted = { approvals: [safe('mem_a')] };
    expect(votesOf(proposal({ ...voted, ...blocked }), ADMIN).approve).toBe(true);
    expect(votesOf(proposal(voted), ADMIN).approve).toBe(false);
    expect(votesOf(proposal({ ...blocked, approvals: [person('mem_a')] }), ADMIN).approve).toBe(false);
    const begun = transaction({
      ...blocked,
      initiator: safe('mem_i'),
      signingPayloads: { ...REVIEW, initiatorPayload: '{}' },
    });
    expect(votesOf(begun, viewer('mem_i'))).toEqual({ initiator: true, approve: false, reject: false });
    expect(votesOf(begun, viewer('mem_a'))).toEqual({ initiator: false, approve: true, reject: true });
  });

  it('a transaction: its initiator first, then the approvers of its policy, not the initiator', () => {
    const unsigned = transaction({
      signatureStatus: 'pendingInitiatorSignature',
      signingPayloads: { initiatorPayload: '{}' },
    });
    expect(votesOf(unsigned, viewer('mem_i')).initiator).toBe(true);
    expect(votesOf(unsigned, viewer('mem_a'))).toEqual({ initiator: false, approve: false, reject: false });
    expect(votesOf(transaction(), viewer('mem_a')).approve).toBe(true);
    expect(votesOf(transaction(), viewer('mem_i')).approve).toBe(false);
    expect(votesOf(transaction(), viewer('mem_x')).approve).toBe(false);
    expect(votesOf(transaction(), viewer('mem_a', { policies: [] })).approve).toBe(false);
  });

  it('a transaction that nobody approves: whoever may start it can reject', () => {
    const auto = transaction({ threshold: 0, signatureStatus: 'approvalReady' });
    const asInitiator = { policies: policies(undefined, { type: 'user', memberId: 'mem_a' }) };
    expect(votesOf(auto, viewer('mem_a', asInitiator))).toEqual({
      initiator: false,
      approve: false,
      reject: true,
    });
    expect(votesOf(auto, viewer('mem_x', asInitiator)).reject).toBe(false);
  });

  it('nothing that is closed', () => {
    const { signingPayloads: _, ...closed } = proposal({ executionStatus: 'completed' });
    expect(votesOf(closed as Approval, ADMIN)).toEqual({ initiator: false, approve: false, reject: false });
  });
});

describe('what waits', () => {
  it.each([
    ['for its viewer to approve', proposal(), 'you'],
    ['for others', proposal({ approvals: [person('mem_a')] }), 'progress'],
    ['to be executed', proposal({ signatureStatus: 'approvalReady' }), 'ready'],
    ['to be closed', proposal({ signatureStatus: 'rejectionReady' }), 'ready'],
    ['for the chain', proposal({ executionStatus: 'processing' }), 'progress'],
    ['for nothing, once it has expired', proposal({ signatureStatus: 'expired' }), 'expired'],
  ])('%s', (_, approval, tab) => {
    expect(tabOf(approval, ADMIN, Date.parse(approval.expiresAt) - 1)).toBe(tab);
  });

  it('for a signature is asked for in a word or two', () => {
    expect(taskOf(proposal(), ADMIN)).toBe('Approve or reject');
    const own = transaction({ signingPayloads: { initiatorPayload: '' } as never });
    expect(taskOf(own, viewer('mem_i'))).toBe('Sign as initiator');
  });

  it('comes in the order of the deadlines', () => {
    const createdAt = '2026-12-01T00:00:00.000Z';
    const late = proposal({ id: 'prop_late', createdAt, expiresAt: '2026-12-09T00:00:00.000Z' });
    const soon = proposal({ id: 'prop_soon', createdAt, expiresAt: '2026-12-02T00:00:00.000Z' });
    const later = proposal({
      id: 'prop_later',
      createdAt: '2026-12-01T01:00:00.000Z',
      expiresAt: soon.expiresAt,
    });
    expect([late, later, soon].sort(byDeadline).map(({ id }) => id)).toEqual([
      'prop_soon',
      'prop_later',
      'prop_late',
    ]);
  });

  it('says how far the signatures are', () => {
    expect(tallyText(proposal({ approvals: [person('mem_b')], rejections: [person('mem_c')] }))).toBe(
      '1 of 2 approvals, 1 rejection',
    );
    expect(tallyText(transaction({ threshold: 0 }))).toBe('no approval needed');
  });
});

describe('a button says what it does', () => {
  const oneApproved = proposal({ approvals: [person('mem_b')] });
  it.each([
    [proposal(), 'approve', true, 'Approve: 1 more after yours'],
    [oneApproved, 'approve', true, 'Approve and execute'],
    [oneApproved, 'approve', false, 'Approve'],
    [oneApproved, 'reject', true, 'Reject: 1 more after yours'],
    [transaction({ threshold: 1 }), 'reject', true, 'Reject and execute'],
    [transaction({ threshold: 0 }), 'initiator', true, 'Sign and execute'],
    [transaction({ threshold: 0 }), 'initiator', false, 'Sign'],
    [transaction({ threshold: 2 }), 'initiator', true, 'Sign: 2 approvals needed'],
  ] as const)('%#', (approval, vote, execute, label) => {
    expect(voteLabel(approval, vote, execute)).toBe(label);
  });

  it('and whether it decides', () => {
    expect(isDecisive(oneApproved, 'approve')).toBe(true);
    expect(isDecisive(proposal(), 'approve')).toBe(false);
    expect(isDecisive(transaction({ threshold: 0 }), 'reject')).toBe(true);
    expect(executeLabel(proposal({ executionStatus: 'blocked' }), 'approve')).toBe('Execute again');
  });

  it('and executes only what is ready', () => {
    expect(outcomesOf(proposal({ signatureStatus: 'approvalAndRejectionReady' }))).toEqual({
      approve: true,
      reject: true,
    });
    expect(outcomesOf(proposal({ signatureStatus: 'approvalReady', executionStatus: 'processing' }))).toEqual(
      {
        approve: false,
        reject: false,
      },
    );
  });
});

describe('time', () => {
  it('turns a request into an expired one while it is looked at', () => {
    const deadline = Date.parse('2026-12-01T00:00:00.000Z');
    expect(stateOf(proposal(), deadline - 1).text).toBe('Awaiting approvals');
    expect(stateOf(proposal(), deadline).text).toBe('Expired');
    expect(stateOf(proposal({ executionStatus: 'processing' }), deadline).text).toBe('Processing');
  });

  it.each([
    [0, '0 seconds'],
    [1_999, '1 second'],
    [119_000, '119 seconds'],
    [3 * 60_000, '3 minutes'],
    [3_600_000, '1 hour'],
    [5_400_000, '1 hour 30 minutes'],
    [6 * 86_400_000 + 23 * 3_600_000 + 60_000, '6 days 23 hours'],
  ])('of %i ms is %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });
});
