import { concatHex, encodeErrorResult, type Hex, numberToHex, parseAbi, stringToHex } from 'viem';
import { revertReason } from '../../../src/chain/revertReason';
import { errorBytes, panicBytes } from '../../support/contracts';

const ERC20 = parseAbi(['error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)']);
const SENDER = '0x00000000000000000000000000000000000000AA';
const word = (value: bigint) => numberToHex(value, { size: 32 });

describe('the reason of a revert', () => {
  test.each<[string, Hex, string]>([
    ['nothing', '0x', 'no reason'],
    ['a text', errorBytes('too late'), '"too late"'],
    ['an empty text', errorBytes(''), '""'],
    ['an overflow', panicBytes(0x11n), 'panic 0x11 (arithmetic overflow or underflow)'],
    ['a panic nobody knows', panicBytes(0x77n), 'panic 0x77'],
    [
      'an error of a standard',
      encodeErrorResult({ abi: ERC20, errorName: 'ERC20InsufficientBalance', args: [SENDER, 1n, 2n] }),
      `ERC20InsufficientBalance(${SENDER}, 1, 2)`,
    ],
    ['a custom error', '0xdeadbeef', 'a custom error: 0xdeadbeef'],
    [
      'a long error of its own',
      concatHex(['0xdeadbeef', word(1n), word(2n)]),
      `a custom error: 0xdeadbeef${word(1n).slice(2)}…`,
    ],
    ['too little for a selector', '0xdead', 'malformed revert data: 0xdead'],
  ])('%s', (_, data, expected) => {
    expect(revertReason(data)).toBe(expected);
  });

  test.each<[string, Hex]>([
    ['whose length is beyond its bytes', concatHex(['0x08c379a0', word(32n), word(2n ** 255n)])],
    ['whose place is nowhere', concatHex(['0x08c379a0', word(2n ** 200n), word(1n)])],
    ['that is only its selector', '0x08c379a0'],
    ['of a panic without a code', '0x4e487b71'],
    ['of a panic with a code beyond all', concatHex(['0x4e487b71', word(2n ** 256n - 1n)])],
    ['of a standard error without arguments', '0xe450d38c'],
  ])('%s is shown raw', (_, data) => {
    expect(revertReason(data)).toContain(`a custom error: ${data.slice(0, 10)}`);
  });

  test('is one plain line, whatever a contract says', () => {
    const said = revertReason(errorBytes('a\nb\u0000c\u202ed\u2028e "quoted" \u{1f600}'));
    expect(said).toBe('"a b c d e \\"quoted\\" \u{1f600}"');
    expect(
      revertReason(
        concatHex(['0x08c379a0', word(32n), word(2n), stringToHex('\xff').slice(0, 4) as Hex, '0xff']),
      ),
    ).not.toMatch(/[\p{Cc}]/u);
    expect(revertReason(errorBytes('safe\u200b\u00ad to\u3164\u2800sign'))).toContain('"safe  to sign"');
  });

  test('is cut where it is too long, also when its end is missing', () => {
    const long = errorBytes('x'.repeat(5_000));
    const cut = `"${'x'.repeat(199)}…"`;
    expect(revertReason(long)).toBe(cut);
    expect(revertReason(long.slice(0, 2 + 2 * 1_024) as Hex)).toBe(cut);
  });
});
