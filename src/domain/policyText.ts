import { assertNever } from './approval';
import {
  type ContractRule,
  type LimitationScope,
  NATIVE_CURRENCY,
  type PolicyDefinition,
  type TokenTransferCondition,
  transferCondition,
} from './policy';
import { quoted } from './quoted';

/** The names of what a policy refers to. */
export interface PolicyNames {
  readonly network: {
    readonly name: string;
    readonly nativeAsset: { readonly symbol: string; readonly decimals: number };
  };
  readonly account: (id: string) => { readonly name: string; readonly address: string };
  readonly member: (id: string) => string;
  readonly group: (id: string) => string;
}

/** An amount in whole units of a token or native currency, exact: `1.5` for 15 with one decimal. */
export function displayAmount(raw: string, decimals: number): string {
  const digits = raw.padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

const MAX_LISTED = 5;

/** `a, b and c`; of long lists the first ones, and how many more there are. */
function listed(items: readonly string[]): string {
  const shown = items.length > MAX_LISTED + 1 ? items.slice(0, MAX_LISTED) : items.slice();
  if (shown.length < items.length) shown.push(`${items.length - shown.length} more`);
  const last = shown.pop() ?? 'none';
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`;
}

function tokenText({ tokenAddress, tokenSymbol, tokenName }: TokenTransferCondition): string {
  const where = tokenAddress === NATIVE_CURRENCY ? 'native currency' : tokenAddress;
  return `${quoted(tokenSymbol)} (${quoted(tokenName)}, ${where})`;
}

function transfersText(condition: TokenTransferCondition): string {
  const { tokenAddress, tokenDecimals, amountThreshold, destinationAddresses } = condition;
  const to = destinationAddresses.length === 0 ? 'any address' : listed(destinationAddresses);
  if (tokenAddress === null) return `transfers of any token WITHOUT LIMIT to ${to}`;
  const token = tokenText(condition);
  return amountThreshold === null
    ? `transfers of ${token} WITHOUT LIMIT to ${to}`
    : `transfers of at most ${displayAmount(amountThreshold, tokenDecimals)} ${token} each to ${to}`;
}

function contractText(rule: ContractRule, { network }: PolicyNames): string {
  const functions = rule.allowedFunctions.map((entry, i) => {
    const name = entry.startsWith('0x') ? rule.functions[i]?.name : null;
    return name ? `${entry} (${name})` : entry;
  });
  const { symbol, decimals } = network.nativeAsset;
  const what = functions.length === 0 ? 'any function WITHOUT LIMIT' : listed(functions);
  const value =
    rule.maxValue === '0'
      ? 'no native currency'
      : `at most ${displayAmount(rule.maxValue, decimals)} ${quoted(symbol)}`;
  return `${rule.contractAddress} (${what}, with ${value})`;
}

function contractsText(rules: readonly ContractRule[], names: PolicyNames): string {
  const text = listed(rules.map((rule) => contractText(rule, names)));
  const isUnlimited = (rule: ContractRule) => rule.allowedFunctions.length === 0;
  const isHidden = rules.some(isUnlimited) && !rules.slice(0, MAX_LISTED).some(isUnlimited);
  return isHidden && rules.length > MAX_LISTED + 1 ? `${text}, of some any function WITHOUT LIMIT` : text;
}

function coverText(policy: PolicyDefinition, names: PolicyNames): string {
  switch (policy.transactionType) {
    case 'TOKEN_TRANSFER':
      return transfersText(policy.tokenTransferCondition);
    case 'CONTRACT_INTERACTION': {
      const rules = policy.contractInteractionCondition;
      if (!rules) return 'calls of any contract WITHOUT LIMIT';
      return `calls of ${contractsText(rules, names)}`;
    }
    case 'ANY':
      return 'transfers of any token and calls of any contract WITHOUT LIMIT';
    default:
      return assertNever(policy);
  }
}

function accountsText({ accountIds }: PolicyDefinition, names: PolicyNames): string {
  if (accountIds === null) return 'any account of the organization';
  const accounts = accountIds.map(names.account).map(({ name, address }) => `${quoted(name)} (${address})`);
  return `${accounts.length === 1 ? 'the account' : 'the accounts'} ${listed(accounts)}`;
}

function memberText(id: string, names: PolicyNames): string {
  return `${quoted(names.member(id))} (${id})`;
}

function groupText(id: string, names: PolicyNames): string {
  return `the group ${quoted(names.group(id))} (${id})`;
}

function initiatorText({ initiatorSetting: setting }: PolicyDefinition, names: PolicyNames): string {
  if (setting === null) return 'any member';
  if (setting.type === 'user') return memberText(setting.memberId, names);
  return `any member of ${groupText(setting.groupId, names)}`;
}

/** Whether the initiator may approve as well. Of two different members it is clear that neither does both. */
function initiatorApprovalText({ initiatorSetting, approverSetting: setting }: PolicyDefinition): string {
  if (setting?.excludeInitiator) return ', never by the initiator';
  const isAnother =
    initiatorSetting?.type === 'user' &&
    setting?.type === 'user' &&
    initiatorSetting.memberId !== setting.memberId;
  return isAnother ? '' : ', the initiator may approve too';
}

function approvalText(policy: PolicyDefinition, names: PolicyNames): string {
  const { approverSetting: setting } = policy;
  if (setting === undefined) return 'approved automatically';
  const who =
    setting.type === 'user'
      ? memberText(setting.memberId, names)
      : `${setting.threshold} of ${groupText(setting.groupId, names)}`;
  return `approved by ${who}${initiatorApprovalText(policy)}`;
}

function limitationText(policy: PolicyDefinition): string {
  const { limitation } = policy;
  if (limitation === undefined) return 'any number of times';
  const condition = transferCondition(policy);
  const amount = condition?.amountThreshold ?? null;
  const most =
    condition === null || amount === null
      ? 'at most one execution'
      : `at most ${displayAmount(amount, condition.tokenDecimals)} ${quoted(condition.tokenSymbol)} together`;
  const period = limitation.hours === 1 ? 'any hour' : `any ${limitation.hours} hours`;
  const dimensions = [
    ['initiator', limitation.initiatorScope],
    ['account', limitation.sourceAccountScope],
    ['destination', limitation.destinationScope],
  ] as const;
  const of = (wanted: LimitationScope) =>
    dimensions.flatMap(([dimension, scope]) => (scope === wanted ? [dimension] : []));
  const each = of('PER_ITEM').map((dimension) => `each ${dimension}`);
  const all = of('ALL_ITEMS').map((dimension) => `${dimension}s`);
  const scopes = [
    ...(each.length === 0 ? [] : [`for ${listed(each)}`]),
    ...(all.length === 0 ? [] : [`over all ${listed(all)}`]),
  ];
  return `${most} within ${period} ${scopes.join(', ')}`;
}

/**
 * A policy in one line, as it is signed. Names chosen by people or tokens are quoted. It says WITHOUT LIMIT
 * where any contract or any function is covered or nothing caps the amount: a function that grants or
 * moves what the account has need not be a restricted one.
 */
export function policyText(policy: PolicyDefinition, names: PolicyNames): string {
  return [
    `${quoted(policy.name)}: ${coverText(policy, names)}`,
    `on ${quoted(names.network.name)} (${policy.networkId})`,
    `from ${accountsText(policy, names)}`,
    `initiated by ${initiatorText(policy, names)}`,
    approvalText(policy, names),
    limitationText(policy),
  ].join(', ');
}
