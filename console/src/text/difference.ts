import type { Schema } from '@orgwallet/client';
import { plainName } from '../domain/quotedName.ts';
import { type PolicyNames, policyAspects } from './policySentences.ts';

/** One field, before and after; undefined: there is none. */
interface FieldChange {
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What a proposal does to one thing. */
export interface Change {
  readonly id: string;
  readonly title: string;
  readonly kind: 'added' | 'changed' | 'removed';
  readonly fields: readonly FieldChange[];
}

/** A record, as the API or as the audit log has it: what is read of it, its kind says. */
type Entity = { readonly id: string; readonly name?: string; readonly [field: string]: unknown };

/**
 * What a proposal is compared with: the organization as it is now, or as it was. What was is in the words of the audit log, which has
 * the ids of members where the API has members.
 */
export interface Compared extends PolicyNames {
  readonly members: readonly Entity[];
  readonly groups: readonly Entity[];
  readonly policies: readonly Entity[];
  readonly accounts: readonly Entity[];
  readonly admins: {
    readonly threshold: number;
    readonly members?: readonly { readonly name: string }[];
    readonly memberIds?: readonly string[];
    /** Whether their Safe is on; absent: it is off. */
    readonly onChain?: true | { readonly enabled: boolean };
  };
}

type Fields = readonly (readonly [field: string, text: string | undefined])[];
type Item = { readonly id: string; readonly name?: string; readonly revision?: number };

const KINDS = { create: 'added', remove: 'removed', delete: 'removed', update: 'changed' } as const;
const TYPES: { readonly [type: string]: string } = { user: 'person', api: 'bot' };

/** Fields that differ, and of something changed only these. */
function compared(before: Fields, after: Fields): FieldChange[] {
  const [old, next] = [new Map(before), new Map(after)];
  return [...new Set([...old.keys(), ...next.keys()])]
    .map((field) => ({ field, before: old.get(field), after: next.get(field) }))
    .filter((change) => change.before !== change.after);
}

type Person = Partial<Pick<Schema['Member'], 'name' | 'type' | 'walletAddress' | 'walletKind'>>;

const memberFields = ({ name, type, walletAddress, walletKind }: Person): Fields => [
  ['Name', name],
  ...(type ? [['Type', TYPES[type]] as const] : []),
  ['Wallet', walletAddress],
  ['Wallet kind', walletKind],
];

const namesOf = (members: readonly { name: string }[]) =>
  members
    .map(({ name }) => plainName(name))
    .sort()
    .join(', ');

function groupFields(
  group: { name: string; members?: readonly Item[]; memberIds?: readonly string[] },
  now: Compared,
): Fields {
  const members = group.memberIds?.map((id) => ({ id, name: now.member(id) })) ?? group.members ?? [];
  return [
    ['Name', group.name],
    ['Members', namesOf(members.map(({ id, name }) => ({ name: name ?? id })))],
  ];
}

const policyFields = (policy: Schema['Policy'] | Schema['ProposedPolicy'], now: Compared): Fields => [
  ['Name', policy.name],
  ...policyAspects(policy, now).map(({ name, text }) => [name, text] as const),
];

const networksText = (ids: readonly number[], now: Compared) =>
  ids.map((id) => now.network(id) ?? `network ${id}`).join(', ');

/** What the payload says of one thing, and how to find it among those that there are. */
interface Kind {
  present(now: Compared): readonly Item[];
  before(item: never, now: Compared): Fields;
  after(item: never, now: Compared, before: Fields): Fields;
}

const KIND_OF: { readonly [resourceType: string]: Kind } = {
  members: {
    present: ({ members }) => members,
    before: (member: Schema['Member']) => memberFields(member),
    after: (item: Person, _, before) => [
      ...before.filter(([field]) => field === 'Type'),
      ...memberFields(item),
    ],
  },
  groups: {
    present: ({ groups }) => groups,
    before: (group: Schema['Group'], now) => groupFields(group, now),
    after: (item: Schema['ProposedGroup'], now) => groupFields(item, now),
  },
  policies: {
    present: ({ policies }) => policies,
    before: (policy: Schema['Policy'], now) => policyFields(policy, now),
    after: (item: Schema['ProposedPolicy'], now) => policyFields(item, now),
  },
  accounts: {
    present: ({ accounts }) => accounts,
    before: ({ name, address, networks }: Schema['Account']) => [
      ['Name', name],
      ['Address', address],
      ['Networks', networks.map((network) => network.name).join(', ')],
    ],
    after: (item: { name?: string; address?: string; networkIds?: number[] }, now, before) => {
      const [old] = [new Map(before)];
      const added = networksText(item.networkIds ?? [], now);
      return [
        ['Name', item.name ?? old.get('Name')],
        ['Address', item.address ?? old.get('Address')],
        ['Networks', [old.get('Networks'), added].filter((text) => text).join(', ')],
      ];
    },
  },
};

function adminFields({ members, memberIds, threshold, onChain }: Compared['admins'], now: Compared): Fields {
  const named = memberIds?.map((id) => ({ name: now.member(id) ?? id })) ?? members ?? [];
  return [
    ['Admins', namesOf(named)],
    ['Threshold', `${threshold} of ${named.length}`],
    ["Admins' Safe", onChain === true || onChain?.enabled ? 'on' : 'off'],
  ];
}

/** A policy that is changed, which has a revision, and one that is new can be in one proposal. */
function kindOf(action: string, { revision }: Item): Change['kind'] {
  const kind = KINDS[action as keyof typeof KINDS] ?? 'changed';
  return kind === 'changed' && revision === undefined ? 'added' : kind;
}

/**
 * What a proposal changes, field by field: its data, which has to be read from the payload that is signed, beside the
 * records that it changes.
 */
export function differenceOf(
  { resourceType, action, data }: { resourceType: string; action: string; data: unknown },
  now: Compared,
): readonly Change[] {
  if (resourceType === 'admins') {
    const fields = compared(adminFields(now.admins, now), adminFields(data as Compared['admins'], now));
    return [{ id: 'admins', title: 'The admins', kind: 'changed', fields }];
  }
  const kind = KIND_OF[resourceType];
  if (!kind) return [];
  const { items, policies } = data as { items?: readonly Item[]; policies?: readonly Item[] };
  return (items ?? policies ?? []).map((item) => {
    const present = kind.present(now).find(({ id }) => id === item.id);
    const change = kindOf(action, item);
    // What is new was nothing before, also once it is there.
    const before = present && change === 'changed' ? kind.before(present as never, now) : [];
    const after = kind.after(item as never, now, before);
    // What is signed has the whole of what is removed: that is shown, and not what the service says of it elsewhere.
    if (change === 'removed') {
      return { id: item.id, title: item.name ?? item.id, kind: change, fields: compared(after, []) };
    }
    const title = (change === 'changed' ? present?.name : undefined) ?? item.name ?? item.id;
    return { id: item.id, title, kind: change, fields: compared(before, after) };
  });
}
