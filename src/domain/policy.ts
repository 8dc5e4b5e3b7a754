import { assertNever } from './proposal';
import { quoted } from './signing';

/** Whether what the policy covers goes out at once, or waits for its approver. */
export type PolicyType = 'AUTO_APPROVAL' | 'MANUAL_APPROVAL';
/** What a policy covers. ANY covers both of the others. */
export type PolicyTransactionType = 'TOKEN_TRANSFER' | 'CONTRACT_INTERACTION' | 'ANY';
/** PER_ITEM: each initiator (account, destination) has a limit of its own; ALL_ITEMS: all of them share one. */
export type LimitationScope = 'PER_ITEM' | 'ALL_ITEMS';

/** What may happen within any period of that many hours. */
export interface Limitation {
  readonly hours: number;
  readonly initiatorScope: LimitationScope;
  readonly sourceAccountScope: LimitationScope;
  readonly destinationScope: LimitationScope;
}

/** Who may initiate: one member, or every member of a group. */
export type InitiatorSetting =
  | { readonly type: 'user'; readonly memberId: string }
  | { readonly type: 'group'; readonly groupId: string };

/** Who must approve: one member, or `threshold` members of a group. */
export type ApproverSetting = (
  | { readonly type: 'user'; readonly memberId: string }
  | { readonly type: 'group'; readonly groupId: string; readonly threshold: number }
) & {
  /** The initiator of a transaction cannot approve it. */
  readonly excludeInitiator: boolean;
};

/** Which token transfers are covered. */
export interface TokenTransferCondition {
  /** Checksummed (EIP-55); the zero address is the native coin; null: any token. */
  readonly tokenAddress: string | null;
  readonly tokenSymbol: string;
  readonly tokenName: string;
  readonly tokenLogoUrl: string | null;
  readonly tokenDecimals: number;
  /** Inclusive maximum of one transfer, and with a limitation of its window, in the smallest unit; null: none. */
  readonly amountThreshold: string | null;
  /** Checksummed; empty: any. */
  readonly destinationAddresses: readonly string[];
}

/** A contract that may be called. */
export interface ContractRule {
  /** Checksummed. */
  readonly contractAddress: string;
  /** Signatures and selectors as they were given; empty: any function. */
  readonly allowedFunctions: readonly string[];
  /** The same functions, in the same order: what is compared with a call. */
  readonly functions: readonly { readonly name: string | null; readonly selector: string }[];
  /** Native coin that one call may carry, in its smallest unit. */
  readonly maxValue: string;
}

/** A policy without its id: everything that decides. */
export interface PolicyDefinition {
  readonly name: string;
  readonly type: PolicyType;
  readonly transactionType: PolicyTransactionType;
  readonly networkId: number;
  readonly description: string | null;
  /** null: any account of the organization. */
  readonly accountIds: readonly string[] | null;
  readonly limitation: Limitation | null;
  /** null: any member. */
  readonly initiatorSetting: InitiatorSetting | null;
  /** null exactly when the type is AUTO_APPROVAL. */
  readonly approverSetting: ApproverSetting | null;
  /** Present exactly when the transactionType is TOKEN_TRANSFER. */
  readonly tokenTransferCondition: TokenTransferCondition | null;
  /** Only when the transactionType is CONTRACT_INTERACTION; null then means any contract. */
  readonly contractInteractionCondition: readonly ContractRule[] | null;
}

/** A rule by which transactions of accounts are allowed. */
export interface Policy extends PolicyDefinition {
  readonly id: string;
}

/** The address that stands for the native coin of a network. */
export const NATIVE_COIN = '0x0000000000000000000000000000000000000000';

/** An account as a policy shows it. */
export interface PolicyAccount {
  readonly id: string;
  readonly name: string;
  readonly address: string;
}

interface SettingView {
  readonly type: 'user' | 'group';
  readonly memberId: string | null;
  /** Always the same as memberId. */
  readonly userId: string | null;
  readonly groupId: string | null;
}

/** A policy as it is shown and signed, without times; `id` is absent while it has none. */
export type PolicyView = Omit<
  PolicyDefinition,
  'initiatorSetting' | 'approverSetting' | 'tokenTransferCondition' | 'contractInteractionCondition'
> & {
  readonly id?: string;
  readonly accounts: readonly PolicyAccount[];
  readonly initiatorSetting: SettingView | null;
  readonly approverSetting:
    | (SettingView & { readonly threshold: number | null; readonly excludeInitiator: boolean })
    | null;
} & (
    | { readonly transactionType: 'TOKEN_TRANSFER'; readonly tokenTransferCondition: TokenTransferCondition }
    | {
        readonly transactionType: 'CONTRACT_INTERACTION';
        readonly contractInteractionCondition: readonly ContractRule[] | null;
      }
    | { readonly transactionType: 'ANY' }
  );

function settingView(setting: InitiatorSetting): SettingView {
  return setting.type === 'user'
    ? { type: 'user', memberId: setting.memberId, userId: setting.memberId, groupId: null }
    : { type: 'group', memberId: null, userId: null, groupId: setting.groupId };
}

/** Shows a policy. `accounts` are those that it names. */
export function policyView(
  policy: PolicyDefinition & { readonly id?: string },
  accounts: readonly PolicyAccount[],
): PolicyView {
  const { accountIds, initiatorSetting: initiator, approverSetting: approver } = policy;
  const common = {
    ...(policy.id === undefined ? {} : { id: policy.id }),
    name: policy.name,
    type: policy.type,
    networkId: policy.networkId,
    description: policy.description,
    accountIds,
    accounts: (accountIds ?? []).map((accountId) => {
      const account = accounts.find(({ id }) => id === accountId);
      if (!account) throw new Error(`a policy names account ${accountId}, which is not there`);
      return { id: account.id, name: account.name, address: account.address };
    }),
    limitation: policy.limitation,
    initiatorSetting: initiator && settingView(initiator),
    approverSetting: approver && {
      ...settingView(approver),
      threshold: approver.type === 'group' ? approver.threshold : null,
      excludeInitiator: approver.excludeInitiator,
    },
  };
  switch (policy.transactionType) {
    case 'TOKEN_TRANSFER': {
      const { tokenTransferCondition } = policy;
      if (!tokenTransferCondition) throw new Error('a policy of token transfers has no condition');
      return { ...common, transactionType: 'TOKEN_TRANSFER', tokenTransferCondition };
    }
    case 'CONTRACT_INTERACTION': {
      const { contractInteractionCondition } = policy;
      return { ...common, transactionType: 'CONTRACT_INTERACTION', contractInteractionCondition };
    }
    case 'ANY':
      return { ...common, transactionType: 'ANY' };
    default:
      return assertNever(policy.transactionType);
  }
}

function settingOf({ type, memberId, groupId }: SettingView): InitiatorSetting {
  if (type === 'user' && memberId !== null) return { type, memberId };
  if (type === 'group' && groupId !== null) return { type, groupId };
  throw new Error(`a policy names a ${type} without an id`);
}

/** The policy that a view shows. Throws when the view contradicts itself. */
export function policyOfView(view: PolicyView): PolicyDefinition {
  const { initiatorSetting: initiator, approverSetting: approver } = view;
  let approverSetting: ApproverSetting | null = null;
  if (approver) {
    const { excludeInitiator, threshold } = approver;
    const setting = settingOf(approver);
    if (setting.type === 'user') approverSetting = { ...setting, excludeInitiator };
    else if (threshold !== null) approverSetting = { ...setting, threshold, excludeInitiator };
    else throw new Error('a policy names a group of approvers without a threshold');
  }
  return {
    name: view.name,
    type: view.type,
    transactionType: view.transactionType,
    networkId: view.networkId,
    description: view.description,
    accountIds: view.accountIds,
    limitation: view.limitation,
    initiatorSetting: initiator && settingOf(initiator),
    approverSetting,
    tokenTransferCondition: view.transactionType === 'TOKEN_TRANSFER' ? view.tokenTransferCondition : null,
    contractInteractionCondition:
      view.transactionType === 'CONTRACT_INTERACTION' ? view.contractInteractionCondition : null,
  };
}

/** What a policy names, by what its ids stand for. */
export interface PolicyNames {
  readonly network: {
    readonly name: string;
    readonly nativeAsset: { readonly symbol: string; readonly decimals: number };
  };
  readonly account: (id: string) => { readonly name: string; readonly address: string };
  readonly member: (id: string) => string;
  readonly group: (id: string) => string;
}

/** An amount in whole coins, exact: `1.5` for 15 with one decimal. */
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
  const where = tokenAddress === NATIVE_COIN ? 'the coin of the network' : tokenAddress;
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
  const what = functions.length === 0 ? 'any function' : listed(functions);
  const value =
    rule.maxValue === '0' ? 'no coin' : `at most ${displayAmount(rule.maxValue, decimals)} ${quoted(symbol)}`;
  return `${rule.contractAddress} (${what}, with ${value})`;
}

function coverText(policy: PolicyDefinition, names: PolicyNames): string {
  const { transactionType, tokenTransferCondition, contractInteractionCondition } = policy;
  switch (transactionType) {
    case 'TOKEN_TRANSFER':
      if (!tokenTransferCondition) throw new Error('a policy of token transfers has no condition');
      return transfersText(tokenTransferCondition);
    case 'CONTRACT_INTERACTION':
      if (!contractInteractionCondition) return 'calls of any contract WITHOUT LIMIT';
      return `calls of ${listed(contractInteractionCondition.map((rule) => contractText(rule, names)))}`;
    case 'ANY':
      return 'transfers of any token and calls of any contract WITHOUT LIMIT';
    default:
      return assertNever(transactionType);
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

function approvalText({ approverSetting: setting }: PolicyDefinition, names: PolicyNames): string {
  if (setting === null) return 'approved automatically';
  const who =
    setting.type === 'user'
      ? memberText(setting.memberId, names)
      : `${setting.threshold} of ${groupText(setting.groupId, names)}`;
  return `approved by ${who}${setting.excludeInitiator ? ', never by the initiator' : ''}`;
}

function limitationText({ limitation, tokenTransferCondition }: PolicyDefinition): string {
  if (limitation === null) return 'any number of times';
  const amount = tokenTransferCondition?.amountThreshold ?? null;
  const most =
    tokenTransferCondition === null || amount === null
      ? 'at most one execution'
      : `at most ${displayAmount(amount, tokenTransferCondition.tokenDecimals)} ${quoted(
          tokenTransferCondition.tokenSymbol,
        )} together`;
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
 * A policy in one line of plain words, as it is signed. Names that people or tokens gave themselves are quoted. It says
 * WITHOUT LIMIT where any contract is covered or nothing caps the amount.
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
