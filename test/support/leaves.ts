import { type Json, resolve } from './document';

/** The place of a value in a body. */
export type Path = readonly (string | number)[];

/** A place as refusals name it, such as `items[1].networkIds[0]`. */
export function fieldOf(path: Path): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  return text === '' ? 'body' : text.replace(/^\./, '');
}

/** Every value in a body, with its place: lists and objects too, the whole first. */
export function* valuesIn(body: Json, path: Path = []): Generator<[Path, Json]> {
  yield [path, body];
  if (typeof body !== 'object' || body === null) return;
  for (const [key, inner] of Object.entries(body)) {
    yield* valuesIn(inner, [...path, Array.isArray(body) ? Number(key) : key]);
  }
}

/** A body with another value at a place; undefined takes the field away. */
export function withValue(body: Json, path: Path, value: Json): Json {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  const copy = Array.isArray(body) ? [...body] : { ...body };
  const inner = withValue(copy[first], rest, value);
  if (inner === undefined) delete copy[first];
  else copy[first] = inner;
  return copy;
}

/** The schemas of a request that a place can have: more than one where there are alternatives. */
export function schemasAt(schema: Json, path: Path): Json[] {
  const resolved = resolve(schema);
  const variants = resolved.anyOf ?? resolved.oneOf;
  if (variants) return variants.flatMap((variant: Json) => schemasAt(variant, path));
  const [first, ...rest] = path;
  if (first === undefined) return [resolved];
  const inner = typeof first === 'number' ? resolved.items : resolved.properties?.[first];
  return inner ? schemasAt(inner, rest) : [];
}

/** The places in a schema that hold the id of a record, as fields without indices: `items.memberIds`. */
export function idPlacesIn(schema: Json, place = ''): string[] {
  const resolved = resolve(schema);
  const variants = resolved.anyOf ?? resolved.oneOf;
  if (variants) return variants.flatMap((variant: Json) => idPlacesIn(variant, place));
  if (/^\^[a-z]+_/.test(resolved.pattern ?? '')) return [place];
  const inner = Object.entries<Json>(resolved.properties ?? {})
    // What only a response has is ignored.
    .filter(([, { readOnly }]) => !readOnly)
    .flatMap(([name, field]) => idPlacesIn(field, place === '' ? name : `${place}.${name}`));
  return [...inner, ...(resolved.items ? idPlacesIn(resolved.items, place) : [])];
}

/** A place without its indices. */
export const placeWithin = (path: Path): string => path.filter((part) => typeof part === 'string').join('.');
