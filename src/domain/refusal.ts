/** Every error code of the contract. */
export type ErrorCode =
  | 'validationError'
  | 'invalidSignature'
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'conflict'
  | 'gone'
  | 'thresholdNotMet'
  | 'proposalExpired'
  | 'idempotencyConflict'
  | 'upgradeRequired'
  | 'rateLimited'
  | 'internalError'
  | 'notReconciled';

/** An invalid field of a request, and why. */
export interface FieldIssue {
  readonly field: string;
  readonly message: string;
}

/** Why a request was not carried out: a value that is passed from the rule to the caller. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  /** Path of the field that caused it, such as `items[1].networkIds[0]`. */
  readonly field?: string;
  /** Every invalid field, that one first, where several may be. */
  readonly issues?: readonly FieldIssue[];
  /** The transaction that is in its way. */
  readonly transactionId?: string;
  /** Every condition that is not met, where a policy refused it. */
  readonly failures?: readonly {
    readonly condition: string;
    readonly found: string;
    readonly wanted: string;
  }[];
}

/** The result of something that may be refused. */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

/** A success. */
export function accept<T>(value: T): Result<T> {
  return { ok: true, value };
}

/** A refusal. */
export function refuse(code: ErrorCode, message: string, field?: string): { ok: false; refusal: Refusal } {
  return { ok: false, refusal: field === undefined ? { code, message } : { code, message, field } };
}

/** The refusal of a request with invalid fields. */
export function refuseFields(issues: readonly [FieldIssue, ...FieldIssue[]]): {
  ok: false;
  refusal: Refusal;
} {
  const [{ field, message }] = issues;
  return { ok: false, refusal: { code: 'validationError', message: `${field}: ${message}`, field, issues } };
}
