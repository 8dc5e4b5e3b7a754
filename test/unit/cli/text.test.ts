import { duration, plainText, printable, table } from '../../../src/cli/text';
import { proposalDetails } from '../../../src/domain/operatorText';
import type { ProposalState } from '../../../src/domain/proposal';

describe('what a terminal shows', () => {
  it('has no control characters from outside, and keeps its lines', () => {
    expect(printable('a\u001b[2Jb\nc\u202ed\u2028\r')).toBe('a\uFFFD[2Jb\nc\uFFFDd\uFFFD\uFFFD');
  });

  it('keeps letters of every script', () => {
    expect(printable('Zoë 李雷 العربية')).toBe('Zoë 李雷 العربية');
  });

  it('has columns as wide as their widest cell, counted in characters', () => {
    expect(
      table(
        ['id', 'name'],
        [
          ['1', '😀😀😀'],
          ['22', 'b'],
        ],
        'none',
      ),
    ).toBe('id  name\n1   😀😀😀\n22  b');
    expect(table(['id'], [], 'none')).toBe('none');
  });

  it.each([
    [0, '0 s'],
    [-5, '0 s'],
    [119_000, '119 s'],
    [120_000, '2 min'],
    [3 * 3_600_000, '3 h'],
    [9 * 86_400_000, '9 d'],
  ])('shows %s ms as %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });
});

describe('the details of the Temporal UI on a terminal', () => {
  const state: ProposalState = {
    id: 'prop_1',
    organizationId: 'org_1',
    resourceType: 'accounts',
    action: 'create',
    version: 3,
    summary: 'Create account "a*b|c\\d`e" on "Chain" (1)',
    signatureStatus: 'approvalReady',
    executionStatus: 'failed',
    decision: 'approve',
    applied: true,
    threshold: 1,
    approvals: [{ id: 'mem_1', name: '**Eve**', type: 'user', walletAddress: '0x', walletKind: 'key' }],
    rejections: [],
    ready: ['approve'],
    createdAt: '2025-12-25T00:00:00.000Z',
    expiresAt: '2026-01-01T00:00:00.000Z',
    open: true,
    expired: false,
    closed: false,
    failure: { code: 'rpc', message: 'x_y | <z>', at: '2025-01-01T00:00:00.000Z', attempt: 1 },
    notes: [],
    deployments: [
      {
        accountId: 'acc_1',
        networkId: 1,
        status: 'failed',
        transactionHash: null,
        failure: { code: 'rpc', message: 'no | answer', at: '2025-01-01T00:00:00.000Z', attempt: 1 },
        waitingFor: null,
      },
      {
        accountId: 'acc_1',
        networkId: 2,
        status: 'completed',
        transactionHash: '0xabc',
        failure: null,
        waitingFor: null,
      },
    ],
  };
  const text = plainText(proposalDetails(state));

  it('are without Markdown', () => {
    expect(text).toContain('Asked: Create account "a*b|c\\d`e" on "Chain" (1)');
    expect(text).toContain('Failure: rpc, attempt 1, 2025-01-01T00:00:00.000Z, retryable: x_y | <z>');
    expect(text).toContain('Approved by: "**Eve**" (mem_1) (1 of 1)');
    expect(text).toMatch(/What to do: Bring the network back \(see \.\/orgwallet doctor\)/);
  });

  it('show the deployments as columns', () => {
    expect(text).toMatch(/^Account {2}Network {2}Status$/m);
    expect(text).toMatch(/^acc_1 {4}1 {8}failed {5}no \| answer$/m);
    expect(text).toMatch(/^acc_1 {4}2 {8}completed {2}0xabc$/m);
  });
});
