import { canonicalJson } from './canonicalJson.ts';
import { isObject } from './expectation.ts';

/** The names of the fields of an object; none of anything else. */
const fieldsOf = (value: unknown) => (isObject(value) ? Object.keys(value).sort() : []);

/** Three or more objects with the same fields as a table; anything else as it is. */
function tableOf(_: string, value: unknown): unknown {
  if (!Array.isArray(value) || value.length < 3) return value;
  const fields = fieldsOf(value[0]);
  const names = canonicalJson(fields);
  const isTable = names !== '[]' && value.every((one) => canonicalJson(fieldsOf(one)) === names);
  return isTable ? { fields, rows: value.map((one) => fields.map((field) => one[field])) } : value;
}

/** The objects of a table; anything else as it is. */
function objectsOf(_: string, value: unknown): unknown {
  if (String(fieldsOf(value)) !== 'fields,rows') return value;
  const { fields, rows } = value as { fields: string[]; rows: unknown[][] };
  return rows.map((row) => Object.fromEntries(fields.map((field, i) => [field, row[i]])));
}

/**
 * Reads the data of a proposal as it is signed; `text` is the only one that it has. Source: docs/signatures.md. Undefined for a
 * text that is not JSON, or whose tables are none.
 */
export function readSignedData(signed: string): { readonly data?: unknown; readonly text: string } {
  try {
    const data = JSON.parse(signed, objectsOf);
    return { data, text: canonicalJson(JSON.parse(JSON.stringify(data, tableOf))) };
  } catch {
    return { text: 'JSON text' };
  }
}
