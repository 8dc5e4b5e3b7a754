import { refuseOwnWallet } from '../chain/adminsSafe';
import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import { applyEdits, type Changed, type Edit, type OrganizationState } from '../domain/governance';
import { accept, type Result, refuse } from '../domain/refusal';
import type { DecisionSeal } from '../domain/seal';
import { refuseWellKnownKey } from '../domain/wellKnownKeys';
import type { OperationRule } from './rule';
import { findRule } from './rules';

/**
 * Refuses data that does not have the shape of its rule, or has anything besides: what nobody reads is shown to those
 * who sign, and could hide what counts. Undefined otherwise.
 */
export function misshapen(rule: OperationRule, data: JsonValue) {
  const of = `the data of this ${rule.resourceType} ${rule.action}`;
  const parsed = rule.data.safeParse(data);
  if (!parsed.success) return refuse('conflict', `${of} is unreadable`);
  // A schema leaves out what it does not know, at any depth.
  if (canonicalJson(parsed.data) === canonicalJson(data)) return undefined;
  return refuse('conflict', `${of} has fields that do not belong to it`);
}

/** The edits that a rule's data asks for. Refuses with conflict, also data that does not have its shape. */
export function editsOf(
  rule: OperationRule,
  state: OrganizationState,
  data: JsonValue,
): Result<readonly Edit[]> {
  return misshapen(rule, data) ?? rule.change(state, data);
}

/** The state that edits make. Refuses with conflict one that must not be. */
export function editedState(state: OrganizationState, edits: readonly Edit[]): Result<Changed> {
  const changed = applyEdits(state, edits);
  return changed.ok ? (refuseOwnWallet(changed.value.state) ?? changed) : changed;
}

/** What a rule's signed data makes of a state. Refuses with conflict, also data that does not have its shape. */
export function changeState(rule: OperationRule, state: OrganizationState, data: JsonValue): Result<Changed> {
  const edits = editsOf(rule, state, data);
  return edits.ok ? editedState(state, edits.value) : edits;
}

/**
 * Refuses a change that gives a member a wallet with a well-known key, where these are not allowed; undefined otherwise. It is not
 * part of the change itself, which depends on nothing but state and data.
 */
export function wellKnownKeyRefused({ production }: { readonly production: boolean }, { changes }: Changed) {
  if (!production) return undefined;
  const members = changes.flatMap((change) => (change.type === 'member' && change.after ? change.after : []));
  // Kinds that change wallets change one member for each of their items.
  return refuseWellKnownKey(members, (i) => `items[${i}].walletAddress`);
}

/** What a sealed decision makes of the state before it: nothing, where it is a rejection. Refuses with conflict. */
export function decidedState(state: OrganizationState, seal: DecisionSeal): Result<Changed> {
  if (seal.resolution === 'rejected') {
    return accept({ state: { ...state, sequence: seal.sequence }, changes: [] });
  }
  const rule = findRule(seal.resourceType, seal.action);
  if (!rule) return refuse('conflict', `there is no operation ${seal.resourceType} ${seal.action}`);
  return changeState(rule, state, seal.data);
}
