import type { MemberSummary } from '../domain/approval';
import type { Db, Tx } from './database';
import { memberColumn } from './storedApprovals';
import type { GroupRow } from './tables';

/** A named set of members. It may be empty. */
export interface Group {
  readonly id: string;
  readonly name: string;
  /** In the order of their ids. */
  readonly members: readonly MemberSummary[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Position in the order of commit. */
  readonly position: bigint;
}

const columns = `groups.*, coalesce((SELECT json_agg(${memberColumn('m')} ORDER BY m.id) FROM group_members g JOIN members m ON m.id = g.member_id
  WHERE g.group_id = groups.id AND m.removed_at IS NULL), '[]') AS members`;

/** What `columns` reads. */
interface GroupColumns extends GroupRow {
  readonly members: readonly MemberSummary[];
}

function group(row: GroupColumns): Group {
  return {
    id: row.id,
    name: row.name,
    members: row.members,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    position: row.position,
  };
}

function selectGroups(db: Db | Tx, organizationId: string) {
  return db('groups')
    .select<GroupColumns[]>(db.raw(columns))
    .where({ organization_id: organizationId, deleted_at: null });
}

/** The groups of an organization, newest first; all of them, or a page. */
export async function listGroups(
  db: Db | Tx,
  page: { organizationId: string; before?: bigint; limit?: number },
): Promise<Group[]> {
  const query = selectGroups(db, page.organizationId).orderBy('position', 'desc');
  if (page.before !== undefined) query.where('position', '<', page.before);
  if (page.limit !== undefined) query.limit(page.limit);
  return (await query).map(group);
}

/** The given groups that exist in the organization. */
export async function findGroups(
  db: Db | Tx,
  organizationId: string,
  ids: readonly string[],
): Promise<Group[]> {
  return (
    await selectGroups(db, organizationId)
      .whereIn('groups.id', [...ids])
      .orderBy('groups.id')
  ).map(group);
}

/** One group, or undefined. */
export async function findGroup(db: Db | Tx, organizationId: string, id: string): Promise<Group | undefined> {
  return (await findGroups(db, organizationId, [id]))[0];
}

/** Stores new groups with their members; `setPositions` sets their positions. */
export async function insertGroups(
  tx: Tx,
  organizationId: string,
  groups: readonly { readonly id: string; readonly name: string; readonly memberIds: readonly string[] }[],
): Promise<void> {
  await tx('groups')
    .insert(groups.map(({ id, name }) => ({ id, organization_id: organizationId, name, position: 0 })))
    .onConflict('id')
    .merge();
  await addGroupMembers(
    tx,
    groups.flatMap(({ id, memberIds }) => memberIds.map((memberId) => [id, memberId] as const)),
  );
}

/** Gives groups their name and members. */
export async function replaceGroups(
  tx: Tx,
  groups: readonly { readonly id: string; readonly name: string; readonly memberIds: readonly string[] }[],
): Promise<void> {
  const memberships = groups.flatMap(({ id, memberIds }) =>
    memberIds.map((memberId): Membership => [id, memberId]),
  );
  await tx.raw(
    `DELETE FROM group_members WHERE group_id = ANY (?::text[])
      AND (group_id, member_id) NOT IN (SELECT * FROM unnest(?::text[], ?::text[]))`,
    [groups.map(({ id }) => id), ...columnsOf(memberships)],
  );
  await addGroupMembers(tx, memberships);
  await tx.raw(
    `UPDATE groups SET name = v.name, updated_at = now(), deleted_at = NULL
    FROM unnest(?::text[], ?::text[]) AS v (id, name) WHERE groups.id = v.id`,
    columnsOf(groups.map(({ id, name }) => [id, name])),
  );
}

/** Deletes groups and their memberships; the rows of the groups are kept. */
export async function deleteGroups(tx: Tx, ids: readonly string[]): Promise<void> {
  const now = tx.raw('now()');
  await tx('group_members')
    .whereIn('group_id', [...ids])
    .delete();
  await tx('groups')
    .whereIn('id', [...ids])
    .update({ deleted_at: now, updated_at: now });
}

type Membership = readonly [groupId: string, memberId: string];

function columnsOf(pairs: readonly (readonly [string, string])[]): [string[], string[]] {
  return [pairs.map(([one]) => one), pairs.map(([, two]) => two)];
}

async function addGroupMembers(tx: Tx, memberships: readonly Membership[]): Promise<void> {
  await tx.raw(
    'INSERT INTO group_members (group_id, member_id) SELECT * FROM unnest(?::text[], ?::text[]) ON CONFLICT DO NOTHING',
    columnsOf(memberships),
  );
}
