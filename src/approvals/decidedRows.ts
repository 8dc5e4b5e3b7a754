import { insertAccounts, renameAccount } from '../db/accounts';
import type { Tx } from '../db/database';
import { deleteGroups, insertGroups, replaceGroups } from '../db/groups';
import { insertMembers, removeMembers, replaceAdmins, updateMembers } from '../db/members';
import { type Difference, differingRows, walletIntruders } from '../db/organizationTables';
import { insertPolicies, removePolicies, replacePolicy } from '../db/policies';
import type { Statement } from '../db/rows';
import type { AccountDerivation } from '../domain/account';
import type { ResourceChange, ResourceKind, Resources } from '../domain/governance';

/** The changes of resources of one type: new ones, changed ones, and the ids of removed ones. */
function changesOf<K extends ResourceKind>(changes: readonly ResourceChange[], type: K) {
  const own = changes.filter((change) => change.type === type) as readonly {
    readonly id: string;
    readonly before: Resources[K] | null;
    readonly after: Resources[K] | null;
  }[];
  return {
    created: own.flatMap(({ before, after }) => (before === null && after ? [after] : [])),
    updated: own.flatMap(({ before, after }) => (before && after ? [after] : [])),
    removed: own.flatMap(({ id, after }) => (after ? [] : [id])),
  };
}

async function writeMembers(
  tx: Tx,
  organizationId: string,
  changes: readonly ResourceChange[],
): Promise<void> {
  const { created, updated, removed } = changesOf(changes, 'member');
  if (removed.length > 0) await removeMembers(tx, removed);
  if (updated.length > 0) await updateMembers(tx, updated);
  if (created.length > 0) await insertMembers(tx, organizationId, created);
}

async function writeGroups(
  tx: Tx,
  organizationId: string,
  changes: readonly ResourceChange[],
): Promise<void> {
  const { created, updated, removed } = changesOf(changes, 'group');
  if (removed.length > 0) await deleteGroups(tx, removed);
  if (updated.length > 0) await replaceGroups(tx, updated);
  if (created.length > 0) await insertGroups(tx, organizationId, created);
}

async function writePolicies(
  tx: Tx,
  organizationId: string,
  changes: readonly ResourceChange[],
): Promise<void> {
  const { created, updated, removed } = changesOf(changes, 'policy');
  if (removed.length > 0) await removePolicies(tx, removed);
  for (const { id, definition } of updated) await replacePolicy(tx, { id, ...definition });
  await insertPolicies(
    tx,
    organizationId,
    created.map(({ id, definition }) => ({ id, ...definition })),
  );
}

/**
 * Finds the rows that are not what was decided before a decision, and gives those that stand in its way what they have
 * been decided to be then: `memberThen` is a member of that time. Returns them for the audit log.
 */
export async function restoreDiffering(
  tx: Tx,
  organizationId: string,
  changes: readonly ResourceChange[],
  memberThen: (id: string) => Resources['member'] | null,
): Promise<Difference[]> {
  const differing = await differingRows(tx, organizationId, changes);
  const intruders = (await walletIntruders(tx, organizationId, changes)).map((intruder) => ({
    ...intruder,
    sealed: memberThen(intruder.id),
  }));
  const kept = intruders.flatMap(({ sealed }) => sealed ?? []);
  const strangers = intruders.filter(({ sealed }) => sealed === null).map(({ id }) => id);
  if (strangers.length > 0) await removeMembers(tx, strangers);
  if (kept.length > 0) await updateMembers(tx, kept);
  return [...differing, ...intruders];
}

/**
 * Writes what a decision changed into the tables that are read. It refuses nothing: whatever the rows were, they become
 * what is sealed. `derive` computes an account from its id; `setPositions` and the deployments set what is not decided.
 * Returns what is left to be executed, in the same round trip with other statements.
 */
export async function writeChanges(
  tx: Tx,
  organizationId: string,
  changes: readonly ResourceChange[],
  derive: (accountId: string) => AccountDerivation,
): Promise<Statement[]> {
  await writeMembers(tx, organizationId, changes);
  await writeGroups(tx, organizationId, changes);
  await writePolicies(tx, organizationId, changes);
  const accounts = changesOf(changes, 'account');
  if (accounts.created.length > 0) {
    await insertAccounts(
      tx,
      organizationId,
      accounts.created.map(({ id, name }) => ({ id, name, derived: derive(id) })),
    );
  }
  for (const admins of changesOf(changes, 'admin').updated) await replaceAdmins(tx, organizationId, admins);
  return accounts.updated.map(({ id, name }) => renameAccount(tx, id, name));
}
