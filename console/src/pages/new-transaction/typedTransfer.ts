import type { Schema, TransferIntent } from '@orgwallet/client';
import { encodeFunctionData, erc20Abi, getAddress, isAddress } from 'viem';
import type { TypedAmount } from '../../domain/amounts.ts';
import { NATIVE_CURRENCY, type Sendable } from '../../domain/assets.ts';
import { sentReferences } from './ReferenceFields.tsx';
import type { TransactionDraft } from './transactionDraft.ts';
import type { Typed } from './useRequest.ts';

/** The call of a transfer, once everything is typed. */
export function typedTransfer({
  draft,
  account,
  network,
  asset,
  amount,
  initiator,
}: {
  readonly draft: TransactionDraft;
  readonly account: Schema['Account'] | undefined;
  readonly network: Schema['Network'] | undefined;
  readonly asset: Sendable | undefined;
  readonly amount: TypedAmount | undefined;
  readonly initiator: string;
}): Typed | undefined {
  const to = draft.to.trim();
  if (!account || !network || !asset || !amount || 'error' in amount || !isAddress(to)) return undefined;
  const { raw } = amount;
  const isNative = asset.tokenAddress === NATIVE_CURRENCY;
  const data = isNative
    ? '0x'
    : encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [getAddress(to), BigInt(raw)] });
  const replaces = draft.replaces ? { replaces: draft.replaces } : {};
  const intent: TransferIntent = {
    type: 'transfer',
    account: account.address,
    networkId: network.id,
    to,
    amount: raw,
    ...(asset.decimals === null ? {} : { decimals: asset.decimals }),
    ...(isNative ? {} : { token: asset.tokenAddress }),
    ...replaces,
  };
  return {
    intent,
    asked: {
      accountId: account.id,
      networkId: network.id,
      initiatorWalletAddress: initiator,
      description: draft.description,
      to: isNative ? to : asset.tokenAddress,
      value: isNative ? raw : '0',
      data,
      ...replaces,
    },
    references: sentReferences(draft),
  };
}
