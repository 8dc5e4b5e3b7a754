import { auditFilter } from '../../../console/src/domain/auditFilter';
import { actionText } from '../../../console/src/text/audit';

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
    ['apiKey.issued', 'Api key issued'],
    ['account.unknownExecution', 'Account unknown execution'],
  ])('says %s in words', (action, words) => {
    expect(actionText(action)).toBe(words);
  });
});
