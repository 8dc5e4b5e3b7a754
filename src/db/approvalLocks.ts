import type { ApprovalKey } from '../domain/approvalRef';
import { heldCredential } from './authority';
import type { Db, Tx } from './database';
import { QUEUE_ALONE, QUEUE_SHARED } from './lockQueues';
import { type RoomInWindow, requireRoom } from './policyRoom';
import { combineStatements, type NamedStatement, queryNumbered, requireRow } from './rows';
import type { StoredApproval } from './storedApprovals';

/**
 * The version of what a decision has read: an approval, what the admins of its organization had decided, and the credential that requests it;
 * null where none does.
 */
export interface ExpectedVersion {
  readonly record: Pick<StoredApproval, 'id' | 'organizationId' | 'version'>;
  readonly sequence: bigint;
  readonly credentialId: string | null;
  /** The budget that something is taken from: it is locked last, and has room (`isWithoutRoom`). */
  readonly budget?: RoomInWindow;
}

const lockingAdmins = (id: string, lock: 'FOR SHARE' | 'FOR UPDATE') =>
  `SELECT organization_id FROM queued CROSS JOIN admin_sets WHERE organization_id = ${id} ${lock} OF admin_sets`;

/**
 * Locks the admins of an organization: nothing is decided meanwhile. Shares the queue of a credential after it, where one is
 * given (`heldCredential`).
 */
export function lockedAdmins(
  db: Db | Tx,
  organizationId: string,
  credentialId: string | null,
): readonly NamedStatement[] {
  const queued = db.raw(`SELECT ${QUEUE_SHARED}(?, ?)`, [organizationId, credentialId]);
  return [
    { name: 'queued', statement: queued },
    { name: 'admins', statement: db.raw(lockingAdmins('?', 'FOR SHARE'), [organizationId]) },
  ];
}

/** Raises a serialization failure where the guard has no row. */
export const RAISE_ON_CONFLICT = 'require_unchanged(EXISTS (SELECT FROM unchanged))';

/**
 * Guards a change (`updateApproval`) by what the decision was based on: locks the admins, then the organization, the approval and
 * the credential, and has no row where one has changed since it was read.
 */
export function guardVersion(
  db: Db | Tx,
  { record: { id, organizationId, version }, sequence, credentialId, budget }: ExpectedVersion,
): Guard {
  const credential = heldCredential(credentialId);
  const unchanged = db.raw(
    `SELECT FROM admins JOIN organizations o ON o.id = admins.organization_id
      JOIN approvals a ON a.organization_id = o.id ${credential.join}
      WHERE a.id = ? AND a.version = ? AND o.projected_sequence = ?::bigint
      FOR SHARE OF o FOR UPDATE OF a ${credential.lock}`,
    [...credential.bindings, id, version, String(sequence)],
  );
  const admins = lockedAdmins(db, organizationId, credentialId);
  if (!budget) return [...admins, { name: 'unchanged', statement: unchanged }];
  const { policyId } = budget.window;
  return [
    ...admins,
    { name: 'current', statement: unchanged },
    { name: 'budget', statement: db.raw(LOCK_BUDGET('current'), [policyId]) },
    { name: 'unchanged', statement: db.raw('SELECT FROM budget WHERE ?', [requireRoom(db, budget)]) },
  ];
}

const LOCK_BUDGET = (locked: string) =>
  `SELECT FROM ${locked} JOIN policies p ON p.id = ? FOR NO KEY UPDATE OF p`;

/**
 * Locks what was read, as `lockApproval` does, and after it the budget of a policy, where one is given: reservations come one
 * after the other. False where something has changed since. Call it as the first of a transaction, and read the budget in a
 * statement of its own.
 */
export async function lockExpected(
  tx: Tx,
  expected: ExpectedVersion,
  policyId: string | null = null,
): Promise<boolean> {
  const budget = tx.raw(LOCK_BUDGET('unchanged'), [policyId]);
  const locked: { unchanged: boolean }[] = await combineStatements(
    tx.select(tx.raw('EXISTS (SELECT FROM unchanged) AS unchanged, EXISTS (SELECT FROM budget) AS budget')),
    [...guardVersion(tx, expected), { name: 'budget', statement: budget }],
  );
  return requireRow(locked[0]).unchanged;
}

/** Statements of which one is named `unchanged`: without a row of it nothing is changed. */
export type Guard = readonly NamedStatement[];

const SERIALIZATION_FAILURE = '40001';

/** Runs `work`, which makes a guarded change; undefined where the guard has no row, and nothing is written. */
export async function undefinedOnConflict<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if ((error as { code?: unknown }).code === SERIALIZATION_FAILURE) return undefined;
    throw error;
  }
}

/** `WITH` the admins of `$1`, locked. */
function withAdmins(lock: 'FOR SHARE' | 'FOR UPDATE'): string {
  const queue = lock === 'FOR SHARE' ? QUEUE_SHARED : QUEUE_ALONE;
  return `WITH queued AS MATERIALIZED (SELECT ${queue}($1)), admins AS MATERIALIZED (${lockingAdmins('$1', lock)})`;
}

const HOLD_ADMINS = `${withAdmins('FOR SHARE')} SELECT FROM admins`;

/** Keeps the people and policies of an organization from changing until the end of the transaction. */
export async function holdAdmins(tx: Tx, organizationId: string): Promise<void> {
  await queryNumbered(tx, HOLD_ADMINS, [organizationId]);
}

// The admins come first, always: an execution that changes them goes on to change other approvals. The CTE is read
// before the row that it is joined to is locked.
const lockStatement = (admins: 'FOR SHARE' | 'FOR UPDATE') => `${withAdmins(admins)}
      SELECT 1 FROM admins JOIN approvals ON approvals.organization_id = admins.organization_id
      WHERE approvals.id = $2
      FOR UPDATE OF approvals`;
const LOCK = lockStatement('FOR SHARE');
const LOCK_ORGANIZATION = lockStatement('FOR UPDATE');

/**
 * Locks an approval, and its organization's admins, people and policies against change, until the end of the database
 * transaction. With `exclusive` no other execution of the organization runs meanwhile. False when there is none. Read it
 * afterwards, in a statement of its own: one that has waited for a lock still sees the rest as it was before.
 */
export async function lockApproval(
  tx: Tx,
  { organizationId, id }: ApprovalKey,
  options: { exclusive?: boolean | undefined } = {},
): Promise<boolean> {
  const locked = await queryNumbered(tx, options.exclusive ? LOCK_ORGANIZATION : LOCK, [organizationId, id]);
  return locked.length > 0;
}
