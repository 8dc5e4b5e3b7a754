import { assertNever } from './approval';
import {
  type ContractRule,
  type LimitationScope,
  NATIVE_CURRENCY,
  type PolicyDefinition,
  type PolicyField,
  type TokenTransferCondition,
  tokenIn,
  transferCondition,
} from './policy';
import { listLine, plainBeginning, quotedName, quotedSymbol } from './summary';

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

/** Longest amount in whole units on a line, in bytes: a token may have 255 decimals. */
export const MAX_AMOUNT_BYTES = 80;

/** An amount on a line, whole: in whole units, or in raw ones where these are too long. */
function amountText(raw: string, decimals: number): string {
  const shown = displayAmount(raw, decimals);
  return shown.length <= MAX_AMOUNT_BYTES ? shown : `${raw} raw units of`;
}

/** An amount with the symbol of its token or native currency, on a line: `1.5 "USDC"`. */
export function assetAmount(
  raw: string,
  { symbol, decimals }: { readonly symbol: string; readonly decimals: number | null },
): string {
  const amount = decimals === null ? `${raw} raw units of` : amountText(raw, decimals);
  return `${amount} ${quotedSymbol(symbol)}`;
}

const tokenText = ({ tokenAddress, tokenSymbol, tokenName }: TokenTransferCondition): string => {
  const where = tokenAddress === NATIVE_CURRENCY ? 'native currency' : tokenAddress;
  return `${quotedSymbol(tokenSymbol)} (${quotedName(tokenName)}, ${where})`;
};

function transferLines(condition: TokenTransferCondition): string[] {
  const { tokenAddress, tokenDecimals, amountThreshold, destinationAddresses } = condition;
  const to = destinationAddresses.length === 0 ? 'To any address' : listLine('To ', destinationAddresses);
  if (tokenAddress === null) return ['Transfers of any token WITHOUT LIMIT', to];
  const token = tokenText(condition);
  return [
    amountThreshold === null
      ? `Transfers of ${token} WITHOUT LIMIT`
      : `Transfers of at most ${amountText(amountThreshold, tokenDecimals ?? 0)} ${token} each`,
    to,
  ];
}

/** The longest declaration of a function in a line, in bytes. */
const MAX_FUNCTION_BYTES = 80;

function functionText(rule: ContractRule, entry: string, i: number): string {
  const name = entry.startsWith('0x') ? rule.functions[i]?.name : null;
  return plainBeginning(name ? `${entry} (${name})` : entry, MAX_FUNCTION_BYTES);
}

function contractLine(rule: ContractRule, { network }: PolicyNames): string {
  const value =
    rule.maxValue === '0'
      ? 'no native currency'
      : `at most ${assetAmount(rule.maxValue, network.nativeAsset)}`;
  const start = `Calls of ${rule.contractAddress} with ${value}: `;
  if (rule.allowedFunctions.length === 0) return `${start}any function WITHOUT LIMIT`;
  return listLine(
    start,
    rule.allowedFunctions.map((entry, i) => functionText(rule, entry, i)),
  );
}

const isUnlimitedRule = (rule: ContractRule) => rule.allowedFunctions.length === 0;

/** Most contracts that the lines of one policy name. */
const MAX_CONTRACTS = 3;

/** The contracts with any function first: they are never among those that are only counted. */
function contractLines(rules: readonly ContractRule[], names: PolicyNames): string[] {
  const ordered = [...rules.filter(isUnlimitedRule), ...rules.filter((rule) => !isUnlimitedRule(rule))];
  const shown = ordered.length > MAX_CONTRACTS ? ordered.slice(0, MAX_CONTRACTS - 1) : ordered;
  const rest = ordered.slice(shown.length);
  const unlimited = rest.filter(isUnlimitedRule).length;
  const danger = unlimited === 0 ? '' : `, any function of ${unlimited} of them WITHOUT LIMIT`;
  return [
    ...shown.map((rule) => contractLine(rule, names)),
    ...(rest.length === 0 ? [] : [`Calls of ${rest.length} more contracts${danger}`]),
  ];
}

function coverLines(policy: PolicyDefinition, names: PolicyNames): string[] {
  switch (policy.transactionType) {
    case 'TOKEN_TRANSFER':
      return transferLines(policy.tokenTransferCondition);
    case 'CONTRACT_INTERACTION': {
      const rules = policy.contractInteractionCondition;
      return rules ? contractLines(rules, names) : ['Calls of any contract WITHOUT LIMIT'];
    }
    case 'ANY':
      return ['Transfers of any token and calls of any contract WITHOUT LIMIT'];
    default:
      return assertNever(policy);
  }
}

/** Whether any contract or any function is covered, or nothing limits the amount. */
function isUnlimited(policy: PolicyDefinition): boolean {
  switch (policy.transactionType) {
    case 'TOKEN_TRANSFER': {
      const { tokenAddress, amountThreshold } = policy.tokenTransferCondition;
      return tokenAddress === null || amountThreshold === null;
    }
    case 'CONTRACT_INTERACTION':
      return policy.contractInteractionCondition?.some(isUnlimitedRule) ?? true;
    case 'ANY':
      return true;
    default:
      return assertNever(policy);
  }
}

/** What is dangerous about a policy. */
export interface PolicyDanger {
  readonly unlimited: boolean;
  readonly automatic: boolean;
}

/** What is dangerous about a policy: that nothing limits it, and that nobody approves what it permits. */
export function policyDanger(policy: PolicyDefinition): PolicyDanger {
  return { unlimited: isUnlimited(policy), automatic: policy.approverSetting === undefined };
}

function accountsLine({ accountIds, networkId }: PolicyDefinition, names: PolicyNames): string {
  const on = ` on ${quotedName(names.network.name)} (${networkId})`;
  if (accountIds === null) return `From any account of the organization${on}`;
  const accounts = accountIds
    .map(names.account)
    .map(({ name, address }) => `${quotedName(name)} (${address})`);
  return listLine(accounts.length === 1 ? 'From the account ' : 'From the accounts ', accounts, on);
}

function memberText(id: string, names: PolicyNames): string {
  return `${quotedName(names.member(id))} (${id})`;
}

function groupText(id: string, names: PolicyNames): string {
  return `the group ${quotedName(names.group(id))} (${id})`;
}

function initiatorText({ initiatorSetting: setting }: PolicyDefinition, names: PolicyNames): string {
  if (setting === null) return 'any member';
  if (setting.type === 'user') return memberText(setting.memberId, names);
  return `any member of ${groupText(setting.groupId, names)}`;
}

function initiatorLine(policy: PolicyDefinition, names: PolicyNames): string {
  return `Initiated by ${initiatorText(policy, names)}`;
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

function approvalLine(policy: PolicyDefinition, names: PolicyNames): string {
  const { approverSetting: setting } = policy;
  if (setting === undefined) return 'Approved automatically';
  const who =
    setting.type === 'user'
      ? memberText(setting.memberId, names)
      : `${setting.threshold} of ${groupText(setting.groupId, names)}`;
  return `Approved by ${who}${initiatorApprovalText(policy)}`;
}

function limitationLine(policy: PolicyDefinition): string {
  const { limitation } = policy;
  if (limitation === undefined) return 'Any number of times';
  const condition = transferCondition(policy);
  const amount = condition?.amountThreshold ?? null;
  const most =
    condition === null || amount === null
      ? 'At most one execution'
      : `At most ${assetAmount(amount, tokenIn(condition))} together`;
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
    ...(each.length === 0 ? [] : [`for ${enumerated(each)}`]),
    ...(all.length === 0 ? [] : [`over all ${enumerated(all)}`]),
  ];
  return `${most} within ${period} ${scopes.join(', ')}`;
}

/** `a, b and c` */
function enumerated(items: readonly string[]): string {
  const last = items.at(-1) ?? '';
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} and ${last}`;
}

/** The lines that say each field, in their order; null: whoever shows the lines says its name, and the description decides nothing. */
const LINES = {
  transactionType: coverLines,
  tokenTransferCondition: coverLines,
  contractInteractionCondition: coverLines,
  type: approvalLine,
  approverSetting: approvalLine,
  initiatorSetting: initiatorLine,
  networkId: accountsLine,
  accountIds: accountsLine,
  limitation: limitationLine,
  name: null,
  description: null,
} satisfies Record<PolicyField, ((policy: PolicyDefinition, names: PolicyNames) => string | string[]) | null>;

/**
 * A policy in lines, as they are signed: what it covers first. Names chosen by people or tokens are quoted. It says
 * WITHOUT LIMIT where any contract or any function is covered or nothing limits the amount: a function that grants or
 * moves what the account has need not be a restricted one.
 */
export function policyLines(policy: PolicyDefinition, names: PolicyNames): string[] {
  return [...new Set(Object.values(LINES))].flatMap((lines) => lines?.(policy, names) ?? []);
}
