import type { Schema } from '@orgwallet/client';
import { readAmount, typedText } from './amounts.ts';
import { NATIVE_CURRENCY, NATIVE_DECIMALS } from './assets.ts';

/** A rule for one contract, as it is typed. */
interface RuleDraft {
  readonly contractAddress: string;
  readonly anyFunction: boolean;
  /** One signature or selector per line. */
  readonly functions: string;
  /** In whole units of the native currency. */
  readonly maxValue: string;
}

/** A policy as it is typed. */
export interface PolicyDraft {
  /** Of the policy that is replaced; empty: a new one. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly networkId: string;
  readonly anyAccount: boolean;
  readonly accountIds: readonly string[];
  readonly transactionType: Schema['PolicyTransactionType'];
  /** The id of a member or group, or `ANYBODY`; empty: not chosen. */
  readonly initiator: string;
  /** The id of a member or group, or `NOBODY`; empty: not chosen. */
  readonly approver: string;
  readonly threshold: string;
  readonly excludeInitiator: boolean;
  /** The address of a token; empty: any. */
  readonly token: string;
  readonly decimals: string;
  readonly anyAmount: boolean;
  /** In whole units of the token. */
  readonly amount: string;
  readonly anyDestination: boolean;
  /** One address per line. */
  readonly destinations: string;
  readonly anyContract: boolean;
  readonly rules: RuleDraft[];
  readonly hasBudget: boolean;
  readonly hours: string;
  readonly perInitiator: boolean;
  readonly perAccount: boolean;
  readonly perDestination: boolean;
}

/** In place of an initiator: any member. */
export const ANYBODY = 'anybody';
/** In place of an approver: the initiator's signature is enough. */
export const NOBODY = 'nobody';

export const NO_RULE: RuleDraft = { contractAddress: '', anyFunction: false, functions: '', maxValue: '0' };

/** Nothing is chosen yet, and nothing wide is: whoever wants a wide policy says so. */
export const NO_POLICY: PolicyDraft = {
  id: '',
  name: '',
  description: '',
  networkId: '',
  anyAccount: false,
  accountIds: [],
  transactionType: 'TOKEN_TRANSFER',
  initiator: '',
  approver: '',
  threshold: '1',
  excludeInitiator: true,
  token: NATIVE_CURRENCY,
  decimals: '18',
  anyAmount: false,
  amount: '',
  anyDestination: false,
  destinations: '',
  anyContract: false,
  rules: [NO_RULE],
  hasBudget: true,
  hours: '24',
  perInitiator: false,
  perAccount: false,
  perDestination: false,
};

/** Addresses, separated by lines or commas. */
export const linesOf = (text: string): string[] =>
  text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Functions, one per line: signatures have commas of their own. */
export const functionLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.replaceAll(/\s/g, ''))
    .filter((line) => line !== '');

const settingOf = (id: string) =>
  id.startsWith('grp_') ? { type: 'group' as const, groupId: id } : { type: 'user' as const, memberId: id };

const rawOf = (text: string, decimals: number): string => {
  const read = readAmount(text, decimals);
  return 'raw' in read ? read.raw : '0';
};

function conditionOf(draft: PolicyDraft) {
  const { transactionType, token, decimals, anyAmount, amount, anyContract, rules } = draft;
  const { anyDestination, destinations } = draft;
  const none = { tokenTransferCondition: undefined, contractInteractionCondition: undefined };
  if (transactionType === 'TOKEN_TRANSFER') {
    return {
      ...none,
      tokenTransferCondition: {
        tokenAddress: token === '' ? null : token,
        amountThreshold: token === '' || anyAmount ? null : rawOf(amount, Number(decimals)),
        destinationAddresses: anyDestination ? [] : linesOf(destinations),
        ...(token === '' ? {} : { tokenDecimals: decimals === '' ? null : Number(decimals) }),
      },
    };
  }
  if (transactionType === 'ANY') return none;
  const typed = rules.map(({ contractAddress, anyFunction, functions, maxValue }) => ({
    contractAddress: contractAddress.trim(),
    allowedFunctions: anyFunction ? [] : functionLines(functions),
    maxValue: rawOf(maxValue, NATIVE_DECIMALS),
  }));
  return { ...none, contractInteractionCondition: anyContract ? null : typed };
}

function budgetOf({ hasBudget, hours, perInitiator, perAccount, perDestination }: PolicyDraft) {
  if (!hasBudget) return undefined;
  const scope = (isApart: boolean) => (isApart ? ('PER_ITEM' as const) : ('ALL_ITEMS' as const));
  return {
    hours: Number(hours),
    initiatorScope: scope(perInitiator),
    sourceAccountScope: scope(perAccount),
    destinationScope: scope(perDestination),
  };
}

function approverOf({ approver, threshold, excludeInitiator }: PolicyDraft) {
  if (approver === NOBODY) return { type: 'AUTO_APPROVAL' as const, approverSetting: undefined };
  const counted = approver.startsWith('grp_') ? { threshold: Number(threshold) } : {};
  return {
    type: 'MANUAL_APPROVAL' as const,
    approverSetting: {
      ...settingOf(approver),
      ...counted,
      excludeInitiator,
    } as Schema['ApproverSettingInput'],
  };
}

type Requested = Schema['AddedOrChangedPolicy'];
type ReadOnly = 'accounts' | 'createdAt' | 'updatedAt';

/** The policy that a draft without errors asks for. */
export function policyOf(draft: PolicyDraft): Requested {
  const { id, name, description, networkId, anyAccount, accountIds, transactionType, initiator } = draft;
  // A new field of the API that is not here does not compile.
  const fields: { readonly [Field in Exclude<keyof Requested, ReadOnly>]-?: Requested[Field] | undefined } = {
    id: id || undefined,
    name,
    description: description || undefined,
    networkId: Number(networkId),
    accountIds: anyAccount ? null : [...accountIds],
    transactionType,
    initiatorSetting: initiator === ANYBODY ? null : settingOf(initiator),
    limitation: budgetOf(draft),
    ...approverOf(draft),
    ...conditionOf(draft),
  };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as unknown as Requested;
}

type Setting =
  | { readonly type: 'user'; readonly memberId: string }
  | { readonly type: 'group'; readonly groupId: string };
const idOf = (setting: Setting | null | undefined) =>
  setting && (setting.type === 'group' ? setting.groupId : setting.memberId);

function typedCondition(policy: Schema['Policy']): Partial<PolicyDraft> {
  if (policy.transactionType === 'TOKEN_TRANSFER') {
    const { tokenAddress, tokenDecimals, amountThreshold, destinationAddresses } =
      policy.tokenTransferCondition;
    return {
      token: tokenAddress ?? '',
      decimals: String(tokenDecimals ?? ''),
      anyAmount: amountThreshold === null,
      amount: amountThreshold === null ? '' : typedText(amountThreshold, tokenDecimals),
      anyDestination: destinationAddresses.length === 0,
      destinations: destinationAddresses.join('\n'),
    };
  }
  if (policy.transactionType === 'ANY') return {};
  const rules = policy.contractInteractionCondition;
  return {
    anyContract: rules === null,
    rules: (rules ?? []).map(({ contractAddress, allowedFunctions, maxValue }) => ({
      contractAddress,
      anyFunction: allowedFunctions.length === 0,
      functions: allowedFunctions.join('\n'),
      maxValue: typedText(maxValue, NATIVE_DECIMALS),
    })),
  };
}

/** A policy as it would have been typed. */
export function draftOf(policy: Schema['Policy']): PolicyDraft {
  const { id, name, description = '', networkId, accountIds, transactionType, limitation } = policy;
  const { initiatorSetting, approverSetting } = policy;
  // What each field was typed as: a new one of the API that is not here does not compile.
  const typed: {
    readonly [Field in Exclude<keyof Schema['Policy'], ReadOnly | 'type'>]: Partial<PolicyDraft>;
  } = {
    id: { id },
    name: { name },
    description: { description },
    networkId: { networkId: String(networkId) },
    accountIds: { anyAccount: accountIds === null, accountIds: accountIds ?? [] },
    transactionType: { transactionType, ...typedCondition(policy) },
    initiatorSetting: { initiator: idOf(initiatorSetting) ?? ANYBODY },
    approverSetting: {
      approver: idOf(approverSetting) ?? NOBODY,
      threshold: approverSetting?.type === 'group' ? String(approverSetting.threshold) : '1',
      excludeInitiator: approverSetting?.excludeInitiator ?? true,
    },
    limitation: {
      hasBudget: limitation !== undefined,
      hours: String(limitation?.hours ?? 24),
      perInitiator: limitation?.initiatorScope === 'PER_ITEM',
      perAccount: limitation?.sourceAccountScope === 'PER_ITEM',
      perDestination: limitation?.destinationScope === 'PER_ITEM',
    },
  };
  return Object.assign({}, NO_POLICY, ...Object.values(typed));
}
