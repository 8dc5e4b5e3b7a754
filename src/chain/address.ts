import { type Address, getAddress } from 'viem';
import { keccakOf } from './keccak';

const ADDRESS = /^0x[0-9a-f]{40}$/;
const LETTER_A = 'a'.charCodeAt(0);
const TO_UPPER_CASE = LETTER_A - 'A'.charCodeAt(0);
const HEX = Buffer.from('0123456789abcdef');
/** The 40 hex digits of the address in work. As bytes, and always the same ones: as texts it takes four times as long. */
const digits = Buffer.alloc(40);

/** The checksummed address (EIP-55). Throws for a text that is not an address in any case. */
export function checksumAddress(text: string): Address {
  const address = text.toLowerCase();
  // What is wrong with it.
  if (!ADDRESS.test(address)) return getAddress(address);
  digits.write(address.slice(2), 'latin1');
  return withLetters();
}

/** The checksummed address (EIP-55) of 20 bytes. Throws TypeError for any other number of them. */
export function addressOf(bytes: Uint8Array): Address {
  if (bytes.length * 2 !== digits.length) throw new TypeError('an address has 20 bytes');
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    digits[2 * at] = HEX[byte >> 4] ?? 0;
    digits[2 * at + 1] = HEX[byte & 15] ?? 0;
  }
  return withLetters();
}

/** The address whose `digits` are in lower case, with the letters that their hash determines. */
function withLetters(): Address {
  const hash = keccakOf(digits);
  for (let at = 0; at < digits.length; at += 1) {
    const digit = digits[at] ?? 0;
    const half = (hash[at >> 1] ?? 0) >> (at % 2 === 0 ? 4 : 0);
    if (digit >= LETTER_A && (half & 8) !== 0) digits[at] = digit - TO_UPPER_CASE;
  }
  return `0x${digits.toString('latin1')}`;
}

/**
 * True for an address as a caller may write it: all digits in lower case, all in upper case, or with a right
 * checksum (EIP-55). The prefix is `0x`.
 */
export function isWellFormedAddress(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return false;
  const digits = text.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true;
  return checksumAddress(text) === text;
}

/** True for the zero address. */
export function isZeroAddress(text: string): boolean {
  return /^0x0{40}$/.test(text);
}
