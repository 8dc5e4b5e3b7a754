import type { Db, Tx } from '../../db/database';
import { queryRows } from '../../db/rows';
import {
  type ProposalColumns,
  proposalColumns,
  type StoredProposal,
  selectProposals,
  storedProposal,
} from '../../db/storedProposals';
import type { ApprovalKey } from '../../domain/approvalRef';
import type { ResourceType } from '../../domain/proposal';

/** One proposal of an organization, or undefined. */
export async function findProposal(
  db: Db | Tx,
  organizationId: string,
  id: string,
  resourceType?: ResourceType,
): Promise<StoredProposal | undefined> {
  const [found] = await selectProposals(
    db,
    `WHERE a.organization_id = ? AND a.id = ? AND p.resource_type = coalesce(?, p.resource_type)`,
    [organizationId, id, resourceType ?? null],
  );
  return found;
}

/** A proposal of an organization that is to be sealed, the sequence of its seal, undefined while there is none, and when it was read. */
export async function findProposalToSeal(
  db: Db,
  { organizationId, id }: ApprovalKey,
): Promise<
  { readonly record: StoredProposal; readonly sealed: number | undefined; readonly readAt: Date } | undefined
> {
  const [row] = await queryRows<ProposalColumns & { readonly sealed: bigint | null; readonly read_at: Date }>(
    db,
    `SELECT ${proposalColumns}, clock_timestamp() AS read_at,
        (SELECT s.sequence FROM seals s WHERE s.proposal_id = a.id) AS sealed
      FROM approvals a JOIN proposals p ON p.id = a.id WHERE a.organization_id = ? AND a.id = ?`,
    [organizationId, id],
  );
  if (!row) return undefined;
  const sealed = row.sealed === null ? undefined : Number(row.sealed);
  return { record: storedProposal(row), sealed, readAt: row.read_at };
}
