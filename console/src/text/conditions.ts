import type { Schema } from '@orgwallet/client';
import { amountText } from '../domain/amounts.ts';
import { symbolText } from '../domain/quotedName.ts';
import { counted } from './counted.ts';

/** One condition of a policy, and whether a transaction meets it. */
interface CheckedCondition {
  readonly condition: string;
  readonly isMet: boolean;
  readonly text: string;
}

const ALWAYS = ['network', 'account', 'initiator', 'transactionType'] as const;
const BY_TYPE = {
  TOKEN_TRANSFER: ['token', 'amount', 'destination'],
  CONTRACT_INTERACTION: ['contract', 'function', 'value'],
  ANY: [],
} as const;

/** What each condition is called. */
export const CONDITION_TITLES: { readonly [C in Schema['PolicyCondition']]: string } = {
  network: 'Network',
  account: 'Account',
  initiator: 'Initiator',
  transactionType: 'Transaction type',
  token: 'Token',
  amount: 'Amount',
  destination: 'Recipient',
  contract: 'Contract',
  function: 'Function',
  value: 'Value',
  budget: 'Budget',
};

/** What is left of a policy's budget. */
export function remainingText(
  remaining: Schema['Remaining'] | null,
  policy: Schema['Policy'] | undefined,
): string | undefined {
  if (remaining === null) return undefined;
  if ('count' in remaining) return `${counted(remaining.count, 'execution')} left`;
  const token = policy?.transactionType === 'TOKEN_TRANSFER' ? policy.tokenTransferCondition : undefined;
  return token
    ? `${amountText(remaining.amount, token.tokenDecimals)} ${symbolText(token.tokenSymbol)} left`
    : `${remaining.amount} raw units left`;
}

/** How much of a policy's budget is used, of what it permits within its window; undefined without a budget. */
export function usedBudget(
  remaining: Schema['Remaining'] | null,
  policy: Schema['Policy'] | undefined,
): { readonly used: bigint; readonly of: bigint } | undefined {
  if (remaining === null) return undefined;
  if ('count' in remaining) return { used: BigInt(Math.max(0, 1 - remaining.count)), of: 1n };
  const most = policy?.transactionType === 'TOKEN_TRANSFER' && policy.tokenTransferCondition.amountThreshold;
  if (!most) return undefined;
  const left = BigInt(remaining.amount);
  return { used: left > BigInt(most) ? 0n : BigInt(most) - left, of: BigInt(most) };
}

/** Every condition that a policy has, met or not. */
export function conditionsOf(
  evaluation: Schema['Evaluation'],
  policy: Schema['Policy'] | undefined,
): CheckedCondition[] {
  const failed = evaluation.failures.map(({ condition }) => condition);
  // Of a transaction of another kind, the conditions of this kind say nothing.
  const isOfKind = policy && !failed.includes('transactionType');
  const has: readonly Schema['PolicyCondition'][] = [
    ...ALWAYS,
    ...(isOfKind ? BY_TYPE[policy.transactionType] : []),
    ...(policy?.limitation ? (['budget'] as const) : []),
  ];
  return [...new Set([...has, ...failed])].map((condition) => {
    const failure = evaluation.failures.find((one) => one.condition === condition);
    return {
      condition: CONDITION_TITLES[condition],
      isMet: !failure,
      text: failure ? `${failure.found} (permitted: ${failure.wanted})` : 'met',
    };
  });
}
