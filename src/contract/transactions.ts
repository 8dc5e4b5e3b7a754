import { z } from 'zod';
import { checksumAddress, isZeroAddress } from '../chain/address';
import { MAX_CALLDATA_BYTES } from '../domain/transactionContent';
import { addressInput, amountInput, descriptionInput, idInput, networkId } from './primitives';

const calldataInput = z
  .string()
  .refine(
    (text) => /^0x[0-9a-fA-F]*$/.test(text) && text.length % 2 === 0,
    'must be 0x and whole bytes in hex',
  )
  .refine(
    (text) => text.length <= 2 + 2 * MAX_CALLDATA_BYTES,
    `must have at most ${MAX_CALLDATA_BYTES} bytes`,
  )
  .meta({
    description: `0x hex of up to ${MAX_CALLDATA_BYTES} bytes; \`0x\`: none.`,
    examples: ['0x'],
  });

/** What a caller says about a transaction, apart from the policy that is to let it go. */
export const transactionFields = {
  accountId: idInput('acc'),
  initiatorWalletAddress: addressInput(checksumAddress)
    .transform(checksumAddress)
    .meta({ description: 'Wallet of the member who initiates it.' }),
  networkId,
  description: descriptionInput.default(''),
  to: addressInput(checksumAddress)
    .refine((text) => !isZeroAddress(text), 'must not be the zero address')
    .transform(checksumAddress),
  value: amountInput.meta({ description: 'Native coin to send along, in its smallest unit.' }),
  data: calldataInput,
};

/** A transfer of one native coin. */
export const EXAMPLE_TRANSACTION = {
  accountId: 'acc_01jz8k3v5fe5ht0n2m6w9r4xyz',
  initiatorWalletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  networkId: 31337,
  description: 'Salary of May',
  to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  value: '1000000000000000000',
  data: '0x',
};
