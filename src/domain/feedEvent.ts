import type { Actor } from './actor';
import type { JsonValue } from './canonicalJson';
import { shownDetails } from './eventTypes';

/** What an event is made of: an entry of the audit log. */
export interface FeedEntry {
  readonly organizationId: string;
  readonly id: string;
  readonly position: bigint;
  readonly action: string;
  readonly actor: Actor;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly details: { readonly [key: string]: JsonValue };
  readonly createdAt: Date;
  readonly previousHash: string;
  readonly hash: string;
}

const PATHS: { readonly [resourceType: string]: string } = {
  proposal: 'proposals',
  transaction: 'transactions',
  account: 'accounts',
  member: 'members',
  group: 'groups',
  policy: 'policies',
  admin: 'admins',
  addressBookEntry: 'address-book',
  webhook: 'webhooks',
};

function resourceOf({ resourceType: type, resourceId: id }: FeedEntry) {
  const path = PATHS[type];
  return { type, id, ...(path === undefined ? {} : { uri: `/api/v1/${path}/${id}` }) };
}

/** The event of an entry of the audit log: the same for ever, because it shows nothing else. */
export function feedEvent(entry: FeedEntry) {
  const { organizationId, position, hash, previousHash, id, action, createdAt, actor, details } = entry;
  const shown = shownDetails(action).filter((field) => details[field] !== undefined);
  return {
    position: String(position),
    hash,
    previousHash,
    id,
    organizationId,
    type: action,
    occurredAt: createdAt.toISOString(),
    resource: resourceOf(entry),
    actor: { ...actor },
    data: Object.fromEntries(shown.map((field) => [field, details[field] as JsonValue])),
  };
}
