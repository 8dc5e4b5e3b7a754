import { type Address, getAddress } from 'viem';

/** What `src/chain/address.ts` exports to the contract, without Node's buffers: `buildConsole` puts it in its place. */

/** The checksummed address (EIP-55). Throws for a text that is not an address in any case. */
export const checksumAddress = (text: string): Address => getAddress(text.toLowerCase());

/** True for the zero address. */
export const isZeroAddress = (text: string): boolean => /^0x0{40}$/i.test(text);
