import type { Destination } from '../db/destinations';
import type { AttemptOutcome, DestinationKind } from '../domain/delivery';
import { type FeedEntry, feedEvent } from '../domain/feedEvent';
import type { OutboundOutcome, OutboundSender } from '../outbound/sender';
import type { DeliverySigner } from './signatures';

/** What a kind sends with. */
export interface DeliveryTools {
  readonly outbound: OutboundSender;
  readonly signer: DeliverySigner;
  /** Ends an attempt early. */
  readonly signal?: AbortSignal | undefined;
}

/** Sends one event once. Never throws for what the receiver does. */
type SendEvent = (
  tools: DeliveryTools,
  destination: Destination,
  entry: FeedEntry,
) => Promise<AttemptOutcome>;

/** An answer over HTTP as an outcome: 2xx is taken, whatever its body is; 410 ends it. */
function httpOutcome(sent: OutboundOutcome): AttemptOutcome {
  const { durationMs } = sent;
  if ('fault' in sent) {
    const { fault, message } = sent;
    return { isTaken: false, isGone: false, status: null, fault, message, answer: null, durationMs };
  }
  const { status, answer, retryAfterMs } = sent;
  return {
    isTaken: status >= 200 && status < 300,
    isGone: status === 410,
    ...{ status, answer, durationMs, retryAfterMs, fault: null, message: null },
  };
}

const sendWebhook: SendEvent = async ({ outbound, signer, signal }, destination, entry) => {
  const body = JSON.stringify(feedEvent(entry));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'orgwallet-webhooks',
    ...signer.headersOf(destination, { eventId: entry.id, body }),
  };
  return httpOutcome(await outbound.post({ url: destination.url, headers, body, signal }));
};

/**
 * How each kind of destination writes and sends an event. A further kind is one entry here: what it sends may be anything, and
 * its outcome is judged like that of the others.
 */
const SENDERS: { readonly [kind in DestinationKind]: SendEvent } = {
  webhook: sendWebhook,
};

/** Sends one event once, as the kind of the destination does. */
export function sendEvent(
  tools: DeliveryTools,
  destination: Destination,
  entry: FeedEntry,
): Promise<AttemptOutcome> {
  return SENDERS[destination.kind](tools, destination, entry);
}
