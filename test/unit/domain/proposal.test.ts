import { checkExecution, type ExecutionStatus } from '../../../src/domain/approval';
import { collectsSignatures, DECISIONS, isOpen, tally } from '../../../src/domain/approvalState';
import { isPartlyDeployed, proposalRules, proposalState } from '../../../src/domain/proposal';
import type { Result } from '../../../src/domain/refusal';
import { checkVote } from '../../../src/domain/voting';
import {
  aDeployment,
  adminsFrom,
  adminsOf,
  aFailure,
  aHash,
  aMember,
  aProposal,
} from '../../support/builders';

const EXPIRY = new Date('2025-06-08T12:00:00.000Z');
const BEFORE = new Date(EXPIRY.getTime() - 1);
const AFTER = new Date(EXPIRY.getTime() + 1);

const ada = aMember().named('Ada').build();
const bo = aMember().named('Bo').build();
const chidi = aMember().named('Chidi').bot().build();
const admins = adminsOf(ada, bo, chidi).withThreshold(2).build();
const open = { admins, time: BEFORE };
const over = { admins, time: AFTER };

const proposal = () => aProposal().expiringAt(EXPIRY);
const STATUSES: readonly (ExecutionStatus | null)[] = [
  null,
  'processing',
  'completed',
  'rejected',
  'failed',
  'blocked',
];

/** `ok`, or the code of the refusal. */
function codeOf(outcome: Result<unknown>): string {
  return outcome.ok ? 'ok' : outcome.refusal.code;
}

const execution = (record: ReturnType<typeof aProposal>, now: typeof open, type: 'approve' | 'reject') =>
  codeOf(checkExecution(proposalRules, record.build(), now, type));
const tallyOf = (record: ReturnType<typeof aProposal>, now: typeof open) =>
  tally(proposalRules, record.build(), now);

/** A failed proposal whose account is on one network, and not on another. */
function partly() {
  return proposal()
    .approvedBy(ada, bo)
    .inState('failed')
    .applied()
    .failedWith(aFailure())
    .deploying(
      aDeployment({ networkId: 1, status: 'completed', transactionHash: aHash() }),
      aDeployment({ networkId: 2, status: 'failed', failure: aFailure() }),
    );
}

/** A failed proposal whose account is on no network. */
function nowhere() {
  return proposal()
    .approvedBy(ada, bo)
    .inState('failed')
    .applied()
    .deploying(aDeployment({ status: 'failed' }), aDeployment({ status: 'failed', networkId: 2 }));
}

describe('the admins of now', () => {
  it('may approve and reject, and nobody else; nobody signs as its initiator', () => {
    const record = proposal().build();
    for (const type of DECISIONS) {
      for (const admin of [ada, bo, chidi]) {
        expect(proposalRules.mayVote(record, open, type, admin)).toBe(true);
        const left = adminsFrom(admins).without(admin).at(BEFORE);
        expect(proposalRules.mayVote(record, left, type, admin)).toBe(false);
      }
      expect(proposalRules.mayVote(record, open, type, aMember().build())).toBe(false);
    }
    for (const admin of [ada, bo, chidi]) {
      expect(proposalRules.mayVote(record, open, 'initiator', admin)).toBe(false);
    }
  });

  it('are listed in their order', () => {
    const now = adminsOf(chidi, ada, bo).at(BEFORE);
    expect(tallyOf(proposal().approvedBy(ada, chidi), now).approvals).toEqual([chidi, ada]);
  });

  it.each([1, 2, 3])('approve and reject by the same threshold: %d', (threshold) => {
    const now = adminsFrom(admins).withThreshold(threshold).at(BEFORE);
    expect(proposalRules.thresholds(proposal().build(), now)).toEqual({
      approve: threshold,
      reject: threshold,
    });
    expect(tallyOf(proposal(), now).threshold).toBe(threshold);
  });
});

describe('a tally', () => {
  it('names no initiator: a proposal waits for no signature of one', () => {
    expect(tallyOf(proposal().approvedBy(ada), open)).toEqual({
      signatureStatus: 'pendingReviewSignatures',
      threshold: 2,
      approvals: [ada],
      rejections: [],
    });
  });
});

describe('a partly deployed proposal', () => {
  it.each(STATUSES)('(%s) is open past its expiry while it is processing or can be finished', (status) => {
    const isStillOpen = isOpen(proposalRules, partly().inState(status).build(), AFTER);
    expect(isStillOpen).toBe(status === 'processing' || status === 'failed');
  });

  it.each(STATUSES)('(%s) is not open once it is closed', (status) => {
    const record = { ...partly().inState(status).build(), closed: true };
    for (const time of [BEFORE, EXPIRY, AFTER]) expect(isOpen(proposalRules, record, time)).toBe(false);
  });

  it.each(STATUSES)('(%s) collects no signatures past its expiry', (status) => {
    expect(collectsSignatures(partly().inState(status).build(), AFTER)).toBe(false);
  });

  it('takes no vote past its expiry', () => {
    const vote = { member: chidi, type: 'approve' as const };
    expect(codeOf(checkVote(proposalRules, partly().build(), over, vote))).toBe('proposalExpired');
    expect(codeOf(checkVote(proposalRules, partly().build(), open, vote))).toBe('ok');
  });

  it('is partly deployed and finishable only when an account is on a network', () => {
    expect(isPartlyDeployed(partly().build())).toBe(true);
    expect(proposalRules.isFinishable(partly().build())).toBe(true);
    expect(isPartlyDeployed(nowhere().build())).toBe(false);
    expect(proposalRules.isFinishable(nowhere().build())).toBe(false);
    expect(isOpen(proposalRules, nowhere().build(), EXPIRY)).toBe(true);
    expect(isOpen(proposalRules, nowhere().build(), AFTER)).toBe(false);
  });

  it('is not finishable when its change was never made, whatever its deployments say', () => {
    const record = { ...partly().build(), applied: false };
    expect(proposalRules.isFinishable(record)).toBe(false);
    expect(isOpen(proposalRules, record, AFTER)).toBe(false);
  });

  it('may be finished after its expiry, whatever the admins of then', () => {
    for (const record of [partly(), partly().frozenAs(tallyOf(partly(), over))]) {
      expect(execution(record, over, 'approve')).toBe('ok');
      expect(execution(record, adminsOf().at(AFTER), 'approve')).toBe('ok');
    }
  });

  it('is finished after its expiry by an execution alone: no vote, also not a repeated one', () => {
    const again = { member: ada, type: 'approve' as const, execute: true };
    expect(codeOf(checkVote(proposalRules, partly().build(), over, again))).toBe('proposalExpired');
    expect(checkVote(proposalRules, partly().build(), open, again)).toEqual({ ok: true, value: 'repeated' });
  });

  it('cannot be rejected, before its expiry or after it', () => {
    const record = partly().rejectedBy(ada, bo);
    expect(checkExecution(proposalRules, record.build(), open, 'reject')).toEqual({
      ok: false,
      refusal: {
        code: 'conflict',
        message: `proposal ${record.build().id} is partly executed and cannot be rejected`,
      },
    });
    expect(execution(record, over, 'reject')).toBe('proposalExpired');
  });

  it('cannot be rejected by a repeated vote either', () => {
    const again = { member: ada, type: 'reject' as const, execute: true };
    const record = partly().rejectedBy(ada, bo).build();
    expect(codeOf(checkVote(proposalRules, record, open, again))).toBe('conflict');
  });

  it('cannot be executed again while it is being finished', () => {
    expect(execution(partly().inState('processing'), over, 'approve')).toBe('conflict');
  });

  it('is refused as expired when it was closed at its expiry', () => {
    expect(execution(partly().closedAs(tallyOf(partly(), over)), over, 'approve')).toBe('proposalExpired');
  });

  it('cannot be finished after its expiry when its account is on no network', () => {
    expect(execution(nowhere(), open, 'approve')).toBe('ok');
    expect(execution(nowhere(), over, 'approve')).toBe('proposalExpired');
  });
});

describe('rejecting', () => {
  it('is possible for a failed or blocked proposal of which nothing was done', () => {
    for (const status of ['failed', 'blocked'] as const) {
      const record = proposal()
        .rejectedBy(ada, bo)
        .inState(status)
        .deploying(aDeployment({ status: 'failed' }));
      expect(execution(record, open, 'reject')).toBe('ok');
    }
  });

  it('is refused for a proposal whose change had an effect, even with no deployment', () => {
    const record = proposal().rejectedBy(ada, bo).inState('failed').applied().effective();
    expect(execution(record, open, 'reject')).toBe('conflict');
  });
});

describe('the state that a workflow keeps', () => {
  it('has what is asked and every deployment besides what every approval has', () => {
    const record = partly().build();
    expect(proposalState(record, open)).toEqual({
      id: record.id,
      organizationId: record.organizationId,
      resourceType: 'accounts',
      action: 'create',
      version: 1,
      summary: record.summary,
      signatureStatus: 'approvalReady',
      executionStatus: 'failed',
      decision: null,
      applied: true,
      threshold: 2,
      approvals: [ada, bo],
      rejections: [],
      ready: ['approve'],
      createdAt: '2025-06-01T12:00:00.000Z',
      expiresAt: '2025-06-08T12:00:00.000Z',
      open: true,
      expired: false,
      closed: false,
      failure: record.failure,
      notes: [],
      deployments: record.deployments,
    });
  });

  it('says expired once the expiry is recorded, and stays open while it may be finished', () => {
    const recorded = partly().frozenAs(tallyOf(partly(), over)).build();
    expect(proposalState(partly().build(), over)).toMatchObject({
      signatureStatus: 'expired',
      expired: false,
      open: true,
    });
    expect(proposalState(recorded, over)).toMatchObject({
      expired: true,
      open: true,
      closed: false,
      ready: ['approve'],
    });
  });

  it('survives being written as JSON, as messages and histories do', () => {
    const state = proposalState(partly().build(), open);
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  });

  it('leaves the record as it is', () => {
    const record = partly().rejectedBy(chidi).build();
    const before = structuredClone(record);
    proposalState(record, over);
    checkExecution(proposalRules, record, open, 'reject');
    expect(record).toEqual(before);
  });
});
