import { keccak256, stringToHex } from 'viem';
import { optionalText } from './expectation.ts';

/** The first four bytes of the calldata of a function: `transfer(address,uint256)` → `0xa9059cbb`. */
export const selectorOf = (signature: string): string => keccak256(stringToHex(signature)).slice(0, 10);

/** A function that a policy permits: its selector is what decides, so it is made from the text that was asked for. */
export function functionOf(entry: string): object {
  if (/^0x/i.test(entry)) return { name: optionalText, selector: entry.toLowerCase() };
  return { name: entry.slice(0, entry.indexOf('(')), selector: selectorOf(entry) };
}
