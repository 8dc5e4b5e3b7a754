import { canonicalJson } from './canonicalJson.ts';
import { isObject } from './expectation.ts';
import { parsedJson } from './parsedJson.ts';

/** The names of the fields of an object; none of anything else. */
const fieldsOf = (value: unknown) => (isObject(value) ? Object.keys(value).sort() : []);

/** Three or more objects with the same fields as a table; anything else as it is. */
function tableOf(_: string, value: unknown): unknown {
  if (!Array.isArray(value) || value.length < 3) return value;
  const fields = fieldsOf(value[0]);
  const names = canonicalJson(fields);
  if (names === '[]' || value.some((one) => canonicalJson(fieldsOf(one)) !== names)) return value;
  return { fields, rows: value.map((one) => fields.map((field) => one[field])) };
}

/** The objects of a table; anything else as it is. */
function objectsOf(_: string, value: unknown): unknown {
  if (fieldsOf(value).join() !== 'fields,rows') return value;
  const { fields, rows } = value as { fields: string[]; rows: unknown[][] };
  return rows.map((row) => Object.fromEntries(fields.map((field, i) => [field, row[i]])));
}

/**
 * Reads the data of a proposal as it is signed; `text` is the only one that it has. Source: docs/signatures.md. Undefined for a
 * text that is not JSON, or whose tables are none.
 */
export function readSignedData(signed: string): { readonly data?: unknown; readonly text: string } {
  const data = parsedJson(signed, objectsOf);
  if (data === undefined) return { text: 'a JSON object' };
  return { data, text: canonicalJson(JSON.parse(JSON.stringify(data, tableOf))) };
}
