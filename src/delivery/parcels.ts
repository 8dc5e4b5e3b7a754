import type { DeliveryOutcome } from '../domain/delivery';
import type { FeedEntry } from '../domain/feedEvent';

/** What is sent at once. */
export interface Parcel {
  /** What it is about, or the last of several. */
  readonly entry: FeedEntry;
  send(signal: AbortSignal): Promise<DeliveryOutcome>;
}

/** What a destination is sent of some entries, in their order. */
export interface Parcels {
  readonly parcels: readonly Parcel[];
  /** Everything up to here is in them, or is not for it; undefined: nothing is known to be. */
  readonly upTo: FeedEntry | undefined;
  /** Nothing may be sent for so long. */
  readonly waitMs?: number;
}
