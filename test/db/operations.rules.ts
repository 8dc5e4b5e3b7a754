/**
 * What each kind of request needs, shows and changes. It is written from the rules of the product and shares nothing
 * with the code that it is compared with.
 */

import {
  type Account,
  idsAfter,
  type Kind,
  type Member,
  type Organization,
  type PolicyContent,
  type Request,
} from './organization.model';

/** How something is refused. */
export type Refusal =
  | 'validationError'
  | 'conflict'
  | 'forbidden'
  | 'unauthorized'
  | 'invalidSignature'
  | 'thresholdNotMet'
  | 'proposalExpired';

/** The state that a proposal shows, as far as its kind has one. */
export interface ProposedState {
  readonly members?: readonly (Omit<Member, 'type'> & { readonly type?: string })[];
  readonly groups?: readonly {
    readonly id: string;
    readonly name: string;
    readonly members: readonly Member[];
  }[];
  readonly policies?: readonly (PolicyContent & { readonly id?: string })[];
  readonly threshold?: number;
}

/** What a request would mean now. */
export interface Judgement {
  /** Everything that is wrong with it. */
  readonly refusals: ReadonlySet<Refusal>;
  readonly data: ProposedState;
  /** What nobody else may touch while it is open. */
  readonly claims: readonly string[];
  /** What it is about. */
  readonly names: readonly string[];
}

/** An account on a network, to be deployed. */
export interface Place {
  readonly accountId: string;
  readonly networkId: number;
}

/** What a change has done. */
export interface Change {
  /** `action id` of the entries that it leaves in the audit log. */
  readonly audit: readonly string[];
  /** `subject code`: what becomes of things that others may name. */
  readonly events: readonly string[];
  readonly deployments?: readonly Place[];
  /** Others can see a part of it already. */
  readonly effective?: boolean;
}

type RequestOf<K extends Kind> = Extract<Request, { readonly kind: K }>;

/** A proposal whose change is to be made. */
interface Decided<R extends Request> {
  readonly request: R;
  /** What is signed and has to come true. */
  readonly data: ProposedState;
  /** Ids of what it creates. */
  readonly newIds: readonly string[];
}

/** What holds for one kind of request. */
interface Rules<R extends Request> {
  judge(organization: Organization, request: R): Judgement;
  /** Makes the change, if it would come out exactly as it was shown. What it changes is as it was when it was proposed. */
  carryOut(organization: Organization, decided: Decided<R>): Change | 'blocked';
}

type KindRules<K extends Kind> = Rules<RequestOf<K>>;

/** The rules for the kind of a request. */
export function rulesFor(request: Request): Rules<Request> {
  return RULES[request.kind];
}

const unique = <T>(values: readonly T[]) => [...new Set(values)];
const repeats = (values: readonly unknown[]) => new Set(values).size !== values.length;
const walletClaim = (address: string) => `wallet:${address.toLowerCase()}`;
const idsOf = (things: readonly { readonly id: string }[]) => things.map(({ id }) => id);

interface Named {
  readonly id?: string;
  readonly name: string;
}

/** True when two of a kind would have one name, in whatever case, once these are as they are shown. */
function shareName(
  now: ReadonlyMap<string, { readonly id: string; readonly name: string }>,
  shown: readonly Named[],
) {
  const others = [...now.values()].filter(({ id }) => shown.every((one) => one.id !== id));
  return repeats([...others, ...shown].map(({ name }) => name.toLowerCase()));
}

/** A judgement from everything that makes a request invalid, and everything that is in its way. */
function judgement({
  invalid,
  conflict = [],
  data = {},
  claims = [],
  names = claims,
}: {
  readonly invalid: readonly boolean[];
  readonly conflict?: readonly boolean[];
  readonly data?: ProposedState;
  readonly claims?: readonly string[];
  readonly names?: readonly string[];
}): Judgement {
  const refusals = new Set<Refusal>();
  if (invalid.includes(true)) refusals.add('validationError');
  if (conflict.includes(true)) refusals.add('conflict');
  return { refusals, data, claims: unique(claims), names: unique(names) };
}

type Holder = Pick<Member, 'id' | 'walletAddress' | 'walletKind'>;

/** True while somebody has the wallet that was shown, as the kind that was shown. */
function isAsShown(organization: Organization, { id, walletAddress, walletKind }: Holder) {
  const now = organization.members.get(id);
  return now?.walletAddress === walletAddress && now.walletKind === walletKind;
}

/** What a proposal says about others, as it is now: their names, and the wallets of members. */
export function namedBy(organization: Organization, request: Request, data: ProposedState): string {
  const member = (id: string) => {
    const { name, walletAddress, walletKind } = organization.members.get(id) ?? {};
    return [id, name, walletAddress, walletKind];
  };
  const named = (things: ReadonlyMap<string, { readonly name: string }>, id: string) => [
    id,
    things.get(id)?.name,
  ];
  const accounts = (data.policies ?? []).flatMap(({ accountIds }) =>
    (accountIds ?? []).map((id) => named(organization.accounts, id)),
  );
  switch (request.kind) {
    case 'groups/create':
      return JSON.stringify(request.items.flatMap(({ memberIds }) => memberIds).map(member));
    case 'groups/update':
    case 'groups/delete':
      return JSON.stringify(
        [
          ...(data.groups ?? []).flatMap(({ members }) => idsOf(members)),
          ...request.items.flatMap((item) =>
            'memberUpdates' in item ? idsOf(item.memberUpdates ?? []) : [],
          ),
        ].map(member),
      );
    case 'admins/update':
      return JSON.stringify([...idsOf(data.members ?? []), ...idsOf(request.updates)].map(member));
    case 'policies/create':
    case 'policies/update': {
      const settings = request.policies.flatMap(({ initiator, approver }) => [initiator, approver]);
      const whose = settings.map((setting) => {
        if (setting === null) return null;
        return setting.type === 'user'
          ? named(organization.members, setting.memberId)
          : named(organization.groups, setting.groupId);
      });
      return JSON.stringify([accounts, whose]);
    }
    case 'policies/remove':
      return JSON.stringify(accounts);
    default:
      return '';
  }
}

// --- members -----------------------------------------------------------------------------------------------------

/** True when a wallet is nobody's, its new owner's, or that of a member who changes to another. */
function isFree(
  organization: Organization,
  { id, walletAddress }: Pick<Member, 'id' | 'walletAddress'>,
  changed: readonly Pick<Member, 'id' | 'walletAddress'>[],
): boolean {
  const holder = organization.holderOf(walletAddress);
  if (holder === undefined || holder.id === id) return true;
  const next = changed.find((member) => member.id === holder.id) ?? holder;
  return next.walletAddress !== holder.walletAddress;
}

const createMembers: KindRules<'members/create'> = {
  judge(organization, { items }) {
    const wallets = items.map(({ walletAddress }) => walletAddress.toLowerCase());
    return judgement({
      invalid: [repeats(wallets), wallets.length === 0],
      conflict: [
        ...wallets.map((wallet) => organization.holderOf(wallet) !== undefined),
        shareName(organization.members, items),
      ],
      claims: wallets.map(walletClaim),
    });
  },
  carryOut(organization, { request, newIds }) {
    if (request.items.some(({ walletAddress }) => organization.holderOf(walletAddress))) return 'blocked';
    if (shareName(organization.members, request.items)) return 'blocked';
    const created = request.items.map((item, i) => ({ ...item, id: newIds[i] ?? '' }));
    for (const member of created) organization.members.set(member.id, member);
    return {
      audit: newIds.map((id) => `member.created ${id}`),
      events: created.map(({ walletAddress }) => `${walletClaim(walletAddress)} walletTaken`),
    };
  },
};

const updateMembers: KindRules<'members/update'> = {
  judge(organization, { items }) {
    const wallets = items.flatMap(({ walletAddress }) => walletAddress?.toLowerCase() ?? []);
    const changes = items.flatMap((item) => {
      const before = organization.members.get(item.id);
      return before ? [{ before, after: { ...before, ...item } }] : [];
    });
    const members = changes.map(({ after: { type: _, ...shown } }) => shown);
    return judgement({
      invalid: [
        items.length === 0,
        repeats(idsOf(items)),
        repeats(wallets),
        changes.length < items.length,
        ...changes.map(({ before, after }) => before.name === after.name && isAsShown(organization, after)),
      ],
      conflict: [
        ...members.map((member) => !isFree(organization, member, members)),
        shareName(organization.members, members),
      ],
      data: { members },
      claims: [
        ...items.map(({ id }) => `member:${id}`),
        ...changes
          .filter(({ before, after }) => before.walletAddress !== after.walletAddress)
          .map(({ after }) => walletClaim(after.walletAddress)),
      ],
    });
  },
  carryOut(organization, { data: { members = [] } }) {
    if (!members.every((member) => isFree(organization, member, members))) return 'blocked';
    if (shareName(organization.members, members)) return 'blocked';
    const events: string[] = [];
    for (const { id, name, walletAddress, walletKind } of members) {
      const before = organization.members.get(id) as Member;
      if (!isAsShown(organization, { id, walletAddress, walletKind }))
        events.push(`member:${id} walletChanged`);
      if (before.walletAddress !== walletAddress) events.push(`${walletClaim(walletAddress)} walletTaken`);
      organization.members.set(id, { ...before, name, walletAddress, walletKind });
    }
    return { audit: members.map(({ id }) => `member.updated ${id}`), events };
  },
};

const removeMembers: KindRules<'members/remove'> = {
  judge(organization, { ids }) {
    const members = ids.flatMap((id) => organization.members.get(id) ?? []);
    return judgement({
      invalid: [repeats(ids), ids.length === 0, members.length < ids.length],
      conflict: ids.map((id) => organization.adminIds.has(id)),
      data: { members },
      claims: ids.map((id) => `member:${id}`),
    });
  },
  carryOut(organization, { data: { members = [] } }) {
    const ids = idsOf(members);
    if (!members.every((member) => isAsShown(organization, member))) return 'blocked';
    if (ids.some((id) => organization.adminIds.has(id))) return 'blocked';
    for (const id of ids) organization.members.delete(id);
    const left = [...organization.groups.values()].filter((group) =>
      group.memberIds.some((id) => ids.includes(id)),
    );
    for (const group of left) {
      const memberIds = group.memberIds.filter((id) => !ids.includes(id));
      organization.groups.set(group.id, { ...group, memberIds });
    }
    return {
      audit: [...ids.map((id) => `member.removed ${id}`), ...left.map(({ id }) => `group.updated ${id}`)],
      events: [
        ...ids.map((id) => `member:${id} memberRemoved`),
        ...left.map(({ id }) => `group:${id} groupChanged`),
      ],
    };
  },
};

const updateAdmins: KindRules<'admins/update'> = {
  judge(organization, { updates, threshold }) {
    const ids = idsOf(updates);
    const members = organization.membersOf(idsAfter(organization.adminIds, updates));
    return judgement({
      invalid: [
        repeats(ids),
        ids.some((id) => !organization.members.has(id)),
        updates.some(({ action, id }) => organization.adminIds.has(id) === (action === 'addMember')),
        !members.some(({ type }) => type === 'api'),
        threshold < 1,
        threshold > members.length,
        updates.length === 0 && threshold === organization.threshold,
      ],
      data: { members, threshold },
      claims: ['admins'],
      names: [...idsOf(members), ...ids].map((id) => `member:${id}`),
    });
  },
  carryOut(organization, { request, data: { members = [] } }) {
    if (!members.every((member) => isAsShown(organization, member))) return 'blocked';
    organization.adminIds = new Set(idsAfter(organization.adminIds, request.updates));
    organization.threshold = request.threshold;
    return { audit: [`admins.updated ${organization.adminsId}`], events: [] };
  },
};

// --- groups ------------------------------------------------------------------------------------------------------

const createGroups: KindRules<'groups/create'> = {
  judge(organization, { items }) {
    const memberIds = items.flatMap((item) => item.memberIds);
    return judgement({
      invalid: [
        ...items.map((item) => repeats(item.memberIds)),
        memberIds.some((id) => !organization.members.has(id)),
        repeats(items.map((item) => JSON.stringify([item.name, [...item.memberIds].sort()]))),
      ],
      conflict: [shareName(organization.groups, items)],
      names: memberIds.map((id) => `member:${id}`),
    });
  },
  carryOut(organization, { request, newIds }) {
    const memberIds = request.items.flatMap((item) => item.memberIds);
    if (memberIds.some((id) => !organization.members.has(id))) return 'blocked';
    if (shareName(organization.groups, request.items)) return 'blocked';
    for (const [i, item] of request.items.entries()) {
      const id = newIds[i] ?? '';
      organization.groups.set(id, { id, name: item.name, memberIds: [...item.memberIds].sort() });
    }
    return { audit: newIds.map((id) => `group.created ${id}`), events: [] };
  },
};

type GroupUpdate = RequestOf<'groups/update'>['items'][number];

/** True when a group is there, and an update would change it as it says. */
function changesGroup(organization: Organization, { id, name, memberUpdates = [] }: GroupUpdate): boolean {
  const group = organization.groups.get(id);
  if (!group) return false;
  const ids = idsOf(memberUpdates);
  if (repeats(ids) || ids.some((memberId) => !organization.members.has(memberId))) return false;
  const isRenamed = name !== undefined && name !== group.name;
  return (
    memberUpdates.every(
      (update) => group.memberIds.includes(update.id) !== (update.action === 'addMember'),
    ) &&
    (isRenamed || ids.length > 0)
  );
}

const updateGroups: KindRules<'groups/update'> = {
  judge(organization, { items }) {
    const groups = items.flatMap(({ id, name, memberUpdates = [] }) => {
      const before = organization.groups.get(id);
      if (!before) return [];
      const members = organization.membersOf(idsAfter(before.memberIds, memberUpdates));
      return [{ id, name: name ?? before.name, members }];
    });
    const claims = items.map(({ id }) => `group:${id}`);
    const concerned = [
      ...groups.flatMap(({ members }) => members),
      ...items.flatMap(({ memberUpdates = [] }) => memberUpdates),
    ];
    return judgement({
      invalid: [repeats(idsOf(items)), ...items.map((item) => !changesGroup(organization, item))],
      conflict: [shareName(organization.groups, groups)],
      data: { groups },
      claims,
      names: [...claims, ...concerned.map(({ id }) => `member:${id}`)],
    });
  },
  carryOut(organization, { data: { groups = [] } }) {
    const shown = groups.flatMap(({ members }) => members);
    if (!shown.every((member) => isAsShown(organization, member))) return 'blocked';
    if (shareName(organization.groups, groups)) return 'blocked';
    for (const { id, name, members } of groups) {
      organization.groups.set(id, { id, name, memberIds: idsOf(members) });
    }
    return {
      audit: groups.map(({ id }) => `group.updated ${id}`),
      events: groups.map(({ id }) => `group:${id} groupChanged`),
    };
  },
};

const deleteGroups: KindRules<'groups/delete'> = {
  judge(organization, { items }) {
    const ids = idsOf(items);
    const groups = ids.flatMap((id) => organization.groups.get(id) ?? []);
    return judgement({
      invalid: [repeats(ids), ids.length === 0, groups.length < ids.length],
      data: {
        groups: groups.map(({ id, name, memberIds }) => ({
          id,
          name,
          members: organization.membersOf(memberIds),
        })),
      },
      claims: ids.map((id) => `group:${id}`),
    });
  },
  carryOut(organization, { data: { groups = [] } }) {
    for (const { id } of groups) organization.groups.delete(id);
    return {
      audit: groups.map(({ id }) => `group.deleted ${id}`),
      events: groups.map(({ id }) => `group:${id} groupDeleted`),
    };
  },
};

// --- policies ----------------------------------------------------------------------------------------------------

/** What a policy is about. */
function subjectsOf({ networkId, accountIds, initiator, approver }: PolicyContent): string[] {
  return [
    `network:${networkId}`,
    ...(accountIds ?? []).map((id) => `account:${id}`),
    ...[initiator, approver].flatMap((setting) => {
      if (setting === null) return [];
      return setting.type === 'user' ? `member:${setting.memberId}` : `group:${setting.groupId}`;
    }),
  ];
}

function isThere(organization: Organization, subject: string): boolean {
  const [type, id = ''] = subject.split(':');
  if (type === 'account') return organization.visibleAccount(id) !== undefined;
  if (type === 'member') return organization.members.has(id);
  if (type === 'group') return organization.groups.has(id);
  return organization.networkIds.includes(Number(id));
}

/** True when all that a policy names is there, and its approvers are enough. */
function canBe(organization: Organization, policy: PolicyContent): boolean {
  const { approver } = policy;
  if (!subjectsOf(policy).every((subject) => isThere(organization, subject))) return false;
  if (approver?.type !== 'group') return true;
  return approver.threshold <= (organization.groups.get(approver.groupId)?.memberIds.length ?? 0);
}

function isSamePolicy(one: PolicyContent, two: PolicyContent | undefined): boolean {
  const text = ({ name, networkId, accountIds, initiator, approver }: PolicyContent) =>
    JSON.stringify([name, networkId, accountIds, initiator, approver]);
  return two !== undefined && text(one) === text(two);
}

/** Those with an id are edited, the others are new. */
const writePolicies: KindRules<'policies/create' | 'policies/update'> = {
  judge(organization, { policies }) {
    const ids = policies.flatMap(({ id }) => id ?? []);
    const claims = ids.map((id) => `policy:${id}`);
    return judgement({
      invalid: [
        policies.length === 0,
        repeats(ids),
        ids.some((id) => !organization.policies.has(id)),
        ...policies.map((policy) => !canBe(organization, policy)),
        ...policies.map((policy) => isSamePolicy(policy, organization.policies.get(policy.id ?? ''))),
        repeats(policies.filter(({ id }) => id === undefined).map((policy) => JSON.stringify(policy))),
      ],
      conflict: [shareName(organization.policies, policies)],
      data: { policies },
      claims,
      names: [...claims, ...policies.flatMap(subjectsOf)],
    });
  },
  carryOut(organization, { request: { policies }, newIds }) {
    if (!policies.every((policy) => canBe(organization, policy))) return 'blocked';
    if (shareName(organization.policies, policies)) return 'blocked';
    const fresh = [...newIds];
    const audit: string[] = [];
    const events: string[] = [];
    for (const policy of policies) {
      const id = policy.id ?? fresh.shift() ?? '';
      organization.policies.set(id, { ...policy, id });
      audit.push(`policy.${policy.id === undefined ? 'created' : 'updated'} ${id}`);
      if (policy.id !== undefined) events.push(`policy:${id} policyChanged`);
    }
    return { audit, events };
  },
};

const removePolicies: KindRules<'policies/remove'> = {
  judge(organization, { policyIds }) {
    const policies = policyIds.flatMap((id) => organization.policies.get(id) ?? []);
    return judgement({
      invalid: [repeats(policyIds), policyIds.length === 0, policies.length < policyIds.length],
      data: { policies },
      claims: policyIds.map((id) => `policy:${id}`),
    });
  },
  carryOut(organization, { request: { policyIds } }) {
    for (const id of policyIds) organization.policies.delete(id);
    return {
      audit: policyIds.map((id) => `policy.removed ${id}`),
      events: policyIds.map((id) => `policy:${id} policyRemoved`),
    };
  },
};

// --- accounts ----------------------------------------------------------------------------------------------------

const createAccounts: KindRules<'accounts/create'> = {
  judge(organization, { items }) {
    const networkIds = items.flatMap((item) => item.networkIds);
    return judgement({
      invalid: [
        networkIds.some((id) => !organization.networkIds.includes(id)),
        ...items.map((item) => item.networkIds.length === 0 || repeats(item.networkIds)),
        repeats(items.map((item) => JSON.stringify([item.name, [...item.networkIds].sort()]))),
      ],
      conflict: [shareName(organization.accounts, items)],
      names: networkIds.map((id) => `network:${id}`),
    });
  },
  carryOut(organization, { request: { items }, newIds }) {
    if (shareName(organization.accounts, items)) return 'blocked';
    for (const [i, { name }] of items.entries()) {
      const id = newIds[i] ?? '';
      organization.accounts.set(id, { id, name, networkIds: [] });
    }
    const deployments = items.flatMap(({ networkIds }, i) =>
      networkIds.map((networkId) => ({ accountId: newIds[i] ?? '', networkId })),
    );
    return { audit: [], events: [], deployments };
  },
};

type AccountUpdate = RequestOf<'accounts/update'>['items'][number];

/** True when an account is there, and an update would change it as it says. */
function changesAccount(organization: Organization, { id, name, networkIds }: AccountUpdate): boolean {
  const account = organization.visibleAccount(id);
  if (!account) return false;
  const isRenamed = name !== undefined && name !== account.name;
  if (networkIds === undefined) return isRenamed;
  const isNew = (networkId: number) =>
    organization.networkIds.includes(networkId) && !account.networkIds.includes(networkId);
  return networkIds.length > 0 && !repeats(networkIds) && networkIds.every(isNew);
}

/** The names of accounts after an update of those that are there. */
function namesOf(organization: Organization, items: readonly AccountUpdate[]) {
  return items.flatMap(({ id, name }) => {
    const account = organization.accounts.get(id);
    return account ? [{ id, name: name ?? account.name }] : [];
  });
}

const updateAccounts: KindRules<'accounts/update'> = {
  judge(organization, { items }) {
    const claims = items.map(({ id }) => `account:${id}`);
    const networkIds = items.flatMap((item) => item.networkIds ?? []);
    return judgement({
      invalid: [repeats(idsOf(items)), ...items.map((item) => !changesAccount(organization, item))],
      conflict: [shareName(organization.accounts, namesOf(organization, items))],
      claims,
      names: [...claims, ...networkIds.map((id) => `network:${id}`)],
    });
  },
  carryOut(organization, { request: { items } }) {
    if (shareName(organization.accounts, namesOf(organization, items))) return 'blocked';
    const deployments = items.flatMap(({ id, networkIds = [] }) =>
      networkIds.map((networkId) => ({ accountId: id, networkId })),
    );
    const audit: string[] = [];
    for (const { id, name } of items) {
      const account = organization.accounts.get(id) as Account;
      organization.accounts.set(id, { ...account, name: name ?? account.name });
      if (name !== undefined && name !== account.name) audit.push(`account.updated ${id}`);
    }
    return { audit, events: [], effective: audit.length > 0, deployments };
  },
};

const RULES: { readonly [K in Kind]: KindRules<K> } = {
  'members/create': createMembers,
  'members/update': updateMembers,
  'members/remove': removeMembers,
  'groups/create': createGroups,
  'groups/update': updateGroups,
  'groups/delete': deleteGroups,
  'policies/create': writePolicies,
  'policies/update': writePolicies,
  'policies/remove': removePolicies,
  'admins/update': updateAdmins,
  'accounts/create': createAccounts,
  'accounts/update': updateAccounts,
};
