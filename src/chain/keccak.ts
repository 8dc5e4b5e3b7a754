import { createKeccak, type IHasher } from 'hash-wasm';
import { type Hex, keccak256 as portableKeccak } from 'viem';

/** In WebAssembly: a twentieth of the time of viem's, which hashes 128 KiB in 15 ms. Undefined until it is compiled. */
let wasm: IHasher | undefined;
createKeccak(256).then(
  (hasher) => {
    wasm = hasher;
  },
  () => undefined,
);

/** keccak256 of bytes, as bytes. Source: Keccak submission of 2011, as Ethereum uses it; not SHA3-256 of FIPS 202. */
export function keccakOf(bytes: Uint8Array): Uint8Array {
  return keccakWith(wasm, bytes);
}

/** The same with an implementation in WebAssembly; viem's where there is none. */
export function keccakWith(hasher: IHasher | undefined, bytes: Uint8Array): Uint8Array {
  return hasher ? hasher.init().update(bytes).digest('binary') : portableKeccak(bytes, 'bytes');
}

/** keccak256 of 0x hex digits (whole bytes) or bytes, as bytes32 in 0x hex. Throws TypeError for other texts. */
export function keccak256(value: Hex | Uint8Array): Hex {
  const hash = keccakOf(typeof value === 'string' ? bytesOf(value) : value);
  return `0x${Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString('hex')}`;
}

/** keccak256 of a text in UTF-8, as bytes32 in 0x hex. */
export function textHash(text: string): Hex {
  return keccak256(Buffer.from(text));
}

/** The bytes of 0x hex digits: a tenth of the time of viem's. Throws TypeError for other texts. */
export function bytesOf(hex: Hex): Uint8Array {
  const digits = hex.slice(2);
  const bytes = Buffer.from(digits, 'hex');
  // What follows a character that is not a digit, or half a byte, is left out.
  if (!hex.startsWith('0x') || bytes.length * 2 !== digits.length) {
    throw new TypeError('must be hex digits of whole bytes that begin with 0x');
  }
  return bytes;
}
