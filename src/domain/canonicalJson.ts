import canonicalize from 'canonicalize';

/** A JSON value. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Why JSON cannot represent a scalar; undefined when it can. */
function scalarFault(value: unknown): string | undefined {
  switch (typeof value) {
    case 'boolean':
      return undefined;
    case 'string':
      return LONE_SURROGATE.test(value) ? 'a lone surrogate' : undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : String(value);
    default:
      return `a value of type ${typeof value}`;
  }
}

function assertScalar(value: unknown, path: string): void {
  const fault = scalarFault(value);
  if (fault !== undefined) throw new TypeError(`${path} holds ${fault}, which JSON cannot represent`);
}

function assertJson(value: unknown, path: string): void {
  if (value === null) return;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) assertJson(value[index], `${path}[${index}]`);
  } else if (typeof value === 'object') {
    for (const [key, item] of Object.entries(value)) {
      assertScalar(key, path);
      if (item !== undefined) assertJson(item, `${path}.${key}`);
    }
  } else {
    assertScalar(value, path);
  }
}

/**
 * The one JSON text of a value, whatever the order of its keys; keys whose value is undefined are left out. Source:
 * RFC 8785. Throws TypeError for a value that JSON cannot represent.
 */
export function canonicalJson(value: unknown): string {
  assertJson(value, 'the value');
  return canonicalize(value) as string;
}
