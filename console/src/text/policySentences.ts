import type { Schema } from '@orgwallet/client';
import { amountText, assetText } from '../domain/amounts.ts';
import { NATIVE_CURRENCY } from '../domain/assets.ts';
import { plainName, quotedName, symbolText } from '../domain/quotedName.ts';
import { type AddressNames, namedAddress } from './addressName.ts';

type Policy = Schema['Policy'] | Schema['ProposedPolicy'];

/** What a policy's ids and addresses are called. */
export interface PolicyNames extends AddressNames {
  member(id: string): string | undefined;
  group(id: string): string | undefined;
  account(id: string): string | undefined;
  network(id: number): string | undefined;
  nativeAsset(networkId: number): { readonly symbol: string; readonly decimals: number } | undefined;
}

/** One thing that a policy says. */
interface Aspect {
  readonly name: string;
  readonly text: string;
}

const hoursText = (hours: number) => (hours === 1 ? 'hour' : `${hours} hours`);

const addressText = (address: string, networkId: number, names: PolicyNames) =>
  namedAddress(address, names, { networkId });

function tokenText({ tokenAddress, tokenSymbol }: Schema['TokenTransferCondition']): string {
  if (tokenAddress === null) return 'any token or the native currency';
  if (tokenAddress === NATIVE_CURRENCY) return `${symbolText(tokenSymbol)}, the native currency`;
  return `${symbolText(tokenSymbol) || 'the token'} (${tokenAddress})`;
}

function transferText(condition: Schema['TokenTransferCondition']): string {
  const { amountThreshold, tokenDecimals } = condition;
  return amountThreshold === null
    ? `Token transfers of ${tokenText(condition)}, of any amount, WITHOUT LIMIT`
    : `Token transfers of at most ${amountText(amountThreshold, tokenDecimals)} ${tokenText(condition)}`;
}

function ruleText(
  { contractAddress, functions, maxValue }: Schema['ContractRule'],
  networkId: number,
  names: PolicyNames,
): string {
  const which =
    functions.length === 0
      ? 'any function that is not restricted'
      : functions.map(({ name, selector }) => (name ? `${name} (${selector})` : selector)).join(', ');
  const value =
    maxValue === '0' ? '' : `, sending at most ${assetText(maxValue, names.nativeAsset(networkId))}`;
  return `${which} of ${addressText(contractAddress, networkId, names)}${value}`;
}

function whatText(policy: Policy, names: PolicyNames): string {
  switch (policy.transactionType) {
    case 'TOKEN_TRANSFER':
      return transferText(policy.tokenTransferCondition);
    case 'CONTRACT_INTERACTION':
      return policy.contractInteractionCondition === null
        ? 'Contract interactions with any contract, WITHOUT LIMIT'
        : `Contract interactions: ${policy.contractInteractionCondition.map((rule) => ruleText(rule, policy.networkId, names)).join('; ')}`;
    case 'ANY':
      return 'Any transaction, WITHOUT LIMIT';
  }
}

function toText(policy: Policy, names: PolicyNames): string | undefined {
  if (policy.transactionType !== 'TOKEN_TRANSFER') return undefined;
  const { destinationAddresses } = policy.tokenTransferCondition;
  return destinationAddresses.length === 0
    ? 'Any address'
    : destinationAddresses.map((address) => addressText(address, policy.networkId, names)).join(', ');
}

const groupText = (id: string, names: PolicyNames) => `the group ${quotedName(names.group(id) ?? id)}`;
const memberText = (id: string, names: PolicyNames) => plainName(names.member(id) ?? id);

function initiatorText({ initiatorSetting: setting }: Policy, names: PolicyNames): string {
  if (setting === null) return 'Any member';
  return setting.type === 'group'
    ? `Any member of ${groupText(setting.groupId, names)}`
    : memberText(setting.memberId, names);
}

function approverText({ approverSetting: setting }: Policy, names: PolicyNames): string {
  if (!setting) return "Nobody: the initiator's signature is enough";
  const who =
    setting.type === 'group'
      ? `${setting.threshold} of ${groupText(setting.groupId, names)}`
      : memberText(setting.memberId, names);
  return `${who}; the initiator ${setting.excludeInitiator ? 'cannot approve' : 'may approve too'}`;
}

const SCOPES = [
  ['initiatorScope', 'initiator'],
  ['sourceAccountScope', 'account'],
  ['destinationScope', 'destination'],
] as const;

function budgetText(policy: Policy): string {
  const { limitation } = policy;
  if (!limitation) return 'None';
  const each = SCOPES.filter(([scope]) => limitation[scope] === 'PER_ITEM').map(([, item]) => item);
  const apart = each.length === 0 ? 'counted together' : `counted for each ${each.join(' and ')}`;
  const within = `within any ${hoursText(limitation.hours)}, ${apart}`;
  const { amountThreshold, tokenDecimals, tokenSymbol } =
    policy.transactionType === 'TOKEN_TRANSFER' ? policy.tokenTransferCondition : { amountThreshold: null };
  return amountThreshold === null
    ? `One execution ${within}`
    : `At most ${amountText(amountThreshold, tokenDecimals ?? 0)} ${symbolText(tokenSymbol ?? '')} ${within}`;
}

function fromText({ accountIds, accounts }: Policy, names: PolicyNames): string {
  if (accountIds === null) return 'Any account';
  const called = (id: string) => accounts.find((one) => one.id === id)?.name ?? names.account(id) ?? id;
  return accountIds.map((id) => quotedName(called(id))).join(', ');
}

type Said = readonly [name: string, text: (policy: Policy, names: PolicyNames) => string | undefined];

const WHAT: Said = ['Permits', whatText];
const FROM: Said = ['Accounts', fromText];
const APPROVER: Said = ['Approver', approverText];

type FieldOf<T> = T extends unknown ? keyof T : never;
/** What says each field, in this order; null: whoever shows the sentences does. */
const SAID: { readonly [Field in FieldOf<Policy>]: Said | null } = {
  transactionType: WHAT,
  contractInteractionCondition: WHAT,
  networkId: ['Network', ({ networkId }, names) => names.network(networkId) ?? `network ${networkId}`],
  accountIds: FROM,
  accounts: FROM,
  tokenTransferCondition: ['Recipients', toText],
  initiatorSetting: ['Initiator', initiatorText],
  type: APPROVER,
  approverSetting: APPROVER,
  limitation: ['Budget', budgetText],
  description: ['Description', ({ description }) => description || undefined],
  id: null,
  name: null,
  revision: null,
  createdAt: null,
  updatedAt: null,
};

/** A policy as sentences, one for each thing that it says, always in this order. */
export function policyAspects(policy: Policy, names: PolicyNames): readonly Aspect[] {
  return [...new Set(Object.values(SAID))].flatMap((said) => {
    const [name = '', textOf] = said ?? [];
    const text = textOf?.(policy, names);
    return text === undefined ? [] : [{ name, text }];
  });
}
