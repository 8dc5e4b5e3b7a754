import { findAuditDetails } from '../db/auditDetails';
import type { Db } from '../db/database';
import type { FeedEntry } from '../domain/feedEvent';
import { type NamedAssets, readIncoming } from './moneyIn';
import { moneyInNotice } from './moneyInNotice';
import type { Notice } from './notice';
import { type Occasion, occasionOf } from './occasions';
import { concerns, requestNotice } from './requestNotice';
import { readRequest } from './requests';
import { concernsSafety, securityNotice } from './securityNotice';

/** Who is told, and of what. */
interface Audience {
  readonly organizationId: string;
  readonly organization: string;
  /** Where the console is; null: nowhere. */
  readonly origin: string | null;
  readonly occasions: ReadonlySet<Occasion>;
  /** Since when it reads: it is not told of money that came in before. */
  readonly since: Date;
  /** Who alone reads it, at their own address; null: an organization's channel. */
  readonly member: { readonly id: string; readonly isAdmin: boolean } | null;
}

/** A page of the console; null where there is none. */
export function pageAt({ origin }: Pick<Audience, 'origin'>, path: string): string | null {
  return origin === null ? null : `${origin}${path}`;
}

/** What an audience is told of an entry of the audit log, as things are now; null: nothing. */
export async function composeNotice(
  db: Db,
  audience: Audience,
  entry: FeedEntry,
  named: NamedAssets,
): Promise<Notice | null> {
  const { organizationId, organization, member } = audience;
  const occasion = occasionOf(entry);
  if (occasion === null || !audience.occasions.has(occasion)) return null;
  if (occasion === 'security') {
    if (member && !concernsSafety(entry, member)) return null;
    const details = await findAuditDetails(db, { organizationId, position: entry.position });
    const whole = { ...entry, details };
    return securityNotice(whole, { organization, pageAt: (path) => pageAt(audience, path) });
  }
  const { resourceType, resourceId: id } = entry;
  if (occasion === 'moneyIn') {
    const incoming = await readIncoming(db, entry, audience.since, named);
    return incoming && moneyInNotice(incoming, { organization, page: pageAt(audience, `/accounts/${id}`) });
  }
  const request = await readRequest(db, resourceType, { organizationId, id });
  if (!request || (member && !concerns(occasion, request, member.id))) return null;
  const page = pageAt(audience, `/requests/${id}`);
  return requestNotice(occasion, entry, { organization, request, page });
}
