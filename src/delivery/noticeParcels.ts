import { findChannel, readAudience } from '../db/channels';
import type { Db } from '../db/database';
import type { Destination } from '../db/destinations';
import { type ChannelKind, isChannelKind } from '../domain/delivery';
import type { FeedEntry } from '../domain/feedEvent';
import { composeNotice, pageAt } from '../notices/compose';
import { digestOf, sendingOf, WINDOW_MS } from '../notices/digest';
import type { NamedAssets } from '../notices/moneyIn';
import type { Notice } from '../notices/notice';
import { OCCASIONS } from '../notices/occasions';
import { type NoticeTools, sendNotice } from './noticeSending';
import type { Parcel, Parcels } from './parcels';

/** Notices that are written at once: each reads what it is about. */
const WRITTEN_AT_ONCE = 100;

/** What notices are written and sent with. */
export interface NoticeDeps extends NoticeTools, NamedAssets {
  readonly db: Db;
  /** Where the console is; null: nowhere. */
  readonly origin: string | null;
}

/** What a channel is sent of some entries, as things are now: a notice each, one for all, or nothing for a while. */
export async function noticeParcels(
  deps: NoticeDeps,
  destination: Destination & { readonly kind: ChannelKind },
  entries: readonly FeedEntry[],
): Promise<Parcels> {
  const { db, origin } = deps;
  const { id, organizationId, createdAt: since } = destination;
  const [channel, audience] = await Promise.all([findChannel(db, id), readAudience(db, id, WINDOW_MS)]);
  const read = entries.slice(0, WRITTEN_AT_ONCE);
  const upTo = read.at(-1);
  if (!channel || !audience || audience.isGone) return { parcels: [], upTo };
  const { organization, member } = audience;
  const occasions = new Set(OCCASIONS.filter((one) => channel.occasions.includes(one)));
  const reader = { organizationId, organization, origin, occasions, since, member };
  const written: { entry: FeedEntry; notice: Notice }[] = [];
  for (const entry of read) {
    const notice = await composeNotice(db, reader, entry, deps);
    if (notice) written.push({ entry, notice });
  }
  const receiver = { kind: destination.kind, url: destination.url, chatId: channel.chatId };
  const parcelOf = ({ entry, notice }: { entry: FeedEntry; notice: Notice }): Parcel => ({
    entry,
    send: (signal) => sendNotice({ ...deps, signal }, receiver, notice, `${id}.${entry.position}`),
  });
  const sending = sendingOf(written.length, audience.sentAt, audience.now);
  if (typeof sending === 'object') return { parcels: [], upTo: undefined, waitMs: sending.waitMs };
  const last = written.at(-1);
  if (sending === 'each' || !last) return { parcels: written.map(parcelOf), upTo };
  const notices = written.map(({ notice }) => notice);
  const notice = digestOf(notices, organization, pageAt(reader, '/requests'));
  return { parcels: [parcelOf({ entry: last.entry, notice })], upTo };
}

/** A destination that people read; undefined for another. */
export function asChannel(
  destination: Destination,
): (Destination & { readonly kind: ChannelKind }) | undefined {
  const { kind } = destination;
  return isChannelKind(kind) ? { ...destination, kind } : undefined;
}
