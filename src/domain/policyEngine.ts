import { isSameAddress } from './address';
import type { MemberSummary } from './approval';
import {
  amountSchema,
  type ContractRule,
  contractRules,
  type InitiatorSetting,
  type Limitation,
  limitationSchema,
  NATIVE_CURRENCY,
  type Policy,
  type PolicyField,
  type PolicyToken,
  type TokenTransferCondition,
  tokenIn,
  transferCondition,
} from './policy';
import { assetAmount } from './policyText';
import {
  allNested,
  type ContractInteraction,
  type NestedCall,
  type NestedCalls,
  type TokenTransfer,
  type TransactionContent,
} from './transactionContent';

/** A condition that a policy sets. */
export type Condition =
  | 'network'
  | 'account'
  | 'initiator'
  | 'transactionType'
  | 'token'
  | 'amount'
  | 'destination'
  | 'contract'
  | 'function'
  | 'value'
  | 'budget';

/** A condition that a transaction does not meet: what was found and what was wanted, amounts in whole units. */
export interface ConditionFailure {
  readonly condition: Condition;
  readonly found: string;
  readonly wanted: string;
}

/** Conditions that are not met, in one sentence. */
export function policyFailureText(failures: readonly ConditionFailure[]): string {
  return failures
    .map(({ condition, found, wanted }) => `${condition} ${found} (wanted: ${wanted})`)
    .join('; ');
}

/** A transaction to evaluate. */
export interface PolicyTransaction {
  readonly networkId: number;
  readonly accountId: string;
  /** The member who initiates it. */
  readonly initiatorId: string;
  readonly content: TransactionContent;
  readonly nested: NestedCalls;
}

/** The executions that a limitation counts: those of one policy that match every field that is not null. */
export interface UsageWindow {
  readonly policyId: string;
  /** An execution counts until this many hours after the time of its block, that instant included. */
  readonly hours: number;
  /** One token on one network; null: every execution under the policy. */
  readonly asset: { readonly networkId: number; readonly tokenAddress: string } | null;
  readonly initiatorId: string | null;
  readonly accountId: string | null;
  readonly destination: string | null;
}

/** The usage in a window at one moment. Executions in progress count like finished ones. */
export interface Usage {
  /** Sum, in the smallest unit. */
  readonly amount: bigint;
  readonly executions: number;
  /** Time of the oldest block in the window; null where nothing of it is in a block yet. */
  readonly oldestBlockAt: Date | null;
  /** The moment. */
  readonly at: Date;
}

/** The records that a transaction is evaluated with. A missing record does not exist. */
export interface PolicyContext {
  readonly account: { readonly id: string; readonly networkIds: readonly number[] } | null;
  readonly members: ReadonlyMap<string, MemberSummary>;
  /** The members of each group. */
  readonly groups: ReadonlyMap<string, readonly MemberSummary[]>;
  /** Whether a function is restricted: it grants rights, moves assets or carries calls, so that a policy has to name it. */
  readonly isRestricted: (selector: string) => boolean;
  /** The native currency of the transaction's network; null where that is not configured. */
  readonly nativeAsset: { readonly symbol: string; readonly decimals: number } | null;
  /** Why the token of the transaction cannot be read; null where it can, or where there is none. */
  readonly tokenFault: string | null;
  /** The usage in the window of `usageWindow`; null: budgets are not checked, as when a transaction is created. */
  readonly usage: Usage | null;
}

/** The remaining budget of a limitation, and the earliest time at which it increases. */
export type Remaining =
  | { readonly amount: bigint; readonly until: Date }
  | { readonly count: number; readonly until: Date };

/** Whether a policy permits a transaction, and who may approve it. */
export interface Evaluation {
  readonly allowed: boolean;
  /** Every condition that is not met, each once. */
  readonly failures: readonly ConditionFailure[];
  /** Those who may approve it; empty where it needs no approval. */
  readonly approvers: readonly MemberSummary[];
  /** How many of them must; 0 where it needs no approval. */
  readonly threshold: number;
  /** null where there is no limitation, or where usage was not read. */
  readonly remaining: Remaining | null;
}

/** An hour of a window, in milliseconds. */
export const HOUR_MS = 3_600_000;
const MAX_LISTED = 5;

/** `a, b or c`; of long lists the first ones, and how many more there are. */
function anyOf(items: readonly string[]): string {
  const shown = items.length > MAX_LISTED + 1 ? items.slice(0, MAX_LISTED) : items.slice();
  if (shown.length < items.length) shown.push(`${items.length - shown.length} more`);
  const last = shown.pop() ?? 'none';
  return shown.length === 0 ? last : `${shown.join(', ')} or ${last}`;
}

/** An amount in the format of policies; null for other text. */
function readAmount(text: string): bigint | null {
  return amountSchema.safeParse(text).success ? BigInt(text) : null;
}

type Fault = ConditionFailure | null;

function fault(condition: Condition, found: string, wanted: string): ConditionFailure {
  return { condition, found, wanted };
}

/** An amount against its inclusive maximum. A maximum that cannot be read is exceeded by every amount. */
function aboveMaximum(
  condition: 'amount' | 'value',
  amount: bigint,
  maximum: string,
  textOf: (raw: string) => string,
): Fault {
  const limit = readAmount(maximum);
  if (limit !== null && amount >= 0n && amount <= limit) return null;
  return fault(condition, textOf(String(amount)), `at most ${limit === null ? maximum : textOf(maximum)}`);
}

/** What is sent: by a transaction, or by a call that it carries. */
type Sent = Pick<NestedCall, 'content' | 'nested'>;
/** Who sends it, from where. */
type Sender = Omit<PolicyTransaction, keyof Sent>;

function checkNetwork(policy: Policy, { networkId }: Sender, { account }: PolicyContext): Fault {
  if (networkId !== policy.networkId) return fault('network', String(networkId), String(policy.networkId));
  if (account && !account.networkIds.includes(networkId)) {
    return fault(
      'network',
      String(networkId),
      `a network of the account: ${anyOf(account.networkIds.map(String))}`,
    );
  }
  return null;
}

function checkAccount({ accountIds }: Policy, { accountId }: Sender, { account }: PolicyContext): Fault {
  if (accountIds !== null && !accountIds.includes(accountId)) {
    return fault('account', accountId, anyOf(accountIds));
  }
  return account?.id === accountId ? null : fault('account', accountId, 'an account of the organization');
}

function initiatorWanted(setting: InitiatorSetting | null): string {
  if (setting === null) return 'a member';
  return setting.type === 'user' ? setting.memberId : `a member of ${setting.groupId}`;
}

/** Whether a policy permits a member to initiate transactions, with the current groups. */
export function mayInitiate(
  { initiatorSetting: setting }: Policy,
  memberId: string,
  { members, groups }: Pick<PolicyContext, 'members' | 'groups'>,
): boolean {
  if (!members.has(memberId)) return false;
  if (setting === null) return true;
  if (setting.type === 'user') return setting.memberId === memberId;
  if (setting.type === 'group')
    return groups.get(setting.groupId)?.some(({ id }) => id === memberId) ?? false;
  return false;
}

function checkInitiator(policy: Policy, { initiatorId }: Sender, context: PolicyContext): Fault {
  if (mayInitiate(policy, initiatorId, context)) return null;
  return fault('initiator', initiatorId, initiatorWanted(policy.initiatorSetting));
}

function checkType({ transactionType }: Policy, content: TransactionContent): Fault {
  const known = content.type === 'TOKEN_TRANSFER' || content.type === 'CONTRACT_INTERACTION';
  if (known && (transactionType === 'ANY' || transactionType === content.type)) return null;
  const wanted = transactionType === 'ANY' ? 'TOKEN_TRANSFER or CONTRACT_INTERACTION' : transactionType;
  return fault('transactionType', content.type, wanted);
}

function checkToken(
  condition: TokenTransferCondition | null,
  { tokenAddress }: TokenTransfer,
  { tokenFault }: PolicyContext,
): Fault {
  const wanted = condition?.tokenAddress ?? null;
  if (wanted !== null && !isSameAddress(wanted, tokenAddress)) return fault('token', tokenAddress, wanted);
  if (tokenFault === null || tokenAddress === NATIVE_CURRENCY) return null;
  return fault('token', `${tokenAddress}: ${tokenFault}`, 'a token that can be read');
}

function checkAmount(condition: TokenTransferCondition | null, { amount }: TokenTransfer): Fault {
  const maximum = condition?.amountThreshold ?? null;
  if (condition === null || maximum === null) return null;
  // Amounts of unlike tokens have no common maximum.
  if (condition.tokenAddress === null)
    return fault('amount', `${amount} raw units`, 'an amount of a token that is named');
  const token = tokenIn(condition);
  return aboveMaximum('amount', amount, maximum, (raw) => assetAmount(raw, token));
}

function checkDestination(condition: TokenTransferCondition | null, { destination }: TokenTransfer): Fault {
  const wanted = condition?.destinationAddresses ?? [];
  if (wanted.length === 0 || wanted.some((address) => isSameAddress(address, destination))) return null;
  return fault('destination', destination, anyOf(wanted));
}

function checkTransfer(policy: Policy, transfer: TokenTransfer, context: PolicyContext): readonly Fault[] {
  const condition = transferCondition(policy);
  if (policy.transactionType === 'TOKEN_TRANSFER' && !condition) {
    return [fault('token', transfer.tokenAddress, 'none: the policy names no token')];
  }
  const token = checkToken(condition, transfer, context);
  // The amount is not checked where the token differs.
  return [token, token ? null : checkAmount(condition, transfer), checkDestination(condition, transfer)];
}

function checkFunction(
  policy: Policy,
  rule: ContractRule | null,
  { selector }: ContractInteraction,
  nested: NestedCalls,
  context: PolicyContext,
): Fault {
  const found = selector ?? 'no function';
  if (rule && (rule.functions.length > 0 || rule.allowedFunctions.length > 0)) {
    if (selector !== null && rule.functions.some((named) => named.selector === selector)) return null;
    return fault('function', found, anyOf(rule.allowedFunctions));
  }
  const isPlain = selector === null || !context.isRestricted(selector);
  if ((isPlain && nested.mentions === null) || nestedCallsPermitted(policy, nested, context)) return null;
  const mentioned = isPlain ? `, which carries ${nested.mentions}` : '';
  return fault('function', `${found}${mentioned}`, 'a function that is not restricted, unless it is named');
}

/** Whether all carried calls of each contract together send at most what one call of it may: they are one execution. */
function nestedCallsSendAtMost(policy: Policy, nested: NestedCalls): boolean {
  const sums = new Map<string, bigint>();
  for (const { content } of allNested(nested)) {
    if (content.type !== 'CONTRACT_INTERACTION') continue;
    const contract = content.contractAddress.toLowerCase();
    sums.set(contract, (sums.get(contract) ?? 0n) + content.value);
  }
  return (contractRules(policy) ?? []).every(
    ({ contractAddress, maxValue }) =>
      (sums.get(contractAddress.toLowerCase()) ?? 0n) <= (readAmount(maxValue) ?? 0n),
  );
}

/**
 * Whether the policy would permit each carried call alone, and their native currency together. Never under a limitation: one execution would make many calls; and
 * never with an ERC-20 transfer, because its token has not been read.
 */
function nestedCallsPermitted(policy: Policy, nested: NestedCalls, context: PolicyContext): boolean {
  const { calls, mentions } = nested;
  if (calls === null || mentions !== null || policy.limitation !== undefined) return false;
  const within = { ...context, tokenFault: 'it is moved by a call that another one carries' };
  return (
    nestedCallsSendAtMost(policy, nested) &&
    calls.every(
      (call) => call.encodingFault === null && failuresOf(SENT_CHECKS, policy, call, within).length === 0,
    )
  );
}

function nativeText(raw: string, { nativeAsset }: PolicyContext): string {
  return nativeAsset ? assetAmount(raw, nativeAsset) : `${raw} raw units of the native currency`;
}

function checkCall(
  policy: Policy,
  call: ContractInteraction,
  nested: NestedCalls,
  context: PolicyContext,
): readonly Fault[] {
  const rules = contractRules(policy);
  if (rules === null) return [checkFunction(policy, null, call, nested, context)];
  const rule = rules.find(({ contractAddress }) => isSameAddress(contractAddress, call.contractAddress));
  if (!rule) {
    const wanted = anyOf(rules.map(({ contractAddress }) => contractAddress));
    return [fault('contract', call.contractAddress, wanted)];
  }
  return [
    checkFunction(policy, rule, call, nested, context),
    aboveMaximum('value', call.value, rule.maxValue, (raw) => nativeText(raw, context)),
  ];
}

function checkContent(policy: Policy, { content, nested }: Sent, context: PolicyContext): readonly Fault[] {
  const type = checkType(policy, content);
  if (type) return [type];
  return content.type === 'TOKEN_TRANSFER'
    ? checkTransfer(policy, content, context)
    : checkCall(policy, content, nested, context);
}

function isUnderstood(limitation: Limitation): boolean {
  return limitationSchema.safeParse(limitation).success;
}

function destinationOf(content: TransactionContent): string {
  return content.type === 'TOKEN_TRANSFER' ? content.destination : content.contractAddress;
}

/**
 * The window in which a transaction would use up a policy's limitation; null where there is none, or one that cannot
 * be understood. PER_ITEM keeps a dimension in the key, ALL_ITEMS drops it.
 */
export function usageWindow(policy: Policy, transaction: PolicyTransaction): UsageWindow | null {
  const { limitation } = policy;
  if (limitation === undefined || !isUnderstood(limitation)) return null;
  const tokenAddress = transferCondition(policy)?.tokenAddress ?? null;
  const { initiatorScope, sourceAccountScope, destinationScope } = limitation;
  return {
    policyId: policy.id,
    hours: limitation.hours,
    asset: tokenAddress === null ? null : { networkId: policy.networkId, tokenAddress },
    initiatorId: initiatorScope === 'PER_ITEM' ? transaction.initiatorId : null,
    accountId: sourceAccountScope === 'PER_ITEM' ? transaction.accountId : null,
    destination: destinationScope === 'PER_ITEM' ? destinationOf(transaction.content) : null,
  };
}

/** The maximum amount in a window, of the token of the condition; null where executions are counted. */
function budgetOf(policy: Policy): { readonly maximum: string; readonly token: PolicyToken } | null {
  const condition = transferCondition(policy);
  if (condition === null || condition.amountThreshold === null) return null;
  return { maximum: condition.amountThreshold, token: tokenIn(condition) };
}

/** How much of a window others may have used. */
export type Room = { readonly amount: bigint } | { readonly executions: number };

/** What others may have used of a window at most beside which a transaction is within the budget; null: it never is. */
export function roomFor(policy: Policy, { content }: Pick<PolicyTransaction, 'content'>): Room | null {
  const budget = budgetOf(policy);
  if (budget === null) return { executions: 0 };
  const maximum = readAmount(budget.maximum);
  const amount = content.type === 'TOKEN_TRANSFER' ? content.amount : null;
  if (maximum === null || amount === null || amount < 0n || amount > maximum) return null;
  return { amount: maximum - amount };
}

function checkBudget(policy: Policy, { content }: PolicyTransaction, { usage }: PolicyContext): Fault {
  const { limitation } = policy;
  if (limitation === undefined) return null;
  if (!isUnderstood(limitation)) return fault('budget', 'an unreadable limitation', 'a valid limitation');
  if (usage === null) return null;
  const period = limitation.hours === 1 ? 'any hour' : `any ${limitation.hours} hours`;
  const room = roomFor(policy, { content });
  if (room && ('amount' in room ? usage.amount <= room.amount : usage.executions <= room.executions))
    return null;
  const budget = budgetOf(policy);
  if (budget === null) {
    const found = usage.executions === 1 ? '1 execution' : `${usage.executions} executions`;
    return fault('budget', `${found} before this one`, `at most 1 execution within ${period}`);
  }
  const maximum = readAmount(budget.maximum);
  const amount = content.type === 'TOKEN_TRANSFER' ? content.amount : null;
  const textOf = (raw: bigint) => assetAmount(String(raw), budget.token);
  return fault(
    'budget',
    `${textOf(usage.amount)} before this ${amount === null ? 'one' : textOf(amount)}`,
    `at most ${maximum === null ? budget.maximum : textOf(maximum)} within ${period}`,
  );
}

function remainingOf(policy: Policy, usage: Usage | null): Remaining | null {
  const { limitation } = policy;
  if (limitation === undefined || usage === null || !isUnderstood(limitation)) return null;
  // What is not in a block yet counts for a whole window from now at least.
  const oldest = usage.oldestBlockAt && usage.oldestBlockAt < usage.at ? usage.oldestBlockAt : usage.at;
  const until = new Date(oldest.getTime() + limitation.hours * HOUR_MS);
  const budget = budgetOf(policy);
  if (budget === null) return { count: usage.executions === 0 ? 1 : 0, until };
  const left = (readAmount(budget.maximum) ?? 0n) - usage.amount;
  return { amount: left > 0n ? left : 0n, until };
}

const NO_APPROVERS = { approvers: [], threshold: 1 };

/**
 * Who has to approve a transaction that a policy covers, and how many of them, with the current groups. A policy that
 * needs an approver and names none, or one that no longer exists, cannot be approved.
 */
export function approversOf(
  { type, approverSetting: setting }: Policy,
  initiatorId: string,
  { members, groups }: Pick<PolicyContext, 'members' | 'groups'>,
): { readonly approvers: readonly MemberSummary[]; readonly threshold: number } {
  if (setting === undefined) return type === 'AUTO_APPROVAL' ? { approvers: [], threshold: 0 } : NO_APPROVERS;
  const entitled = (member: MemberSummary) => !(setting.excludeInitiator && member.id === initiatorId);
  if (setting.type === 'user') {
    const member = members.get(setting.memberId);
    return { approvers: member ? [member].filter(entitled) : [], threshold: 1 };
  }
  const { threshold } = setting;
  if (setting.type !== 'group' || !Number.isInteger(threshold) || threshold < 1) return NO_APPROVERS;
  return { approvers: (groups.get(setting.groupId) ?? []).filter(entitled), threshold };
}

/** A budget counts only transactions that the policy covers. */
function checkBudgetOfCovered(policy: Policy, transaction: PolicyTransaction, context: PolicyContext): Fault {
  if (policy.limitation === undefined) return null;
  const covers = checkContent(policy, transaction, context);
  const isOther = covers.some((one) => one?.condition === 'transactionType' || one?.condition === 'token');
  return isOther ? null : checkBudget(policy, transaction, context);
}

type Check<Seen> = (policy: Policy, seen: Seen, context: PolicyContext) => Fault | readonly Fault[];

/** What checks each field about what is sent: in a transaction, and in each call that it carries. */
const SENT_CHECKS = {
  transactionType: checkContent,
  tokenTransferCondition: checkContent,
  contractInteractionCondition: checkContent,
} satisfies { readonly [Field in PolicyField]?: Check<Sent> };

/** A budget counts one execution with all that it sends: under one, no carried call is permitted. */
const BUDGET_CHECKS = { limitation: checkBudgetOfCovered };

type AboutWhatIsSent = keyof typeof SENT_CHECKS | keyof typeof BUDGET_CHECKS;

/**
 * What checks each field, in the order of the failures; null: it decides who approves (`approversOf`), or nothing. A check that needs
 * what is sent does not compile here: it is one of `SENT_CHECKS`.
 */
const CHECKS = {
  networkId: checkNetwork,
  accountIds: checkAccount,
  initiatorSetting: checkInitiator,
  ...SENT_CHECKS,
  ...BUDGET_CHECKS,
  type: null,
  approverSetting: null,
  name: null,
  description: null,
} satisfies Record<Exclude<PolicyField, AboutWhatIsSent>, Check<Sender> | null>;

/** Every condition that is not met of those that are checked, each once. */
function failuresOf<Seen>(
  checks: { readonly [Field in PolicyField]?: Check<Seen> | null },
  policy: Policy,
  seen: Seen,
  context: PolicyContext,
): readonly ConditionFailure[] {
  return [...new Set(Object.values(checks))]
    .flatMap((check) => check?.(policy, seen, context) ?? [])
    .filter((failure) => failure !== null);
}

/**
 * Whether a policy permits a transaction, every condition that is not met, and who has to approve it. It fails closed:
 * what is unknown is refused. Source: docs/policies.md.
 */
export function evaluate(policy: Policy, transaction: PolicyTransaction, context: PolicyContext): Evaluation {
  const failures = failuresOf<PolicyTransaction>(CHECKS, policy, transaction, context);
  return {
    allowed: failures.length === 0,
    failures,
    ...approversOf(policy, transaction.initiatorId, context),
    remaining: remainingOf(policy, context.usage),
  };
}
