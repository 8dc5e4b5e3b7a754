import canonicalize from 'canonicalize';

/** A value that JSON can hold. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

const LONE_SURROGATE = /\p{Surrogate}/u;

function demandJson(value: unknown, path: string): void {
  const refuse = (what: string): never => {
    throw new TypeError(`${path} holds ${what}, which JSON cannot hold`);
  };
  if (value === null || typeof value === 'boolean') return;
  if (typeof value === 'string') {
    if (LONE_SURROGATE.test(value)) refuse('a lone surrogate');
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) refuse(String(value));
  } else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) demandJson(value[index], `${path}[${index}]`);
  } else if (typeof value === 'object') {
    for (const [key, item] of Object.entries(value)) {
      if (LONE_SURROGATE.test(key)) refuse('a lone surrogate');
      if (item !== undefined) demandJson(item, `${path}.${key}`);
    }
  } else {
    refuse(`a value of type ${typeof value}`);
  }
}

/**
 * The one JSON text of a value, whatever the order of its keys; keys whose value is undefined are left out. Source:
 * RFC 8785. Throws TypeError on what JSON cannot hold.
 */
export function canonicalJson(value: unknown): string {
  demandJson(value, 'the value');
  return canonicalize(value) as string;
}
