import type { NetworkConfig } from '../config';
import type { Db, Tx } from '../db/database';
import { readState } from '../db/seals';
import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import { refuseDemoWallet } from '../domain/demoWallets';
import { applyEdits, type Changed, type Edit, type OrganizationState } from '../domain/governance';
import { accept, type Outcome, refuse } from '../domain/refusal';
import type { DecisionSeal } from '../domain/seal';
import { refuseExcess } from './excess';
import { findKind } from './index';
import type { Plan, ProposalKind } from './kind';
import { refuseTakenName } from './takenNames';

/**
 * Refuses data that does not have the shape of its kind, or has anything besides: what nobody reads is shown to those
 * who sign, and could hide what counts. Undefined otherwise.
 */
export function misshapen(kind: ProposalKind, data: JsonValue) {
  const of = `the data of this ${kind.resourceType} ${kind.action}`;
  const parsed = kind.data.safeParse(data);
  if (!parsed.success) return refuse('conflict', `${of} is unreadable`);
  // A schema leaves out what it does not know, at any depth.
  if (canonicalJson(parsed.data) === canonicalJson(data)) return undefined;
  return refuse('conflict', `${of} has fields that do not belong to it`);
}

/** The edits that a kind's data asks for. Refuses with conflict, also data that does not have its shape. */
function editsOf(kind: ProposalKind, state: OrganizationState, data: JsonValue): Outcome<readonly Edit[]> {
  return misshapen(kind, data) ?? kind.change(state, data);
}

/** What a kind's signed data makes of a state. Refuses with conflict, also data that does not have its shape. */
export function changeState(kind: ProposalKind, state: OrganizationState, data: JsonValue): Outcome<Changed> {
  const edits = editsOf(kind, state, data);
  return edits.ok ? applyEdits(state, edits.value) : edits;
}

/**
 * Refuses a change that gives a member a demo wallet, where demo wallets are not allowed; undefined otherwise. It is not
 * part of the change itself, which depends on nothing but state and data.
 */
export function demoWalletRefused({ production }: { readonly production: boolean }, { changes }: Changed) {
  if (!production) return undefined;
  const members = changes.flatMap((change) => (change.type === 'member' && change.after ? change.after : []));
  // Kinds that change wallets change one member for each of their items.
  return refuseDemoWallet(members, (i) => `items[${i}].walletAddress`);
}

/** What a sealed decision makes of the state before it: nothing, where it is a rejection. Refuses with conflict. */
export function decidedState(state: OrganizationState, seal: DecisionSeal): Outcome<Changed> {
  if (seal.resolution === 'rejected') {
    return accept({ state: { ...state, sequence: seal.sequence }, changes: [] });
  }
  const kind = findKind(seal.resourceType, seal.action);
  if (!kind) return refuse('conflict', `there is no operation ${seal.resourceType} ${seal.action}`);
  return changeState(kind, state, seal.data);
}

/** Why an organization can change nothing yet. */
export function notAdmitted(organizationId: string) {
  return refuse(
    'conflict',
    `the genesis of organization ${organizationId} is not admitted yet: every admin signs it, then the signer admits it`,
  );
}

/** An operation as it would be proposed, and the state that it was planned upon. */
interface PlannedOperation extends Plan<JsonValue> {
  readonly summary: string;
  readonly state: OrganizationState;
}

/**
 * Plans an operation from the body of a request, and tries its change on what the admins have decided. Refuses with
 * validationError or conflict.
 */
export async function planOperation(
  {
    db,
    organizationId,
    networks,
    production,
  }: { db: Db | Tx; organizationId: string; networks: readonly NetworkConfig[]; production: boolean },
  kind: ProposalKind,
  body: JsonValue,
  facts: unknown,
): Promise<Outcome<PlannedOperation>> {
  const state = await readState(db, organizationId);
  if (!state) return notAdmitted(organizationId);
  const planned = await kind.plan({ db, state, networks }, body, facts);
  if (!planned.ok) return planned;
  const { data } = planned.value;
  const edits = editsOf(kind, state, data);
  if (!edits.ok) return edits;
  const refused =
    refuseExcess(state, kind.resourceType, edits.value) ??
    refuseTakenName(state, kind.resourceType, edits.value);
  if (refused) return refused;
  const changed = applyEdits(state, edits.value);
  if (!changed.ok) return changed;
  const demo = demoWalletRefused({ production }, changed.value);
  return demo ?? accept({ ...planned.value, summary: kind.summary({ state, networks }, data), state });
}
