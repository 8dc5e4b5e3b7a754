import fc from 'fast-check';
import type { ExecutionStatus, FailureCode, SignatureStatus } from '../../../src/domain/approval';
import { proposalDetails, proposalSentence } from '../../../src/domain/operatorText';
import type { ProposalState } from '../../../src/domain/proposal';
import { proposalState } from '../../../src/domain/proposal';
import { aDeployment, adminsOf, aFailure, aHash, aMember, aProposal } from '../../support/builders';

const ada = aMember().named('Ada').build();
const bo = aMember().named('Bo').build();
const chidi = aMember().named('Chidi').build();
const NOW = adminsOf(ada, bo, chidi).at(new Date('2025-06-02T00:00:00.000Z'));

/** The state of a proposal that one of three admins has approved, with changes. */
function state(change: Partial<ProposalState> = {}): ProposalState {
  return { ...proposalState(aProposal().approvedBy(ada).build(), NOW), ...change };
}

const SIGNATURES: readonly SignatureStatus[] = [
  'pendingInitiatorSignature',
  'pendingReviewSignatures',
  'approvalReady',
  'rejectionReady',
  'approvalAndRejectionReady',
  'expired',
];
const EXECUTIONS: readonly (ExecutionStatus | null)[] = [
  null,
  'processing',
  'completed',
  'rejected',
  'failed',
  'blocked',
];
const CODES: readonly FailureCode[] = [
  'rpc',
  'reverted',
  'accountFunds',
  'feeCeiling',
  'relayerFunds',
  'policy',
  'budget',
  'stale',
  'timeout',
];

describe('the status of a proposal, in one sentence', () => {
  it.each<[SignatureStatus, string]>([
    ['pendingInitiatorSignature', 'Waits for the signature of its initiator.'],
    ['pendingReviewSignatures', 'Waits for signatures: 1 more to approve, or 2 more to reject.'],
    ['approvalReady', 'Approved. Waits for somebody to execute it.'],
    ['rejectionReady', 'Enough rejections. Waits for somebody to execute the rejection.'],
    [
      'approvalAndRejectionReady',
      'Enough approvals and enough rejections: whichever is executed first wins.',
    ],
    ['expired', 'Expired before it was executed.'],
  ])('before any execution, %s: %s', (signatureStatus, sentence) => {
    expect(proposalSentence(state({ signatureStatus }))).toBe(sentence);
  });

  it.each<[ExecutionStatus, boolean, string]>([
    ['completed', false, 'Executed. Nothing is left to do.'],
    ['rejected', false, 'Rejected. Nothing was changed.'],
    ['failed', true, 'The execution failed and waits for a retry.'],
    ['failed', false, 'Expired after an execution that was failed.'],
    ['blocked', true, 'A check refused the execution; nothing was changed.'],
    ['blocked', false, 'Expired after an execution that was blocked.'],
  ])('%s, open %s: %s', (executionStatus, open, sentence) => {
    expect(proposalSentence(state({ executionStatus, open }))).toBe(sentence);
  });

  it('while it is executed: how many deployments are in progress, and what each waits for', () => {
    const deployments = [
      aDeployment({ networkId: 1, status: 'completed', waitingFor: 'nothing' }),
      aDeployment({ networkId: 2, waitingFor: 'a lower gas price' }),
      aDeployment({ networkId: 3 }),
      aDeployment({ networkId: 4, waitingFor: 'funds' }),
    ];
    expect(proposalSentence(state({ executionStatus: 'processing', deployments }))).toBe(
      'Being executed; 3 of 4 deployments are in progress. Waiting: network 2: a lower gas price; network 4: funds.',
    );
    expect(
      proposalSentence(state({ executionStatus: 'processing', deployments: deployments.slice(2, 3) })),
    ).toBe('Being executed; 1 of 1 deployments are in progress.');
  });

  it('never asks for less than no signature', () => {
    const sentence = proposalSentence(state({ threshold: 1, approvals: [ada, bo] }));
    expect(sentence).toBe('Waits for signatures: 0 more to approve, or 1 more to reject.');
  });

  it('has one sentence for every state', () => {
    for (const signatureStatus of SIGNATURES) {
      for (const executionStatus of EXECUTIONS) {
        for (const open of [true, false]) {
          const sentence = proposalSentence(state({ signatureStatus, executionStatus, open }));
          expect(sentence).toMatch(/^[A-Z].*\.$/);
          expect(sentence).not.toMatch(/undefined|null|NaN/);
        }
      }
    }
  });

  it('refuses a status that the types rule out', () => {
    expect(() => proposalSentence(state({ executionStatus: 'surprise' as never }))).toThrow('surprise');
    expect(() => proposalSentence(state({ signatureStatus: 'surprise' as never }))).toThrow('surprise');
  });
});

describe('what an operator reads about a proposal', () => {
  it('is what is asked, its status, who signed, and until when', () => {
    expect(
      proposalDetails(
        state({ summary: 'Create the account "Treasury"', expiresAt: '2025-06-08T12:00:00.000Z' }),
      ),
    ).toBe(
      [
        '**Asked:** Create the account "Treasury"',
        '',
        '**Now:** Waits for signatures: 1 more to approve, or 2 more to reject.',
        '',
        `**Approved by:** "Ada" (${ada.id}) (1 of 2)`,
        '',
        '**Rejected by:** nobody (0 of 2)',
        '',
        '**Expires:** 2025-06-08T12:00:00.000Z',
      ].join('\n'),
    );
  });

  it('lists deployments, each with why it failed, what it waits for, or its transaction', () => {
    const hash = aHash();
    const deployments = [
      aDeployment({ accountId: 'acc_1', networkId: 1, status: 'completed', transactionHash: hash }),
      aDeployment({
        accountId: 'acc_1',
        networkId: 2,
        waitingFor: 'a lower gas price',
        transactionHash: hash,
      }),
      aDeployment({
        accountId: 'acc_1',
        networkId: 3,
        status: 'failed',
        failure: aFailure({ message: 'insufficient funds' }),
      }),
      aDeployment({ accountId: 'acc_1', networkId: 4 }),
    ];
    expect(
      proposalDetails(state({ executionStatus: 'processing', deployments }))
        .split('\n')
        .slice(-6),
    ).toEqual([
      '| Account | Network | Status | |',
      '|---|---|---|---|',
      `| acc_1 | 1 | completed | ${hash} |`,
      '| acc_1 | 2 | pending | a lower gas price |',
      '| acc_1 | 3 | failed | insufficient funds |',
      '| acc_1 | 4 | pending |  |',
    ]);
  });

  it.each(CODES)('says what to do about a failure of the kind %s while it can still change', (code) => {
    const failure = aFailure({ code, attempt: 3, transactionHash: '0xabc' });
    const failed = state({ executionStatus: 'failed', failure });
    expect(proposalDetails(failed)).toContain(
      `**Failure:** **${code}**, attempt 3, 2025-06-02T00:00:00.000Z, retryable: the network does not answer (transaction 0xabc)`,
    );
    expect(proposalDetails(failed)).toMatch(/\*\*What to do:\*\* [A-Z].*\.$/m);
    expect(proposalDetails({ ...failed, open: false })).not.toContain('What to do');
  });

  it('ends with its notes, each with its time', () => {
    const notes = [
      { at: '2025-06-02T00:00:00.000Z', code: 'adminLeft', message: 'an admin left' },
      { at: '2025-06-03T00:00:00.000Z', code: 'threshold', message: 'the threshold changed' },
    ];
    expect(proposalDetails(state({ notes })).split('\n').slice(-3)).toEqual([
      '**Note** (2025-06-02T00:00:00.000Z): an admin left',
      '',
      '**Note** (2025-06-03T00:00:00.000Z): the threshold changed',
    ]);
  });

  it('quotes the names of members, so that no name can be read as words of the service', () => {
    const mallory = aMember().withId('mem_m').named('Bo" (mem_b), "Chidi').build();
    expect(proposalDetails(state({ approvals: [mallory] }))).toContain(
      String.raw`**Approved by:** "Bo\\" (mem\_b), \\"Chidi" (mem_m) (1 of 2)`,
    );
  });

  it('keeps every name on its own line, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const details = proposalDetails(state({ approvals: [aMember().named(name).build()] }));
        expect(details.split('\n')).toHaveLength(proposalDetails(state()).split('\n').length);
      }),
    );
  });

  it('keeps a message from a chain in its own cell: it adds no row and no heading to the table', () => {
    const failure = aFailure({ code: 'reverted', message: 'no | completed |\n\n**What to do:** nothing' });
    const deployments = [aDeployment({ status: 'failed', failure })];
    const details = proposalDetails(state({ executionStatus: 'failed', deployments, failure }));
    expect(details.match(/^\*\*What to do:\*\*/gm)).toHaveLength(1);
    const row = details.split('\n').find((line) => line.startsWith('| acc_'));
    expect(row?.replaceAll('\\|', '').match(/\|/g)).toHaveLength(5);
  });

  it('cuts between characters, never through one', () => {
    const details = proposalDetails(state({ summary: `x${'😀'.repeat(2_000)}` }));
    expect(details).not.toMatch(/\p{Surrogate}/u);
  });
});
