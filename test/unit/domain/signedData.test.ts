import fc from 'fast-check';
import { readSignedData } from '../../../client/src/signedData';
import { canonicalJson, type JsonValue } from '../../../src/domain/canonicalJson';
import { signedDataText } from '../../../src/domain/signedData';
import { proposalPayload } from '../../../src/domain/signing';
import { membersCreate } from '../../../src/operations/membersCreate';
import { anAddress, anId } from '../../support/builders';
import { dataIn } from '../../support/signedData';

const member = (i: number) => ({
  id: anId('mem'),
  name: `Member ${i}`,
  type: 'user' as const,
  walletAddress: anAddress(),
  walletKind: 'key' as const,
});
const members = (count: number) => ({ items: Array.from({ length: count }, (_, i) => member(i)) });

/** Lists of objects that often have the same fields. */
const listy: fc.Arbitrary<JsonValue> = fc.letrec<{ node: JsonValue }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<JsonValue>('a', 1, null, true, [], {}),
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'fields', '__proto__', 'é'), tie('node'), { maxKeys: 3 }),
    fc
      .tuple(fc.uniqueArray(fc.constantFrom('a', 'B', 'rows', '__proto__', '€')), fc.nat({ max: 5 }))
      .chain(([keys, length]) =>
        fc
          .array(fc.tuple(...keys.map(() => tie('node'))), { minLength: length, maxLength: length })
          .map((rows) => rows.map((row) => Object.fromEntries(keys.map((key, i) => [key, row[i] ?? null])))),
      ),
  ),
})).node;

describe('the data that is signed', () => {
  it('has the names of the fields of many once', () => {
    const items = [
      { name: 'A', id: '1' },
      { id: '2', name: 'B' },
      { id: '3', name: 'C' },
    ];
    expect(signedDataText({ items })).toBe(
      '{"items":{"fields":["id","name"],"rows":[["1","A"],["2","B"],["3","C"]]}}',
    );
  });

  it.each<[string, JsonValue]>([
    ['two', [{ a: 1 }, { a: 2 }]],
    ['objects with other fields', [{ a: 1 }, { a: 2 }, { a: 3, b: 4 }]],
    ['texts', ['a', 'b', 'c', 'd']],
    ['lists', [[1], [2], [3]]],
    ['objects without fields', [{}, {}, {}]],
    ['an object and others', [{ a: 1 }, { a: 2 }, null]],
  ])('leaves %s as they are', (_, data) => {
    expect(signedDataText(data)).toBe(canonicalJson(data));
  });

  it('has tables in tables', () => {
    const inner = [{ x: 1 }, { x: 2 }, { x: 3 }];
    expect(signedDataText([{ a: inner }, { a: inner }, { a: [] }])).toBe(
      '{"fields":["a"],"rows":[[{"fields":["x"],"rows":[[1],[2],[3]]}],[{"fields":["x"],"rows":[[1],[2],[3]]}],[[]]]}',
    );
  });

  it('is never an object that reads as a table', () => {
    expect(() => signedDataText({ items: { fields: [], rows: [] } })).toThrow(TypeError);
  });

  it('can be read in one way only, by the page and by the client', () => {
    fc.assert(
      fc.property(listy, (data) => {
        let text: string;
        try {
          text = signedDataText(data);
        } catch {
          return;
        }
        expect(readSignedData(text)).toEqual({ data, text });
        expect(canonicalJson(dataIn(text) as JsonValue)).toBe(canonicalJson(data));
      }),
    );
  });

  it.each([
    ['as a list of objects', '[{"a":1},{"a":2},{"a":3}]'],
    ['as a table of two', '{"fields":["a"],"rows":[[1],[2]]}'],
    ['with fields in another order', '{"fields":["b","a"],"rows":[[1,2],[1,2],[1,2]]}'],
    ['with a row too long', '{"fields":["a"],"rows":[[1],[2],[3,4]]}'],
    ['with a row too short', '{"fields":["a","b"],"rows":[[1,1],[2,2],[3]]}'],
    ['with a row that is none', '{"fields":["a"],"rows":[[1],[2],null]}'],
    ['with a field twice', '{"fields":["a","a"],"rows":[[1,1],[2,2],[3,3]]}'],
    ['without rows', '{"fields":[],"rows":[]}'],
    ['with rows that are not a list', '{"fields":["a"],"rows":"abc"}'],
  ])('has no other text: %s', (_, text) => {
    expect(readSignedData(text).text).not.toBe(text);
  });

  it('fits devices that fail at 16 KB: a proposal of a hundred members', () => {
    const data = members(100);
    const summary = membersCreate.summary({} as never, data as never);
    const payload = proposalPayload('ApproveProposal', `0x${'11'.repeat(32)}`, {
      ...{ id: anId('prop'), organizationId: anId('org'), resourceType: 'members', action: 'create' },
      ...{ data, summary, expiresAt: new Date() },
    });
    const { message } = JSON.parse(payload);
    const bytes = [message.data, ...message.summary].reduce((sum, one) => sum + Buffer.byteLength(one), 0);
    expect(Buffer.byteLength(message.data)).toBeLessThan(11_000);
    expect(bytes).toBeLessThan(13_500);
  });
});
