import { createHash } from 'node:crypto';
import secp256k1 from 'secp256k1';
import { type Address, bytesToHex, type Hex, hexToBytes, keccak256 } from 'viem';
import { checksumAddress } from '../../src/chain/address';
import { encodeSignature } from '../../src/chain/signatures';
import { hashTypedPayload } from '../../src/chain/typedData';
import type { Founder } from '../../tools/dev/foundOrganization';
import { RUN_SEED } from '../support/random';

const WALLETS = 12;

/** A key pair that signs fast. */
export interface Key {
  readonly address: Address;
  readonly privateKey: Uint8Array;
}

/** The same key for the same text and seed. */
export function keyOf(text: string): Key {
  const privateKey = createHash('sha256').update(`${RUN_SEED} ${text}`).digest();
  const publicKey = secp256k1.publicKeyCreate(privateKey, false);
  return { address: checksumAddress(`0x${keccak256(publicKey.subarray(1)).slice(26)}`), privateKey };
}

export const WALLET_KEYS = Array.from({ length: WALLETS }, (_, i) => keyOf(`wallet ${i}`));
export const NOBODY = keyOf('nobody');
export const KEYS = new Map([...WALLET_KEYS, NOBODY].map((key) => [key.address, key]));

function rawSignature(payload: string, { privateKey }: Key): Hex {
  const { signature, recid } = secp256k1.ecdsaSign(hexToBytes(hashTypedPayload(payload)), privateKey);
  return bytesToHex(Uint8Array.from([...signature, 27 + recid]));
}

/** The signature of a key over a payload, for a signer. */
export function signed(payload: string, key: Key, signer: Address): Hex {
  return encodeSignature(signer, rawSignature(payload, key));
}

/** A key as a wallet. */
export function walletOf(key: Key): Founder['wallet'] {
  const { address } = key;
  const signTypedData = async (typed: unknown) => rawSignature(JSON.stringify(typed), key);
  return { address, signTypedData };
}

/** The address whose key made a signature, found without the code that is tested. */
export function signerOf(
  hash: Hex,
  sent: string,
): { readonly claimed: Address; readonly bytes: Hex; readonly found: Address } {
  const bytes: Hex = `0x${sent.slice(2 + 3 * 64, 2 + 3 * 64 + 130)}`;
  const raw = hexToBytes(bytes);
  const publicKey = secp256k1.ecdsaRecover(raw.subarray(0, 64), (raw[64] ?? 0) - 27, hexToBytes(hash), false);
  return {
    claimed: checksumAddress(`0x${sent.slice(26, 66)}`),
    bytes,
    found: checksumAddress(`0x${keccak256(publicKey.subarray(1)).slice(26)}`),
  };
}
