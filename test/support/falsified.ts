import { isJson, jsonParts, withoutElement } from './jsonParts';
import type { Column, Field } from './postgresMessages';
import type { Draw } from './random';

/** One of some items, as drawn. */
export function drawn<T>(draw: Draw, items: readonly T[]): T {
  return items[draw(items.length)] as T;
}

/** OIDs of types. */
const INT8 = 20;
const INTEGERS = new Set([INT8, 21, 23, 1700]);
const TIMES = new Set([1114, 1184]);
const BOOLEAN = 16;
/** `{1,2}`: a value that no text has. */
const ARRAYS = new Set([1005, 1007, 1009, 1015, 1016, 1231]);

/** So many values of a name are remembered. */
const REMEMBERED = 24;
/** Longer texts are not looked through for values to remember. */
const LONGEST_HARVESTED = 4_096;

const HOUR_MS = 3_600_000;

const OUTCOMES = [null, 'executed', 'reverted', 'cancelled', 'rejected', 'mined', 'dropped'];
const STATUSES = [null, 'processing', 'completed', 'failed', 'rejected'];
const KINDS = ['transaction', 'cancellation', 'filler', 'deployment', 'approve', 'reject', 'initiator'];

/** A time as Postgres writes it. */
export function timeText(time: Date): string {
  return time.toISOString().replace('T', ' ').replace('Z', '+00');
}

/** `safe_tx_hash` and `safeTxHash` are one name. */
function nameOf(name: string): string {
  return name.toLowerCase().replaceAll('_', '');
}

/** Values that could move money, and those that it has seen, in place of others. */
export class Falsifier {
  private readonly seen = new Map<string, string[]>();

  /** `addresses`, `amounts`: what an attacker would like to see. */
  constructor(
    private readonly liked: {
      readonly addresses: readonly string[];
      readonly amounts: readonly string[];
      readonly networkIds: readonly string[];
      readonly data: readonly string[];
    },
  ) {}

  /** Remembers a value, to put it in place of another one of its name. */
  remember(name: string, value: Field): void {
    if (value === null || value.length > LONGEST_HARVESTED) return;
    if (isJson(value)) {
      for (const part of jsonParts(value)) {
        if (part.isElement) continue;
        this.rememberText(part.name, value.slice(part.from, part.to).replace(/^"|"$/g, ''));
      }
    } else this.rememberText(name, value);
  }

  private rememberText(name: string, value: string): void {
    const key = nameOf(name);
    const known = this.seen.get(key) ?? [];
    if (known.includes(value)) return;
    if (known.length >= REMEMBERED) known.shift();
    known.push(value);
    this.seen.set(key, known);
  }

  /** Another value of a column; where its type is not known, by what it looks like. */
  value(draw: Draw, { name, type }: { readonly name: string; readonly type?: number }, value: Field): Field {
    if (type !== undefined && ARRAYS.has(type)) return drawn(draw, ['{}', value]);
    if (type === BOOLEAN || value === 't' || value === 'f') return drawn(draw, ['t', 'f']);
    if (value !== null && isJson(value)) return this.json(draw, value);
    const others = (this.seen.get(nameOf(name)) ?? []).filter((other) => other !== value);
    if (others.length > 0 && draw(3) === 0) return drawn(draw, others);
    if (type !== undefined && INTEGERS.has(type)) return this.integer(draw, name, value);
    if (type !== undefined && TIMES.has(type)) return this.time(draw, value, timeText);
    return this.text(draw, name, value, others);
  }

  private integer(draw: Draw, name: string, value: Field): Field {
    if (/network|chain/i.test(name)) return drawn(draw, this.liked.networkIds);
    const number = BigInt(/^-?\d+$/.test(value ?? '') ? (value as string) : 0);
    const near = [number + 1n, number > 0n ? number - 1n : 2n, number * 2n, number * 1_000n, 0n, 1n, 5n];
    if (/value|amount/i.test(name)) return drawn(draw, [...this.liked.amounts, ...near.map(String)]);
    if (/gas/i.test(name)) return drawn(draw, [...near, 1n, 5_000_000n, 30_000_000n].map(String));
    if (/fee/i.test(name)) return drawn(draw, [...near, 5_000_000_000_000n, 1n].map(String));
    return drawn(draw, near.map(String));
  }

  private time(draw: Draw, value: Field, written = (time: Date) => time.toISOString()): Field {
    const now = Date.parse(value ?? '') || Date.now();
    const hours = drawn(draw, [-30 * 24, -25, -1, 1, 25, 30 * 24]);
    return drawn(draw, [null, written(new Date(now + hours * HOUR_MS)), written(new Date(0))]);
  }

  private text(draw: Draw, name: string, value: Field, others: readonly string[]): Field {
    const { addresses, data } = this.liked;
    if (/outcome/i.test(name)) return drawn(draw, OUTCOMES);
    if (/status/i.test(name)) return drawn(draw, STATUSES);
    if (/kind|type/i.test(name)) return drawn(draw, KINDS);
    if (value === null) return drawn(draw, [...others, null, '0', '1']);
    if (/^0x[0-9a-f]{40}$/i.test(value)) return drawn(draw, addresses);
    if (/^0x[0-9a-f]{64}$/i.test(value)) return drawn(draw, [...others, `0x${'ab'.repeat(32)}`]);
    if (/^0x/.test(value)) return drawn(draw, [...others, ...data]);
    if (/^-?\d+$/.test(value)) return this.integer(draw, name, value);
    if (/^\d{4}-\d\d-\d\dT/.test(value)) return this.time(draw, value);
    return drawn(draw, [...others, null, '']);
  }

  /** A JSON text with one of its values changed, or an element of an array left out or repeated. */
  private json(draw: Draw, text: string): string {
    const parts = jsonParts(text);
    if (parts.length === 0) return text;
    const part = drawn(draw, parts);
    const { from, to } = part;
    const token = text.slice(from, to);
    if (part.isElement && draw(2) === 0) return withoutElement(text, part);
    const changed = part.isElement ? `${token},${token}` : this.jsonToken(draw, part.name, token);
    return text.slice(0, from) + changed + text.slice(to);
  }

  private jsonToken(draw: Draw, name: string, token: string): string {
    if (token === 'true' || token === 'false') return token === 'true' ? 'false' : 'true';
    const isText = token.startsWith('"');
    const isNumber = /^-?\d/.test(token);
    const plain: Field = isText ? JSON.parse(token) : isNumber ? token : null;
    const changed = this.value(draw, { name, ...(isNumber ? { type: INT8 } : {}) }, plain);
    if (changed === null) return 'null';
    return isNumber ? changed : JSON.stringify(changed);
  }
}

/** A row as it is named: the value of each column. */
export type NamedRow = Map<string, Field>;

/** A row with the names of its columns. */
export function namedRow(columns: readonly Column[], row: readonly Field[]): NamedRow {
  return new Map(columns.map(({ name }, index) => [name, row[index] ?? null]));
}
