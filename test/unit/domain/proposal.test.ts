import fc from 'fast-check';
import {
  assertNever,
  canFinishAfterExpiry,
  checkExecution,
  checkVote,
  collectsSignatures,
  countedVoters,
  type ExecutionStatus,
  isExpired,
  isOpen,
  type ProposalRecord,
  partlyDeployed,
  proposalState,
  reviewStatus,
  standing,
  type VoteType,
} from '../../../src/domain/proposal';
import type { Outcome } from '../../../src/domain/refusal';
import {
  aDeployment,
  adminsFrom,
  adminsOf,
  aFailure,
  aHash,
  aMember,
  anAddress,
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
const BOTH: readonly VoteType[] = ['approve', 'reject'];

/** `ok`, or the code of the refusal. */
function codeOf(outcome: Outcome<unknown>): string {
  return outcome.ok ? 'ok' : outcome.refusal.code;
}

/** A proposal of which one network is there and another failed. */
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

describe('expiry', () => {
  it.each([
    ['a millisecond before its expiry', false, BEFORE],
    ['at its expiry', false, EXPIRY],
    ['a millisecond after its expiry', true, AFTER],
  ])('of a proposal %s: expired is %s', (_, expired, time) => {
    expect(isExpired(proposal().build(), time)).toBe(expired);
    expect(isOpen(proposal().build(), time)).toBe(!expired);
    expect(collectsSignatures(proposal().build(), time)).toBe(!expired);
    expect(standing(proposal().build(), { admins, time }).signatureStatus).toBe(
      expired ? 'expired' : 'pendingReviewSignatures',
    );
    expect(codeOf(checkVote(proposal().build(), { admins, time }, { member: ada, type: 'approve' }))).toBe(
      expired ? 'proposalExpired' : 'ok',
    );
    const approved = proposal().approvedBy(ada, bo).build();
    expect(codeOf(checkExecution(approved, { admins, time }, 'approve'))).toBe(
      expired ? 'proposalExpired' : 'ok',
    );
  });

  it('is after every instant up to the one that was signed, and before every later one', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (offset) => {
        const time = new Date(EXPIRY.getTime() + offset);
        expect(isExpired(proposal().build(), time)).toBe(offset > 0);
      }),
    );
  });

  it('is told in the refusal, with the time', () => {
    const refused = checkVote(proposal().build(), over, { member: ada, type: 'approve' });
    expect(refused).toMatchObject({
      ok: false,
      refusal: {
        code: 'proposalExpired',
        message: expect.stringContaining('expired at 2025-06-08T12:00:00.000Z'),
      },
    });
  });
});

describe('votes that count', () => {
  it('are those of the type that is asked for', () => {
    const record = proposal().approvedBy(ada).rejectedBy(bo).build();
    expect(countedVoters(record.votes, 'approve', admins)).toEqual([ada]);
    expect(countedVoters(record.votes, 'reject', admins)).toEqual([bo]);
  });

  it('count once for a member, however often the member is recorded', () => {
    const record = proposal().approvedBy(ada, ada, ada).build();
    expect(standing(record, open).approvals).toEqual([ada]);
    expect(standing(record, open).signatureStatus).toBe('pendingReviewSignatures');
  });

  it('count for both outcomes when a member signed both', () => {
    const record = proposal().approvedBy(ada, bo).rejectedBy(ada, bo).build();
    expect(standing(record, open)).toEqual({
      signatureStatus: 'approvalAndRejectionReady',
      threshold: 2,
      approvals: [ada, bo],
      rejections: [ada, bo],
    });
  });

  it('do not depend on the case in which an address is written', () => {
    const lower = { ...ada, walletAddress: ada.walletAddress.toLowerCase() };
    expect(standing(proposal().approvedBy(lower).build(), open).approvals).toEqual([ada]);
  });

  it('are not those of somebody who is no admin', () => {
    expect(standing(proposal().approvedBy(aMember().build()).build(), open).approvals).toEqual([]);
  });

  it('are not those of another member who has the wallet now', () => {
    const heir = aMember().withWallet(ada.walletAddress).build();
    const now = adminsOf(heir, bo).at(BEFORE);
    expect(standing(proposal().approvedBy(ada).build(), now).approvals).toEqual([]);
  });

  it('come in the order of the admins, whatever the order of signing', () => {
    expect(standing(proposal().approvedBy(chidi, ada).build(), open).approvals).toEqual([ada, chidi]);
  });
});

describe('the status of signatures', () => {
  it.each([
    [0, 0, 1, 'pendingReviewSignatures'],
    [1, 0, 1, 'approvalReady'],
    [0, 1, 1, 'rejectionReady'],
    [1, 1, 1, 'approvalAndRejectionReady'],
    [1, 1, 2, 'pendingReviewSignatures'],
    [2, 1, 2, 'approvalReady'],
    [3, 2, 2, 'approvalAndRejectionReady'],
  ])(
    'with %d approvals and %d rejections against a threshold of %d is %s',
    (approvals, rejections, threshold, status) => {
      expect(reviewStatus(approvals, rejections, threshold)).toBe(status);
    },
  );

  it('follows the admins of now: a vote stops counting when its admin leaves and counts again on return', () => {
    const record = proposal().approvedBy(ada, bo).build();
    const without = adminsFrom(admins).without(bo);
    expect(standing(record, open).signatureStatus).toBe('approvalReady');
    expect(standing(record, without.at(BEFORE)).signatureStatus).toBe('pendingReviewSignatures');
    expect(standing(record, without.at(BEFORE)).approvals).toEqual([ada]);
    expect(standing(record, without.with(bo).at(BEFORE)).signatureStatus).toBe('approvalReady');
  });

  it('follows the threshold of now, both up and down', () => {
    const record = proposal().approvedBy(ada, bo).rejectedBy(chidi).build();
    const under = (threshold: number) =>
      standing(record, adminsFrom(admins).withThreshold(threshold).at(BEFORE)).signatureStatus;
    expect([1, 2, 3].map(under)).toEqual([
      'approvalAndRejectionReady',
      'approvalReady',
      'pendingReviewSignatures',
    ]);
  });

  it('follows the wallets of now: a vote signed with a former wallet does not count', () => {
    const record = proposal().approvedBy(ada, bo).build();
    const moved = { ...ada, walletAddress: anAddress() };
    const now = adminsFrom(admins).replacing(moved).at(BEFORE);
    expect(standing(record, now).approvals).toEqual([bo]);
    expect(
      standing({ ...record, votes: proposal().approvedBy(moved, bo).build().votes }, now).approvals,
    ).toEqual([moved, bo]);
  });

  it('shows the name that an admin has now', () => {
    const renamed = { ...ada, name: 'Ada Lovelace' };
    const now = adminsFrom(admins).replacing(renamed).at(BEFORE);
    expect(standing(proposal().approvedBy(ada).build(), now).approvals).toEqual([renamed]);
  });

  it.each(STATUSES)(
    'while the execution is %s, past expiry, is expired unless it is being executed',
    (status) => {
      const record = proposal().approvedBy(ada, bo).inState(status).build();
      expect(standing(record, over).signatureStatus).toBe(
        status === 'processing' ? 'approvalReady' : 'expired',
      );
    },
  );

  it('still lists who signed when the time is over', () => {
    const record = proposal().approvedBy(ada).rejectedBy(bo).build();
    expect(standing(record, over)).toEqual({
      signatureStatus: 'expired',
      threshold: 2,
      approvals: [ada],
      rejections: [bo],
    });
  });

  it.each(STATUSES)(
    'once frozen (%s), does not change with admins, thresholds, wallets or time',
    (status) => {
      const frozen = standing(proposal().approvedBy(ada, bo).build(), open);
      const record = proposal().approvedBy(ada, bo).inState(status).closedAs(frozen).build();
      const worlds = [
        open,
        over,
        adminsFrom(admins).without(ada).at(BEFORE),
        adminsFrom(admins).withThreshold(3).at(AFTER),
        adminsFrom(admins)
          .replacing({ ...ada, name: 'Other', walletAddress: anAddress() })
          .at(BEFORE),
        adminsOf().at(AFTER),
      ];
      for (const now of worlds) expect(standing(record, now)).toEqual(frozen);
    },
  );
});

describe('what is open', () => {
  it.each(STATUSES)('a proposal that is not closed and not over (%s) can still change', (status) => {
    expect(isOpen(proposal().inState(status).build(), EXPIRY)).toBe(true);
  });

  it.each(STATUSES)('a closed proposal (%s) can never change', (status) => {
    const record = { ...partly().inState(status).build(), closed: true };
    for (const time of [BEFORE, EXPIRY, AFTER]) {
      expect(isOpen(record, time)).toBe(false);
      expect(collectsSignatures(record, time)).toBe(false);
    }
  });

  it.each(STATUSES)('past its expiry a proposal (%s) is open only while it is being executed', (status) => {
    expect(isOpen(proposal().inState(status).build(), AFTER)).toBe(status === 'processing');
  });

  it.each(STATUSES)(
    'past its expiry a partly deployed one (%s) is open while it runs or can be finished',
    (status) => {
      expect(isOpen(partly().inState(status).build(), AFTER)).toBe(
        status === 'processing' || status === 'failed',
      );
    },
  );

  it('is not a failed one past its expiry of which no network is there', () => {
    const record = proposal()
      .inState('failed')
      .applied()
      .deploying(aDeployment({ status: 'failed' }), aDeployment({ status: 'failed', networkId: 2 }))
      .build();
    expect(partlyDeployed(record)).toBe(false);
    expect(canFinishAfterExpiry(record)).toBe(false);
    expect(isOpen(record, EXPIRY)).toBe(true);
    expect(isOpen(record, AFTER)).toBe(false);
  });

  it('is not one whose change was never made, whatever its deployments say', () => {
    expect(canFinishAfterExpiry({ ...partly().build(), applied: false })).toBe(false);
  });
});

describe('collecting signatures', () => {
  it.each([null, 'processing', 'failed', 'blocked'] as const)(
    'goes on before expiry unless it is being executed (%s)',
    (status) => {
      expect(collectsSignatures(proposal().inState(status).build(), EXPIRY)).toBe(status !== 'processing');
    },
  );

  it.each(STATUSES)('is over after expiry, also when a deployment may be finished (%s)', (status) => {
    expect(collectsSignatures(partly().inState(status).build(), AFTER)).toBe(false);
  });

  it('is shown whenever, and only when, some admin could still vote', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<ExecutionStatus | null>(null, 'processing', 'failed', 'blocked'),
        fc.boolean(),
        fc.constantFrom(BEFORE, EXPIRY, AFTER),
        (status, isPartly, time) => {
          const record = (isPartly ? partly() : proposal()).inState(status).build();
          const voter = aMember().build();
          const vote = checkVote(record, { admins, time }, { member: voter, type: 'approve' });
          expect(collectsSignatures(record, time)).toBe(vote.ok);
        },
      ),
    );
  });
});

describe('voting', () => {
  const EXPECTED: Record<string, [beforeExpiry: string, afterExpiry: string]> = {
    null: ['ok', 'proposalExpired'],
    processing: ['conflict', 'conflict'],
    completed: ['conflict', 'conflict'],
    rejected: ['conflict', 'conflict'],
    failed: ['ok', 'proposalExpired'],
    blocked: ['ok', 'proposalExpired'],
  };

  it.each(STATUSES)('on a proposal that is %s is allowed or refused by what has become of it', (status) => {
    const record = proposal().inState(status).build();
    for (const type of BOTH) {
      const at = (time: Date) => codeOf(checkVote(record, { admins, time }, { member: ada, type }));
      expect([at(EXPIRY), at(AFTER)]).toEqual(EXPECTED[String(status)]);
    }
  });

  it.each([
    ['processing', 'is being executed'],
    ['completed', 'has been executed'],
    ['rejected', 'has been rejected'],
  ] as const)('on one that is %s says that it %s', (status, words) => {
    const refused = checkVote(proposal().inState(status).build(), open, { member: ada, type: 'approve' });
    expect(refused).toMatchObject({ ok: false, refusal: { message: expect.stringContaining(words) } });
  });

  it('twice for the same outcome is a conflict, whatever the case of the address', () => {
    const lower = { ...ada, walletAddress: ada.walletAddress.toLowerCase() };
    const record = proposal().approvedBy(lower).build();
    expect(codeOf(checkVote(record, open, { member: ada, type: 'approve' }))).toBe('conflict');
  });

  it('for both outcomes is allowed', () => {
    const record = proposal().approvedBy(ada).build();
    expect(codeOf(checkVote(record, open, { member: ada, type: 'reject' }))).toBe('ok');
  });

  it('again is allowed after the wallet changed, and a conflict after it changed back', () => {
    const record = proposal().approvedBy(ada).build();
    const moved = { ...ada, walletAddress: anAddress() };
    expect(codeOf(checkVote(record, open, { member: moved, type: 'approve' }))).toBe('ok');
    expect(codeOf(checkVote(record, open, { member: ada, type: 'approve' }))).toBe('conflict');
  });

  it('with a wallet that another member signed with is allowed: a vote belongs to a member', () => {
    const record = proposal().approvedBy(ada).build();
    const heir = aMember().withWallet(ada.walletAddress).build();
    expect(codeOf(checkVote(record, open, { member: heir, type: 'approve' }))).toBe('ok');
  });

  it('on a closed proposal without outcome is refused as expired', () => {
    const record = proposal().closedAs(standing(proposal().build(), over)).build();
    expect(codeOf(checkVote(record, over, { member: ada, type: 'approve' }))).toBe('proposalExpired');
  });

  it('on one that may only be finished after expiry is refused as expired', () => {
    expect(codeOf(checkVote(partly().build(), over, { member: chidi, type: 'approve' }))).toBe(
      'proposalExpired',
    );
  });

  it('past expiry by one who has voted already is refused as expired, not as a second vote', () => {
    const record = proposal().approvedBy(ada).build();
    expect(codeOf(checkVote(record, over, { member: ada, type: 'approve' }))).toBe('proposalExpired');
  });
});

describe('executing', () => {
  const EXPECTED: Record<string, [beforeExpiry: string, afterExpiry: string]> = {
    null: ['ok', 'proposalExpired'],
    processing: ['conflict', 'conflict'],
    completed: ['conflict', 'conflict'],
    rejected: ['conflict', 'conflict'],
    failed: ['ok', 'proposalExpired'],
    blocked: ['ok', 'proposalExpired'],
  };

  it.each(STATUSES)(
    'a proposal with both thresholds met that is %s depends on what has become of it',
    (status) => {
      const record = proposal().approvedBy(ada, bo).rejectedBy(ada, bo).inState(status).build();
      for (const type of BOTH) {
        const at = (time: Date) => codeOf(checkExecution(record, { admins, time }, type));
        expect([at(EXPIRY), at(AFTER)]).toEqual(EXPECTED[String(status)]);
      }
    },
  );

  it.each(BOTH)('below the threshold (%s) is refused, and says what is missing', (type) => {
    const record = proposal().votedBy(type, ada).build();
    expect(checkExecution(record, open, type)).toMatchObject({
      ok: false,
      refusal: {
        code: 'thresholdNotMet',
        message: expect.stringContaining(`has 1 of 2 signatures needed to ${type} it`),
      },
    });
  });

  it.each(BOTH)('needs votes for that very outcome (%s)', (type) => {
    const other = type === 'approve' ? 'reject' : 'approve';
    const record = proposal().votedBy(other, ada, bo, chidi).build();
    expect(codeOf(checkExecution(record, open, type))).toBe('thresholdNotMet');
    expect(codeOf(checkExecution(record, open, other))).toBe('ok');
  });

  it.each(BOTH)('counts again by the admins, wallets and threshold of now (%s)', (type) => {
    const record = proposal().votedBy(type, ada, bo).build();
    const under = (set: ReturnType<typeof adminsFrom>) =>
      codeOf(checkExecution(record, set.at(BEFORE), type));
    expect(under(adminsFrom(admins))).toBe('ok');
    expect(under(adminsFrom(admins).without(ada))).toBe('thresholdNotMet');
    expect(under(adminsFrom(admins).withThreshold(3))).toBe('thresholdNotMet');
    expect(under(adminsFrom(admins).replacing({ ...bo, walletAddress: anAddress() }))).toBe(
      'thresholdNotMet',
    );
    expect(under(adminsFrom(admins).without(ada).withThreshold(1))).toBe('ok');
  });

  it('a closed proposal without outcome is refused as expired, for either outcome', () => {
    const voted = proposal().approvedBy(ada, bo).rejectedBy(ada, bo);
    const record = voted.closedAs(standing(voted.build(), over)).build();
    for (const type of BOTH) expect(codeOf(checkExecution(record, over, type))).toBe('proposalExpired');
  });

  it('below the threshold past expiry is refused as expired', () => {
    expect(codeOf(checkExecution(proposal().build(), over, 'approve'))).toBe('proposalExpired');
  });

  describe('what is carried out in part', () => {
    it('may be finished after expiry, whatever the admins of then', () => {
      for (const record of [partly().build(), partly().frozenAs(standing(partly().build(), over)).build()]) {
        expect(codeOf(checkExecution(record, over, 'approve'))).toBe('ok');
        expect(codeOf(checkExecution(record, adminsOf().at(AFTER), 'approve'))).toBe('ok');
      }
    });

    it('cannot be rejected, before expiry or after it', () => {
      const record = partly().rejectedBy(ada, bo).build();
      expect(codeOf(checkExecution(record, open, 'reject'))).toBe('conflict');
      expect(codeOf(checkExecution(record, over, 'reject'))).toBe('proposalExpired');
    });

    it('cannot be begun again while it is being finished', () => {
      expect(codeOf(checkExecution(partly().inState('processing').build(), over, 'approve'))).toBe(
        'conflict',
      );
    });

    it('is refused as expired when an operator has closed it for good', () => {
      const record = partly().closedAs(standing(partly().build(), over)).build();
      expect(codeOf(checkExecution(record, over, 'approve'))).toBe('proposalExpired');
    });

    it('cannot be finished after expiry when nothing of it is there', () => {
      const record = proposal()
        .approvedBy(ada, bo)
        .inState('failed')
        .applied()
        .deploying(aDeployment({ status: 'failed' }))
        .build();
      expect(codeOf(checkExecution(record, open, 'approve'))).toBe('ok');
      expect(codeOf(checkExecution(record, over, 'approve'))).toBe('proposalExpired');
    });
  });

  it('rejects a failed or blocked proposal of which nothing was done', () => {
    for (const status of ['failed', 'blocked'] as const) {
      const record = proposal()
        .rejectedBy(ada, bo)
        .inState(status)
        .deploying(aDeployment({ status: 'failed' }))
        .build();
      expect(codeOf(checkExecution(record, open, 'reject'))).toBe('ok');
    }
  });

  it('does not reject a proposal whose change had an effect, even with no deployment', () => {
    const record = proposal().rejectedBy(ada, bo).inState('failed').applied().effective().build();
    expect(codeOf(checkExecution(record, open, 'reject'))).toBe('conflict');
  });
});

describe('the state that a workflow keeps', () => {
  const fieldsOf = (record: ProposalRecord, now = open) => proposalState(record, now);

  it('is made of the record and how its votes stand', () => {
    const note = { at: '2025-06-02T00:00:00.000Z', code: 'adminLeft', message: 'an admin left' };
    const record = partly().noted(note).having({ version: 4 }).build();
    expect(fieldsOf(record)).toEqual({
      proposalId: record.id,
      organizationId: record.organizationId,
      resourceType: 'accounts',
      action: 'create',
      version: 4,
      summary: record.summary,
      signatureStatus: 'approvalReady',
      executionStatus: 'failed',
      threshold: 2,
      approvals: [ada, bo],
      rejections: [],
      expiresAt: '2025-06-08T12:00:00.000Z',
      open: true,
      expired: false,
      closed: false,
      failure: record.failure,
      notes: [note],
      deployments: record.deployments,
    });
  });

  it('says expired once the expiry is recorded, and stays open while a deployment may be finished', () => {
    const record = partly().build();
    const recorded = { ...record, frozen: standing(record, over) };
    expect(fieldsOf(record, over)).toMatchObject({ signatureStatus: 'expired', expired: false, open: true });
    expect(fieldsOf(recorded, over)).toMatchObject({ expired: true, open: true, closed: false });
  });

  it('cuts a long summary and keeps the latest of many notes: histories hold a state for each message', () => {
    const long = proposal().having({
      summary: 'x'.repeat(10_000),
      notes: Array.from({ length: 50 }, (_, i) => ({ at: '', code: 'c', message: String(i) })),
    });
    const { summary, notes } = fieldsOf(long.build());
    expect([summary.length, summary.slice(-3)]).toEqual([2_002, 'x …']);
    expect([notes.length, notes.at(-1)?.message]).toEqual([20, '49']);
    expect(
      fieldsOf(
        proposal()
          .having({ summary: 'x'.repeat(2_000) })
          .build(),
      ).summary,
    ).toMatch(/x$/);
  });

  it('survives being written as JSON, as messages and histories do', () => {
    const state = fieldsOf(partly().build());
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  });

  it('does not change the record it is made from', () => {
    const record = partly().rejectedBy(chidi).build();
    const before = structuredClone(record);
    proposalState(record, over);
    checkVote(record, open, { member: chidi, type: 'approve' });
    checkExecution(record, open, 'reject');
    expect(record).toEqual(before);
  });
});

describe('a value that the types rule out', () => {
  it('is refused where it appears, with the value', () => {
    expect(() => assertNever('surprise' as never)).toThrow('unexpected value: surprise');
    const record = proposal()
      .inState('surprise' as never)
      .build();
    expect(() => checkVote(record, open, { member: ada, type: 'approve' })).toThrow('surprise');
    expect(() => checkExecution(record, open, 'approve')).toThrow('surprise');
  });
});
