import { PayloadMismatch } from './errors.ts';
import { parsedJson } from './parsedJson.ts';

/** What a value has to be, where it is not one certain value. */
export class Matcher {
  constructor(
    readonly text: string,
    readonly fits: (got: unknown) => boolean,
  ) {}
}

/** An expectation that depends on what there is, such as a list of any length. */
export class Depends {
  constructor(readonly on: (got: unknown) => unknown) {}
}

/** An object of which only these fields were asked for; the others say what there was. */
export class PartialMatch {
  constructor(readonly fields: Record<string, unknown>) {}
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** A text of a form. */
export const textMatcher = (text: string, pattern: RegExp) =>
  new Matcher(text, (got) => typeof got === 'string' && pattern.test(got));

export const anyAddress = textMatcher('an address', ADDRESS);
export const anyText = textMatcher('a text', /^/);
export const anyInteger = new Matcher('a whole number', Number.isSafeInteger);
/** The decimals of a token, which reports them as uint8. */
export const anyDecimals = new Matcher(
  'decimals from 0 to 255',
  (got) => Number.isInteger(got) && Number(got) >= 0 && Number(got) <= 255,
);
/** An id with that prefix, such as `txn`. */
export const anyId = (prefix: string) =>
  textMatcher(`an id ${prefix}_…`, new RegExp(`^${prefix}_[0-9a-z]{26}$`));
/** What was not asked for and must not change: without the record as it was, nothing fits. */
export const unchanged = (value: unknown) =>
  value ?? new Matcher('no change, which takes the record as it was before (`before`)', () => false);

/** True for the same address, whatever the case of its digits. */
export function isSameAddress(one: unknown, two: unknown): boolean {
  const [first, second] = [one, two].map((text) =>
    typeof text === 'string' && ADDRESS.test(text) ? text.toLowerCase() : undefined,
  );
  return first !== undefined && first === second;
}

/** True for an object that is not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object whose JSON text is in a field. Throws PayloadMismatch. */
export function objectIn<T>(field: string, text: string): T {
  const value = parsedJson(text);
  if (isObject(value)) return value as T;
  throw new PayloadMismatch(field, 'a JSON object', text);
}

/** The parts of two values that are compared one by one; undefined where the values themselves are. */
export function partsOf(
  field: string,
  asked: unknown,
  got: unknown,
): [string, unknown, unknown][] | undefined {
  const below = (key: string) => (field === '' ? key : `${field}.${key}`);
  if (asked instanceof PartialMatch && isObject(got)) {
    return Object.entries(asked.fields).map(([key, value]) => [below(key), value, got[key]]);
  }
  if (Array.isArray(asked) && Array.isArray(got)) {
    const longer = asked.length > got.length ? asked : got;
    return longer.map((_, i) => [`${field}[${i}]`, asked[i], got[i]]);
  }
  if (!isObject(asked) || !isObject(got) || asked instanceof PartialMatch) return undefined;
  const keys = [...new Set([...Object.keys(asked), ...Object.keys(got)])];
  const own = (fields: Record<string, unknown>, key: string) =>
    Object.hasOwn(fields, key) ? fields[key] : undefined;
  return keys.map((key) => [below(key), own(asked, key), own(got, key)]);
}

/**
 * Compares a value with what was asked, field by field; addresses whatever their case. Throws PayloadMismatch with the
 * first field that differs, that is missing, or that nobody asked for.
 */
export function match(field: string, asked: unknown, got: unknown): void {
  if (asked instanceof Depends) {
    match(field, asked.on(got), got);
    return;
  }
  if (asked instanceof Matcher) {
    if (asked.fits(got)) return;
    throw new PayloadMismatch(field, asked.text, got);
  }
  const parts = partsOf(field, asked, got);
  if (parts) for (const part of parts) match(...part);
  else if (asked !== got && !isSameAddress(asked, got)) throw new PayloadMismatch(field, asked, got);
}
