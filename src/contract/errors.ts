import { z } from 'zod';
import type { ErrorCode } from '../domain/refusal';
import { conditionFailure } from './conditions';

/** The HTTP status of each error code. */
export const STATUS_BY_CODE = {
  validationError: 400,
  invalidSignature: 400,
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  thresholdNotMet: 422,
  proposalExpired: 422,
  idempotencyConflict: 422,
  upgradeRequired: 426,
  rateLimited: 429,
  internalError: 500,
} as const satisfies Record<ErrorCode, number>;

/** What each error code means, in one sentence. */
export const MEANING_BY_CODE: Record<ErrorCode, string> = {
  validationError: 'The request cannot be understood; `details.field` is the first bad field.',
  invalidSignature: 'The signature is not decodable, wrong, malleable or for another payload.',
  unauthorized: 'The API key is missing or invalid.',
  forbidden: 'The key or the signer may not do this.',
  notFound: 'There is no such resource in the organization.',
  conflict: 'The resource exists already, another open proposal claims it, or its state does not allow this.',
  thresholdNotMet: 'There are fewer signatures than the threshold.',
  proposalExpired: 'The proposal has expired.',
  idempotencyConflict: 'The idempotency key was used with another request.',
  upgradeRequired: 'Plain HTTP was used; HTTPS is required.',
  rateLimited: 'There were too many requests; `Retry-After` says when to come back.',
  internalError: 'The service, or a part of it, is away. The same idempotency key can be sent again.',
};

const issue = z.object({
  field: z.string().meta({ description: 'Path of the field, such as `items[1].networkIds[0]`.' }),
  message: z.string(),
});

/** The body of every error response. */
export const errorBody = z
  .object({
    error: z.object({
      code: z.enum(Object.keys(STATUS_BY_CODE) as [ErrorCode, ...ErrorCode[]]),
      message: z.string(),
      details: z
        .looseObject({
          field: z.string().optional(),
          message: z.string().optional(),
          issues: z.array(issue).optional(),
          failures: z
            .array(conditionFailure)
            .optional()
            .meta({ description: 'Why its policy does not let a transaction go.' }),
        })
        .optional(),
    }),
    code: z.string().meta({ description: 'The same as `error.code`.' }),
    message: z.string().meta({ description: 'The same as `error.message`.' }),
  })
  .meta({ id: 'Error' });

/** The body of every error response. */
export type ErrorBody = z.infer<typeof errorBody>;

/** One bad field of a request. */
export type FieldIssue = z.infer<typeof issue>;
