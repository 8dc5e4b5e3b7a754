import fc from 'fast-check';
import { JsonError, MAX_VALUES, parseJson } from '../../../src/api/json';

const bytes = (text: string) => Buffer.from(text);

describe('parseJson', () => {
  it('reads whatever JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes('__proto__'));
        expect(parseJson(bytes(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    ['invalid JSON', bytes('{"a":')],
    ['an empty text', bytes('')],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a byte order mark', bytes('\uFEFF{}')],
    ['a key given twice', bytes('{"a":1,"a":2}')],
    ['a key given twice, once with an escape', bytes('{"a":1,"\\u0061":2}')],
    ['a key given twice inside', bytes('[{"b":{"a":1,"c":[{"a":1}],"a":2}}]')],
    ['__proto__', bytes('{"__proto__":{"isAdmin":true}}')],
    ['__proto__ with an escape', bytes('{"__pr\\u006fto__":1}')],
    ['a lone surrogate', bytes('{"a":"\\ud800"}')],
    ['NUL', bytes('{"a":"\\u0000"}')],
    ['a number too large for a double', bytes('[1e999]')],
    ['deep nesting', bytes('['.repeat(33) + ']'.repeat(33))],
    ['very deep nesting', bytes('['.repeat(400_000) + ']'.repeat(400_000))],
  ])('refuses %s', (_, input) => {
    expect(() => parseJson(input)).toThrow(JsonError);
  });

  it('takes the same key in different objects, and as a value', () => {
    const text = '{"a":{"a":"a"},"b":[{"a":1},{"a":2}],"c":"__proto__"}';
    expect(parseJson(bytes(text))).toEqual(JSON.parse(text));
  });

  it('names every field with a text that cannot be stored', () => {
    const text = '{"a":"\\u0000","b":[{"c":"x"},{"c":"\\udc00","d\\ud800":1}],"e":"\\\\u0000"}';
    let issues: unknown;
    try {
      parseJson(bytes(text));
    } catch (error) {
      issues = (error as JsonError).issues;
    }
    expect(issues).toEqual([
      { field: 'a', message: 'must not contain the NUL character (U+0000)' },
      { field: 'b[1].c', message: 'must not contain a lone surrogate' },
      { field: 'b[1]', message: 'has a key with a lone surrogate' },
    ]);
  });
});

describe('the structure of a body', () => {
  const refusalOf = (text: string) => {
    try {
      parseJson(bytes(text));
    } catch (error) {
      return error instanceof JsonError ? error.issues : error;
    }
    return 'accepted';
  };
  const listOf = (item: string, count: number) => `{"a":[${Array(count).fill(item).join(',')}]}`;

  // The object and the list are values as well.
  it.each(['0', '{}', '[]', '"[{,"', '"\\",,,"', 'null'])(
    'may have 10,000 values, of which most are %s',
    (item) => {
      const own = item === '{}' || item === '[]' ? 2 : 1;
      const most = Math.floor((MAX_VALUES - 2) / own);
      expect(refusalOf(listOf(item, most))).toBe('accepted');
      expect(refusalOf(listOf(item, 2 * MAX_VALUES))).toEqual([
        { field: 'body', message: 'has more than 10000 values' },
      ]);
    },
  );

  it('is counted before anything is made of it, whether or not the rest is JSON', () => {
    for (const text of [`${'['.repeat(20_000)}x`, `{${'"a":0,'.repeat(20_000)}`, '{,'.repeat(20_000)]) {
      expect(refusalOf(text)).toEqual([{ field: 'body', message: 'has more than 10000 values' }]);
    }
  });

  it('has at most 100 of its issues in an answer, each with a short field', () => {
    const issues = refusalOf(listOf('"\\u0000"', 9_000)) as JsonError['issues'];
    expect(issues).toHaveLength(100);
    expect(issues.at(-1)).toMatchObject({ field: 'a[99]' });
    const long = refusalOf(`{"${'k'.repeat(900_000)}":"\\u0000"}`) as JsonError['issues'];
    expect(long[0].field).toHaveLength(201);
    const twice = refusalOf(`{"${'k'.repeat(9_000)}":1,"${'k'.repeat(9_000)}":1}`) as JsonError['issues'];
    expect(twice[0].message.length).toBeLessThan(300);
  });
});
