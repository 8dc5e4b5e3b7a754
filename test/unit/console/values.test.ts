import { valueText } from '../../../console/src/text/values.ts';

it.each([
  ['0', '0.00 USD'],
  ['0.0000001', 'less than 0.01 USD'],
  ['0.009999', 'less than 0.01 USD'],
  ['0.01', '0.01 USD'],
  ['0.0149999', '0.01 USD'],
  ['0.015', '0.02 USD'],
  ['4456.845', '4\u202f456.85 USD'],
  ['999999.995', '1\u202f000\u202f000.00 USD'],
  [`${2n ** 256n}.005`, `${String(2n ** 256n).replace(/\B(?=(\d{3})+$)/g, '\u202f')}.01 USD`],
])('of %s is shown as %s', (amount, shown) => {
  expect(valueText(amount, 'USD', '.')).toBe(shown);
});

it('has the decimal sign of the browser', () => {
  expect(valueText('1234.5', 'EUR', ',')).toBe('1\u202f234,50 EUR');
});
