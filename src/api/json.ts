import type { FieldIssue } from '../contract/errors';
import { fieldPath } from '../contract/issues';
import type { JsonValue } from '../domain/canonicalJson';
import { unstorablePart } from './text';

/** A body is not JSON that this service accepts; the issues say where and why. */
export class JsonError extends Error {
  override readonly name = 'JsonError';

  constructor(readonly issues: readonly [FieldIssue, ...FieldIssue[]]) {
    super(issues[0].message);
  }
}

const MAX_DEPTH = 32;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\]:,]/gs;

function badBody(message: string): JsonError {
  return new JsonError([{ field: 'body', message }]);
}

/**
 * Parses JSON bytes and refuses what two parsers could read differently, or what could not be stored: text that is
 * not UTF-8, a byte order mark, a key given twice, `__proto__`, NUL, lone surrogates, numbers too large for a double,
 * and nesting deeper than 32. Throws JsonError.
 *
 * Kept by hand: `JSON.parse` keeps the last of two equal keys and reports neither that nor depth, and the parsers on
 * npm that report duplicates accept the rest.
 */
export function parseJson(bytes: Uint8Array): JsonValue {
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
  const [first, ...others] = textIssues(value, []);
  if (first) throw new JsonError([first, ...others]);
  return value;
}

/** Every text of a value that cannot be stored; a key that cannot be is an issue of its object. */
function textIssues(value: JsonValue, path: readonly (string | number)[]): FieldIssue[] {
  if (typeof value === 'string') {
    const found = unstorablePart(value);
    return found === undefined ? [] : [{ field: fieldPath(path), message: `must not contain ${found}` }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const found = unstorablePart(key);
    if (found !== undefined) return [{ field: fieldPath(path), message: `has a key with ${found}` }];
    return textIssues(item, [...path, Array.isArray(value) ? Number(key) : key]);
  });
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
  if (keys?.has(key)) throw badBody(`has the key ${JSON.stringify(key)} twice in one object`);
  keys?.add(key);
}
