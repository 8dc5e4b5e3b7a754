import type { ProposalRecord } from '../../../src/domain/proposal';
import {
  foundText,
  type ReconcileSummary,
  reconcileDetails,
  repairOf,
  type WorkflowFound,
  type WorkflowGone,
} from '../../../src/domain/reconciliation';
import { parseProposalInput } from '../../../src/temporal/messages';
import { aMember, aProposal } from '../../support/builders';

const ada = aMember().named('Ada').build();
const open = aProposal().build();
const BEFORE = new Date(open.expiresAt.getTime() - 1_000);
const AFTER = new Date(open.expiresAt.getTime() + 1);
const RUN = 'e6a1f0a2-5b1c-4a52-9a70-3a1c6f9d2b11';

function ended(status: Exclude<WorkflowGone['status'], 'missing'>, byOperator: boolean): WorkflowGone {
  return { status, runId: RUN, byOperator, reason: '' };
}

const ENDS: readonly WorkflowGone[] = [
  { status: 'missing' },
  ended('completed', false),
  ended('failed', false),
  ended('timedOut', false),
  ended('terminated', false),
  ended('terminated', true),
  ended('cancelled', true),
];
const BY_OPERATOR = ENDS.filter((found) => 'byOperator' in found && found.byOperator);

describe('what becomes of an open proposal whose workflow is gone', () => {
  it.each(BY_OPERATOR)('that an operator has ended before anything was signed: closed ($status)', (found) => {
    expect(repairOf(open, BEFORE, found)).toBe('close');
  });

  it.each(ENDS.filter((found) => !BY_OPERATOR.includes(found)))(
    'that nobody has ended: started again ($status)',
    (found) => {
      expect(repairOf(open, BEFORE, found)).toBe('restart');
    },
  );

  it.each<[string, Partial<ProposalRecord>]>([
    ['signed', { votes: aProposal().approvedBy(ada).build().votes }],
    [
      'rejected by one',
      {
        votes: aProposal()
          .approvedBy(ada)
          .build()
          .votes.map((vote) => ({ ...vote, type: 'reject' })),
      },
    ],
    ['being executed', { executionStatus: 'processing' }],
    ['blocked', { executionStatus: 'blocked' }],
    ['failed', { executionStatus: 'failed' }],
    ['applied', { applied: true }],
  ])('that is %s: started again, however it ended', (_, change) => {
    for (const found of ENDS) expect(repairOf({ ...open, ...change }, BEFORE, found)).toBe('restart');
  });

  it('after its expiry: started again, to expire', () => {
    for (const found of ENDS) expect(repairOf(open, AFTER, found)).toBe('restart');
  });

  it('that runs, or whose record is closed: nothing', () => {
    expect(repairOf(open, BEFORE, { status: 'running' })).toBeNull();
    const all: WorkflowFound[] = [...ENDS, { status: 'running' }];
    for (const found of all) expect(repairOf({ ...open, closed: true }, BEFORE, found)).toBeNull();
  });
});

it('how it was found is told in words', () => {
  expect(ENDS.map(foundText)).toEqual([
    'was missing',
    'had ended before it',
    'had failed',
    'had timed out',
    'was terminated',
    'was terminated by an operator',
    'was cancelled by an operator',
  ]);
  expect(foundText({ status: 'terminated', runId: RUN, byOperator: true, reason: 'a mistake' })).toBe(
    'was terminated by an operator (reason given: a mistake)',
  );
});

describe('the words of a pass', () => {
  const nothing: ReconcileSummary = {
    open: 3,
    running: 2,
    listed: true,
    restarted: 0,
    closed: 0,
    refreshed: 0,
    noted: 0,
    postponed: 0,
    failed: 0,
    repairs: [],
  };

  it('say that nothing was to be done', () => {
    expect(reconcileDetails(nothing)).toBe(
      '**Compared:** 3 open proposals and transactions with 2 running workflows, one by one.\n\nNothing was to be done.',
    );
    expect(reconcileDetails({ ...nothing, listed: false })).toContain('running workflows, by their number.');
  });

  it('say what was done, and to what', () => {
    const repairs = ['prop_1: its workflow was missing and was started again'];
    const text = reconcileDetails({ ...nothing, restarted: 1, failed: 2, repairs });
    expect(text).toContain('- 1 workflows started again\n- 2 repairs that did not succeed');
    expect(text).toContain(`- ${repairs[0]}`);
    expect(text).not.toContain('Nothing was to be done');
  });
});

describe('what a restarted workflow is told of the one before it', () => {
  const input = {
    organizationId: 'org_1',
    proposalId: 'prop_1',
    resourceType: 'accounts',
    action: 'create',
    queues: { chain: 'c', signer: 's' },
  };

  it.each(ENDS)('is taken as it is: $status', (found) => {
    expect(parseProposalInput({ ...input, found })).toMatchObject({ found });
    expect(parseProposalInput(input)).not.toHaveProperty('found');
  });

  it('holds nothing else', () => {
    const found = { ...ended('failed', false), more: 'x' };
    expect(parseProposalInput({ ...input, found }).found).toEqual(ended('failed', false));
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a text', 'missing'],
    ['another status', { status: 'running' }],
    ['a status alone', { status: 'terminated' }],
    ['a run id that is none', { ...ended('failed', false), runId: 'x' }],
    ['words for true', { ...ended('failed', false), byOperator: 'yes' }],
    ['a reason of two lines', { ...ended('failed', false), reason: 'a\nb' }],
    ['a reason without end', { ...ended('failed', false), reason: 'a'.repeat(501) }],
  ])('is refused when it is %s', (_, found) => {
    expect(() => parseProposalInput({ ...input, found })).toThrow(TypeError);
  });
});
