import type { Now, ResourceType } from '../domain/proposal';
import type { Db, Row } from './database';
import { type PreparedStatement, runPrepared } from './prepared';
import { deploymentsColumn, type StoredProposal, storedProposal, votesColumn } from './proposals';

/** A proposal together with everything its state depends on, read at one moment. */
export interface ProposalSnapshot {
  readonly record: StoredProposal;
  readonly now: Now;
  /** EIP-712 domain salt of the organization. */
  readonly domainSalt: string;
}

/** The time of the transaction, and the admins of the set that is joined as `set`. */
export function nowColumns(set: string): string {
  return `date_trunc('milliseconds', now()) AS read_at, ${set}.threshold AS admin_threshold,
      coalesce((SELECT json_agg(json_build_object(
          'id', m.id, 'name', m.name, 'type', m.type, 'walletAddress', m.wallet_address) ORDER BY m.id)
        FROM admin_set_members a JOIN members m ON m.id = a.member_id
        WHERE a.organization_id = ${set}.organization_id AND m.removed_at IS NULL), '[]') AS admin_members`;
}

/** What `nowColumns` read. */
export function nowOf(row: Row): Now {
  return { time: row.read_at, admins: { threshold: row.admin_threshold, members: row.admin_members } };
}

const SNAPSHOT: PreparedStatement = {
  name: 'proposal_snapshot',
  text: `SELECT proposals.*, ${votesColumn}, ${deploymentsColumn},
      o.domain_salt, ${nowColumns('s')}
    FROM proposals
    JOIN organizations o ON o.id = proposals.organization_id
    JOIN admin_sets s ON s.organization_id = o.id
    WHERE proposals.organization_id = $1 AND proposals.id = $2 AND proposals.resource_type = $3`,
};

/** One proposal of an organization with the admins and the time of now, in one statement; or undefined. */
export async function readProposalSnapshot(
  db: Db,
  key: { organizationId: string; proposalId: string; resourceType: ResourceType },
): Promise<ProposalSnapshot | undefined> {
  const [row] = await runPrepared(db, SNAPSHOT, [key.organizationId, key.proposalId, key.resourceType]);
  return (
    row && {
      record: storedProposal(row),
      now: nowOf(row),
      domainSalt: row.domain_salt,
    }
  );
}
