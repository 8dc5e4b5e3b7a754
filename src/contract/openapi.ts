import { z } from 'zod';
import {
  type CreateDocumentOptions,
  createDocument,
  createSchema,
  type oas31,
  type ZodOpenApiObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import type { Scope } from '../domain/keyRights';
import type { ErrorCode } from '../domain/refusal';
import { capital, idName } from '../domain/schemas';
import { policyBase } from '../domain/shownPolicy';
import { BASE_PATH, COMMON_ERRORS, type Endpoint, isMutation, MUTATION_ERRORS, type Tag } from './endpoint';
import { eventType } from './eventContract';
import {
  errorResponses,
  header,
  pathParameters,
  RESPONSE_HEADERS,
  ref,
  requestBodies,
  type Shared,
} from './openapiParts';
import { SESSIONS, sessionPaths } from './openapiSessions';
import { plainSchemas } from './plainSchemas';
import { policyInput } from './policyContract';
import { proposalBase } from './proposalContract';
import { SESSION_COOKIE, sessionEndpoints } from './sessionContract';
import { transactionBase } from './transactionContract';

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
  AddressBook: 'Names of addresses, for display only.',
  Recipients: 'What an organization knows of addresses.',
  Webhooks: 'Where events are sent to.',
  Fees: 'What relayers have paid for chain transactions.',
  Movements: 'What came in and went out of accounts, as the logs of chains show it.',
  AuditLogs: 'Every change of state.',
  Events: 'What happens, as it happens: the audit log for programs that follow it.',
};

/** Whether the values of a schema are of one type, whatever their names: it is a record, and not an object that may grow. */
function hasValues({ additionalProperties: values }: { readonly additionalProperties?: unknown }): boolean {
  return typeof values === 'object' && values !== null && Object.keys(values).length > 0;
}

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
  if (io === 'output' && !hasValues(jsonSchema)) delete jsonSchema.additionalProperties;
  const base = z.globalRegistry.get(zodSchema as z.core.$ZodType)?.extends;
  if (typeof base !== 'string') return;
  delete (jsonSchema as { extends?: string }).extends;
  splitBase(base, jsonSchema as oas31.SchemaObject);
};

function errorsOfEndpoint(endpoint: Endpoint): readonly ErrorCode[] {
  return [...COMMON_ERRORS, ...(isMutation(endpoint) ? MUTATION_ERRORS : []), ...endpoint.errors];
}

/** The parameters in paths, by name. They have no pattern: an id of another form is not a validationError there. */
function pathParameterComponents(endpoints: readonly Pick<Endpoint, 'params'>[]): {
  [name: string]: oas31.ParameterObject;
} {
  const params = endpoints.flatMap((endpoint) => Object.entries(endpoint.params));
  return Object.fromEntries(
    params.map(([name, prefix]) => [
      capital(name),
      {
        name,
        in: 'path',
        required: true,
        schema: ref('schemas', prefix === 'address' ? 'AddressInput' : idName(prefix)),
      },
    ]),
  );
}

/**
 * Creates the successful responses of endpoints. Shared ones are created once and named after their schema. What creates
 * something answers 200 with that, as it is, once its stored response is not kept any more.
 */
function successResponses(endpoints: readonly Endpoint[]) {
  const made = new Map<string, ZodOpenApiResponseObject>();
  const responseOf = (
    { response: schema, stream, csv }: Endpoint,
    status: Endpoint['status'],
  ): ZodOpenApiResponseObject => {
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
      content: {
        'application/json': { schema },
        ...(stream ? { 'text/event-stream': { schema: stream } } : {}),
        ...(csv ? { 'text/csv': { schema: csv } } : {}),
      },
    };
    made.set(name, response);
    return response;
  };
  return (endpoint: Endpoint): { readonly [status: string]: ZodOpenApiResponseObject } => ({
    200: responseOf(endpoint, 200),
    ...(endpoint.status === 201 ? { 201: responseOf(endpoint, 201) } : {}),
  });
}

/** What an endpoint needs of an API key. */
type ScopeOf = (endpoint: Endpoint) => Scope;

function description({ description: text, access }: Endpoint, scope: Scope): string {
  const whose = access === 'admin' ? 'the API key of an admin of type `api`' : 'an API key';
  const who = `Requires ${whose} with the scope \`${scope}\`.`;
  return text ? `${text} ${who}` : who;
}

function pathsOf(
  endpoints: readonly Endpoint[],
  scopeOf: ScopeOf,
  { bodyOf, errorsOf }: Shared,
): ZodOpenApiPathsObject {
  const successOf = successResponses(endpoints);
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of endpoints) {
    const idempotency = endpoint.method === 'get' ? [] : [ref('parameters', 'IdempotencyKey')];
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method]: {
        operationId: endpoint.id,
        tags: [endpoint.tag],
        summary: endpoint.summary,
        description: description(endpoint, scopeOf(endpoint)),
        requestParams: { query: endpoint.query as z.ZodObject },
        parameters: [
          ...pathParameters(endpoint),
          ...idempotency,
          ...(endpoint.stream ? [ref('parameters', 'LastEventId')] : []),
        ],
        ...bodyOf(endpoint),
        responses: { ...successOf(endpoint), ...errorsOf(...errorsOfEndpoint(endpoint)) },
      },
    };
  }
  return paths;
}

const UUID = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';

const COMPONENTS: NonNullable<ZodOpenApiObject['components']> = {
  securitySchemes: {
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'An API key, `ow_live_…`. It wins over a session.',
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: SESSION_COOKIE,
      description:
        'The session of a person, in place of an API key. What changes something needs an `Origin` of the service, and nothing ' +
        'may come from a page of another site: 403 `forbidden`. A GET with `X-Orgwallet-Background: 1` does not count as use.',
    },
  },
  parameters: {
    IdempotencyKey: {
      name: 'X-Idempotency-Key',
      in: 'header',
      required: true,
      description:
        'UUID of this request. The same request with the same key has one effect: it gets the stored response, or later 200 ' +
        'and the proposal or transaction that it has created, as it is then.',
      // No format: generated clients must send a text, and not an object of their language.
      schema: { type: 'string', pattern: UUID, examples: ['6c0d2a7e-3f4b-4f0e-9f38-1d5f0c2b7a11'] },
    },
    LastEventId: {
      name: 'Last-Event-ID',
      in: 'header',
      description: 'The id of the last event of a stream: it goes on after it, and wins over `after`.',
      schema: { type: 'string', examples: [`42-${'5e'.repeat(32)}`] },
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
      '`true` if an earlier POST with this key has done the work: nothing is done again.',
      { type: 'string', enum: ['true'] },
      'true',
    ),
    RetryAfter: header('Seconds to wait before a retry.', { type: 'integer' }, 2),
    Upgrade: header('Protocols to use instead.', { type: 'string' }, 'TLS/1.2, HTTP/1.1'),
    SetCookie: header(
      'The cookie of the session; cleared with `Max-Age=0`.',
      { type: 'string' },
      `${SESSION_COOKIE}=…; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200`,
    ),
    RateLimitLimit: header('Size of a burst of requests.', { type: 'integer' }, 300),
    RateLimitRemaining: header('Requests left now.', { type: 'integer' }, 299),
    RateLimitReset: header('Seconds until a full burst is available.', { type: 'integer' }, 1),
  },
  schemas: { ...RESPONSE_BASES, EventType: eventType },
};

/** Sorts the entries of an object by key. */
function sorted<T extends object>(entries: T): T {
  return Object.fromEntries(Object.entries(entries).sort(([one], [two]) => (one < two ? -1 : 1))) as T;
}

/**
 * The OpenAPI 3.1 document of the API, generated from the schemas that check requests and responses. Its servers are at
 * `origin`; without one they are paths.
 */
export function openApiDocument(
  endpoints: readonly Endpoint[],
  scopeOf: ScopeOf,
  origin?: string,
): oas31.OpenAPIObject {
  const tags = [...new Set(endpoints.map(({ tag }) => tag))];
  const shared = { bodyOf: requestBodies(), errorsOf: errorResponses() };
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
      servers: [{ url: `${origin ?? ''}${BASE_PATH}` }],
      security: [{ apiKey: [] }, { session: [] }],
      tags: [...tags.map((name) => ({ name, description: TAG_DESCRIPTIONS[name] })), SESSIONS],
      paths: { ...pathsOf(endpoints, scopeOf, shared), ...sessionPaths(shared, origin ?? '/') },
      components: {
        ...COMPONENTS,
        parameters: {
          ...COMPONENTS.parameters,
          ...pathParameterComponents([...endpoints, ...sessionEndpoints]),
        },
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
  const named = { ...requestBases, ...schemas };
  const whole = {
    ...document,
    components: {
      ...components,
      parameters: sorted(parameters),
      requestBodies: sorted(bodies),
      responses: sorted(responses),
      schemas: sorted(named),
    },
  };
  return plainSchemas(whole, named as { [name: string]: unknown });
}

/** The document as text: committed without an origin, served with the one by which the service was reached. */
export function openApiText(endpoints: readonly Endpoint[], scopeOf: ScopeOf, origin?: string): string {
  const text = JSON.stringify(openApiDocument(endpoints, scopeOf, origin), null, 2);
  // References, and lists of words, are on one line each. In a string every quotation mark has a backslash before it.
  const short = text
    .replace(/\{\s*("\$ref": "[^"\\]*")\s*\}/g, '{ $1 }')
    .replace(/\[\s*("[^"\\]*"(?:,\s*"[^"\\]*")*)\s*\]/g, (_, words) => `[${words.replace(/,\s*"/g, ', "')}]`);
  return `${short}\n`;
}
