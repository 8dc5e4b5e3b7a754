import { deriveAccount } from '../chain/safeAccount';
import { endSessionsOf } from '../credentials/memberSessions';
import { noteOnOpenApprovals } from '../db/approvalNotes';
import { type AuditInput, appendAudit } from '../db/audit';
import type { Tx } from '../db/database';
import { type Projected, storeProjectedSequence } from '../db/decisions';
import { readAdmins } from '../db/members';
import type { Difference } from '../db/organizationTables';
import { setPositions } from '../db/positions';
import { type Actor, SYSTEM } from '../domain/actor';
import type { JsonValue } from '../domain/canonicalJson';
import { adminChanges } from '../domain/externalEvents';
import type { OrganizationState } from '../domain/governance';
import type { DecisionSeal } from '../domain/seal';
import { isSameWallet } from '../domain/wallet';
import { auditOfChanges, eventsOfChanges } from './changes';
import { restoreDiffering, writeChanges } from './decidedRows';

/** The audit entry of a row that was not what had been decided, and was overwritten. */
function differenceEntry({ type, id, sealed, found }: Difference): AuditInput {
  const details = { sealed: sealed as JsonValue, found: found as JsonValue };
  return { action: `${type}.differed`, actor: SYSTEM, resourceType: type, resourceId: id, details };
}

const POSITIONED = { member: 'members', group: 'groups', policy: 'policies' } as const;

/** What is decided by now, and the decisions of which the tables show nothing yet. */
interface Decided {
  readonly state: OrganizationState;
  readonly pending: readonly DecisionSeal[];
}

/** A member as it was when a decision was sealed that did not change it; null where there was none. */
function memberAt({ state, pending }: Decided, { sequence }: DecisionSeal, memberId: string) {
  const changes = pending.filter((seal) => seal.sequence > sequence).flatMap((seal) => seal.changes);
  const next = changes.find(({ type, id }) => type === 'member' && id === memberId);
  return next?.type === 'member' ? next.before : (state.members[memberId] ?? null);
}

/** The members whose sessions end with a decision: they are removed, or get another wallet. */
function signedOutBy(changes: DecisionSeal['changes']): string[] {
  return changes.flatMap(({ type, id, before, after }) =>
    type === 'member' && before && !(after && isSameWallet(before, after)) ? [id] : [],
  );
}

/** Writes one decision into the tables, with its audit entries. Returns how many notes on other open approvals it wrote. */
async function project(tx: Tx, seal: DecisionSeal, decided: Decided, actor: Actor): Promise<number> {
  const { organizationId, proposalId, changes, sequence } = seal;
  // The admins are members: nothing else changes who they are.
  const mayChangeAdmins = changes.some(({ type }) => type === 'admin' || type === 'member');
  const before = mayChangeAdmins ? await readAdmins(tx, organizationId) : undefined;
  const { signingKey } = decided.state;
  const differing = await restoreDiffering(tx, organizationId, changes, (id) => memberAt(decided, seal, id));
  const left = await writeChanges(tx, organizationId, changes, (accountId) =>
    deriveAccount(signingKey, accountId),
  );
  const noted = await noteOnOpenApprovals(tx, organizationId, proposalId, [
    ...(before ? adminChanges(before, await readAdmins(tx, organizationId)) : []),
    ...eventsOfChanges(changes),
  ]);
  const audited = auditOfChanges(proposalId, changes);
  const signedOut = signedOutBy(changes);
  const entries = [
    ...audited.map(({ entry }) => ({ ...entry, actor })),
    ...differing.map(differenceEntry),
    ...(signedOut.length > 0 ? await endSessionsOf(tx, signedOut, actor) : []),
  ];
  const projected = storeProjectedSequence(tx, organizationId, sequence);
  const positions = await appendAudit(tx, organizationId, entries, [...left, projected]);
  for (const [type, table] of Object.entries(POSITIONED)) {
    const created = audited.flatMap(({ change }, i) =>
      change.type === type && change.before === null ? [{ id: change.id, position: positions[i] ?? 0n }] : [],
    );
    if (created.length === 0) continue;
    await setPositions(
      tx,
      table,
      created.map(({ id }) => id),
      created.map(({ position }) => position),
    );
  }
  return noted;
}

/**
 * Writes every sealed decision up to this one that the tables do not show yet, in their order. True when other approvals
 * may have received notes.
 */
export async function projectUpTo(
  tx: Tx,
  { state, sequence, pending }: Projected,
  upTo: DecisionSeal,
  actor: Actor,
): Promise<boolean> {
  const { organizationId } = upTo;
  if (sequence >= upTo.sequence) return true;
  if (!state) throw new Error(`organization ${organizationId} has a seal and no state`);
  let noted = 0;
  for (const seal of pending) {
    if (seal.sequence > upTo.sequence) break;
    noted += await project(
      tx,
      seal,
      { state, pending },
      seal.proposalId === upTo.proposalId ? actor : SYSTEM,
    );
  }
  return noted > 0;
}
