import type { Db } from './database';
import { queryNumbered } from './rows';

/**
 * The tag of the approval `a`: another one once its version, a decision of its organization or its expiry has changed what
 * it shows. The time is in it because a failover that loses the last commits gives a version again.
 */
export const tagColumn = `concat_ws('/', a.version, extract(epoch FROM a.updated_at),
    (SELECT o.projected_sequence FROM organizations o WHERE o.id = a.organization_id),
    date_trunc('milliseconds', now()) > a.expires_at) AS tag`;

/** What `tagColumn` reads. */
export interface TagColumn {
  readonly tag: string;
}

// unnest, not = ANY ($1): Postgres plans that each time it is executed.
const TAGS = `SELECT a.id, ${tagColumn} FROM unnest($1::text[]) AS asked(id) JOIN approvals a ON a.id = asked.id`;

/** The tags of approvals now, by id. */
export async function readTags(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await queryNumbered<TagColumn & { readonly id: string }>(db, TAGS, [ids]);
  return new Map(rows.map(({ id, tag }) => [id, tag]));
}
