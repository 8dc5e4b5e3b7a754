import type { Schema } from '@orgwallet/client';
import { CONDITION_TITLES } from './conditions.ts';
import { counted } from './counted.ts';

/** What a policy would have permitted of the last transactions, in one sentence. */
export function impactText(
  { id, permitted, refused, newlyPermitted, noLongerPermitted }: Schema['ImpactOfPolicy'],
  transactions: number,
): string {
  if (transactions === 0) return 'There are no transactions yet to compare it with.';
  const whole = `Of the last ${counted(transactions, 'transaction')} it would have permitted ${permitted} and refused ${refused}`;
  if (id === null) return `${whole}.`;
  if (newlyPermitted + noLongerPermitted === 0) return `${whole}: the same as now.`;
  const differences = [
    ...(newlyPermitted > 0 ? [`${newlyPermitted} that it refuses now would be permitted`] : []),
    ...(noLongerPermitted > 0 ? [`${noLongerPermitted} that it permits now would be refused`] : []),
  ];
  return `${whole}: ${differences.join(', and ')}.`;
}

/** How many of them do not meet which condition. */
export function refusalsText({ conditions }: Schema['ImpactOfPolicy']): string | undefined {
  if (conditions.length === 0) return undefined;
  return conditions
    .map(({ condition, transactions }) => `${CONDITION_TITLES[condition]} ${transactions}`)
    .join(', ');
}
