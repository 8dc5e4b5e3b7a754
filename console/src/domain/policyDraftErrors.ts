import { isAddress } from 'viem';
import { INVALID_ADDRESS } from './address.ts';
import { readAmount } from './amounts.ts';
import { functionLines, linesOf, type PolicyDraft } from './policyDraft.ts';

/** What is missing or wrong, by the field of the draft. */
export type DraftErrors = { readonly [field: string]: string };

/** Of a field that is empty. */
export const MISSING = 'Missing';

const FUNCTION = /^(0x[0-9a-fA-F]{8}|[a-zA-Z_$][a-zA-Z0-9_$]*\(.*\))$/;

function destinationError({ anyDestination, destinations }: PolicyDraft): string | undefined {
  if (anyDestination) return undefined;
  const lines = linesOf(destinations);
  const wrong = lines.find((line) => !isAddress(line));
  if (wrong !== undefined)
    return `${wrong}: ${INVALID_ADDRESS.charAt(0).toLowerCase()}${INVALID_ADDRESS.slice(1)}`;
  return lines.length === 0 ? MISSING : undefined;
}

function transferErrors(draft: PolicyDraft): DraftErrors {
  const { token, decimals, anyAmount, amount } = draft;
  const destinations = destinationError(draft);
  const isCounted = token !== '' && !anyAmount;
  const read = isCounted ? readAmount(amount, Number(decimals)) : undefined;
  return {
    ...(token !== '' && !isAddress(token) ? { token: INVALID_ADDRESS } : {}),
    ...(isCounted && !/^\d{1,3}$/.test(decimals) ? { decimals: 'Invalid decimals (expected 0 to 255)' } : {}),
    ...(read && 'error' in read ? { amount: read.error } : {}),
    ...(destinations === undefined ? {} : { destinations }),
  };
}

function ruleErrors({ anyContract, rules }: PolicyDraft, nativeDecimals: number): DraftErrors {
  if (anyContract) return {};
  const errors: { [field: string]: string } = {};
  for (const [index, { contractAddress, anyFunction, functions, maxValue }] of rules.entries()) {
    if (!isAddress(contractAddress.trim())) errors[`rules[${index}].contractAddress`] = INVALID_ADDRESS;
    const lines = anyFunction ? [] : functionLines(functions);
    const wrong = lines.find((line) => !FUNCTION.test(line));
    if (!anyFunction && lines.length === 0) errors[`rules[${index}].functions`] = MISSING;
    if (wrong !== undefined) {
      errors[`rules[${index}].functions`] =
        `${wrong}: invalid function (expected such as mint(address,uint256) or 0x40c10f19)`;
    }
    const read = readAmount(maxValue, nativeDecimals);
    if ('error' in read) errors[`rules[${index}].maxValue`] = read.error;
  }
  return errors;
}

/** What is missing or wrong in a draft. */
export function draftErrors(draft: PolicyDraft, nativeDecimals: number): DraftErrors {
  const { name, networkId, anyAccount, accountIds, initiator, approver, threshold } = draft;
  const { hasBudget, hours, transactionType } = draft;
  return {
    ...(name.trim() === '' ? { name: MISSING } : {}),
    ...(networkId === '' ? { networkId: MISSING } : {}),
    ...(anyAccount || accountIds.length > 0 ? {} : { accountIds: MISSING }),
    ...(initiator === '' ? { initiator: MISSING } : {}),
    ...(approver === '' ? { approver: MISSING } : {}),
    ...(approver.startsWith('grp_') && !/^[1-9]\d{0,2}$/.test(threshold)
      ? { threshold: 'Invalid threshold (expected 1 to 999)' }
      : {}),
    ...(hasBudget && !(/^\d{1,4}$/.test(hours) && Number(hours) >= 1 && Number(hours) <= 8_760)
      ? { hours: 'Invalid hours (expected 1 to 8760)' }
      : {}),
    ...(transactionType === 'TOKEN_TRANSFER' ? transferErrors(draft) : {}),
    ...(transactionType === 'CONTRACT_INTERACTION' ? ruleErrors(draft, nativeDecimals) : {}),
  };
}
