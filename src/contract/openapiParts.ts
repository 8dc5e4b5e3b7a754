import type {
  oas31,
  ZodOpenApiOperationObject,
  ZodOpenApiRequestBodyObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import type { ErrorCode } from '../domain/refusal';
import { capital } from '../domain/schemas';
import type { Endpoint } from './endpoint';
import { errorBody, MEANING_BY_CODE, STATUS_BY_CODE } from './errors';

/** Refers to a component of the document. */
export const ref = (section: string, name: string) => ({ $ref: `#/components/${section}/${name}` });

/** The headers of every success that counts for a rate limit. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': ref('headers', 'RequestId'),
  'RateLimit-Limit': ref('headers', 'RateLimitLimit'),
  'RateLimit-Remaining': ref('headers', 'RateLimitRemaining'),
  'RateLimit-Reset': ref('headers', 'RateLimitReset'),
};

/** A header of responses. */
export function header(
  description: string,
  schema: oas31.SchemaObject,
  example: unknown,
): oas31.HeaderObject {
  return { description, schema: { ...schema, examples: [example] } };
}

/** The response of one status, for the error codes of that status that an endpoint has. Named after the codes. */
function errorResponse(status: number, codes: readonly ErrorCode[]): ZodOpenApiResponseObject {
  const retryable = status === 429 || status >= 500;
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

/** Creates the error responses of endpoints from their codes, each once. */
export function errorResponses() {
  const made = new Map<string, ZodOpenApiResponseObject>();
  return (...listed: readonly ErrorCode[]): { [status: string]: ZodOpenApiResponseObject } => {
    const codes = new Set(listed);
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

/** The parameters in the path of an endpoint. */
export function pathParameters({ params }: Pick<Endpoint, 'params'>) {
  return Object.keys(params).map((name) => ref('parameters', capital(name)));
}

/** Creates the request bodies of endpoints, each once. Named after their schema. */
export function requestBodies() {
  const made = new Map<string, ZodOpenApiRequestBodyObject>();
  return ({
    id,
    body,
    exampleBody,
  }: Pick<Endpoint, 'id' | 'body' | 'exampleBody'>): Pick<ZodOpenApiOperationObject, 'requestBody'> => {
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

/** What creates the parts that endpoints share. */
export interface Shared {
  readonly bodyOf: ReturnType<typeof requestBodies>;
  readonly errorsOf: ReturnType<typeof errorResponses>;
}
