import type { Destination } from '../db/destinations';
import type { DeliveryOutcome } from '../domain/delivery';
import { type FeedEntry, feedEvent } from '../domain/feedEvent';
import type { OutboundSender } from '../outbound/sender';
import { deliveryOutcomeOf } from './deliveryOutcome';
import { asChannel, type NoticeDeps, noticeParcels } from './noticeParcels';
import type { Parcels } from './parcels';
import type { DeliverySigner } from './signatures';

/** What a kind sends with. */
export interface DeliveryTools {
  readonly outbound: OutboundSender;
  readonly signer: DeliverySigner;
  /** Ends an attempt early. */
  readonly signal?: AbortSignal | undefined;
}

/** What every kind is written and sent with. */
export interface ParcelDeps extends Omit<DeliveryTools, 'signal'>, Omit<NoticeDeps, 'signal'> {
  readonly outbound: OutboundSender;
}

/** Sends one event once. Never throws for what the receiver does. */
type SendEvent = (
  tools: DeliveryTools,
  destination: Destination,
  entry: FeedEntry,
) => Promise<DeliveryOutcome>;

/** Sends an event to a webhook, once. */
export const sendWebhook: SendEvent = async ({ outbound, signer, signal }, destination, entry) => {
  const body = JSON.stringify(feedEvent(entry));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'orgwallet-webhooks',
    ...signer.headersOf(destination, { eventId: entry.id, body }),
  };
  const sent = await outbound.post({ url: destination.url, headers, body, signal });
  return deliveryOutcomeOf(sent, ({ status }) => ({ isGone: status === 410 }));
};

/** What a destination is sent of some entries, in their order: a webhook each event, a channel what people are to read. */
export async function parcelsOf(
  { db, origin, mailer, networks, tokens, ...tools }: ParcelDeps,
  destination: Destination,
  entries: readonly FeedEntry[],
): Promise<Parcels> {
  const channel = asChannel(destination);
  if (channel) return noticeParcels({ ...tools, db, origin, mailer, networks, tokens }, channel, entries);
  // A kind that a later build has added is not for this one to send.
  if (destination.kind !== 'webhook') throw new Error(`destination ${destination.id} is of no known kind`);
  const parcels = entries.map((entry) => ({
    entry,
    send: (signal: AbortSignal) => sendWebhook({ ...tools, signal }, destination, entry),
  }));
  return { parcels, upTo: entries.at(-1) };
}
