import { ApiError, NoAnswer, NotSigned, PayloadMismatch } from '@orgwallet/client';

/** An error as words. */
interface Words {
  readonly title: string;
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
  /** Names the request in the logs of the service. */
  readonly requestId?: string;
}

const BY_CODE: { readonly [code: string]: readonly [title: string, advice: string] } = {
  validationError: ['Invalid request', 'Correct it, then try again.'],
  invalidSignature: ['Invalid signature', 'Sign again, with the wallet of your membership.'],
  unauthorized: ['Not signed in', 'Sign in again.'],
  forbidden: ['Not permitted', 'Ask an admin of your organization.'],
  notFound: ['Not found', 'Check the id. The audit log has what was removed.'],
  conflict: ['Conflict with the current state', 'Reload the page and read what has changed.'],
  gone: ['No longer in the log', 'Reload the page.'],
  thresholdNotMet: ['Threshold not met', 'Wait for the missing signatures.'],
  proposalExpired: ['Expired', 'Create the request again.'],
  idempotencyConflict: ['Idempotency key used for another request', 'Reload the page, then try again.'],
  rateLimited: ['Too many requests', 'Wait a minute, then try again.'],
  notReconciled: [
    'Being reconciled',
    'The database may have been rolled back. Do not pay again elsewhere: wait, then try again.',
  ],
  internalError: ['Service error', 'Try again. If it fails again, send the request id to your operator.'],
};

/** What an error means for the person who sees it. */
export function wordsOf(error: unknown): Words {
  if (error instanceof ApiError) {
    const [title, advice] = BY_CODE[error.code] ?? [
      'The service refused this',
      'Reload the page, then try again.',
    ];
    const { requestId } = error;
    return { title, message: error.reason, advice, ...(requestId ? { requestId } : {}) };
  }
  if (error instanceof NoAnswer) {
    return {
      title: 'The service did not answer',
      ...(error.idempotencyKey === undefined
        ? { message: 'The request may not have arrived.', advice: 'Check your connection, then try again.' }
        : {
            message: 'The request may have taken effect or not.',
            advice: 'Try again: it takes effect at most once.',
          }),
    };
  }
  if (error instanceof PayloadMismatch) {
    return {
      title: 'The payload does not match the request',
      message: `${error.message}. Nothing was signed.`,
      advice: 'Report it to your operator.',
    };
  }
  if (error instanceof NotSigned) return { title: 'Nothing was signed', message: error.message };
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  if (name === 'WalletError') return { title: 'The wallet did not sign', message };
  return {
    title: 'Unexpected error',
    message,
    advice: 'Reload the page. If it happens again, report it to your operator.',
  };
}

/** What is wrong with which field of a request, by the path that the service names. */
export function fieldErrors(error: unknown): { readonly [field: string]: string } {
  if (!(error instanceof ApiError)) return {};
  const { field, message = error.reason, issues = [] } = error.details;
  const all = issues.length > 0 ? issues : field === undefined ? [] : [{ field, message }];
  return Object.fromEntries(all.map((issue) => [issue.field, issue.message]));
}

/** The first error of a field, or of a part of it: `items` has that of `items[2].id`. */
export function errorWithin(errors: { readonly [field: string]: string }, path: string): string | undefined {
  const isWithin = (field: string) => field.startsWith(path) && /^($|[.[])/.test(field.slice(path.length));
  return Object.entries(errors).find(([field]) => isWithin(field))?.[1];
}
