import { type Json, type Operation, resolve } from './document';

/** A request body that is made to cost much. */
interface WorstBody {
  readonly name: string;
  readonly text: string;
}

/** The largest body, in bytes. */
const MAX_BYTES = 1_048_576;
/** What is left for the rest of a body beside its list. */
const ROOM_BYTES = 4_096;
/** The most values in a body: docs/errors.md. */
const MAX_VALUES = 10_000;

/** So many copies of a part between two others as fit into a body. */
function filled(before: string, part: string, after: string, most = Number.POSITIVE_INFINITY): string {
  const fit = Math.floor((MAX_BYTES - ROOM_BYTES) / (part.length + 1));
  return `${before}${Array(Math.min(fit, most)).fill(part).join(',')}${after}`;
}

/** An example of a body with a list of it replaced by a text. */
function withList(example: Json, name: string, list: string): string {
  const { [name]: _, ...others } = example;
  const rest = Object.entries(others).map(
    ([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`,
  );
  return `{${JSON.stringify(name)}:${list}${rest.join('')}}`;
}

/** The lists that a schema of a body has at its top. */
function listsOf(schema: Json): string[] {
  const { properties = {} } = resolve(schema);
  return Object.keys(properties).filter((name) => resolve(properties[name]).type === 'array');
}

function keys(count: number, length: number): string {
  const parts = Array.from({ length: count }, (_, i) => `"${`k${i}`.padEnd(length, 'x')}":0`);
  return `{${parts.join(',')}}`;
}

/** What costs the most to count, parse, check or answer, for an operation with a body. */
export function worstBodies({ body }: Pick<Operation, 'body'>): WorstBody[] {
  if (!body) return [];
  const ofLists = listsOf(body.schema).flatMap((name) =>
    ['{}', '0', '""', '[]', '"\\u0000"', '{"id":{}}'].flatMap((item) => {
      // The item itself, its own parts, and the body with its list are values.
      const own = item.includes('id') ? 3 : item === '{}' || item === '[]' ? 2 : 1;
      const most = Math.floor((MAX_VALUES - 40) / own);
      const list = (count?: number) => withList(body.example, name, filled('[', item, ']', count));
      return [
        { name: `${name}: as many ${item} as fit`, text: list() },
        { name: `${name}: as many ${item} as may be`, text: list(most) },
        {
          name: `${name}: 100 lists of ${item}`,
          text: withList(body.example, name, filled('[', filled('[', item, ']', 90 / own), ']', 100)),
        },
      ];
    }),
  );
  return [
    ...ofLists,
    { name: 'as many keys as fit', text: keys(80_000, 6) },
    { name: 'as many keys as may be', text: keys(9_990, 6) },
    { name: 'as many long keys as fit', text: keys(1_000, 1_000) },
    { name: 'one key of the whole body', text: `{"${'k'.repeat(MAX_BYTES - 6)}":0}` },
    {
      name: 'one key of the whole body, twice',
      text: `{"${'k'.repeat(500_000)}":0,"${'k'.repeat(500_000)}":0}`,
    },
    { name: 'nested as deeply as fits', text: '['.repeat(MAX_BYTES) },
    {
      name: 'one text of escapes',
      text: `{"${Object.keys(body.example)[0]}":"${'\\u0041'.repeat(170_000)}"}`,
    },
    { name: 'one number', text: `{"${Object.keys(body.example)[0]}":${'1'.repeat(1_000_000)}}` },
    { name: 'one text without an end', text: `"${'\\"'.repeat(500_000)}` },
  ];
}
