import type { ApprovalRef } from '../domain/approvalRef';
import type { Db } from './database';
import { queryRows } from './rows';
import type { ApprovalRow, ProposalRow } from './tables';

/** What names an approval: its subject, and its resource type and action where it is a proposal. */
export type RefColumns = Pick<ApprovalRow, 'id' | 'organization_id'> &
  (
    | (Pick<ProposalRow, 'resource_type' | 'action'> & { readonly subject: 'proposal' })
    | { readonly subject: 'transaction' }
  );

/** The name of an approval. */
export function approvalRef(row: RefColumns): ApprovalRef {
  const key = { organizationId: row.organization_id, id: row.id };
  return row.subject === 'transaction'
    ? { subject: 'transaction', ...key }
    : { subject: 'proposal', resourceType: row.resource_type, action: row.action, ...key };
}

/** Names an approval, and says what it asks for. */
export type SummarizedApproval = ApprovalRef & { readonly summary: string };

/** The open approvals that an API key, or a member in a session, has created: by subject, newest first. */
export async function listOpenOfCreator(
  db: Db,
  { organizationId, createdBy }: { organizationId: string; createdBy: string },
): Promise<SummarizedApproval[]> {
  const rows = await queryRows<RefColumns & Pick<ApprovalRow, 'summary'>>(
    db,
    `SELECT a.id, a.organization_id, a.subject, a.summary, p.resource_type, p.action
     FROM approvals a LEFT JOIN proposals p ON p.id = a.id
     WHERE a.organization_id = ? AND a.created_by = ? AND a.closed_at IS NULL
     ORDER BY a.subject, a.position DESC`,
    [organizationId, createdBy],
  );
  return rows.map((row) => ({ ...approvalRef(row), summary: row.summary }));
}
