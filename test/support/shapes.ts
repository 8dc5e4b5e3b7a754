/** A form that a text can have. */
type TextForm = keyof typeof FORMS;

/** What a field can hold, as a table of the interface page says it. */
export type Shape =
  | 'boolean'
  | 'integer'
  | 'object'
  | TextForm
  /** One of these words. */
  | { readonly oneOf: readonly string[] }
  /** The id of a record: its prefix. */
  | { readonly id: string }
  | { readonly listOf: Shape }
  | { readonly orNull: Shape }
  /** The rows of a table. A name that ends in `?` is a field that need not be there. */
  | { readonly fields: { readonly [name: string]: Shape } };

const FORMS = {
  string: /^/,
  /** ISO 8601, UTC, milliseconds. */
  dateTime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  wholeSeconds: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/,
  address: /^0x[a-fA-F0-9]{40}$/,
  /** An address, or nothing for an actor that has no wallet. */
  addressOrEmpty: /^(0x[a-fA-F0-9]{40})?$/,
  digits: /^(0|[1-9][0-9]*)$/,
  decimal: /^(0|[1-9][0-9]*)(\.[0-9]+)?$/,
  selector: /^0x[0-9a-f]{8}$/,
  calldata: /^0x([0-9a-fA-F]{2})*$/,
  /** SHA-256. */
  hash: /^[0-9a-f]{64}$/,
  transactionHash: /^0x[0-9a-f]{64}$/,
};

/** One of some words. */
export const oneOf = (...words: string[]): Shape => ({ oneOf: words });
/** An id with that prefix. */
export const idOf = (prefix: string): Shape => ({ id: prefix });
/** A list of items of one shape. */
export const listOf = (item: Shape): Shape => ({ listOf: item });
/** A shape, or null. */
export const orNull = (shape: Shape): Shape => ({ orNull: shape });
/** An object with these fields and no others; a name that ends with `?` may be absent. */
export const fields = (rows: { readonly [name: string]: Shape }): Shape => ({ fields: rows });

/** A row of a table: the name of the field, whether it must be there, what it holds. */
export function rowsOf(table: { readonly [name: string]: Shape }): [string, boolean, Shape][] {
  return Object.entries(table).map(([name, shape]) =>
    name.endsWith('?') ? [name.slice(0, -1), false, shape] : [name, true, shape],
  );
}

const isObject = (value: unknown): value is { [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Everything in which a value is not of a shape: path and reason of each. More fields than the table's are not a fault. */
export function faultsOf(shape: Shape, value: unknown, path = 'body'): string[] {
  const unless = (holds: boolean, wanted: string) =>
    holds ? [] : [`${path} is ${JSON.stringify(value)?.slice(0, 80)}, not ${wanted}`];
  if (shape === 'boolean') return unless(typeof value === 'boolean', 'a boolean');
  if (shape === 'integer') return unless(Number.isSafeInteger(value), 'an integer');
  if (shape === 'object') return unless(isObject(value), 'an object');
  if (typeof shape === 'string') return unless(typeof value === 'string' && FORMS[shape].test(value), shape);
  if ('oneOf' in shape) return unless(shape.oneOf.includes(value as string), `one of ${shape.oneOf}`);
  if ('id' in shape) {
    const form = new RegExp(`^${shape.id}_[0-7][0-9a-hjkmnp-tv-z]{25}$`);
    return unless(typeof value === 'string' && form.test(value), `an id ${shape.id}_…`);
  }
  if ('orNull' in shape) return value === null ? [] : faultsOf(shape.orNull, value, path);
  if ('listOf' in shape) {
    if (!Array.isArray(value)) return unless(false, 'a list');
    return value.flatMap((item, i) => faultsOf(shape.listOf, item, `${path}[${i}]`));
  }
  if (!isObject(value)) return unless(false, 'an object');
  return rowsOf(shape.fields).flatMap(([name, required, inner]) => {
    if (name in value) return faultsOf(inner, value[name], `${path}.${name}`);
    return required ? [`${path}.${name} is missing`] : [];
  });
}
