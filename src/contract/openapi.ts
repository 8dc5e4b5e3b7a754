import { z } from 'zod';
import type { ErrorCode } from '../domain/refusal';
import { BASE_PATH, COMMON_ERRORS, type Endpoint, MUTATION_ERRORS } from './endpoint';
import { errorBody, MEANING_BY_CODE, STATUS_BY_CODE } from './errors';

type Json = { [key: string]: unknown };

const ID_LABELS: Record<string, string> = {
  mem: 'member',
  grp: 'group',
  pol: 'policy',
  acc: 'account',
  adm: 'admins',
  prop: 'proposal',
  txn: 'transaction',
};

/** Collects the named schemas of every message under components. */
class Components {
  readonly schemas: Json = {};

  /** The JSON Schema of a message, its named parts moved to components. */
  schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
    const {
      $schema: _,
      $defs,
      ...root
    } = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      override: ({ jsonSchema }) => {
        // A response may have more fields than are named here, and so may what only a response has.
        if (io === 'output') delete jsonSchema.additionalProperties;
        delete jsonSchema.id;
      },
    }) as Json;
    for (const [name, definition] of Object.entries(($defs ?? {}) as Json)) {
      this.schemas[name] = this.relocate(definition);
    }
    return this.relocate(root) as Json;
  }

  private relocate(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.relocate(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        key === '$ref' && typeof inner === 'string'
          ? inner.replace('#/$defs/', '#/components/schemas/')
          : this.relocate(inner),
      ]),
    );
  }
}

const RATE_LIMIT_HEADERS: Json = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
  'RateLimit-Limit': { $ref: '#/components/headers/RateLimitLimit' },
  'RateLimit-Remaining': { $ref: '#/components/headers/RateLimitRemaining' },
  'RateLimit-Reset': { $ref: '#/components/headers/RateLimitReset' },
};

function header(description: string, schema: Json): Json {
  return { description, schema };
}

function errorResponses(codes: readonly ErrorCode[]): Json {
  const statuses = [...new Set(codes.map((code) => STATUS_BY_CODE[code]))].sort((one, two) => one - two);
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = codes.filter((code) => STATUS_BY_CODE[code] === status);
      const retryable = status === 429 || status === 500;
      return [
        String(status),
        {
          description: ofStatus.map((code) => `\`${code}\`: ${MEANING_BY_CODE[code]}`).join('\n\n'),
          headers: {
            'X-Request-Id': { $ref: '#/components/headers/RequestId' },
            ...(retryable ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } : {}),
            ...(status === 426 ? { Upgrade: header('`TLS/1.2, HTTP/1.1`', { type: 'string' }) } : {}),
          },
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/Error' },
              examples: Object.fromEntries(
                ofStatus.map((code) => {
                  const message = MEANING_BY_CODE[code];
                  const details = code === 'validationError' ? { details: { field: 'items[0].name' } } : {};
                  return [code, { value: { error: { code, message, ...details }, code, message } }];
                }),
              ),
            },
          },
        },
      ];
    }),
  );
}

function parameters(endpoint: Endpoint, components: Components): Json[] {
  const path = Object.entries(endpoint.params).map(([name, prefix]) => ({
    name,
    in: 'path',
    required: true,
    description: `Id of the ${ID_LABELS[prefix]}.`,
    schema: { type: 'string', examples: [`${prefix}_01jz8k3v5fe5ht0n2m6w9r4xyz`] },
  }));
  const querySchema = components.schemaOf(endpoint.query, 'output');
  const required = (querySchema.required ?? []) as string[];
  const query = Object.entries((querySchema.properties ?? {}) as Record<string, Json>).map(
    ([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema,
    }),
  );
  const idempotency = endpoint.method === 'post' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [];
  return [...path, ...query, ...idempotency, { $ref: '#/components/parameters/RequestId' }];
}

function operation(endpoint: Endpoint, components: Components): Json {
  const mutation = endpoint.method === 'post' && !endpoint.dryRun;
  const codes = [...new Set([...COMMON_ERRORS, ...(mutation ? MUTATION_ERRORS : []), ...endpoint.errors])];
  const who =
    endpoint.access === 'admin'
      ? 'Needs a key of an admin of type api.'
      : 'Needs any key of the organization.';
  return {
    operationId: endpoint.id,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: endpoint.description ? `${endpoint.description}\n\n${who}` : who,
    parameters: parameters(endpoint, components),
    ...(endpoint.body
      ? {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: components.schemaOf(endpoint.body, 'input'),
                ...(endpoint.exampleBody === undefined ? {} : { example: endpoint.exampleBody }),
              },
            },
          },
        }
      : {}),
    responses: {
      [String(endpoint.status)]: {
        description: endpoint.status === 201 ? 'Created.' : 'Success.',
        headers: {
          ...RATE_LIMIT_HEADERS,
          ...(endpoint.status === 201 ? { Location: { $ref: '#/components/headers/Location' } } : {}),
          ...(mutation
            ? { 'Idempotency-Replayed': { $ref: '#/components/headers/IdempotencyReplayed' } }
            : {}),
        },
        content: { 'application/json': { schema: components.schemaOf(endpoint.response, 'output') } },
      },
      ...errorResponses(codes),
    },
  };
}

/** The OpenAPI 3.1 document of the interface, made from the schemas that check requests and responses. */
export function openApiDocument(endpoints: readonly Endpoint[]): Json {
  const components = new Components();
  components.schemaOf(z.object({ error: errorBody }), 'output');
  const paths: { [path: string]: Json } = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method]: operation(endpoint, components) };
  }
  const tags = [...new Set(endpoints.map(({ tag }) => tag))].map((name) => ({ name }));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Organization Wallet Management Service',
      version: '2.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'Shared blockchain wallets of organizations. Changes are proposed, signed by admins and executed once their ' +
        'threshold is met. Every POST carries an idempotency key, so that it can be repeated safely.',
    },
    servers: [{ url: BASE_PATH }],
    security: [{ apiKey: [] }],
    tags,
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `ow_live_…`.' },
      },
      parameters: {
        IdempotencyKey: {
          name: 'X-Idempotency-Key',
          in: 'header',
          required: true,
          description:
            'A UUID that stands for this request. Sent again with the same request it gives the same answer.',
          schema: { type: 'string', format: 'uuid' },
        },
        RequestId: {
          name: 'X-Request-Id',
          in: 'header',
          required: false,
          description:
            'Your own id of the request, 1 to 100 letters, digits, `.`, `_` or `-`; shown in logs.',
          schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,100}$' },
        },
      },
      headers: {
        RequestId: header('Id of the request in the logs.', { type: 'string' }),
        Location: header('Path of what was created.', { type: 'string' }),
        IdempotencyReplayed: header('`true` when this is a stored answer.', { type: 'string' }),
        RetryAfter: header('Seconds until the request makes sense again.', { type: 'integer' }),
        RateLimitLimit: header('Requests that can be sent at once.', { type: 'integer' }),
        RateLimitRemaining: header('Requests left at this moment.', { type: 'integer' }),
        RateLimitReset: header('Seconds until all of them are there again.', { type: 'integer' }),
      },
      schemas: Object.fromEntries(
        Object.entries(components.schemas).sort(([one], [two]) => (one < two ? -1 : 1)),
      ),
    },
  };
}

/** The document as the text that is committed and served. */
export function openApiText(endpoints: readonly Endpoint[]): string {
  return `${JSON.stringify(openApiDocument(endpoints), null, 2)}\n`;
}
