import { foldName } from '../../../src/domain/names';

describe('a name as its readers see it', () => {
  it.each([
    ['Payroll', 'PAYROLL'],
    ['Payroll', ' Pay\u00adroll '],
    ['Payroll', 'Ｐａｙｒｏｌｌ'],
    ['Pay roll', 'Pay\u00a0 roll'],
    ['Zoë', 'Zoe\u0308'],
    ['Straße', 'STRASSE'],
    ['ΟΔΟΣ', 'οδος'],
    ['office', 'oﬃce'],
  ])('is the same for %j and %j', (one, two) => {
    expect(foldName(two)).toBe(foldName(one));
  });

  it.each([
    ['Payroll', 'Payroll 2'],
    ['Pay roll', 'Payroll'],
    ['Zoe', 'Zoë'],
    ['李雷', '李磊'],
  ])('differs for %j and %j', (one, two) => {
    expect(foldName(two)).not.toBe(foldName(one));
  });

  it('is itself folded', () => {
    for (const name of ['İstanbul', 'ǅ', 'ẞ', 'ﬀ', 'ΐ', 'ſ'])
      expect(foldName(foldName(name))).toBe(foldName(name));
  });
});
