import type { ErrorBody } from '../contract/errors';
import { STATUS_BY_CODE } from '../contract/errors';
import type { JsonValue } from '../domain/canonicalJson';
import { type ErrorCode, type FieldIssue, type Refusal, type Result, refuseFields } from '../domain/refusal';

type Details = ErrorBody['error']['details'];

function detailsOf({ field, message, issues, failures, transactionId }: Refusal): Details {
  const why = {
    ...(failures ? { failures: failures.map((failure) => ({ ...failure })) } : {}),
    ...(transactionId === undefined ? {} : { transactionId }),
  };
  if (field === undefined) return Object.keys(why).length > 0 ? ({ message, ...why } as Details) : undefined;
  return {
    field,
    message: issues?.[0]?.message ?? message,
    issues: [...(issues ?? [{ field, message }])],
    ...why,
  } as Details;
}

/** What the responses with a code have, whatever the reason. Source: RFC 9110, sections 10.2.3 and 15.5.2. */
const HEADERS: { readonly [Code in ErrorCode]?: { readonly [name: string]: string } } = {
  unauthorized: { 'WWW-Authenticate': 'Bearer' },
  internalError: { 'Retry-After': '2' },
};

/** A refused request: thrown where that is decided, turned into a response in one place. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Details;
  readonly headers: { readonly [name: string]: string };

  constructor(
    refusal: Refusal,
    options: {
      /** Further details, for callers to go on with. */
      details?: { readonly [name: string]: JsonValue };
      headers?: { readonly [name: string]: string };
      cause?: unknown;
    } = {},
  ) {
    super(refusal.message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = refusal.code;
    this.status = STATUS_BY_CODE[refusal.code];
    this.headers = { ...HEADERS[refusal.code], ...options.headers };
    const details = detailsOf(refusal);
    this.details = options.details ? { ...details, ...options.details } : details;
  }
}

/** Refuses a request with invalid fields; the first one is `details.field`. */
export function badRequest(issues: readonly [FieldIssue, ...FieldIssue[]]): Refused {
  return new Refused(refuseFields(issues).refusal);
}

/** The 404 for a record that does not exist or belongs to another organization. */
export function notFound(what: string): Refused {
  return new Refused({ code: 'notFound', message: `${what} not found in this organization` });
}

/** The 404 for a path without an endpoint. */
export function pathNotFound(): Refused {
  return new Refused({ code: 'notFound', message: 'path not found' });
}

/** The 500 for a part of the service that is unavailable: the same request can be sent again. */
export function unavailable(message: string, cause?: unknown): Refused {
  return new Refused({ code: 'internalError', message }, { cause });
}

/** The body of an error response. */
export function errorBodyOf({
  code,
  message,
  details,
}: Pick<Refused, 'code' | 'message' | 'details'>): ErrorBody {
  return { error: { code, message, ...(details ? { details } : {}) }, code, message };
}

/** The value of an accepted outcome; throws the refusal otherwise. */
export function acceptOrThrow<T>(outcome: Result<T>): T {
  if (!outcome.ok) throw new Refused(outcome.refusal);
  return outcome.value;
}
