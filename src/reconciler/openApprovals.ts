import type { Db } from '../db/database';
import { type OpenRecord, openRecords } from '../db/reconciler';
import type { ApprovalRef } from '../domain/approvalRef';
import { type NamedNetwork, NETWORK_GONE, networksUnlikeNoted } from '../domain/networkNotes';
import { ANY_EXPIRY, type ExpiryRange } from '../domain/reconciliation';

/** An open approval, with what the configuration of networks has changed for it. */
export type OpenApproval = ApprovalRef &
  Pick<OpenRecord, 'ageMs' | 'executionStatus' | 'unchangedMs'> & {
    /** Networks that it names, of which its notes do not say what the configuration does. */
    readonly changedNetworks: readonly NamedNetwork[];
  };

/** Every open approval of every organization that expires within a range, a page at a time, in the order of their ids. */
export async function* openApprovals(
  db: Db,
  networkIds: readonly number[],
  range: ExpiryRange = ANY_EXPIRY,
): AsyncGenerator<readonly OpenApproval[]> {
  for await (const page of openRecords(db, { ...range, networkIds, noteCode: NETWORK_GONE })) {
    yield page.map(({ networks, notes, ...approval }) => ({
      ...approval,
      changedNetworks: notes === null ? [] : networksUnlikeNoted(approval.subject, networks, notes),
    }));
  }
}
