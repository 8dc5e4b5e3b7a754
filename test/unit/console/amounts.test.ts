import fc from 'fast-check';
import {
  amountText,
  assetText,
  decimalSign,
  decimalText,
  readAmount,
  shortAmountText,
  typedText,
} from '../../../console/src/domain/amounts.ts';

describe('an amount', () => {
  it.each([
    ['0', 18, '0'],
    ['1', 18, '0.000000000000000001'],
    ['1250500000000000000000', 18, '1\u202f250.5'],
    ['1234567890', 0, '1\u202f234\u202f567\u202f890'],
    ['100', 2, '1'],
    [(2n ** 256n - 1n).toString(), 0, (2n ** 256n - 1n).toLocaleString('en-US').replaceAll(',', '\u202f')],
  ])('%s with %i decimals is shown as %s, to the last digit', (raw, decimals, text) => {
    expect(amountText(raw, decimals)).toBe(text);
  });

  it.each([
    ['1234567891234567891', 18, '1.23457'],
    ['1234567891234567891234', 18, '1\u202f234.57'],
    ['1234567891234', 6, '1\u202f234\u202f567.891234', '1\u202f234\u202f567.89'],
    ['123456789', 18, '0.000000000123457'],
    ['999999500000', 6, '999\u202f999.5'],
    ['999999996000', 6, '1\u202f000\u202f000'],
    ['1500000', 6, '1.5'],
    ['1234567890', 0, '1\u202f234\u202f567\u202f890'],
    ['0', 18, '0'],
  ])(
    '%s with %i decimals has six significant digits in a sentence, or two decimals: %s',
    (raw, decimals, ...texts) => {
      expect(shortAmountText(raw, decimals)).toBe(texts.at(-1));
    },
  );

  it('has no comma as it is shown, and is read as it is shown, whatever the decimal sign', () => {
    for (const raw of ['1250', '1250000', '1234567891']) {
      const shown = amountText(raw, 0);
      expect(shown).not.toMatch(/[.,]/);
      for (const sign of ['.', ','] as const) expect(readAmount(shown, 0, sign)).toEqual({ raw });
    }
  });

  it.each([
    ['1,250.50', 6, { raw: '1250500000' }],
    [' 0.000001 ', 6, { raw: '1' }],
    ['1.0000000', 6, { raw: '1000000' }],
    ['007', 0, { raw: '7' }],
  ])('typed as %s with %i decimals is read', (text, decimals, read) => {
    expect(readAmount(text, decimals)).toEqual(read);
  });

  it.each([
    ['', 18],
    ['1,25', 18],
    ['1.2.3', 18],
    ['-1', 18],
    ['1e18', 18],
    ['0x10', 18],
    ['٣', 18],
  ])('typed as "%s" is refused', (text, decimals) => {
    expect(readAmount(text, decimals)).toEqual({
      error: 'Invalid amount (expected digits, such as 1250 or 0.05)',
    });
  });

  it.each([
    ['0,5', 18, '500000000000000000'],
    ['0.5', 18, '500000000000000000'],
    ['0,125', 3, '125'],
    ['0.125', 3, '125'],
    ['1.250,5', 1, '12505'],
    ['1,250.5', 1, '12505'],
    ['1 250,5', 1, '12505'],
    ['1\u202f250\u202f000', 0, '1250000'],
    ['1.250.000', 0, '1250000'],
    ['1,250,000', 0, '1250000'],
    ['1250,125', 3, '1250125'],
    ['1250.125', 3, '1250125'],
    ['1,2500', 4, '12500'],
    ['1.2500', 4, '12500'],
    ['12,5', 1, '125'],
    ['100', 2, '10000'],
  ])('typed as %s with %i decimals is read where a comma is the decimal sign', (text, decimals, raw) => {
    expect(readAmount(text, decimals, ',')).toEqual({ raw });
  });

  it.each(['1.250', '1,250', '999,999', '01.250', '001,250'])(
    'typed as %s has two meanings there, and is refused',
    (text) => {
      const [, units, thousandths] = /^0*(\d+)\D(\d+)$/.exec(text) ?? [];
      expect(readAmount(text, 6, ',')).toEqual({
        error: `Ambiguous amount (write ${units}${thousandths}, or ${units},${thousandths}0)`,
      });
    },
  );

  it.each(['1,250', '12,500', '01,250'])(
    'typed as %s is refused where a point is the decimal sign, too: the browser may speak another language',
    (text) => {
      const [, units, thousandths] = /^0*(\d+),(\d+)$/.exec(text) ?? [];
      expect(readAmount(text, 6, '.')).toEqual({
        error: `Ambiguous amount (write ${units}${thousandths}, or ${units}.${thousandths}0)`,
      });
    },
  );

  it.each([
    ['1.250', 3, '1250'],
    ['0,125', 3, undefined],
    ['1,250,000', 0, '1250000'],
    ['1,250.5', 1, '12505'],
  ])('typed as %s has one meaning where a point is the decimal sign', (text, decimals, raw) => {
    expect(readAmount(text, decimals, '.')).toEqual(
      raw === undefined ? { error: expect.stringMatching(/^Invalid amount/) } : { raw },
    );
  });

  it.each(['１２５', '1\u2009250', '1.2５0', '٣٫٥', '1’250', '1_000', '+1', '½', '∞', '1 250 00', '0 250'])(
    'typed as %s, which is not plain digits, is refused with either decimal sign',
    (text) => {
      for (const sign of ['.', ','] as const) expect(readAmount(text, 18, sign)).toHaveProperty('error');
    },
  );

  it('never is a thousand times as much with one decimal sign as with the other', () => {
    const digits = fc.stringMatching(/^\d{1,4}$/);
    const separator = fc.constantFrom('.', ',', ' ', '\u00a0', '\u202f', '');
    const text = fc.tuple(digits, separator, digits, separator, digits).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (typed) => {
        const [point, comma] = [readAmount(typed, 18, '.'), readAmount(typed, 18, ',')];
        if ('raw' in point && 'raw' in comma) expect(point).toEqual(comma);
      }),
      { numRuns: 5_000 },
    );
  });

  it.each(['', '0,5,5', '1.25,5.5', '1.2.3', '12.34,5', '-1', '1 25', '1,5e3'])(
    'typed as "%s" is refused there too',
    (text) => {
      expect(readAmount(text, 18, ',')).toEqual({
        error: 'Invalid amount (expected digits, such as 1250 or 0,05)',
      });
    },
  );

  it.each(['0,5', '1.250,5', '1,25'])('typed as %s is refused where a point is the decimal sign', (text) => {
    expect(readAmount(text, 18, '.')).toHaveProperty('error');
  });

  it('is read as it was written into a field, whatever the decimal sign', () => {
    for (const sign of ['.', ','] as const) {
      for (const [raw, decimals] of [
        ['1234', 3],
        ['1250000', 3],
        ['125', 3],
        ['1234567891234567891', 18],
        ['7', 0],
      ] as const) {
        expect(readAmount(typedText(raw, decimals, sign), decimals, sign)).toEqual({ raw });
      }
    }
    expect([typedText('1234', 3, ','), typedText('12345', 3, ','), typedText('1234', 3, '.')]).toEqual([
      '1,2340',
      '12,3450',
      '1.234',
    ]);
  });

  it('has the decimal sign of the locale', () => {
    expect(['en-US', 'de-DE', 'fr-FR', 'de-CH', 'ja-JP', 'ar-EG'].map(decimalSign)).toEqual([
      ...['.', ',', ',', '.', '.', '.'],
    ]);
  });

  it.each([
    ['1250500000', 6, '1 250,5'],
    ['1250000000', 6, '1 250'],
    ['1234567891234567', 6, '1 234 567 891,234567'],
    ['500000', 6, '0,5'],
    ['125', 3, '0,125'],
    // With three decimals it would be a thousand times as much elsewhere.
    ['1234', 3, '1,2340'],
    ['1250', 0, '1 250'],
  ])('%s with %i decimals is shown as %s where a comma is the decimal sign', (raw, decimals, text) => {
    expect(amountText(raw, decimals, ',').replaceAll('\u202f', ' ')).toBe(text);
  });

  it('is read as it is shown, by whoever types it, in every locale', () => {
    const small = fc.tuple(fc.bigInt(0n, 10n ** 9n), fc.nat(9));
    const large = fc.tuple(fc.bigInt(0n, 2n ** 256n - 1n), fc.nat(30));
    fc.assert(
      fc.property(fc.oneof(small, large), fc.constantFrom('.', ','), ([raw, decimals], sign) => {
        expect(readAmount(amountText(raw, decimals, sign), decimals, sign)).toEqual({ raw: String(raw) });
      }),
    );
  });

  it('has a point and no groups for programs, whatever the locale', () => {
    expect([decimalText('1234567891234', 6), decimalText('7', 0), decimalText('1', 3)]).toEqual([
      ...['1234567.891234', '7', '0.001'],
    ]);
  });

  it('with more decimals than there are is refused and not rounded', () => {
    expect(readAmount('0.0000001', 6)).toEqual({ error: 'Too many decimals (at most 6)' });
  });

  it('names its asset, and says so where the asset is not known', () => {
    expect(assetText('1500000', { symbol: 'USDC', decimals: 6 })).toBe('1.5 USDC');
    expect(assetText('7', { symbol: '', decimals: 0, tokenAddress: '0x12' })).toBe('7 token 0x12');
    expect(assetText('7', undefined)).toBe('7 raw units');
    expect(assetText('7', { symbol: 'USD₮0', decimals: 0 })).toBe('7 USD₮0');
  });

  it.each([
    ['USDC from “Payroll” to “Alice”', '“USDC from "Payroll" to "Alice"”'],
    ['USDC(0x1)', '“USDC(0x1)”'],
    ['US\u200bDC', String.raw`“US\u200bDC”`],
    ['USDC\n', String.raw`“USDC\u000a”`],
  ])('has the symbol %j in quotes: it is not part of the sentence', (symbol, shown) => {
    expect(assetText('7', { symbol, decimals: 0 })).toBe(`7 ${shown}`);
  });
});
