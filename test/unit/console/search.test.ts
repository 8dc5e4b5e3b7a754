import { auditSearch, historySearch, searchTexts } from '../../../console/src/domain/search';

describe('what the address of a page asks for', () => {
  it('is read as texts, also where it looks like a number', () => {
    expect(historySearch({ status: 'queued', networkId: 31337 })).toEqual({
      status: 'queued',
      networkId: '31337',
    });
  });

  it('has no field that is empty, unknown or not a text', () => {
    expect(auditSearch({ action: '', other: 'x', from: ['2026-06-01'], to: null })).toEqual({});
    expect(searchTexts('a')({ a: { b: 1 } })).toEqual({});
  });
});
