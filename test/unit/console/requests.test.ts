import type { Approval, Schema, Transaction } from '@orgwallet/client';
import { asOf } from '../../../console/src/domain/past.ts';
import { repeated } from '../../../console/src/domain/repeated.ts';
import { requestFilter } from '../../../console/src/domain/requestFilter.ts';
import { mergePage, placeAfter, placesText, readPlaces } from '../../../console/src/domain/requestPages.ts';
import { tabOf } from '../../../console/src/domain/requestTab.ts';
import { csv } from '../../../console/src/text/csv.ts';
import { TRANSACTION_COLUMNS } from '../../../console/src/text/csvColumns.ts';
import { failureTitle } from '../../../console/src/text/failures.ts';
import { doneText } from '../../../console/src/text/labels.ts';
import { requestColumns } from '../../../console/src/text/requestColumns.ts';
import { missingOf, missingText, signedText } from '../../../console/src/text/requestRow.ts';
import { requestStatus } from '../../../console/src/text/requestStatus.ts';
import { timelineOf } from '../../../console/src/text/timeline.ts';
import { voteReason } from '../../../console/src/text/voteReason.ts';

const person = (name: string) =>
  ({ id: `mem_${name}`, name, type: 'user', walletAddress: `0x${name}`, walletKind: 'key' }) as const;
const [ALICE, BOB, DAVE] = [person('Alice'), person('Bob'), person('Dave')];
const POLICY = {
  id: 'pol_1',
  name: 'Payments',
  approverSetting: { type: 'group', groupId: 'grp_1', threshold: 2, excludeInitiator: true },
  initiatorSetting: null,
} as unknown as Schema['Policy'];
const GROUPS = [{ id: 'grp_1', members: [ALICE, BOB, DAVE] }];
const LATER = '2099-01-01T00:00:00Z';
const NOW = Date.parse('2026-06-01T00:00:00Z');

/** A transfer that Dave has signed and nobody has approved. */
const transfer = (more: object = {}) =>
  ({
    id: 'txn_1',
    type: 'TOKEN_TRANSFER',
    accountId: 'acc_1',
    networkId: 1,
    description: 'Rent',
    value: '1500000000000000000',
    tags: ['Rent'],
    metadata: {},
    policy: { id: 'pol_1', threshold: 2 },
    initiator: DAVE,
    threshold: 2,
    approvals: [],
    rejections: [],
    notes: [],
    signatureStatus: 'pendingReviewSignatures',
    executionStatus: null,
    signingPayloads: { approvePayload: '{}', rejectPayload: '{}' },
    createdAt: '2026-05-01T00:00:00.000Z',
    expiresAt: LATER,
    data: {
      destination: `0x${'b'.repeat(40)}`,
      rawAmount: '1234567891234567891234',
      displayAmount: '1234.567891234567891234',
      asset: { id: '1:0x0', symbol: 'ETH', decimals: 18, tokenAddress: `0x${'0'.repeat(40)}` },
    },
    ...more,
  }) as unknown as Transaction;
const viewer = (one: typeof ALICE, isAdmin = false) => ({
  memberId: one.id,
  isAdmin,
  policies: [POLICY],
  groups: GROUPS,
});

describe('a request is in the tab', () => {
  it.each([
    ['of those who can approve it', transfer(), ALICE, 'you'],
    ['of what goes on, once they have', transfer({ approvals: [ALICE] }), ALICE, 'progress'],
    [
      'of its initiator, who has to sign it',
      transfer({ signingPayloads: { initiatorPayload: '' } }),
      DAVE,
      'you',
    ],
    ['of what goes on, for its initiator', transfer(), DAVE, 'progress'],
    [
      'of what is ready, also for those who have signed',
      transfer({ signatureStatus: 'approvalReady' }),
      DAVE,
      'ready',
    ],
    ['of what goes on while it is executed', transfer({ executionStatus: 'processing' }), ALICE, 'progress'],
    [
      'of what has failed, also where it can be executed again',
      transfer({ executionStatus: 'failed' }),
      ALICE,
      'failed',
    ],
    [
      'of what has failed, where a check refused it',
      transfer({ executionStatus: 'blocked' }),
      ALICE,
      'failed',
    ],
    ['of what is done', transfer({ executionStatus: 'rejected' }), ALICE, 'done'],
    [
      'of what has expired while it is looked at',
      transfer({ expiresAt: '2026-05-31T23:59:59Z' }),
      ALICE,
      'expired',
    ],
  ])('%s', (_, request, member, tab) => {
    expect(tabOf(request, viewer(member), NOW)).toBe(tab);
  });
});

describe('a file has of a token', () => {
  const unknown = transfer({
    summary: `Send 1234567891234567891234 raw units of the token 0x${'1'.repeat(40)} to 0x`,
  });

  const none = () => undefined;
  const names = { account: none, network: none, owner: none, noted: none, nativeAsset: none, policies: [] };

  it('what is signed of it, and not what it says of itself', () => {
    for (const columns of [TRANSACTION_COLUMNS, requestColumns(names)]) {
      const texts = Object.fromEntries(columns.map(([heading, text]) => [heading, text(unknown)]));
      expect([texts.amount, texts.symbol]).toEqual(['1234567891234567891234', '']);
      const known = Object.fromEntries(columns.map(([heading, text]) => [heading, text(transfer())]));
      expect([known.amount, known.symbol]).toEqual(['1234.567891234567891234', 'ETH']);
    }
  });
});

describe('a row says', () => {
  const electorate = { members: [ALICE, BOB, DAVE], groups: GROUPS, policies: [POLICY] };

  it('who has signed and who is missing', () => {
    const approved = transfer({ approvals: [ALICE] });
    const missing = missingOf(approved, electorate, []);
    expect([signedText(approved), missing && missingText(missing)]).toEqual(['Dave, Alice', 'Bob']);
    const rejected = transfer({ rejections: [BOB] });
    expect([signedText(rejected), missingOf(rejected, electorate, [])?.people]).toEqual([
      'Dave; rejected by Bob',
      [ALICE],
    ]);
  });

  it('no name as two, nor as what has happened', () => {
    const eve = person('Bob; rejected by Alice');
    const both = person('Alice and Bob');
    expect(signedText(transfer({ approvals: [eve] }))).toBe('Dave, “Bob; rejected by Alice”');
    expect(missingText({ count: 2, people: [both, DAVE] })).toBe('“Alice and Bob” and Dave');
    const [created] = timelineOf('txn_1', [
      {
        id: 'aud_1',
        resourceId: 'txn_1',
        action: 'transaction.signed',
        actor: { ...eve, type: 'member' },
        details: { type: 'approve' },
        createdAt: LATER,
      } as unknown as Schema['AuditLogEntry'],
    ]);
    expect(created?.text).toBe('“Bob; rejected by Alice” approved');
  });

  it.each([
    [1, [ALICE, BOB], 'Alice or Bob'],
    [2, [ALICE, BOB], 'Alice and Bob'],
    [2, [ALICE, BOB, DAVE], '2 of Alice, Bob and Dave'],
    [1, [ALICE, BOB, DAVE, ALICE, BOB], 'Alice, Bob or 3 others'],
    [1, [], 'nobody can sign it now'],
  ])('that %i of some are missing', (count, people, text) => {
    expect(missingText({ count, people })).toBe(text);
  });
});

describe('what is looked for', () => {
  it('is asked of both lists, of accounts and the like of transactions alone', () => {
    const day = (text: string) => new Date(`${text}T00:00:00`).toISOString();
    expect(requestFilter({ text: 'rent', from: '2026-05-01', to: '2026-05-02' })).toEqual({
      transactions: { text: 'rent', from: day('2026-05-01'), to: day('2026-05-03') },
      proposals: { text: 'rent', from: day('2026-05-01'), to: day('2026-05-03') },
    });
    expect(requestFilter({ accountId: 'acc_1' })).toEqual({
      transactions: { accountId: 'acc_1' },
      proposals: undefined,
    });
    expect(requestFilter({ kind: 'policies', text: '&' })).toEqual({
      transactions: undefined,
      proposals: { resourceType: 'policies' },
    });
    expect(requestFilter({ kind: 'nonsense' })).toEqual({ transactions: {}, proposals: {} });
    expect(requestFilter({ networkId: '1', missingMemberId: 'mem_1' })).toEqual({
      transactions: { networkId: 1, missingMemberId: 'mem_1' },
      proposals: { networkId: 1, missingMemberId: 'mem_1' },
    });
    expect(requestFilter({ networkId: 'x', tag: 'rent', externalId: 'inv-1' })).toEqual({
      transactions: { tag: 'rent', externalId: 'inv-1' },
      proposals: undefined,
    });
  });
});

describe('a page of two lists', () => {
  const rows = (...times: number[]) =>
    times.map((time) => ({ id: String(time), createdAt: String(time) }) as unknown as Approval);
  const part = (cursor: string | undefined, ...times: number[]) => ({ rows: rows(...times), cursor });
  const ids = ({ rows: all }: { readonly rows: readonly Approval[] }) => all.map(({ id }) => Number(id));

  it('has the newest of both, and says how many of each', () => {
    const page = mergePage(part('t', 9, 7, 5), part(undefined, 8, 2), 4);
    expect([ids(page), page.taken, page.hasMore]).toEqual([[9, 8, 7, 5], [3, 1], true]);
  });

  it('ends before what a shorter page has left out', () => {
    const page = mergePage(part('t', 9), part(undefined, 8, 2), 4);
    expect([ids(page), page.hasMore]).toEqual([[9], true]);
    const whole = mergePage(part(undefined, 9), part(undefined, 8), 4);
    expect([ids(whole), whole.hasMore]).toEqual([[9, 8], false]);
    expect(mergePage(undefined, part(undefined), 4)).toMatchObject({ rows: [], hasMore: false });
  });

  it('is followed by the next, whose places the service says or is asked for', async () => {
    const asked: number[] = [];
    const ask = async (taken: number) => {
      asked.push(taken);
      return `after${taken}`;
    };
    const list = part('end', 9, 7, 5);
    expect(await placeAfter('', list, 3, ask)).toBe('end');
    expect(await placeAfter('', list, 2, ask)).toBe('after2');
    expect(await placeAfter('here', list, 0, ask)).toBe('here');
    expect(asked).toEqual([2]);
    const last = await placeAfter('', part(undefined, 9), 1, ask);
    expect(mergePage(undefined, part(undefined, 1), 4).rows).toHaveLength(1);
    expect(readPlaces(placesText([last, 'p']))).toEqual([last, 'p']);
    expect(readPlaces(undefined)).toEqual(['', '']);
  });
});

describe('what has become of a request', () => {
  it('is never called done where it was not executed', () => {
    expect(doneText(transfer())).toBe('Your signature was recorded.');
    expect(doneText(transfer({ executionStatus: 'completed' }))).toBe('Executed.');
    for (const executionStatus of ['blocked', 'failed']) {
      expect(doneText(transfer({ executionStatus }))).toMatch(/not executed/);
    }
  });

  it('has a title in words, also of a code that is new', () => {
    const failure = { code: 'rpc', message: 'it timed out.', at: LATER, attempt: 1, resumes: true };
    const seen = { isExpired: false, needsViewer: false, missing: undefined };
    expect(requestStatus(transfer({ executionStatus: 'failed', failure }), seen)).toEqual({
      title: 'Failed: The network did not answer',
      text: 'it timed out. It continues by itself: do not request it again.',
      tone: 'danger',
    });
    expect(failureTitle('brandNew')).toBe('It was not executed');
  });

  it('says what to do while it is open', () => {
    const missing = { count: 1, people: [BOB] };
    expect(requestStatus(transfer(), { isExpired: false, needsViewer: true, missing })).toMatchObject({
      title: 'Needs your signature',
      text: 'Missing: Bob.',
    });
    expect(requestStatus(transfer(), { isExpired: true, needsViewer: true, missing }).title).toBe('Expired');
  });

  it('is told from the audit log: votes with their reasons, attempts, the block', () => {
    const entry = (action: string, details: object, actor: object = { type: 'member', name: 'Alice' }) => ({
      id: action,
      resourceId: 'txn_1',
      action: `transaction.${action}`,
      actor,
      details,
      createdAt: LATER,
    });
    const service = { type: 'system', name: 'orgwallet' };
    const entries = [
      entry('executed', { blockNumber: 7, transactionHash: '0x12' }, service),
      entry('executionFailed', { attempt: 2, failure: { code: 'rpc', message: 'timeout' } }, service),
      entry('signed', { type: 'reject', reason: 'Too much' }),
      entry('created', {}),
      entry('somethingNew', {}, service),
      { ...entry('executed', {}, service), resourceId: 'txn_2' },
    ];
    expect(timelineOf('txn_1', entries as never).map(({ text, reason }) => [text, reason])).toEqual([
      ['Transaction something new', undefined],
      ['Alice created it', undefined],
      ['Alice rejected', 'Too much'],
      ['The execution failed (attempt 2): The network did not answer', 'timeout'],
      ['Executed in block 7', undefined],
    ]);
  });

  it('has a reason where somebody has nothing to sign', () => {
    expect(voteReason(transfer(), viewer(ALICE))).toBeUndefined();
    expect(voteReason(transfer(), viewer(DAVE))).toBe(
      'The policy “Payments” does not name you as an approver.',
    );
    const unsigned = transfer({
      signatureStatus: 'pendingInitiatorSignature',
      signingPayloads: { initiatorPayload: '' },
    });
    expect(voteReason(unsigned, viewer(ALICE))).toBe('Dave, who created it, has to sign it first.');
    const proposal = { ...transfer(), resourceType: 'members' } as unknown as Approval;
    expect(voteReason(proposal, viewer(ALICE))).toBe('Only admins sign proposals.');
  });
});

describe('a record as it was', () => {
  const entry = (position: string, details: object, action = 'policy.updated') => ({
    position,
    details,
    action,
  });

  it('has none of the changes since', () => {
    const log = [
      entry('9', { before: { name: 'B' }, after: { name: 'C' } }),
      entry('7', { before: { name: 'A' }, after: { name: 'B' } }),
      entry('5', { before: { name: '0' }, after: { name: 'A' } }),
    ];
    expect(asOf({ id: 1, name: 'C' }, log, 6n)).toEqual({ id: 1, name: 'A' });
    expect(asOf({ id: 1, name: 'C' }, log, 8n)).toEqual({ id: 1, name: 'B' });
  });

  it('is there before its removal, and not before its creation', () => {
    const log = [entry('9', { before: { name: 'B' } }), entry('7', { after: { name: 'B' } })];
    expect(asOf(undefined, log, 8n)).toEqual({ name: 'B' });
    expect(asOf(undefined, log, 6n)).toBeUndefined();
  });

  it('of an account is not on the networks that were added later', () => {
    const log = [entry('9', { networkId: 2 }, 'account.deployed')];
    const account = { name: 'T', networks: [{ id: 1 }, { id: 2 }] };
    expect(asOf(account, log, 8n)).toEqual({ name: 'T', networks: [{ id: 1 }] });
  });
});

describe('a repeated transaction', () => {
  it('has the exact amount, and its function with its arguments', () => {
    expect(repeated(transfer())).toEqual({
      form: 'transfer',
      draft: {
        accountId: 'acc_1',
        networkId: '1',
        description: 'Rent',
        replaces: '',
        externalId: '',
        tags: 'Rent',
        token: `0x${'0'.repeat(40)}`,
        to: `0x${'b'.repeat(40)}`,
        amount: '1234.567891234567891234',
      },
    });
    const call = transfer({
      type: 'CONTRACT_INTERACTION',
      data: {
        toAddress: '0xc',
        functionName: 'mint',
        functionParameters: [
          { name: 'to', type: 'address', value: '0xd' },
          { name: '', type: 'uint256', value: '5' },
        ],
      },
    });
    expect(repeated(call, { replaces: 'txn_0' })?.draft).toMatchObject({
      abi: 'mint(address to, uint256)',
      args: ['0xd', '5'],
      value: '1.5',
      replaces: 'txn_0',
    });
    const unknown = transfer({
      type: 'CONTRACT_INTERACTION',
      data: { toAddress: '0xc', calldata: '0x12345678' },
    });
    expect(repeated(unknown)).toBeUndefined();
  });
});

describe('the file of requests', () => {
  it('has names, exact amounts, the time of the block and the fee', () => {
    const organization = {
      policies: [POLICY],
      account: () => 'Treasury',
      network: () => 'Ethereum',
      nativeAsset: () => ({ symbol: 'ETH', decimals: 18 }),
      owner: () => 'Landlord',
      noted: () => undefined,
    };
    const columns = requestColumns(organization);
    const result = { executedAt: LATER, blockNumber: 7, transactionHash: '0x12' };
    const fees = {
      paid: '1250000021000000000000',
      gasUsed: '21000',
      dataFee: '0',
      chainTransactions: 1,
      unknown: 0,
    };
    const cells = (one: Approval) => (name: string) => {
      const column = columns.find(([heading]) => heading === name);
      return csv(column ? [column] : [], [one]).split('\r\n')[1];
    };
    const paid = cells(transfer({ result, fees, executionStatus: 'completed' }));
    expect(
      ['account', 'network', 'recipient', 'policy', 'amount', 'executedAt', 'fee', 'feeSymbol'].map(paid),
    ).toEqual([
      ...['Treasury', 'Ethereum', 'Landlord', 'Payments'],
      ...['1234.567891234567891234', LATER, '1250.000021', 'ETH'],
    ]);
    const proposal = {
      ...transfer(),
      kind: 'members/create',
      resourceType: 'members',
      action: 'create',
      data: { items: [{ id: 'mem_1', name: 'Eve' }] },
    } as unknown as Approval;
    expect(['kind', 'title', 'account'].map(cells(proposal))).toEqual([
      'members/create',
      'Add member “Eve”',
      '',
    ]);
  });
});
