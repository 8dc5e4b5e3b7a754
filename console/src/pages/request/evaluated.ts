import type { Schema, Transaction } from '@orgwallet/client';

/** What the policies are asked about an open transaction. */
export function evaluated(transaction: Transaction): Schema['EvaluatePoliciesRequest'] {
  const { accountId, networkId, to, value, calldata, initiator, replaces } = transaction;
  return {
    accountId,
    networkId,
    to,
    value,
    data: calldata,
    initiatorWalletAddress: initiator.walletAddress,
    ...(replaces ? { replaces } : {}),
  };
}
