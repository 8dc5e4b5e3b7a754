import { canonicalJson } from './canonicalJson.ts';

type Row = { readonly [field: string]: unknown };

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const keysOf = (row: Row) => Object.keys(row).sort();

const each = (value: Row, change: (one: unknown) => unknown) =>
  Object.fromEntries(Object.entries(value).map(([key, one]) => [key, change(one)]));

/** Three or more objects with the same fields as a table. */
function tabular(value: unknown): unknown {
  if (!Array.isArray(value)) return isRow(value) ? each(value, tabular) : value;
  const fields = isRow(value[0]) ? keysOf(value[0]) : [];
  const names = canonicalJson(fields);
  const isTable =
    value.length > 2 &&
    fields.length > 0 &&
    value.every((row) => isRow(row) && canonicalJson(keysOf(row)) === names);
  if (!isTable) return value.map(tabular);
  return { fields, rows: value.map((row) => fields.map((field) => tabular(row[field]))) };
}

function listed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(listed);
  if (!isRow(value)) return value;
  if (keysOf(value).join() !== 'fields,rows') return each(value, listed);
  const { fields, rows } = value as { fields: string[]; rows: unknown[][] };
  return rows.map((row) => Object.fromEntries(fields.map((field, i) => [field, listed(row[i])])));
}

/**
 * Reads the data of a proposal as it is signed; `text` is the only one that it has. Source: docs/signatures.md. Throws for a
 * text that is not JSON, or whose tables are none.
 */
export function readSignedData(signed: string): { readonly data: unknown; readonly text: string } {
  const data = listed(JSON.parse(signed));
  return { data, text: canonicalJson(tabular(data)) };
}
