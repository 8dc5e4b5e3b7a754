import fc from 'fast-check';
import { JsonError, parseJson } from '../../../src/api/json';

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
