import type { MemberSummary } from '../domain/approval';
import type { AdminSet } from '../domain/proposal';
import { memberColumn } from './storedApprovals';

/** The threshold and the members of the admin set with the alias `set`. */
export function adminColumns(set: string): string {
  return `${set}.threshold AS admin_threshold,
      coalesce((SELECT json_agg(${memberColumn('m')} ORDER BY m.id)
        FROM admin_set_members admin JOIN members m ON m.id = admin.member_id
        WHERE admin.organization_id = ${set}.organization_id AND m.removed_at IS NULL), '[]') AS admin_members`;
}

/** What `adminColumns` read. */
export interface AdminColumns {
  readonly admin_threshold: number;
  readonly admin_members: readonly MemberSummary[];
}

/** The admins that `adminColumns` read. */
export function adminsInColumns(row: AdminColumns): AdminSet {
  return { threshold: row.admin_threshold, members: row.admin_members };
}
