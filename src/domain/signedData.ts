import { canonicalJson, type JsonValue } from './canonicalJson';

/** Lists of fewer objects stay as they are: a table would be hardly shorter, and is harder to read. */
const MIN_ROWS = 3;

type JsonObject = { readonly [key: string]: JsonValue };

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fieldsOf(object: JsonObject): string[] {
  // As RFC 8785 orders keys: by their UTF-16 units.
  return Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort();
}

/** Objects that all have the same fields, as a table; undefined for any other list. */
function tableOf(items: readonly JsonValue[]): JsonObject | undefined {
  const objects = items.filter(isObject);
  const [first] = objects;
  if (items.length < MIN_ROWS || objects.length < items.length || !first) return undefined;
  const fields = fieldsOf(first);
  const names = canonicalJson(fields);
  if (fields.length === 0 || objects.some((object) => canonicalJson(fieldsOf(object)) !== names)) {
    return undefined;
  }
  const rows = objects.map((object) => fields.map((field) => tabular(object[field] ?? null)));
  return { fields, rows };
}

function tabular(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return tableOf(value) ?? value.map(tabular);
  if (!isObject(value)) return value;
  const fields = fieldsOf(value);
  if (fields.join() === 'fields,rows') throw new TypeError('an object with fields and rows reads as a table');
  return Object.fromEntries(fields.map((field) => [field, tabular(value[field] ?? null)]));
}

/**
 * The data of a proposal as it is signed: canonical JSON (RFC 8785), in which a list of three or more objects with the same
 * fields is a table, `{"fields":[…],"rows":[[…],…]}`. Hardware wallets fail at 16 KB, and the names of fields are a third of
 * long lists. Different data has different texts. Throws TypeError for data that reads as a table, or that JSON cannot
 * represent.
 */
export function signedDataText(data: JsonValue): string {
  return canonicalJson(tabular(data));
}
