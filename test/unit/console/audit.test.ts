import { auditFilter } from '../../../console/src/domain/auditFilter';
import { actionText, auditText } from '../../../console/src/text/audit';

const DAY_MS = 86_400_000;

describe('auditFilter', () => {
  it('asks for days of the reader, the last one included', () => {
    const {
      from = '',
      to = '',
      ...others
    } = auditFilter({
      resourceId: 'acc_1',
      from: '2026-06-01',
      to: '2026-06-02',
    });
    expect(others).toEqual({ resourceId: 'acc_1' });
    expect(new Date(from)).toEqual(new Date(2026, 5, 1));
    expect(Date.parse(to) - Date.parse(from)).toBe(2 * DAY_MS);
  });

  it('passes a month and a year', () => {
    expect(new Date(auditFilter({ to: '2026-12-31' }).to ?? '')).toEqual(new Date(2027, 0, 1));
  });

  it('leaves out what is not a day', () => {
    expect(auditFilter({ from: 'yesterday', to: '2026-6-1' })).toEqual({});
  });
});

describe('actionText', () => {
  it.each([
    ['proposal.signed', 'Proposal signed'],
    ['proposal.executionFailed', 'Proposal execution failed'],
    ['apiKey.issued', 'API key issued'],
    ['account.unknownExecution', 'Account unknown execution'],
  ])('says %s in words', (action, words) => {
    expect(actionText(action)).toBe(words);
  });
});

describe('auditText', () => {
  const names = {
    member: (id: string) => (id === 'mem_1' ? 'Ada' : undefined),
    group: () => undefined,
    account: () => undefined,
    policy: () => 'Rent',
  };
  it.each([
    ['policy.created', 'policy', { after: { name: 'Petty cash' } }, 'Policy “Petty cash” created'],
    ['policy.updated', 'policy', { before: { name: 'A' }, after: { name: 'B' } }, 'Policy “B” updated'],
    ['group.deleted', 'group', { before: { name: 'Finance' } }, 'Group “Finance” deleted'],
    ['member.registered', 'member', {}, 'Member “Ada” registered'],
    [
      'proposal.created',
      'proposal',
      { summary: 'Add member "Bob"\nwith 0x1' },
      'Proposal “Add member "Bob"” created',
    ],
    ['proposal.signed', 'proposal', { type: 'approve' }, 'Proposal approved'],
    ['transaction.signed', 'transaction', { type: 'initiator' }, 'Transaction signed by its initiator'],
    ['transaction.executed', 'transaction', { blockNumber: 12 }, 'Transaction executed in block 12'],
    [
      'transaction.executionFailed',
      'transaction',
      { failure: { code: 'rpc' } },
      'Transaction execution failed: The network did not answer',
    ],
    ['apiKey.issued', 'apiKey', {}, 'API key issued'],
    ['admins.updated', 'admin', { after: { threshold: 2 } }, 'Admins updated'],
  ])('says of %s what was done, with names', (action, resourceType, details, words) => {
    const resourceId = resourceType === 'member' ? 'mem_1' : 'x';
    expect(auditText({ action, resourceType, resourceId, details } as never, names)).toBe(words);
  });
});
