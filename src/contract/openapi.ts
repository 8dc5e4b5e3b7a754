import { z } from 'zod';
import {
  type CreateDocumentOptions,
  createDocument,
  createSchema,
  type oas31,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiRequestBodyObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import type { ErrorCode } from '../domain/refusal';
import { BASE_PATH, COMMON_ERRORS, type Endpoint, MUTATION_ERRORS, type Tag } from './endpoint';
import { errorBody, MEANING_BY_CODE, STATUS_BY_CODE } from './errors';
import { policyBase, policyInput } from './policies';
import { capital, idName } from './primitives';
import { proposalBase } from './proposals';
import { transactionBase } from './transactions';

/** The schemas that others extend: `meta({ extends: name })` makes a schema `allOf` its base and its own fields. */
const RESPONSE_BASES = {
  PolicyBase: policyBase,
  ProposalBase: proposalBase,
  TransactionBase: transactionBase,
};
const BASES: { readonly [name: string]: z.ZodObject } = { ...RESPONSE_BASES, PolicyInput: policyInput };

const TAG_DESCRIPTIONS: { readonly [tag in Tag]: string } = {
  Accounts: 'Shared wallets: smart accounts with one address on all their networks.',
  Members: 'People (`user`) and bots (`api`) of the organization, each with one wallet.',
  Groups: 'Named sets of members.',
  Policies: 'Rules that permit transactions.',
  Admins: 'The members who vote on organization operations, and their threshold.',
  Proposals: 'Organization operations of all kinds.',
  Transactions: 'Transfers and contract calls of accounts.',
  Networks: 'The networks of this installation.',
  AuditLogs: 'Every change of state.',
};

const ref = (section: string, name: string) => ({ $ref: `#/components/${section}/${name}` });

/** Splits a schema that extends another into a reference to its base and its own fields. */
function splitBase(name: string, jsonSchema: oas31.SchemaObject): void {
  const inherited = BASES[name]?.shape ?? {};
  const { properties = {}, required = [], additionalProperties } = jsonSchema;
  const own = Object.entries(properties).filter(([field]) => !(field in inherited));
  const ownRequired = required.filter((field) => !(field in inherited));
  for (const key of ['type', 'properties', 'required', 'additionalProperties'] as const)
    delete jsonSchema[key];
  const ownFields: oas31.SchemaObject = {
    type: 'object',
    properties: Object.fromEntries(own),
    ...(ownRequired.length > 0 ? { required: ownRequired } : {}),
  };
  jsonSchema.allOf = [ref('schemas', name), ...(own.length > 0 ? [ownFields] : [])];
  // additionalProperties would refuse the fields of the base.
  if (additionalProperties === false) Object.assign(jsonSchema, { unevaluatedProperties: false });
}

const override: NonNullable<CreateDocumentOptions['override']> = ({ zodSchema, jsonSchema, io }) => {
  // Responses may have more fields than are declared.
  if (io === 'output') delete jsonSchema.additionalProperties;
  const base = z.globalRegistry.get(zodSchema as z.core.$ZodType)?.extends;
  if (typeof base !== 'string') return;
  delete (jsonSchema as { extends?: string }).extends;
  splitBase(base, jsonSchema as oas31.SchemaObject);
};

const RESPONSE_HEADERS = {
  'X-Request-Id': ref('headers', 'RequestId'),
  'RateLimit-Limit': ref('headers', 'RateLimitLimit'),
  'RateLimit-Remaining': ref('headers', 'RateLimitRemaining'),
  'RateLimit-Reset': ref('headers', 'RateLimitReset'),
};

function header(description: string, schema: oas31.SchemaObject, example: unknown): oas31.HeaderObject {
  return { description, schema: { ...schema, examples: [example] } };
}

/** The response of one status, for the error codes of that status that an endpoint has. Named after the codes. */
function errorResponse(status: number, codes: readonly ErrorCode[]): ZodOpenApiResponseObject {
  const retryable = status === 429 || status === 500;
  return {
    id: codes.map(capital).join('Or'),
    description: codes.map((code) => `\`${code}\`: ${MEANING_BY_CODE[code]}`).join(' '),
    headers: {
      'X-Request-Id': ref('headers', 'RequestId'),
      ...(retryable ? { 'Retry-After': ref('headers', 'RetryAfter') } : {}),
      ...(status === 426 ? { Upgrade: ref('headers', 'Upgrade') } : {}),
    },
    content: {
      'application/json': {
        schema: errorBody,
        examples: Object.fromEntries(
          codes.map((code) => {
            const message = MEANING_BY_CODE[code];
            const details = code === 'validationError' ? { details: { field: 'items[0].name' } } : {};
            return [code, { value: { error: { code, message, ...details }, code, message } }];
          }),
        ),
      },
    },
  };
}

/** Creates the error responses of endpoints, each once. */
function errorResponses() {
  const made = new Map<string, ZodOpenApiResponseObject>();
  return (endpoint: Endpoint): { [status: string]: ZodOpenApiResponseObject } => {
    const codes = new Set([
      ...COMMON_ERRORS,
      ...(isMutation(endpoint) ? MUTATION_ERRORS : []),
      ...endpoint.errors,
    ]);
    const ordered = (Object.keys(STATUS_BY_CODE) as ErrorCode[]).filter((code) => codes.has(code));
    const statuses = new Set(ordered.map((code) => STATUS_BY_CODE[code]));
    return Object.fromEntries(
      [...statuses].map((status) => {
        const ofStatus = ordered.filter((code) => STATUS_BY_CODE[code] === status);
        const response = made.get(ofStatus.join()) ?? errorResponse(status, ofStatus);
        made.set(ofStatus.join(), response);
        return [String(status), response];
      }),
    );
  };
}

function isMutation({ method, dryRun }: Endpoint): boolean {
  return method === 'post' && !dryRun;
}

function pathParameters({ params }: Endpoint) {
  return Object.keys(params).map((name) => ref('parameters', capital(name)));
}

/** The parameters in paths, by name. They have no pattern: an id of another form is not a validationError there. */
function pathParameterComponents(endpoints: readonly Endpoint[]): { [name: string]: oas31.ParameterObject } {
  const params = endpoints.flatMap((endpoint) => Object.entries(endpoint.params));
  return Object.fromEntries(
    params.map(([name, prefix]) => [
      capital(name),
      { name, in: 'path', required: true, schema: ref('schemas', idName(prefix)) },
    ]),
  );
}

/** Creates the request bodies of endpoints, each once. Named after their schema. */
function requestBodies() {
  const made = new Map<string, ZodOpenApiRequestBodyObject>();
  return ({ id, body, exampleBody }: Endpoint): Pick<ZodOpenApiOperationObject, 'requestBody'> => {
    if (!body) return {};
    const name = body.meta()?.id ?? `${capital(id)}Request`;
    const schema = body.meta()?.id === undefined ? body.meta({ id: name }) : body;
    const requestBody = made.get(name) ?? {
      id: name,
      required: true,
      content: { 'application/json': { schema, examples: { body: { value: exampleBody } } } },
    };
    made.set(name, requestBody);
    return { requestBody };
  };
}

/** Creates the successful responses of endpoints. Shared ones are created once and named after their schema. */
function successResponses(endpoints: readonly Endpoint[]) {
  const made = new Map<string, ZodOpenApiResponseObject>();
  return ({ status, response: schema }: Endpoint): ZodOpenApiResponseObject => {
    const sharing = endpoints.filter((other) => other.response === schema && other.status === status);
    const name = `${schema.meta()?.id}${status === 201 ? 'Created' : ''}`;
    const response = made.get(name) ?? {
      ...(sharing.length > 1 ? { id: name } : {}),
      description: status === 201 ? 'Created.' : 'Success.',
      headers: {
        ...RESPONSE_HEADERS,
        ...(status === 201 ? { Location: ref('headers', 'Location') } : {}),
        ...(sharing.some(isMutation)
          ? { 'Idempotency-Replayed': ref('headers', 'IdempotencyReplayed') }
          : {}),
      },
      content: { 'application/json': { schema } },
    };
    made.set(name, response);
    return response;
  };
}

function description({ description: text, access }: Endpoint): string {
  const who =
    access === 'admin'
      ? 'Requires the API key of an admin of type `api`.'
      : 'Requires any API key of the organization.';
  return text ? `${text} ${who}` : who;
}

function pathsOf(endpoints: readonly Endpoint[]): ZodOpenApiPathsObject {
  const bodyOf = requestBodies();
  const successOf = successResponses(endpoints);
  const errorsOf = errorResponses();
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of endpoints) {
    const idempotency = endpoint.method === 'post' ? [ref('parameters', 'IdempotencyKey')] : [];
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method]: {
        operationId: endpoint.id,
        tags: [endpoint.tag],
        summary: endpoint.summary,
        description: description(endpoint),
        requestParams: { query: endpoint.query as z.ZodObject },
        parameters: [...pathParameters(endpoint), ...idempotency],
        ...bodyOf(endpoint),
        responses: { [endpoint.status]: successOf(endpoint), ...errorsOf(endpoint) },
      },
    };
  }
  return paths;
}

const COMPONENTS: NonNullable<ZodOpenApiObject['components']> = {
  securitySchemes: {
    apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `ow_live_…`.' },
  },
  parameters: {
    IdempotencyKey: {
      name: 'X-Idempotency-Key',
      in: 'header',
      required: true,
      description:
        'UUID of this request. The same request with the same key has the same response, and one effect.',
      schema: { type: 'string', format: 'uuid', examples: ['6c0d2a7e-3f4b-4f0e-9f38-1d5f0c2b7a11'] },
    },
  },
  headers: {
    RequestId: header(
      'Id of this request in the logs: your `X-Request-Id` if it is 1 to 100 letters, digits, `.`, `_` or `-`.',
      { type: 'string' },
      'payroll-2025-06',
    ),
    Location: header(
      'Path of the created resource.',
      { type: 'string' },
      '/api/v1/transactions/txn_01jz8k3v5fe5ht0n2m6w9r4xyz',
    ),
    IdempotencyReplayed: header(
      '`true` if this is the stored response of an earlier POST.',
      { type: 'string', enum: ['true'] },
      'true',
    ),
    RetryAfter: header('Seconds to wait before a retry.', { type: 'integer' }, 2),
    Upgrade: header('Protocols to use instead.', { type: 'string' }, 'TLS/1.2, HTTP/1.1'),
    RateLimitLimit: header('Size of a burst of requests.', { type: 'integer' }, 300),
    RateLimitRemaining: header('Requests left now.', { type: 'integer' }, 299),
    RateLimitReset: header('Seconds until a full burst is available.', { type: 'integer' }, 1),
  },
  schemas: RESPONSE_BASES,
};

/** Sorts the entries of an object by key. */
function sorted<T extends object>(entries: T): T {
  return Object.fromEntries(Object.entries(entries).sort(([one], [two]) => (one < two ? -1 : 1))) as T;
}

/** The OpenAPI 3.1 document of the API, generated from the schemas that check requests and responses. */
export function openApiDocument(endpoints: readonly Endpoint[]): oas31.OpenAPIObject {
  const tags = [...new Set(endpoints.map(({ tag }) => tag))];
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Organization Wallet Management Service',
        version: '2.0.0',
        license: { name: 'MIT', identifier: 'MIT' },
        contact: { name: 'The operator of this installation' },
        description:
          'Shared blockchain wallets of organizations. Organization operations are proposed, signed by admins and ' +
          'executed once their threshold is met; policies govern the transactions of accounts. Every POST has an ' +
          'idempotency key, so that it can be retried safely.',
      },
      servers: [{ url: BASE_PATH }],
      security: [{ apiKey: [] }],
      tags: tags.map((name) => ({ name, description: TAG_DESCRIPTIONS[name] })),
      paths: pathsOf(endpoints),
      components: {
        ...COMPONENTS,
        parameters: { ...COMPONENTS.parameters, ...pathParameterComponents(endpoints) },
      },
    },
    { override },
  );
  const { components: requestBases } = createSchema(policyInput, { io: 'input', opts: { override } });
  const {
    schemas = {},
    responses = {},
    requestBodies: bodies = {},
    parameters = {},
    ...components
  } = document.components ?? {};
  return {
    ...document,
    components: {
      ...components,
      parameters: sorted(parameters),
      requestBodies: sorted(bodies),
      responses: sorted(responses),
      schemas: sorted({ ...requestBases, ...schemas }),
    },
  };
}

/** The document as the text that is committed and served. */
export function openApiText(endpoints: readonly Endpoint[]): string {
  return `${JSON.stringify(openApiDocument(endpoints), null, 2)}\n`;
}
