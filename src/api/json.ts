import type { JsonValue } from '../domain/canonicalJson';

/** A text is no JSON that this service takes; the message says why. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
}

const MAX_DEPTH = 32;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\]:,]/gs;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Parses JSON bytes and refuses what two parsers could read differently: text that is not UTF-8, a byte order mark,
 * a key given twice, `__proto__`, lone surrogates, numbers without a value, and nesting deeper than 32. Throws JsonError.
 */
export function parseJson(bytes: Uint8Array): JsonValue {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new JsonError('is not UTF-8');
  }
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    throw new JsonError('is not well-formed JSON');
  }
  checkTokens(text);
  return value;
}

/** Walks the tokens of a text that is JSON. */
function checkTokens(text: string): void {
  /** The keys of each open object; null for an open array. */
  const open: (Set<string> | null)[] = [];
  let keyComes = false;
  for (const [token] of text.matchAll(TOKEN)) {
    switch (token) {
      case '{':
      case '[':
        open.push(token === '{' ? new Set() : null);
        if (open.length > MAX_DEPTH) throw new JsonError(`is nested deeper than ${MAX_DEPTH}`);
        keyComes = token === '{';
        break;
      case '}':
      case ']':
        open.pop();
        keyComes = false;
        break;
      case ',':
        keyComes = open.at(-1) instanceof Set;
        break;
      case ':':
        keyComes = false;
        break;
      default: {
        if (!token.startsWith('"')) {
          if (!Number.isFinite(Number(token))) throw new JsonError('has a number that is too large');
          break;
        }
        const string: string = JSON.parse(token);
        if (LONE_SURROGATE.test(string)) throw new JsonError('has a text that is no well-formed Unicode');
        const keys = open.at(-1);
        if (!keyComes || !keys) break;
        if (string === '__proto__') throw new JsonError('has the key "__proto__"');
        if (keys.has(string))
          throw new JsonError(`has the key ${JSON.stringify(string)} twice in one object`);
        keys.add(string);
      }
    }
  }
}
