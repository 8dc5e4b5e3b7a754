import { fieldPath, MAX_ISSUES, shortened } from '../contract/issues';
import type { JsonValue } from '../domain/canonicalJson';
import type { FieldIssue } from '../domain/refusal';
import { unstorablePart } from './text';

/** A body is not JSON that this service accepts; the issues say where and why. */
export class JsonError extends Error {
  override readonly name = 'JsonError';

  constructor(readonly issues: readonly [FieldIssue, ...FieldIssue[]]) {
    super(issues[0].message);
  }
}

const MAX_DEPTH = 32;
/** The most values in a body: everything that is read, checked or answered about one is bounded by their number. */
export const MAX_VALUES = 10_000;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\]:,]/gs;

function badBody(message: string): JsonError {
  return new JsonError([{ field: 'body', message }]);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = [0x5b, 0x7b];

/** Where a text ends that begins at the quote. */
function endOfText(bytes: Uint8Array, quote: number): number {
  for (let at = quote + 1; at < bytes.length; at += 1) {
    if (bytes[at] === BACKSLASH) at += 1;
    else if (bytes[at] === QUOTE) return at;
  }
  return bytes.length;
}

/**
 * Refuses a structure that is too large before anything is made of it: one value is an opening bracket or follows one, or
 * follows a comma. UTF-8 has the bytes of these characters nowhere else.
 */
function checkSize(bytes: Uint8Array): void {
  let values = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === COMMA || OPENING.includes(byte)) values += 1;
    if (values > MAX_VALUES) throw badBody(`has more than ${MAX_VALUES} values`);
  }
}

/**
 * Parses JSON bytes and refuses what two parsers could read differently, or what could not be stored: text that is
 * not UTF-8, a byte order mark, a key given twice, `__proto__`, NUL, lone surrogates, numbers too large for a double,
 * nesting deeper than 32, and more than `MAX_VALUES` values. Throws JsonError with at most `MAX_ISSUES` issues.
 *
 * Kept by hand: `JSON.parse` keeps the last of two equal keys and reports neither that nor depth, and the parsers on
 * npm that report duplicates accept the rest.
 */
export function parseJson(bytes: Uint8Array): JsonValue {
  checkSize(bytes);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw badBody('must be encoded in UTF-8');
  }
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    throw badBody('must be valid JSON');
  }
  checkTokens(text);
  const [first, ...others] = textIssues(value);
  if (first) throw new JsonError([first, ...others]);
  return value;
}

/** A value, and the way to it: its key in its parent. */
interface Place {
  readonly value: JsonValue;
  readonly key: string | number;
  readonly parent: Place | undefined;
}

function fieldOf(place: Place): string {
  const path: (string | number)[] = [];
  for (let at = place; at.parent; at = at.parent) path.unshift(at.key);
  return fieldPath(path);
}

function textIssue(place: Place): FieldIssue | undefined {
  const { key, value, parent } = place;
  const ofKey = typeof key === 'string' ? unstorablePart(key) : undefined;
  if (ofKey !== undefined && parent) return { field: fieldOf(parent), message: `has a key with ${ofKey}` };
  const found = typeof value === 'string' ? unstorablePart(value) : undefined;
  return found === undefined ? undefined : { field: fieldOf(place), message: `must not contain ${found}` };
}

function placesIn(parent: Place): Place[] {
  const { value } = parent;
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.map((item, key) => ({ value: item, key, parent }));
  return Object.entries(value).map(([key, item]) => ({ value: item, key, parent }));
}

/** The first texts of a value that cannot be stored; a key that cannot be is an issue of its object. */
function textIssues(value: JsonValue): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const open: Place[] = [{ value, key: '', parent: undefined }];
  for (let place = open.pop(); place && issues.length < MAX_ISSUES; place = open.pop()) {
    const issue = textIssue(place);
    if (issue) issues.push(issue);
    // The first one is taken next.
    else open.push(...placesIn(place).reverse());
  }
  return issues;
}

/** The keys of each open object; null for an open array. */
type OpenScopes = (Set<string> | null)[];

/** Walks the tokens of a text that is valid JSON. */
function checkTokens(text: string): void {
  const open: OpenScopes = [];
  let keyComes = false;
  for (const [token] of text.matchAll(TOKEN)) {
    if (keyComes && token.startsWith('"')) checkKey(JSON.parse(token), open.at(-1));
    else checkToken(token, open);
    keyComes = (token === '{' || token === ',') && open.at(-1) instanceof Set;
  }
}

function checkToken(token: string, open: OpenScopes): void {
  switch (token[0]) {
    case '{':
    case '[':
      open.push(token === '{' ? new Set() : null);
      if (open.length > MAX_DEPTH) throw badBody(`is nested deeper than ${MAX_DEPTH} levels`);
      return;
    case '}':
    case ']':
      open.pop();
      return;
    case ',':
    case ':':
    case '"':
      return;
    default:
      if (!Number.isFinite(Number(token))) throw badBody('has a number that is too large');
  }
}

function checkKey(key: string, keys: OpenScopes[number] | undefined): void {
  if (key === '__proto__') throw badBody('has the key "__proto__"');
  if (keys?.has(key)) throw badBody(`has the key ${JSON.stringify(shortened(key))} twice in one object`);
  keys?.add(key);
}
