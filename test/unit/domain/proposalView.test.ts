import fc from 'fast-check';
import type { ExecutionStatus } from '../../../src/domain/approval';
import { tally } from '../../../src/domain/approvalState';
import { type ProposalRecord, proposalRules } from '../../../src/domain/proposal';
import { proposalView } from '../../../src/domain/proposalView';
import { proposalPayload } from '../../../src/domain/signing';
import { aDeployment, adminsOf, aFailure, aHash, aMember, aProposal } from '../../support/builders';

const EXPIRY = new Date('2025-06-08T12:00:00.000Z');
const SALT = aHash();
const ada = aMember().build();
const bo = aMember().build();
const at = (offsetMs: number) => adminsOf(ada, bo).at(new Date(EXPIRY.getTime() + offsetMs));
const OPEN = at(-1);
const OVER = at(1);

const proposal = () => aProposal().expiringAt(EXPIRY);
const RESULT = {
  resolution: 'approved' as const,
  resources: [{ type: 'account' as const, id: 'acc_1', uri: '/api/v1/accounts/acc_1' }],
};

/** Paths at which a value is null, as `deployments.0.failure`. */
function nulls(value: unknown, path = ''): string[] {
  if (value === null) return [path];
  if (typeof value !== 'object') return [];
  return Object.entries(value as object).flatMap(([key, inner]) =>
    nulls(inner, path === '' ? key : `${path}.${key}`),
  );
}

describe('a proposal as the API shows it', () => {
  it('shows a new one with exactly the fields of the contract', () => {
    const record = proposal().approvedBy(ada).build();
    expect(proposalView(record, OPEN, SALT)).toEqual({
      id: record.id,
      kind: 'accounts/create',
      resourceType: 'accounts',
      action: 'create',
      signatureStatus: 'pendingReviewSignatures',
      executionStatus: null,
      threshold: 2,
      approvals: [ada],
      rejections: [],
      createdAt: '2025-06-01T12:00:00.000Z',
      expiresAt: '2025-06-08T12:00:00.000Z',
      summary: record.summary,
      data: record.data,
      signingPayloads: {
        approvePayload: proposalPayload('ApproveProposal', SALT, record),
        rejectPayload: proposalPayload('RejectProposal', SALT, record),
      },
      notes: [],
    });
  });

  it('shows nothing that is kept for the service alone', () => {
    const stored = {
      ...proposal().approvedBy(ada).build(),
      plan: { secret: 1 },
      createdBy: 'key_1',
      position: 1n,
    };
    const view = proposalView(stored, OPEN, SALT);
    for (const field of [
      'organizationId',
      'votes',
      'version',
      'finalTally',
      'closed',
      'applied',
      'plan',
      'createdBy',
    ]) {
      expect(view).not.toHaveProperty(field);
    }
  });

  describe('signing payloads', () => {
    it.each<[string, ProposalRecord, typeof OPEN, boolean]>([
      ['a new one', proposal().build(), OPEN, true],
      ['one with enough approvals', proposal().approvedBy(ada, bo).build(), OPEN, true],
      ['one at the instant of its expiry', proposal().build(), at(0), true],
      ['a failed one', proposal().inState('failed').build(), OPEN, true],
      ['a blocked one', proposal().inState('blocked').build(), OPEN, true],
      ['one past its expiry', proposal().build(), OVER, false],
      ['one that is being executed', proposal().inState('processing').build(), OPEN, false],
      ['one that is being executed past its expiry', proposal().inState('processing').build(), OVER, false],
      ['a failed one past its expiry', proposal().inState('failed').build(), OVER, false],
    ])('of %s', (_, record, now, present) => {
      expect('signingPayloads' in proposalView(record, now, SALT)).toBe(present);
      expect('signingPayloads' in proposalView(record, now, SALT, { created: true })).toBe(present);
    });

    it.each<ExecutionStatus | null>([null, 'completed', 'rejected', 'failed'])(
      'are gone once it is closed (%s)',
      (status) => {
        const voted = proposal().approvedBy(ada, bo);
        const record = voted
          .inState(status)
          .closedAs(tally(proposalRules, voted.build(), OPEN))
          .build();
        expect(proposalView(record, OPEN, SALT)).not.toHaveProperty('signingPayloads');
      },
    );

    it('are gone after expiry also while a deployment may still be finished', () => {
      const record = proposal()
        .inState('failed')
        .applied()
        .deploying(aDeployment({ status: 'completed' }), aDeployment({ status: 'failed' }))
        .build();
      expect(proposalView(record, OPEN, SALT)).toHaveProperty('signingPayloads');
      expect(proposalView(record, OVER, SALT)).not.toHaveProperty('signingPayloads');
    });

    it('hold the payload of the initiator in the answer to the creation, and only there', () => {
      const record = proposal().build();
      expect(proposalView(record, OPEN, SALT, { created: true }).signingPayloads).toEqual({
        approvePayload: proposalPayload('ApproveProposal', SALT, record),
        rejectPayload: proposalPayload('RejectProposal', SALT, record),
        initiatorPayload: proposalPayload('InitiateProposal', SALT, record),
      });
      expect(proposalView(record, OPEN, SALT).signingPayloads).not.toHaveProperty('initiatorPayload');
    });

    it('are those of the organization whose salt it is', () => {
      const record = proposal().build();
      expect(proposalView(record, OPEN, SALT).signingPayloads).not.toEqual(
        proposalView(record, OPEN, aHash()).signingPayloads,
      );
    });
  });

  describe('the result', () => {
    it.each<[ExecutionStatus | null, boolean]>([
      [null, false],
      ['processing', false],
      ['completed', true],
      ['rejected', true],
      ['failed', false],
      ['blocked', false],
    ])('while the execution is %s: shown is %s', (status, shown) => {
      const view = proposalView(proposal().inState(status).having({ result: RESULT }).build(), OPEN, SALT);
      expect('result' in view).toBe(shown);
      if (shown) expect(view.result).toEqual(RESULT);
    });

    it('leaves out the address of what was removed', () => {
      const result = {
        resolution: 'approved' as const,
        resources: [{ type: 'member' as const, id: 'mem_1' }],
      };
      const view = proposalView(proposal().inState('completed').having({ result }).build(), OPEN, SALT);
      expect(view.result?.resources[0]).toEqual({ type: 'member', id: 'mem_1' });
    });
  });

  it('shows what failed, and what was done on which network', () => {
    const failure = aFailure({ transactionHash: aHash() });
    const done = aDeployment({ networkId: 1, status: 'completed', transactionHash: aHash() });
    const broken = aDeployment({ networkId: 2, status: 'failed', failure });
    const waiting = aDeployment({ networkId: 3, waitingFor: 'a lower gas price' });
    const record = proposal().inState('failed').failedWith(failure).deploying(done, broken, waiting).build();
    expect(proposalView(record, OPEN, SALT)).toMatchObject({ failure });
    expect(proposalView(record, OPEN, SALT).deployments).toEqual([
      { accountId: done.accountId, networkId: 1, status: 'completed', transactionHash: done.transactionHash },
      { accountId: broken.accountId, networkId: 2, status: 'failed', failure },
      { accountId: waiting.accountId, networkId: 3, status: 'pending', waitingFor: 'a lower gas price' },
    ]);
  });

  it('leaves out failure and deployments when there are none', () => {
    const view = proposalView(proposal().build(), OPEN, SALT);
    expect(view).not.toHaveProperty('failure');
    expect(view).not.toHaveProperty('deployments');
  });

  it('shows its notes, in their order', () => {
    const notes = ['an admin left', 'the threshold changed'].map((message, index) => ({
      at: `2025-06-0${index + 2}T00:00:00.000Z`,
      code: 'note',
      message,
    }));
    expect(proposalView(proposal().having({ notes }).build(), OPEN, SALT).notes).toEqual(notes);
  });

  it('has null for nothing but an execution that was not tried, whatever its state', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<ExecutionStatus | null>(
          null,
          'processing',
          'completed',
          'rejected',
          'failed',
          'blocked',
        ),
        fc.constantFrom(OPEN, OVER),
        fc.boolean(),
        fc.boolean(),
        fc.array(fc.constantFrom('pending' as const, 'completed' as const, 'failed' as const), {
          maxLength: 3,
        }),
        (status, now, closed, created, deployed) => {
          const record = proposal()
            .inState(status)
            .having({ closed, finalTally: closed ? tally(proposalRules, proposal().build(), now) : null })
            .deploying(...deployed.map((state) => aDeployment({ status: state })))
            .build();
          const view = proposalView(record, now, SALT, { created });
          expect(nulls(view)).toEqual(status === null ? ['executionStatus'] : []);
          expect(JSON.parse(JSON.stringify(view))).toEqual(view);
        },
      ),
    );
  });
});
