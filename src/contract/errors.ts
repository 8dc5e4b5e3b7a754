import { z } from 'zod';
import type { ErrorCode, FieldIssue } from '../domain/refusal';
import { conditionFailure } from './conditions';

/** The HTTP status of each error code. */
export const STATUS_BY_CODE = {
  validationError: 400,
  invalidSignature: 400,
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  gone: 410,
  thresholdNotMet: 422,
  proposalExpired: 422,
  idempotencyConflict: 422,
  upgradeRequired: 426,
  rateLimited: 429,
  internalError: 500,
  notReconciled: 503,
} as const satisfies Record<ErrorCode, number>;

/** What each error code means, in one sentence. */
export const MEANING_BY_CODE: Record<ErrorCode, string> = {
  validationError: 'The request is invalid; `details.field` is the first invalid field.',
  invalidSignature: 'The signature cannot be decoded, or is wrong, malleable or for another payload.',
  unauthorized: 'The API key, session or message to sign in is missing or invalid.',
  forbidden: 'The key, the signatory or the origin of the page is not permitted to do this.',
  notFound: 'The resource was not found in this organization.',
  conflict: 'The resource exists, another open proposal claims it, or its state does not permit this.',
  gone: 'The log does not have this event any more: the database was restored from a backup. Up to `details.position` it is what you have.',
  thresholdNotMet: 'The threshold is not met.',
  proposalExpired: 'The proposal has expired.',
  idempotencyConflict: 'The idempotency key was used with a different request.',
  upgradeRequired: 'The request used plain HTTP; HTTPS is required.',
  rateLimited: 'Too many requests; retry after `Retry-After` seconds.',
  internalError: 'The service or a part of it is unavailable. Retry with the same idempotency key.',
  notReconciled:
    'The database may have been rolled back: nothing that it says can be relied on until the signer has compared it with its journal. Retry later with the same idempotency key.',
};

const errorCode = z
  .enum(Object.keys(STATUS_BY_CODE) as [ErrorCode, ...ErrorCode[]])
  .meta({ id: 'ErrorCode' });

const issue: z.ZodType<FieldIssue> = z
  .object({
    field: z.string().meta({ description: 'Path of the field, such as `items[1].networkIds[0]`.' }),
    message: z.string(),
  })
  .meta({ id: 'FieldIssue', description: 'One invalid field of a request.' });

const errorDetails = z
  .looseObject({
    field: z.string().optional().meta({ description: 'Path of the first invalid field.' }),
    message: z.string().optional().meta({ description: 'What is wrong with it.' }),
    issues: z.array(issue).optional().meta({ description: 'All invalid fields.' }),
    scope: z.string().optional().meta({ description: 'The scope that the API key lacks.' }),
    position: z
      .string()
      .optional()
      .meta({ description: 'Up to where the log still has what the cursors name.' }),
    transactionId: z
      .string()
      .optional()
      .meta({ description: 'The transaction that has the external id already.' }),
    failures: z
      .array(conditionFailure)
      .optional()
      .meta({ description: 'Why a transaction is not permitted by its policy.' }),
  })
  .meta({ id: 'ErrorDetails' });

/** The body of every error response. */
export const errorBody = z
  .object({
    error: z
      .object({ code: errorCode, message: z.string(), details: errorDetails.optional() })
      .meta({ id: 'ErrorInfo' }),
    code: errorCode.meta({ description: 'The same as `error.code`.' }),
    message: z.string().meta({ description: 'The same as `error.message`.' }),
  })
  .meta({ id: 'Error', description: 'The body of every error response.' });

/** The body of every error response. */
export type ErrorBody = z.infer<typeof errorBody>;
