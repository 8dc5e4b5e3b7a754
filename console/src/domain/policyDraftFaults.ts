import { readAmount } from './amounts.ts';
import { NATIVE_DECIMALS } from './assets.ts';
import type { Faults } from './faults.ts';
import { functionLines, linesOf, type PolicyDraft } from './policyDraft.ts';

/** Of a list that is empty: the policy would be for anything. */
const MISSING = 'Missing';

function transferFaults({
  token,
  decimals,
  anyAmount,
  amount,
  anyDestination,
  destinations,
}: PolicyDraft): Faults {
  const isCounted = token !== '' && !anyAmount;
  const read = isCounted ? readAmount(amount, Number(decimals)) : undefined;
  return {
    ...(isCounted && !/^\d{1,3}$/.test(decimals) ? { decimals: 'Invalid decimals (expected 0 to 255)' } : {}),
    ...(read && 'error' in read ? { amount: read.error } : {}),
    ...(anyDestination || linesOf(destinations).length > 0 ? {} : { destinations: MISSING }),
  };
}

function ruleFaults({ anyContract, rules }: PolicyDraft): Faults {
  if (anyContract) return {};
  const faults: { [field: string]: string } = {};
  for (const [index, { anyFunction, functions, maxValue }] of rules.entries()) {
    if (!anyFunction && functionLines(functions).length === 0) faults[`rules.${index}.functions`] = MISSING;
    const read = readAmount(maxValue, NATIVE_DECIMALS);
    if ('error' in read) faults[`rules.${index}.maxValue`] = read.error;
  }
  return faults;
}

/** What is wrong with a draft that the policy which is made of it does not show: it has no text of amounts, and an empty list is any. */
export function draftFaults(draft: PolicyDraft): Faults {
  const { transactionType } = draft;
  if (transactionType === 'TOKEN_TRANSFER') return transferFaults(draft);
  return transactionType === 'CONTRACT_INTERACTION' ? ruleFaults(draft) : {};
}
