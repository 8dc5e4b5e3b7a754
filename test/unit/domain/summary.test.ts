import fc from 'fast-check';
import {
  fitting,
  listLine,
  MAX_LINE_BYTES,
  MAX_SUMMARY_BYTES,
  plainBeginning,
  quotedName,
  quotedSymbol,
  summaryLines,
  summaryText,
} from '../../../src/domain/summary';

const bytesOf = (text: string) => Buffer.byteLength(text);

describe('a name in a summary', () => {
  it('is whole up to 48 bytes, then its beginning with a mark outside of the quotes', () => {
    expect(quotedName('a'.repeat(48))).toBe(`"${'a'.repeat(48)}"`);
    expect(quotedName('a'.repeat(49))).toBe(`"${'a'.repeat(48)}"…`);
    expect(quotedName('a…')).toBe('"a…"');
    expect(quotedName('😀'.repeat(97))).toBe(`"${'😀'.repeat(12)}"…`);
    expect(quotedSymbol('€'.repeat(9))).toBe(`"${'€'.repeat(8)}"…`);
  });

  it('is never cut inside of what stands for one character', () => {
    expect(quotedName(`${'a'.repeat(45)}\u202e`)).toBe(`"${'a'.repeat(45)}"…`);
    expect(quotedName(`${'a'.repeat(47)}"`)).toBe(`"${'a'.repeat(47)}"…`);
    expect(quotedName(`${'a'.repeat(46)}"`)).toBe(`"${'a'.repeat(46)}\\""`);
    expect(plainBeginning('€€', 5)).toBe('€…');
  });

  it('has at most so many bytes, and ends its quotation', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (name) => {
        const text = quotedName(name);
        expect(bytesOf(text)).toBeLessThanOrEqual(48 + 2 + 3);
        const [, quotation = '', mark] = /^("(?:[^"\\]|\\.)*")(…)?$/.exec(text) ?? [];
        const shown = JSON.parse(quotation);
        expect(mark ? name.startsWith(shown) : shown === name).toBe(true);
      }),
    );
  });
});

describe('a list on a line', () => {
  it('has every item whole or counts it', () => {
    expect(fitting(['one', 'two'], 8)).toBe('one, two');
    expect(fitting(['one', 'two', 'three'], 14)).toBe('one and 2 more');
    expect(fitting(['one', 'two', 'three'], 3)).toBe('3 more');
    const items = fc.array(fc.string({ unit: 'binary', maxLength: 60 }), { maxLength: 50 });
    fc.assert(
      fc.property(items, (texts) =>
        expect(bytesOf(listLine('With ', texts, ' on'))).toBeLessThanOrEqual(MAX_LINE_BYTES),
      ),
    );
  });
});

describe('a long list on a line', () => {
  /** What it says, written without regard for what it costs. */
  function said(texts: readonly string[], maximum: number): string {
    const all = texts.join(', ');
    if (bytesOf(all) <= maximum) return all;
    const counts = texts.map((_, count) => count).reverse();
    const beginning = (count: number) => texts.slice(0, count).join(', ');
    const room = maximum - bytesOf(` and ${texts.length} more`);
    const count = counts.find((one) => bytesOf(beginning(one)) <= room) ?? 0;
    return count === 0 ? `${texts.length} more` : `${beginning(count)} and ${texts.length - count} more`;
  }

  it('says the same, and makes no more texts than may fit', () => {
    const items = fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), { maxLength: 40 });
    fc.assert(
      fc.property(items, fc.integer({ min: 20, max: 200 }), (texts, maximum) => {
        let made = 0;
        const textOf = (text: string) => {
          made += 1;
          return text;
        };
        expect(fitting(texts, maximum, textOf)).toBe(said(texts, maximum));
        expect(made).toBeLessThanOrEqual(maximum / 3 + 2);
      }),
    );
    let made = 0;
    const textOf = (item: number) => {
      made += 1;
      return String(item);
    };
    expect(fitting(Array(4_000).fill(7), 30, textOf)).toMatch(/^7, .* and 39\d\d more$/);
    expect(made).toBeLessThan(15);
  });
});

describe('a summary', () => {
  it('has all of its items, each in lines of its own, where there is room', () => {
    expect(summaryText(['Two'], [['a', 'b'], ['c']], 'data')).toBe('Two\na\nb\nc');
    expect(summaryLines('Two\na')).toEqual(['Two', 'a']);
  });

  it('has the first items of many, and says how many there are and where', () => {
    const items = Array.from({ length: 100 }, (_, i) => [`${i} ${'x'.repeat(100)}`]);
    const lines = summaryLines(summaryText(['A hundred'], items, 'data'));
    expect(lines.slice(1, -1)).toEqual(items.slice(0, lines.length - 2).flat());
    expect(lines.at(-1)).toBe(`${lines.length - 2} of 100 shown: data has all`);
  });

  it('never has more bytes than a device takes', () => {
    const item = fc.array(fc.string({ unit: 'grapheme', maxLength: 50 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(item, { maxLength: 100 }), (items) => {
        const plain = items.map((lines) =>
          lines.map((line) => plainBeginning(line.replaceAll('\n', ''), 200)),
        );
        expect(bytesOf(summaryText(['All'], plain, 'data'))).toBeLessThanOrEqual(MAX_SUMMARY_BYTES);
      }),
    );
  });

  it('is refused with a line that a device would cut', () => {
    expect(() => summaryText(['é'.repeat(127)], [], 'data')).toThrow('254 bytes');
    expect(() => summaryText(['a\nb'], [], 'data')).toThrow('two lines');
  });
});
