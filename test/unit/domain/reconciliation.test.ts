import {
  foundText,
  type ReconcileSummary,
  type Repairable,
  reconcileDetails,
  repairOf,
  type WorkflowFound,
  type WorkflowGone,
} from '../../../src/domain/reconciliation';
import { parseProposalInput, parseTransactionInput } from '../../../src/temporal/messages';
import { aMember, aProposal } from '../../support/builders';
import { aTransaction } from '../../support/transactionRecords';

const ada = aMember().named('Ada').build();
const open: Repairable & { readonly expiresAt: Date } = aProposal().build();
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

describe('an open approval whose workflow is gone', () => {
  it.each(BY_OPERATOR)('that an operator has ended before anything was signed: closed ($status)', (found) => {
    expect(repairOf(open, BEFORE, found)).toBe('close');
  });

  it.each(ENDS.filter((found) => !BY_OPERATOR.includes(found)))(
    'that nobody has ended: started again ($status)',
    (found) => {
      expect(repairOf(open, BEFORE, found)).toBe('restart');
    },
  );

  it.each<[string, Partial<Repairable>]>([
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
    ['signed by its initiator', { votes: aTransaction().initiated().build().votes }],
    ['being executed', { executionStatus: 'processing', executionAttempt: 1 }],
    ['blocked', { executionStatus: 'blocked', executionAttempt: 1 }],
    ['failed', { executionStatus: 'failed', executionAttempt: 2 }],
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

it('describes how a workflow was found', () => {
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

describe('the summary of a pass', () => {
  const nothing: ReconcileSummary = {
    open: 3,
    running: 2,
    compared: 1,
    restarted: 0,
    closed: 0,
    refreshed: 0,
    noted: 0,
    postponed: 0,
    failed: 0,
    networkIds: [],
    repairs: [],
  };

  it('says that there was nothing to repair', () => {
    expect(reconcileDetails(nothing)).toBe(
      '**Compared:** 3 open proposals and transactions with 2 running workflows by count, 1 one by one.\n\nNothing to repair.',
    );
  });

  it('says what was done, and to what', () => {
    const repairs = ['prop_1: its workflow was missing and was started again'];
    const text = reconcileDetails({ ...nothing, restarted: 1, failed: 2, repairs });
    expect(text).toContain('- 1 workflows restarted\n- 2 repairs failed; the next pass retries them');
    expect(text).toContain(`- ${repairs[0]}`);
    expect(text).not.toContain('Nothing to repair');
  });
});

describe('what a restarted workflow receives about the one before it', () => {
  const input = { organizationId: 'org_1', id: 'prop_1', queues: { chain: 'c', signer: 's' } };
  const parsers: readonly (readonly [string, (found?: unknown) => { found?: WorkflowGone | undefined }])[] = [
    [
      'proposal',
      (found) =>
        parseProposalInput({
          ...input,
          resourceType: 'accounts',
          action: 'create',
          ...(found === undefined ? {} : { found }),
        }),
    ],
    [
      'transaction',
      (found) => parseTransactionInput({ ...input, ...(found === undefined ? {} : { found }) }),
    ],
  ];

  describe.each(parsers)('of a %s', (_subject, parse) => {
    it.each(ENDS)('is kept: $status', (found) => {
      expect(parse(found)).toMatchObject({ found });
      expect(parse()).not.toHaveProperty('found');
    });

    it('holds nothing else', () => {
      const found = { ...ended('failed', false), more: 'x' };
      expect(parse(found).found).toEqual(ended('failed', false));
    });

    it.each<[string, unknown]>([
      ['null', null],
      ['a text', 'missing'],
      ['another status', { status: 'running' }],
      ['a status alone', { status: 'terminated' }],
      ['an invalid run id', { ...ended('failed', false), runId: 'x' }],
      ['a string instead of a boolean', { ...ended('failed', false), byOperator: 'yes' }],
      ['a reason of two lines', { ...ended('failed', false), reason: 'a\nb' }],
      ['a reason that is too long', { ...ended('failed', false), reason: 'a'.repeat(501) }],
    ])('is refused when it is %s', (_, found) => {
      expect(() => parse(found)).toThrow(TypeError);
    });
  });
});
