import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorCode } from '../../src/domain/refusal';
import { projectRoot } from '../../src/projectRoot';

// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema, or a value that fits one
export type Json = any;

type Method = 'get' | 'post' | 'patch' | 'delete';

/** A documented operation, as far as tests are generated from it. */
export interface Operation {
  readonly id: string;
  readonly method: Method;
  /** Below the base path, with `{name}` for each parameter. */
  readonly path: string;
  /** Names of the parameters in the path, each with an id that no record has. */
  readonly params: readonly { readonly name: string; readonly example: string }[];
  readonly query: readonly { readonly name: string; readonly required: boolean; readonly schema: Json }[];
  readonly body?: { readonly schema: Json; readonly example: Json };
  readonly forAdmins: boolean;
  readonly success: number;
  readonly codes: readonly ErrorCode[];
  readonly responses: { readonly [status: string]: Json };
}

/** The OpenAPI document as it is committed. */
export const document: Json = JSON.parse(readFileSync(join(projectRoot(), 'openapi.json'), 'utf8'));

export const BASE: string = document.servers[0].url;

/** A part of the document without references and `allOf` at its top: what a $ref points to, with its own keywords. */
export function resolve(part: Json): Json {
  const { $ref, allOf, ...own } = part;
  if ($ref) {
    const keys: string[] = $ref.replace('#/', '').split('/');
    return { ...resolve(keys.reduce((value, key) => value[key], document)), ...own };
  }
  if (!allOf) return part;
  const parts: Json[] = [...allOf.map(resolve), own];
  return Object.assign({}, ...parts, {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  });
}

function operationOf(path: string, method: Method, described: Json): Operation {
  const parameters: Json[] = described.parameters.map(resolve);
  const content = described.requestBody && resolve(described.requestBody).content['application/json'];
  const responses = Object.entries<Json>(described.responses).map(([status, response]) => [
    status,
    resolve(response),
  ]);
  return {
    id: described.operationId,
    method,
    path,
    params: parameters
      .filter((parameter) => parameter.in === 'path')
      .map(({ name, schema }) => ({ name, example: resolve(schema).examples[0] })),
    query: parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, required = false, schema }) => ({ name, required, schema: resolve(schema) })),
    ...(content ? { body: { schema: content.schema, example: content.examples.body.value } } : {}),
    forAdmins: described.description.includes('Requires the API key of an admin'),
    success: Number(responses.map(([status]) => status).findLast((status) => Number(status) < 400)),
    codes: responses.flatMap(
      ([, { content: answer }]) => Object.keys(answer['application/json']?.examples ?? {}) as ErrorCode[],
    ),
    responses: Object.fromEntries(responses),
  };
}

function operationsOf(paths: readonly (readonly [path: string, item: Json])[]): Operation[] {
  return paths.flatMap(([path, { servers: _, ...methods }]) =>
    Object.entries<Json>(methods).map(([method, described]) =>
      operationOf(path, method as Method, described),
    ),
  );
}

/** The path at the host that a path of the document is reached by: those of sessions are at the root. */
export const placeOfPath = (path: string): string =>
  document.paths[path].servers === undefined ? `${BASE}${path}` : path;

const paths = Object.entries<Json>(document.paths);
const isOfSessions = ([, { servers }]: (typeof paths)[number]) => servers !== undefined;

/** Every operation below the base path. */
export const operations: readonly Operation[] = operationsOf(paths.filter((one) => !isOfSessions(one)));

/** Every operation of sessions, for browsers: with a cookie, at the root. */
export const sessionOperations: readonly Operation[] = operationsOf(paths.filter(isOfSessions));

/** True when the document has an operation of that name. */
export const has = (operationId: string): boolean => operations.some(({ id }) => id === operationId);

/** Path and required query of a request; `idFor` tells the id for a parameter, by default one that no record has. */
export function urlOf(
  operation: Operation,
  idFor: (example: string, name: string) => string = (id) => id,
): string {
  const path = operation.params.reduce(
    (filled, { name, example }) => filled.replace(`{${name}}`, idFor(example, name)),
    operation.path,
  );
  const query = operation.query
    .filter(({ required }) => required)
    .map(({ name, schema }) => `${name}=${schema.examples[0]}`);
  return `${BASE}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`;
}
