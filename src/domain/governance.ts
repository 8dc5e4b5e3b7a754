import { type MemberSummary, toMemberSummary } from './approval';
import { foldName } from './names';
import type { PolicyDefinition } from './policy';
import { quoted } from './quoted';
import { accept, type Result, refuse } from './refusal';

/** Every resource has it: the sequence of its last change. */
interface Revised {
  readonly revision: number;
}

/** A member, as the admins have decided. */
export type MemberState = MemberSummary & Revised;

/** A group, as the admins have decided. */
export interface GroupState extends Revised {
  readonly id: string;
  readonly name: string;
  /** Ascending. */
  readonly memberIds: readonly string[];
}

/** A policy, as the admins have decided. */
export interface PolicyState extends Revised {
  readonly id: string;
  readonly definition: PolicyDefinition;
}

/** An account, as the admins have decided. It may not be deployed yet. */
export interface AccountState extends Revised {
  readonly id: string;
  readonly name: string;
  /** Checksummed. */
  readonly address: string;
  /** The networks that it may be deployed on, ascending. */
  readonly networkIds: readonly number[];
}

/** The admins and their threshold. */
export interface AdminsState extends Revised {
  readonly id: string;
  /** Ascending. */
  readonly memberIds: readonly string[];
  readonly threshold: number;
  /** The admins' Safe is kept equal to them, as a module of each account. Absent: it is not. */
  readonly onChain?: true;
}

/** The resources of a state, by their type. */
export interface Resources {
  readonly member: MemberState;
  readonly group: GroupState;
  readonly policy: PolicyState;
  readonly account: AccountState;
  readonly admin: AdminsState;
}

export type ResourceKind = keyof Resources;

type ById<T> = { readonly [id: string]: T };

/**
 * What the admins of an organization have decided, after `sequence` decisions. It changes only by `applyEdits`, and
 * depends on nothing but the genesis and the decisions since: no clock, no randomness, no table.
 */
export interface OrganizationState {
  readonly id: string;
  readonly name: string;
  /** EIP-712 domain salt of its operations (bytes32 as 0x hex). */
  readonly domainSalt: string;
  /** Address of the key that owns its accounts, checksummed. */
  readonly signingKey: string;
  /** Address of the key that seals its decisions, checksummed. */
  readonly sealKey: string;
  readonly sequence: number;
  readonly members: ById<MemberState>;
  readonly groups: ById<GroupState>;
  readonly policies: ById<PolicyState>;
  readonly accounts: ById<AccountState>;
  readonly admins: AdminsState;
}

type WithoutRevision<T> = T extends unknown ? Omit<T, 'revision'> : never;

/** What a decision makes of one resource: its new content, or null where it is removed. */
export type Edit = {
  readonly [K in ResourceKind]: {
    readonly type: K;
    readonly id: string;
    readonly after: WithoutRevision<Resources[K]> | null;
  };
}[ResourceKind];

/** What became of one resource. `before` is null for a new one, `after` for a removed one. */
export type ResourceChange = {
  readonly [K in ResourceKind]: {
    readonly type: K;
    readonly id: string;
    readonly before: Resources[K] | null;
    readonly after: Resources[K] | null;
  };
}[ResourceKind];

const COLLECTIONS = { member: 'members', group: 'groups', policy: 'policies', account: 'accounts' } as const;

/** How many resources of a kind an organization has at most: lists without `limit` return them all, and each decision reads them. */
export const MAX_RESOURCES = 1_000;

/** A resource of a state; undefined where there is none with that id. */
export function findResource<K extends ResourceKind>(
  state: OrganizationState,
  type: K,
  id: string,
): Resources[K] | undefined {
  const found: Resources[ResourceKind] | undefined =
    type === 'admin'
      ? state.admins.id === id
        ? state.admins
        : undefined
      : Object.hasOwn(state[COLLECTIONS[type as Exclude<K, 'admin'>]], id)
        ? state[COLLECTIONS[type as Exclude<K, 'admin'>]][id]
        : undefined;
  return found as Resources[K] | undefined;
}

/** The members with these ids, in that order; ids of nobody are left out. */
export function membersOf(state: OrganizationState, ids: readonly string[]): MemberState[] {
  return ids.flatMap((id) => findResource(state, 'member', id) ?? []);
}

/** The admins of a state with their threshold. */
export function adminsOf(state: OrganizationState): {
  readonly threshold: number;
  readonly members: readonly MemberSummary[];
} {
  const { threshold, memberIds } = state.admins;
  return { threshold, members: membersOf(state, memberIds).map(toMemberSummary) };
}

/** Refuses with conflict when a new resource would have the id of another one: what was created cannot be created again. */
export function expectNew(state: OrganizationState, type: ResourceKind, ids: readonly string[]) {
  const taken = ids.find((id, i) => findResource(state, type, id) || ids.indexOf(id) !== i);
  return taken === undefined ? undefined : refuse('conflict', `${type} ${taken} exists already`);
}

/** Refuses with conflict when a resource is gone, or has been changed since its revision was signed. */
export function expectRevision<K extends ResourceKind>(
  state: OrganizationState,
  type: K,
  { id, revision }: { readonly id: string; readonly revision: number },
  described: string,
): Result<Resources[K]> {
  const found = findResource(state, type, id);
  if (!found) return refuse('conflict', `${described} no longer exists`);
  if (found.revision === revision) return accept(found);
  return refuse('conflict', `${described} has been changed since this was proposed`);
}

function changeOf(state: OrganizationState, edit: Edit, revision: number): ResourceChange {
  const before = findResource(state, edit.type, edit.id) ?? null;
  const after = edit.after && { ...edit.after, revision };
  return { type: edit.type, id: edit.id, before, after } as ResourceChange;
}

function withChanges<T>(collection: ById<T>, changes: readonly { id: string; after: T | null }[]): ById<T> {
  if (changes.length === 0) return collection;
  const next: { [id: string]: T } = { ...collection };
  for (const { id, after } of changes) {
    if (after === null) delete next[id];
    else next[id] = after;
  }
  return next;
}

/** Puts changes into a state, as they are. */
export function withResources(
  state: OrganizationState,
  sequence: number,
  changes: readonly ResourceChange[],
): OrganizationState {
  const of = <K extends ResourceKind>(type: K) =>
    changes.filter((change) => change.type === type) as readonly {
      id: string;
      after: Resources[K] | null;
    }[];
  const [admins = state.admins] = of('admin').flatMap(({ after }) => after ?? []);
  return {
    ...state,
    sequence,
    members: withChanges(state.members, of('member')),
    groups: withChanges(state.groups, of('group')),
    policies: withChanges(state.policies, of('policy')),
    accounts: withChanges(state.accounts, of('account')),
    admins,
  };
}

/** Refuses admins who are not members, who cannot reach their threshold, or none of whom is of type api. */
function checkAdmins(state: OrganizationState): Result<null> {
  const { memberIds, threshold } = state.admins;
  const members = membersOf(state, memberIds);
  const missing = memberIds.find((id) => !findResource(state, 'member', id));
  if (missing !== undefined)
    return refuse('conflict', `admin ${missing} is not a member of the organization`);
  if (new Set(memberIds).size < memberIds.length) return refuse('conflict', 'an admin is named twice');
  if (threshold < 1 || threshold > members.length) {
    return refuse('conflict', `${members.length} admins cannot reach a threshold of ${threshold}`);
  }
  if (members.some(({ type }) => type === 'api')) return accept(null);
  return refuse('conflict', 'at least one admin must be of type api');
}

/** Refuses a wallet that two members would have. */
function checkWallets({ members }: OrganizationState): Result<null> {
  const holders = new Map<string, MemberState>();
  for (const member of Object.values(members)) {
    const wallet = member.walletAddress.toLowerCase();
    const other = holders.get(wallet);
    if (other) {
      return refuse(
        'conflict',
        `${member.walletAddress} would be the wallet of ${other.id} and ${member.id}`,
      );
    }
    holders.set(wallet, member);
  }
  return accept(null);
}

/** Refuses a group with somebody who is not a member, or with a member twice. */
function checkGroups(state: OrganizationState): Result<null> {
  for (const { id, memberIds } of Object.values(state.groups)) {
    const missing = memberIds.find((memberId) => !findResource(state, 'member', memberId));
    if (missing !== undefined)
      return refuse('conflict', `member ${missing} of group ${id} is not in the organization`);
    if (new Set(memberIds).size < memberIds.length) {
      return refuse('conflict', `a member of group ${id} is named twice`);
    }
  }
  return accept(null);
}

/** Refuses a name that two resources of one kind would have for their readers: approvers go by names. */
function checkNames({ members, groups, policies, accounts }: OrganizationState): Result<null> {
  const kinds = {
    member: Object.values(members),
    group: Object.values(groups),
    policy: Object.values(policies).map(({ id, definition: { name } }) => ({ id, name })),
    account: Object.values(accounts),
  };
  for (const [kind, resources] of Object.entries(kinds)) {
    const holders = new Map<string, string>();
    for (const { id, name } of resources) {
      const folded = foldName(name);
      const other = holders.get(folded);
      if (other !== undefined) {
        return refuse('conflict', `${quoted(name)} would be the name of ${kind} ${other} and ${kind} ${id}`);
      }
      holders.set(folded, id);
    }
  }
  return accept(null);
}

/**
 * Refuses with conflict a state that must not be: admins who could not decide, a wallet of two members, a group of
 * strangers, a name of two resources of one kind.
 */
export function checkState(state: OrganizationState): Result<null> {
  for (const check of [checkAdmins, checkWallets, checkGroups, checkNames]) {
    const checked = check(state);
    if (!checked.ok) return checked;
  }
  return accept(null);
}

/** What gives an organization more resources of a kind than it may have. */
interface Excess {
  /** Its place among the edits of that kind. */
  readonly place: number;
  readonly message: string;
}

/**
 * The first edit that adds a resource beyond `MAX_RESOURCES` of its kind; undefined where none does. Edits that remove as
 * many as they add never do.
 */
export function findExcess(state: OrganizationState, edits: readonly Edit[]): Excess | undefined {
  for (const [type, collection] of Object.entries(COLLECTIONS) as [keyof typeof COLLECTIONS, string][]) {
    const own = edits.filter((edit) => edit.type === type);
    const exists = ({ id }: Edit) => findResource(state, type, id) !== undefined;
    const added = own.filter((edit) => edit.after !== null && !exists(edit));
    const removed = own.filter((edit) => edit.after === null && exists(edit)).length;
    const kept = Object.keys(state[COLLECTIONS[type]]).length - removed;
    const count = kept + added.length;
    const first = added[Math.max(0, MAX_RESOURCES - kept)];
    if (!first || added.length <= removed) continue;
    const message = `the organization would have ${count} ${collection} (expected at most ${MAX_RESOURCES})`;
    return { place: own.indexOf(first), message };
  }
  return undefined;
}

/** A state after a decision, and what it changed. */
export interface Changed {
  readonly state: OrganizationState;
  readonly changes: readonly ResourceChange[];
}

/**
 * The next state. Refuses one that must not be, as `checkState` does, more resources than an organization may have, and a
 * second edit of a resource: it would undo the first, which those who sign see as well.
 */
export function applyEdits(state: OrganizationState, edits: readonly Edit[]): Result<Changed> {
  const edited = edits.map(({ type, id }) => `${type} ${id}`);
  const twice = edited.find((one, i) => edited.indexOf(one) !== i);
  if (twice !== undefined) return refuse('conflict', `${twice} would change twice`);
  const excess = findExcess(state, edits);
  if (excess) return refuse('conflict', excess.message);
  const sequence = state.sequence + 1;
  const changes = edits.map((edit) => changeOf(state, edit, sequence));
  const next = withResources(state, sequence, changes);
  const checked = checkState(next);
  return checked.ok ? accept({ state: next, changes }) : checked;
}
