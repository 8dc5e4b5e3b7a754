import { ApiError, NoAnswer, NotSigned, PayloadMismatch } from '@orgwallet/client';

/** An error as words. */
export interface Words {
  readonly title: string;
  readonly message: string;
  /** Names the request in the logs of the service. */
  readonly requestId?: string;
}

const TITLES: { readonly [code: string]: string } = {
  validationError: 'Something in it is not valid',
  invalidSignature: 'The signature was not accepted',
  unauthorized: 'You are not signed in',
  forbidden: 'Not permitted',
  notFound: 'Not found',
  conflict: 'The current state does not permit this',
  thresholdNotMet: 'Signatures are missing',
  proposalExpired: 'It has expired',
  idempotencyConflict: 'This was sent before with other content',
  rateLimited: 'Too many requests',
  internalError: 'The service could not do this now',
};

/** What an error means for the person who sees it. */
export function wordsOf(error: unknown): Words {
  if (error instanceof ApiError) {
    const title = TITLES[error.code] ?? 'The service refused this';
    return { title, message: error.reason, ...(error.requestId ? { requestId: error.requestId } : {}) };
  }
  if (error instanceof NoAnswer) {
    return {
      title: 'The service did not answer',
      message:
        error.idempotencyKey === undefined
          ? 'Check your connection, then try again.'
          : 'It may or may not have taken effect. Trying again is safe: nothing happens twice.',
    };
  }
  if (error instanceof PayloadMismatch) {
    return { title: 'This is not what it claims to be', message: `${error.message}. Nothing was signed.` };
  }
  if (error instanceof NotSigned) return { title: 'Nothing was signed', message: error.message };
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  return { title: name === 'WalletError' ? 'The wallet did not sign' : 'Something went wrong', message };
}

/** What is wrong with which field of a request, by the path that the service names. */
export function fieldErrors(error: unknown): { readonly [field: string]: string } {
  if (!(error instanceof ApiError)) return {};
  const { field, message = error.reason, issues = [] } = error.details;
  const all = issues.length > 0 ? issues : field === undefined ? [] : [{ field, message }];
  return Object.fromEntries(all.map((issue) => [issue.field, issue.message]));
}
