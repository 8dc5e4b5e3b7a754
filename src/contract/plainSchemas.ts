/** Any part of a document. */
type Part = unknown;
type Parts = { readonly [key: string]: Part };

/** Hold values, and no schemas. */
const VALUES = new Set(['example', 'examples', 'default', 'const', 'enum']);

const isOnlyNull = (schema: Part) => (schema as Parts).type === 'null';

/** Leaves out what can only be null: absent says the same, and generators have no type for it. */
function withoutNulls(properties: Parts): Parts {
  return Object.fromEntries(Object.entries(properties).filter(([, schema]) => !isOnlyNull(schema)));
}

/** Leaves out the pattern of a time, whose format says it: openapi-generator's go cannot decode both. */
function withoutPattern(time: Parts): Parts {
  const { pattern: _, ...plain } = time;
  return plain;
}

/** Leaves out the one value of a boolean: openapi-generator's java makes a text of it, which does not compile. */
function withoutConstant(boolean: Parts): Parts {
  const { const: _, ...plain } = boolean;
  return plain;
}

/**
 * The same document in keywords that generators of clients read alike: no property that can only be null, no pattern beside the
 * format of a time, no boolean with one value, and no reference beside keywords that change what it allows. `schemas` are those that references name.
 */
export function plainSchemas<T>(document: T, schemas: Parts): T {
  function plainReference({ $ref, param: _, ...own }: Parts): Parts {
    // The keywords of the target are there already.
    if ('type' in own) return own;
    if (!('default' in own)) return { ...own, $ref };
    const target = schemas[String($ref).split('/').at(-1) ?? ''] as Parts;
    // An enum keeps its name.
    return 'enum' in target ? { ...own, allOf: [{ $ref }] } : { ...target, ...own };
  }

  function plain(part: Part): Part {
    if (Array.isArray(part)) return part.map(plain);
    if (typeof part !== 'object' || part === null) return part;
    const entries: Parts = Object.fromEntries(
      Object.entries(part).map(([key, inner]) => {
        if (VALUES.has(key)) return [key, inner];
        return [key, plain(key === 'properties' ? withoutNulls(inner as Parts) : inner)];
      }),
    );
    if (entries.format === 'date-time') return withoutPattern(entries);
    if (entries.type === 'boolean') return withoutConstant(entries);
    return typeof entries.$ref === 'string' ? plainReference(entries) : entries;
  }

  return plain(document) as T;
}
