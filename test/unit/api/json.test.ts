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
    ['what is no JSON', bytes('{"a":')],
    ['nothing', bytes('')],
    ['what is no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a byte order mark', bytes('\uFEFF{}')],
    ['a key given twice', bytes('{"a":1,"a":2}')],
    ['a key given twice, once with an escape', bytes('{"a":1,"\\u0061":2}')],
    ['a key given twice inside', bytes('[{"b":{"a":1,"c":[{"a":1}],"a":2}}]')],
    ['__proto__', bytes('{"__proto__":{"isAdmin":true}}')],
    ['__proto__ with an escape', bytes('{"__pr\\u006fto__":1}')],
    ['half a character', bytes('{"a":"\\ud800"}')],
    ['a number without a value', bytes('[1e999]')],
    ['deep nesting', bytes('['.repeat(33) + ']'.repeat(33))],
    ['very deep nesting', bytes('['.repeat(400_000) + ']'.repeat(400_000))],
  ])('refuses %s', (_, input) => {
    expect(() => parseJson(input)).toThrow(JsonError);
  });

  it('takes the same key in different objects, and as a value', () => {
    const text = '{"a":{"a":"a"},"b":[{"a":1},{"a":2}],"c":"__proto__"}';
    expect(parseJson(bytes(text))).toEqual(JSON.parse(text));
  });
});
