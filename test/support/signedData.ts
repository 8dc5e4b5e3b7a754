import type { Json } from './document';

/** The data of a proposal out of the text that is signed: its tables as lists of objects. Written from docs/signatures.md. */
export function dataIn(text: string): Json {
  return JSON.parse(text, (_, value) => {
    if (value === null || Object.keys(value).sort().join() !== 'fields,rows') return value;
    return value.rows.map((row: Json[]) => Object.fromEntries(row.map((one, i) => [value.fields[i], one])));
  });
}
