import { type Address, pad, toEventSelector } from 'viem';
import { isSameAddress } from '../domain/address';
import type { ChainLog } from './executions';

const TRANSFER = toEventSelector('Transfer(address,address,uint256)');

/** True when a token emitted a Transfer from the account. Source: ERC-20. */
export function hasTransferFrom(logs: readonly ChainLog[], token: Address, account: Address): boolean {
  const from = pad(account, { size: 32 }).toLowerCase();
  return logs.some(
    ({ address, topics }) =>
      isSameAddress(address, token) && topics[0] === TRANSFER && topics[1]?.toLowerCase() === from,
  );
}
