import { toMemberSummary } from '../domain/approval';
import { canonicalJson } from '../domain/canonicalJson';
import type { OrganizationState, ResourceChange, ResourceKind } from '../domain/governance';
import type { Db, Tx } from './database';
import { findGroups, listGroups } from './groups';
import { findMembers, findMembersByWallet, listMembers, readAdmins } from './members';
import { definitionOf, findPolicies, listPolicies } from './policies';

/** A resource whose row is not what the admins have decided. Null: it is not there. */
export interface Difference {
  readonly type: ResourceKind;
  readonly id: string;
  readonly sealed: object | null;
  readonly found: object | null;
}

type Rows = ReadonlyMap<string, object>;

const keyOf = (type: ResourceKind, id: string) => `${type}/${id}`;

/** What rows can show of a resource: neither its revision, nor the networks that an account is not deployed on yet. */
function shown(resource: object): object {
  const { revision: _, networkIds: __, ...content } = resource as { revision?: number; networkIds?: unknown };
  return content;
}

function differences(
  sealed: readonly { readonly type: ResourceKind; readonly id: string; readonly resource: object | null }[],
  rows: Rows,
): Difference[] {
  return sealed.flatMap(({ type, id, resource }) => {
    const [decided, found] = [resource && shown(resource), rows.get(keyOf(type, id)) ?? null];
    return canonicalJson(decided) === canonicalJson(found) ? [] : [{ type, id, sealed: decided, found }];
  });
}

async function adminRow(db: Db | Tx, organizationId: string): Promise<[string, object]> {
  const { id, threshold, members, onChain } = await readAdmins(db, organizationId);
  const memberIds = members.map((member) => member.id);
  return [keyOf('admin', id), { id, threshold, memberIds, ...(onChain ? { onChain } : {}) }];
}

/** The rows of the resources that a decision changes. */
async function rowsOf(tx: Tx, organizationId: string, changes: readonly ResourceChange[]): Promise<Rows> {
  const idsOf = (type: ResourceKind) => changes.filter((change) => change.type === type).map(({ id }) => id);
  const rows = new Map<string, object>();
  const read = async (
    type: ResourceKind,
    find: (ids: readonly string[]) => Promise<readonly { id: string }[]>,
  ) => {
    const ids = idsOf(type);
    if (ids.length === 0) return;
    for (const row of await find(ids)) rows.set(keyOf(type, row.id), row);
  };
  await read('member', async (ids) => (await findMembers(tx, organizationId, ids)).map(toMemberSummary));
  await read('group', async (ids) => (await findGroups(tx, organizationId, ids)).map(groupRow));
  await read('policy', async (ids) => (await findPolicies(tx, organizationId, ids)).map(policyRow));
  await read('account', (ids) => accountRows(tx, organizationId).whereIn('id', [...ids]));
  if (idsOf('admin').length > 0) rows.set(...(await adminRow(tx, organizationId)));
  return rows;
}

function groupRow(group: Awaited<ReturnType<typeof findGroups>>[number]) {
  return { id: group.id, name: group.name, memberIds: group.members.map(({ id }) => id) };
}

function policyRow(policy: Awaited<ReturnType<typeof findPolicies>>[number]) {
  return { id: policy.id, definition: definitionOf(policy) };
}

function accountRows(db: Db | Tx, organizationId: string) {
  return db('accounts').where({ organization_id: organizationId }).select('id', 'name', 'address');
}

/** How the rows that a decision changes differ from what was decided before it. */
export async function differingRows(
  tx: Tx,
  organizationId: string,
  changes: readonly ResourceChange[],
): Promise<Difference[]> {
  const rows = await rowsOf(tx, organizationId, changes);
  return differences(
    changes.map(({ type, id, before }) => ({ type, id, resource: before })),
    rows,
  );
}

/** The rows that have a wallet which a decision gives to somebody else: a hand in the tables gave it to them. */
export async function walletIntruders(
  tx: Tx,
  organizationId: string,
  changes: readonly ResourceChange[],
): Promise<Difference[]> {
  const changed = changes.filter((change) => change.type === 'member');
  const wallets = changed.flatMap(({ after }) => after?.walletAddress ?? []);
  if (wallets.length === 0) return [];
  const holders = await findMembersByWallet(tx, organizationId, wallets);
  return holders
    .filter(({ id }) => !changed.some((change) => change.id === id))
    .map((member) => ({ type: 'member', id: member.id, sealed: null, found: toMemberSummary(member) }));
}

/** Everything in which the tables differ from the sealed state. */
export async function compareTables(db: Db | Tx, state: OrganizationState): Promise<Difference[]> {
  const rows = new Map<string, object>([await adminRow(db, state.id)]);
  for (const member of await listMembers(db, { organizationId: state.id })) {
    rows.set(keyOf('member', member.id), toMemberSummary(member));
  }
  for (const group of await listGroups(db, { organizationId: state.id })) {
    rows.set(keyOf('group', group.id), groupRow(group));
  }
  for (const policy of await listPolicies(db, { organizationId: state.id })) {
    rows.set(keyOf('policy', policy.id), policyRow(policy));
  }
  for (const account of await accountRows(db, state.id)) rows.set(keyOf('account', account.id), account);
  const sealedOf = (type: ResourceKind, resources: readonly { readonly id: string }[]) =>
    resources.map((resource) => ({ type, id: resource.id, resource }));
  const sealed = [
    ...sealedOf('member', Object.values(state.members)),
    ...sealedOf('group', Object.values(state.groups)),
    ...sealedOf('policy', Object.values(state.policies)),
    ...sealedOf('account', Object.values(state.accounts)),
    ...sealedOf('admin', [state.admins]),
  ];
  const decided = new Set(sealed.map(({ type, id }) => keyOf(type, id)));
  const undecided = [...rows].flatMap(([key, found]): Difference[] => {
    if (decided.has(key)) return [];
    const [type, id = ''] = key.split('/');
    return [{ type: type as ResourceKind, id, sealed: null, found }];
  });
  return [...differences(sealed, rows), ...undecided];
}
