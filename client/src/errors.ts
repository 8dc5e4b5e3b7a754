import type { components } from './openapi.ts';

type Schema = components['schemas'];

/** Every code with which the service refuses a request. */
export type ErrorCode = Schema['ErrorCode'];

/** How a request can be repeated. */
export interface Repeat {
  /** What `Retry-After` asked for, in ms. */
  readonly retryAfterMs?: number | undefined;
  /** Of a POST that may still take effect: the same call with it gets its outcome, and repeats nothing. */
  readonly idempotencyKey?: string | undefined;
}

/** The service refused a request. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error implements Repeat {
  declare readonly name: 'ApiError';
  readonly retryAfterMs: number | undefined;
  readonly idempotencyKey: string | undefined;
  /** Not refused for good (429, 5xx, 409 with `Retry-After`): the time of the call was over before another answer. */
  readonly isTemporary: boolean;
  constructor(
    readonly code: Code,
    /** The HTTP status. */
    readonly status: number,
    /** What is wrong, and what is expected. */
    readonly reason: string,
    readonly details: Schema['ErrorDetails'],
    /** `X-Request-Id`: it names the request in the logs of the service. */
    readonly requestId: string | undefined,
    { retryAfterMs, idempotencyKey }: Repeat = {},
  ) {
    super(`${status} ${code}: ${reason}${details.field ? ` (${details.field})` : ''}`);
    this.retryAfterMs = retryAfterMs;
    this.isTemporary = status === 429 || status >= 500 || (status === 409 && retryAfterMs !== undefined);
    this.idempotencyKey = idempotencyKey;
  }
}

/**
 * No final answer: none within the time of the call, or one that is not the API's (then without `idempotencyKey`). A
 * POST without an answer may still take effect; the same call with this `idempotencyKey` gets its outcome, and repeats
 * nothing. So do `transfer`, `call` and `propose`, whichever of their calls has got no answer.
 */
export class NoAnswer extends Error implements Repeat {
  declare readonly name: 'NoAnswer';
  readonly code = 'noAnswer';
  constructor(
    message: string,
    readonly idempotencyKey: string | undefined,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A setting keeps every request from being sent: the address, or whom this process trusts. It is not repeated. */
export class NotConnected extends Error implements Repeat {
  declare readonly name: 'NotConnected';
  readonly code = 'notConnected';
  readonly idempotencyKey: string | undefined;
  constructor(
    message: string,
    /** What to change. `certificate`: that of the service. */
    readonly setting: 'baseUrl' | 'NODE_EXTRA_CA_CERTS' | 'certificate',
    options?: ErrorOptions & Repeat,
  ) {
    super(message, options);
    this.idempotencyKey = options?.idempotencyKey;
  }
}

/** What was waited for cannot come any more, or has not come in time: `record` is as it was read last. */
export class NotReached<Record = unknown> extends Error {
  declare readonly name: 'NotReached';
  readonly code = 'notReached';
  constructor(
    message: string,
    readonly record: Record,
    /**
     * `timeout`: it may still come. `ended`: it never comes. `parked`: the execution failed or was blocked, and somebody
     * can execute it again.
     */
    readonly why: 'timeout' | 'ended' | 'parked',
  ) {
    super(message);
  }
}

/** The payload is not what was asked for. Nothing was signed. */
export class PayloadMismatch extends Error {
  declare readonly name: 'PayloadMismatch';
  readonly code = 'payloadMismatch';
  constructor(
    /** The path of the field, such as `message.recipient`. */
    readonly field: string,
    readonly asked: unknown,
    readonly got: unknown,
  ) {
    super(`${field}: ${shown(got)} (expected ${shown(asked)})`);
  }
}

/** Nothing was signed: the record takes no such signature now, or `confirm` has refused it. */
export class NotSigned extends Error {
  declare readonly name: 'NotSigned';
  readonly code = 'notSigned';
}

/** No policy permits a transaction; `evaluations` says of each what is in the way. */
export class NotPermitted extends Error {
  declare readonly name: 'NotPermitted';
  readonly code = 'notPermitted';
  constructor(readonly evaluations: readonly Schema['Evaluation'][]) {
    const reasons = evaluations.map(({ policy, failures }) => {
      const unmet = failures.map(
        ({ condition, found, wanted }) => `${condition} ${found} (wanted: ${wanted})`,
      );
      return `${policy.name}: ${unmet.join('; ') || 'permits it, policyId is another'}`;
    });
    super(['no policy permits this transaction', ...reasons].join('\n  '));
  }
}

/** The errors with a `code`. Misuse throws TypeError; an aborted call rejects with the reason of its signal. */
export type OrgwalletError =
  | { [Code in ErrorCode]: ApiError<Code> }[ErrorCode]
  | NoAnswer
  | NotConnected
  | NotReached
  | PayloadMismatch
  | NotSigned
  | NotPermitted;

const KINDS = { ApiError, NoAnswer, NotConnected, NotReached, PayloadMismatch, NotSigned, NotPermitted };
// A build shortens the names of classes, and an error is printed with both.
for (const [value, kind] of Object.entries(KINDS)) {
  for (const target of [kind, kind.prototype]) Object.defineProperty(target, 'name', { value });
}

/** Whether something thrown is an error of this client that has a `code`. */
export function isOrgwalletError(error: unknown): error is OrgwalletError {
  return Object.values(KINDS).some((kind) => error instanceof kind);
}

function shown(value: unknown): string {
  return value === undefined
    ? 'nothing'
    : (JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}` : v)) ?? String(value));
}
