import type { Proposal, Schema } from '@orgwallet/client';
import { queryOptions } from '@tanstack/react-query';
import { asOf, creationOf } from '../domain/past.ts';
import type { Compared } from '../text/difference.ts';
import { orgwallet, READ_TIMEOUT_MS } from './client.ts';
import type { Organization } from './useOrganization.ts';

type Entry = Schema['AuditLogEntry'];
type Resource = { readonly id: string; readonly updatedAt?: string };

/** How many logs are read at a time. */
const AT_ONCE = 5;

/** The ids of what a proposal is about. */
function resourceIds(
  { resourceType, data }: Pick<Proposal, 'resourceType' | 'data'>,
  adminsId: string,
): readonly string[] {
  if (resourceType === 'admins') return [adminsId];
  const { items, policies } = data as { items?: readonly Resource[]; policies?: readonly Resource[] };
  return (items ?? policies ?? []).map(({ id }) => id);
}

/** The entries about something after a position, newest first. */
async function entriesAfter(resourceId: string, position: bigint, signal: AbortSignal): Promise<Entry[]> {
  const found: Entry[] = [];
  const options = { signal, timeoutMs: READ_TIMEOUT_MS };
  try {
    for await (const entry of orgwallet.each('listAuditLogs', { resourceId, limit: 20 }, options)) {
      if (BigInt(entry.position) <= position) break;
      found.push(entry);
    }
  } catch (error) {
    // What was never created is in no log.
    if ((error as { code?: unknown }).code !== 'validationError') throw error;
  }
  return found;
}

async function readLogs(ids: readonly string[], position: bigint, signal: AbortSignal) {
  const logs = new Map<string, readonly Entry[]>();
  for (let first = 0; first < ids.length; first += AT_ONCE) {
    const some = ids.slice(first, first + AT_ONCE);
    const read = await Promise.all(some.map((id) => entriesAfter(id, position, signal)));
    for (const [i, id] of some.entries()) logs.set(id, read[i] ?? []);
  }
  return logs;
}

/**
 * The organization as it was when a proposal was created, as far as that is about it: what an open proposal changes, nothing else
 * changes, so that it was the same when it was decided.
 */
export const pastQuery = (proposal: Proposal, now: Organization, admins: Schema['Admins']) => {
  const ids = resourceIds(proposal, admins.id);
  const collections = {
    members: now.members,
    groups: now.groups,
    policies: now.policies,
    accounts: now.accounts,
  };
  const present: ReadonlyMap<string, Resource> = new Map(
    [...Object.values(collections).flat(), admins].map((one: Resource) => [one.id, one]),
  );
  return queryOptions({
    // A later change of something is one more to take back.
    queryKey: ['past', proposal.id, ids.map((id) => present.get(id)?.updatedAt ?? null)],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<Compared> => {
      const options = { signal, timeoutMs: READ_TIMEOUT_MS };
      const asked = { resourceId: proposal.id, action: 'proposal.created', limit: 1 };
      const position = creationOf((await orgwallet.page('listAuditLogs', asked, options)).data) ?? 0n;
      const logs = await readLogs(ids, position, signal);
      const then = (id: string) => {
        const record = asOf(present.get(id) as never, logs.get(id) ?? [], position);
        return record && { ...record, id };
      };
      const { resourceType } = proposal;
      if (resourceType === 'admins') return { ...now, admins: { ...admins, ...then(admins.id) } };
      return { ...now, admins, [resourceType]: ids.flatMap((id) => then(id) ?? []) };
    },
  });
};
