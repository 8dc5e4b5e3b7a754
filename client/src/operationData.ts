import { anyAddress, anyId, anyInteger, anyText, PartialMatch, unchanged } from './expectation.ts';
import type { Before, OperationIntent, OperationType } from './intent.ts';
import type { Schema } from './records.ts';

/** An object without its absent fields. */
function withoutAbsent<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  ) as Partial<T>;
}

/** A member whom a proposal shows and does not change: only the id was asked for, the rest is as it was read before. */
function memberOf(id: string, { members = [] }: Before) {
  const known = members.find((one) => one.id === id);
  const { name = anyText, type = anyText, walletAddress = anyAddress, walletKind = anyText } = known ?? {};
  return { id, name, type, walletAddress, walletKind };
}

type MembershipUpdate = Schema['MembershipUpdate'];

/** Who belongs to a set after updates; without the set before, nobody knows. */
function membersAfter(
  members: readonly { id: string }[] | undefined,
  updates: readonly MembershipUpdate[],
  before: Before,
): unknown {
  if (!members) return unchanged(undefined);
  const ids = new Set(members.map(({ id }) => id));
  for (const { action, id } of updates) {
    if (action === 'addMember') ids.add(id);
    else ids.delete(id);
  }
  return [...ids].sort().map((id) => memberOf(id, before));
}

type PolicyRequest = Schema['AddedOrChangedPolicy'];
type Setting = NonNullable<PolicyRequest['initiatorSetting']> | NonNullable<PolicyRequest['approverSetting']>;

function settingOf(setting: Setting, more: object): object {
  if (setting.type === 'group') return { type: 'group', groupId: setting.groupId, ...more };
  const memberId = setting.memberId ?? setting.userId;
  return { type: 'user', memberId, userId: memberId, ...more };
}

function approverOf(setting: NonNullable<PolicyRequest['approverSetting']>): object {
  const { excludeInitiator = false } = setting;
  return settingOf(
    setting,
    setting.type === 'group' ? { threshold: setting.threshold ?? 1, excludeInitiator } : { excludeInitiator },
  );
}

// What these do not name, the shape of the data has: functions follow from those that are allowed, accounts from their ids.

const ruleOf = ({ contractAddress, allowedFunctions, maxValue = '0' }: Schema['ContractRuleInput']) =>
  new PartialMatch({ contractAddress, allowedFunctions: allowedFunctions ?? [], maxValue });

function conditionOf(policy: PolicyRequest): object {
  const { tokenTransferCondition: transfer, contractInteractionCondition: rules } = policy;
  if (policy.transactionType === 'CONTRACT_INTERACTION') {
    return { contractInteractionCondition: rules?.map(ruleOf) ?? null };
  }
  if (policy.transactionType === 'ANY' || !transfer) return {};
  const { tokenAddress, amountThreshold, destinationAddresses, tokenDecimals } = transfer;
  return {
    tokenTransferCondition: new PartialMatch({
      tokenAddress,
      amountThreshold,
      destinationAddresses: destinationAddresses ?? [],
      ...withoutAbsent({ tokenDecimals }),
    }),
  };
}

type ReadOnly = 'accounts' | 'createdAt' | 'updatedAt';
type Condition = 'tokenTransferCondition' | 'contractInteractionCondition';

function policyOf(policy: PolicyRequest): PartialMatch {
  const { id, name, type, transactionType, networkId, description, accountIds, limitation } = policy;
  const { initiatorSetting, approverSetting } = policy;
  // A new field of the API that is not here does not compile.
  const fields: Record<Exclude<keyof PolicyRequest, 'id' | ReadOnly | Condition>, unknown> = {
    name,
    type,
    transactionType,
    networkId,
    accountIds,
    initiatorSetting: initiatorSetting && settingOf(initiatorSetting, {}),
    // Absent fields have to be absent; an empty description is none.
    description: description || undefined,
    limitation: limitation ?? undefined,
    approverSetting: approverSetting ? approverOf(approverSetting) : undefined,
  };
  return new PartialMatch({
    ...(id ? { id, revision: anyInteger } : { revision: undefined }),
    ...fields,
    ...conditionOf(policy),
  });
}

const policies = ({ policies: asked }: { policies: readonly PolicyRequest[] }) => ({
  policies: asked.map(policyOf),
});

/** What the `data` of each kind of operation has to be, made from what was asked for and from what was before. */
export const EXPECTED_DATA: {
  readonly [T in OperationType]: (asked: OperationIntent<T>, before: Before) => unknown;
} = {
  'members.create': ({ items }) => ({
    items: items.map(({ name, walletAddress, type = 'api', walletKind = 'key' }) => ({
      id: anyId('mem'),
      name,
      walletAddress,
      type,
      walletKind,
    })),
  }),
  'members.update': ({ items }, before) => ({
    items: items.map(({ id, name, walletAddress, walletKind }) => {
      const member = before.members?.find((one) => one.id === id);
      return {
        id,
        revision: anyInteger,
        name: unchanged(name ?? member?.name),
        walletAddress: unchanged(walletAddress ?? member?.walletAddress),
        walletKind: unchanged(walletKind ?? member?.walletKind),
      };
    }),
  }),
  'members.remove': ({ ids }, before) => ({ items: ids.map((id) => new PartialMatch(memberOf(id, before))) }),
  'groups.create': ({ items }) => ({
    items: items.map(({ name, memberIds }) => ({ id: anyId('grp'), name, memberIds })),
  }),
  'groups.update': ({ items }, before) => ({
    items: items.map(({ id, name, memberUpdates = [] }) => {
      const group = before.groups?.find((one) => one.id === id);
      return {
        id,
        revision: anyInteger,
        name: unchanged(name ?? group?.name),
        members: membersAfter(group?.members, memberUpdates, before),
      };
    }),
  }),
  'groups.delete': ({ items }) => ({ items: items.map(({ id }) => new PartialMatch({ id })) }),
  'policies.change': policies,
  'policies.add': policies,
  'policies.update': policies,
  'policies.remove': ({ policyIds }) => ({ policies: policyIds.map((id) => new PartialMatch({ id })) }),
  'accounts.create': ({ items }) => ({
    items: items.map(({ name, networkIds }) => ({ id: anyId('acc'), address: anyAddress, name, networkIds })),
  }),
  'accounts.update': ({ items }) => ({
    items: items.map(({ id, name, networkIds }) => ({
      id,
      revision: anyInteger,
      ...withoutAbsent({ name, networkIds }),
    })),
  }),
  'admins.update': ({ updates, threshold, onChain }, before) => ({
    revision: anyInteger,
    members: membersAfter(before.admins?.members, updates, before),
    threshold,
    // Absent where it is off; as it was before, where nothing was asked for.
    onChain: (onChain ?? before.admins?.onChain)?.enabled || undefined,
  }),
};

/** The `action` of the proposal that a change becomes. */
export function actionOf(intent: OperationIntent): string {
  const [, verb = ''] = intent.type.split('.');
  if (intent.type === 'policies.change') return intent.policies.every(({ id }) => !id) ? 'create' : 'update';
  return verb === 'add' ? 'create' : verb;
}

/** The names and wallets that a change gives: its summary has to have each. */
export function namedIn(intent: OperationIntent): string[] {
  const things = 'items' in intent ? intent.items : 'policies' in intent ? intent.policies : [];
  return things.flatMap(({ name, walletAddress }: { name?: string; walletAddress?: string }) =>
    [name, walletAddress].flatMap((text) => text ?? []),
  );
}
