import { type Hex, keccak256, stringToBytes } from 'viem';

/** What `src/chain/keccak.ts` exports to the contract, without WebAssembly: `buildConsole` puts it in its place. */

/** keccak256 of a text in UTF-8, as bytes32 in 0x hex. */
export const textHash = (text: string): Hex => keccak256(stringToBytes(text));
