import type { Edit, OrganizationState, ResourceKind } from '../domain/governance';
import { foldName } from '../domain/names';
import type { ResourceType } from '../domain/proposal';
import { quoted } from '../domain/quoted';
import { refuse } from '../domain/refusal';

const KINDS = { members: 'member', groups: 'group', policies: 'policy', accounts: 'account' } as const;

/** The names of one kind of resource, by id. */
function namesOf({ members, groups, policies, accounts }: OrganizationState, kind: ResourceKind) {
  const named = {
    member: members,
    group: groups,
    account: accounts,
    policy: Object.fromEntries(
      Object.values(policies).map(({ id, definition: { name } }) => [id, { name }] as const),
    ),
    admin: {},
  } as const;
  return new Map(Object.entries<{ name: string }>(named[kind]).map(([id, { name }]) => [id, name]));
}

function newName(edit: Edit): string | undefined {
  if (edit.after === null || edit.type === 'admin') return undefined;
  return edit.type === 'policy' ? edit.after.definition.name : edit.after.name;
}

/**
 * Refuses a request that gives a resource the name of another one of its kind, with the field of that name; undefined
 * otherwise. Kinds that give names change one resource for each of their items, in their order.
 */
export function refuseTakenName(
  state: OrganizationState,
  resourceType: ResourceType,
  edits: readonly Edit[],
): ReturnType<typeof refuse> | undefined {
  if (resourceType === 'admins') return undefined;
  const kind = KINDS[resourceType];
  const own = edits.filter(({ type }) => type === kind);
  const names = namesOf(state, kind);
  for (const { id } of own) names.delete(id);
  const holders = new Map([...names].map(([id, name]) => [foldName(name), `${kind} ${id}`]));
  for (const [i, edit] of own.entries()) {
    const name = newName(edit);
    if (name === undefined) continue;
    const holder = holders.get(foldName(name));
    const list = resourceType === 'policies' ? 'policies' : 'items';
    const field = `${list}[${i}].name`;
    if (holder !== undefined) return refuse('conflict', `${quoted(name)} is the name of ${holder}`, field);
    holders.set(foldName(name), `${list}[${i}]`);
  }
  return undefined;
}
