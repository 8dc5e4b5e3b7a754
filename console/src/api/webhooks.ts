import type { Schema } from '@orgwallet/client';
import { queryOptions } from '@tanstack/react-query';
import { orgwallet, READ_TIMEOUT_MS } from './client.ts';

/** A program that events are sent to. */
export type Webhook = Schema['Webhook'];
/** An attempt to send it one. */
export type Delivery = Schema['WebhookDelivery'];

const timed = (signal: AbortSignal) => ({ signal, timeoutMs: READ_TIMEOUT_MS });

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: ({ signal }) => orgwallet.listWebhooks(undefined, timed(signal)),
});

/** The last attempts of a webhook. */
export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', id, 'deliveries'],
    queryFn: ({ signal }) => orgwallet.listWebhookDeliveries(id, { limit: 50 }, timed(signal)),
  });

/** What verifies the requests of a webhook. */
export const webhookSecretsQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', id, 'secrets'],
    queryFn: ({ signal }) => orgwallet.getWebhookSecrets(id, timed(signal)),
  });
