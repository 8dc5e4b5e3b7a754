import { z } from 'zod';
import { idOf, timestamp } from '../domain/schemas';
import { endpoint } from './endpoint';
import { eventType } from './eventContract';
import { dataResponse, descriptionInput, pageOf, pageQuery, uniqueList } from './primitives';

const MAX_URL = 2_048;

const position = z
  .string()
  .regex(/^\d{1,18}$/)
  .meta({ description: 'Place in the audit log; decimal digits.', examples: ['42'] });

const webhookUrl = z
  .string()
  .max(MAX_URL)
  .regex(/^[!-~]+$/, 'must be a URL in ASCII')
  .meta({
    id: 'WebhookUrl',
    description:
      'Where events are sent to: https, in production alone. Neither its address nor that of its name may be private, link-local or of ' +
      'metadata, unless the installation allows it.',
    examples: ['https://example.com/orgwallet'],
  });

const webhookTypes = uniqueList(eventType, (type) => type)
  .min(1)
  .nullable()
  .meta({ id: 'WebhookTypes', description: 'The types of events that it is for; null: every one.' });

const stoppedFor = z.enum(['request', 'failing', 'gone', 'operator', 'restored']).meta({
  id: 'WebhookReason',
  description:
    'Why it is disabled (`request`; `failing`: nothing was taken for 5 days; `gone`: the receiver answered 410) or paused ' +
    '(`operator`; `restored`: the database was restored from a backup).',
});

const webhook = z
  .object({
    id: idOf('whk'),
    url: z.string(),
    types: z.array(z.string()).nullable(),
    description: z.string(),
    enabled: z.boolean(),
    status: z.enum(['active', 'failing', 'disabled', 'paused']).meta({
      id: 'WebhookStatus',
      description:
        '`failing`: the next event was not taken, and is tried again; `paused`: an operator has to resume it.',
    }),
    reason: stoppedFor.nullable(),
    position: position.meta({ description: 'The last event that it has, or that is not for it.' }),
    attempts: z.int().meta({ description: 'Attempts at the next event, none of which was taken.' }),
    lastFailure: z.string().nullable(),
    nextAttemptAt: timestamp.nullable(),
    failingSince: timestamp.nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Webhook', description: 'A program that events are sent to.' });

const delivery = z
  .object({
    id: z.string().meta({ description: 'Of the attempt.' }),
    reason: z.enum(['event', 'resend', 'test']).meta({ id: 'WebhookDeliveryReason' }),
    eventId: z.string(),
    eventType: z.string(),
    position: position.meta({ description: 'Of the event; 0 of a test.' }),
    attempt: z.int(),
    delivered: z.boolean().meta({ description: 'The receiver answered 2xx.' }),
    status: z.int().nullable().meta({ description: 'Of the answer; null: there was none.' }),
    fault: z
      .string()
      .nullable()
      .meta({
        description:
          'Why there was no answer: `refused` (nothing was sent, because of the address), `unresolved`, `connection`, `certificate`, ' +
          '`timeout`, `aborted`.',
      }),
    message: z.string().nullable().meta({ description: 'The same in words.' }),
    answer: z.string().nullable().meta({ description: 'The first KB of the answer.' }),
    durationMs: z.int(),
    createdAt: timestamp,
  })
  .meta({ id: 'WebhookDelivery', description: 'An attempt to send an event. Kept for 30 days.' });

const secrets = z
  .object({
    secrets: z.array(
      z.object({
        secret: z.string().meta({ description: '`whsec_` and base64 (Standard Webhooks).' }),
        until: timestamp.nullable().meta({ description: 'Until when it signs; null: until it is rotated.' }),
      }),
    ),
    publicKey: z.string().meta({
      description:
        '`whpk_` and base64: verifies every delivery of the installation, also those of other organizations.',
    }),
    organizationId: z.string().meta({
      description: 'That of each of its events.',
      examples: ['org_01jz8k3v5fe5ht0n2m6w9r4xyz'],
    }),
  })
  .meta({ id: 'WebhookSecrets' });

const webhookResponse = dataResponse(webhook);
const params = { webhookId: 'whk' } as const;
const noQuery = z.strictObject({});

export const listWebhooksEndpoint = endpoint({
  id: 'listWebhooks',
  tag: 'Webhooks',
  method: 'get',
  path: '/webhooks',
  access: 'admin',
  summary: 'List the webhooks',
  description: `Returns all of the organization, newest first.`,
  params: {},
  query: noQuery,
  response: dataResponse(z.array(webhook)).meta({ id: 'WebhooksResponse' }),
  status: 200,
  errors: [],
});

export const getWebhookEndpoint = endpoint({
  id: 'getWebhook',
  tag: 'Webhooks',
  method: 'get',
  path: '/webhooks/{webhookId}',
  access: 'admin',
  summary: 'Get a webhook',
  params,
  query: noQuery,
  response: webhookResponse,
  status: 200,
  errors: ['notFound'],
});

export const createWebhookEndpoint = endpoint({
  id: 'createWebhook',
  tag: 'Webhooks',
  method: 'post',
  path: '/webhooks',
  access: 'admin',
  summary: 'Create a webhook',
  description:
    'Sends each later event of the organization to the URL, in order, signed as Standard Webhooks has it. An organization has at most ' +
    `20.`,
  params: {},
  query: noQuery,
  body: z.strictObject({
    url: webhookUrl,
    types: webhookTypes.default(null),
    description: descriptionInput.default(''),
    enabled: z.boolean().default(true),
  }),
  exampleBody: {
    url: 'https://example.com/orgwallet',
    types: ['transaction.executed'],
    description: 'Ledger',
  },
  response: webhookResponse,
  status: 200,
  errors: [],
});

export const updateWebhookEndpoint = endpoint({
  id: 'updateWebhook',
  tag: 'Webhooks',
  method: 'patch',
  path: '/webhooks/{webhookId}',
  access: 'admin',
  summary: 'Change a webhook',
  description: `What the body does not have stays as it is. One that is enabled goes on where it was: nothing is left out.`,
  params,
  query: noQuery,
  body: z.strictObject({
    url: webhookUrl.optional(),
    types: webhookTypes.optional(),
    description: descriptionInput.optional(),
    enabled: z.boolean().optional(),
  }),
  exampleBody: { enabled: false },
  response: webhookResponse,
  status: 200,
  errors: ['notFound'],
});

export const removeWebhookEndpoint = endpoint({
  id: 'removeWebhook',
  tag: 'Webhooks',
  method: 'delete',
  path: '/webhooks/{webhookId}',
  access: 'admin',
  summary: 'Remove a webhook',
  description: `Returns what was removed.`,
  params,
  query: noQuery,
  response: webhookResponse,
  status: 200,
  errors: ['notFound'],
});

export const getWebhookSecretsEndpoint = endpoint({
  id: 'getWebhookSecrets',
  tag: 'Webhooks',
  method: 'get',
  path: '/webhooks/{webhookId}/secrets',
  access: 'admin',
  summary: 'Get what verifies deliveries',
  description: `Its secret and, for a day after it was rotated, the one before.`,
  params,
  query: noQuery,
  response: dataResponse(secrets),
  status: 200,
  errors: ['notFound'],
});

export const rotateWebhookEndpoint = endpoint({
  id: 'rotateWebhook',
  tag: 'Webhooks',
  method: 'post',
  path: '/webhooks/{webhookId}/rotate',
  access: 'admin',
  summary: 'Rotate the secret of a webhook',
  description: `Deliveries are signed with both secrets for a day.`,
  params,
  query: noQuery,
  body: z.strictObject({}),
  exampleBody: {},
  response: webhookResponse,
  status: 200,
  errors: ['notFound'],
});

export const testWebhookEndpoint = endpoint({
  id: 'testWebhook',
  tag: 'Webhooks',
  method: 'post',
  path: '/webhooks/{webhookId}/test',
  access: 'admin',
  summary: 'Send a test event to a webhook',
  description: `Sends one event of type \`webhook.test\`, at position 0, and returns what became of it.`,
  params,
  query: noQuery,
  dryRun: true,
  body: z.strictObject({}),
  exampleBody: {},
  response: dataResponse(delivery),
  status: 200,
  errors: ['notFound'],
});

const eventId = z
  .string()
  .regex(/^log_[0-7][0-9a-hjkmnp-tv-z]{25}$/, 'must be an id that begins with log_')
  .meta({ id: 'EventId', description: 'Id of an event.', examples: ['log_01jz8k3v5fe5ht0n2m6w9r4xyz'] });

const eventIds = uniqueList(eventId, (id) => id)
  .min(1)
  .meta({ description: 'Ids of events, `log_…`.' });

export const resendEventsEndpoint = endpoint({
  id: 'resendEvents',
  tag: 'Webhooks',
  method: 'post',
  path: '/webhooks/{webhookId}/resend',
  access: 'admin',
  summary: 'Send events once more',
  description:
    'Has events sent once more that the webhook is past, the oldest first, each with its id: by their ids, by a range of positions, or ' +
    `all that were given up and never taken; at most 10,000.`,
  params,
  query: noQuery,
  body: z
    .strictObject({
      eventIds: eventIds.optional(),
      from: position.optional().meta({ description: 'First position.' }),
      to: position.optional().meta({ description: 'Last position.' }),
      failed: z.literal(true).optional().meta({ description: 'All that were given up.' }),
    })
    .check(({ value, issues }) => {
      const isRange = value.from !== undefined || value.to !== undefined;
      const given = [value.eventIds !== undefined, isRange, value.failed !== undefined].filter(
        Boolean,
      ).length;
      const message =
        given !== 1 || (isRange && (value.from === undefined || value.to === undefined))
          ? 'must have eventIds, or from and to, or failed'
          : undefined;
      if (message !== undefined) issues.push({ code: 'custom', message, input: value, path: [] });
    }),
  exampleBody: { failed: true },
  response: dataResponse(
    z.object({ events: z.int().meta({ description: 'How many.' }) }).meta({ id: 'ResentEvents' }),
  ),
  status: 200,
  errors: ['notFound'],
});

export const listWebhookDeliveriesEndpoint = endpoint({
  id: 'listWebhookDeliveries',
  tag: 'Webhooks',
  method: 'get',
  path: '/webhooks/{webhookId}/deliveries',
  access: 'admin',
  summary: 'List the attempts of a webhook',
  description: `Newest first, those of the last 30 days.`,
  params,
  query: z.strictObject({
    ...pageQuery,
    delivered: z
      .enum(['true', 'false'])
      .optional()
      .meta({ description: 'Only those that were taken, or were not.' }),
  }),
  response: pageOf(delivery),
  status: 200,
  errors: ['notFound'],
});
