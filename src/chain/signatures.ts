import { createRequire } from 'node:module';
import type * as Secp256k1 from 'secp256k1';
import { type Address, bytesToHex, concatHex, encodeAbiParameters, type Hex, hexToBytes } from 'viem';
import { recoverPublicKey } from 'viem/utils';
import { isSameAddress } from '../domain/address';
import type { SignatureScheme } from '../domain/wallet';
import { checksumAddress, isZeroAddress } from './address';
import { keccak256 } from './keccak';

/** The text is not a signature in the required form. */
export class InvalidSignature extends Error {
  override readonly name = 'InvalidSignature';
}

/** No signature of a contract wallet can be verified: the signer has no endpoints of its own to ask. */
export class EndpointsMissing extends Error {
  override readonly name = 'EndpointsMissing';
  /** `network` as error messages name it. */
  constructor(network: string) {
    super(`signatures of contract wallets cannot be verified: network ${network} has no signerRpcUrls`);
  }
}

/** A decoded signature. */
interface DecodedSignature {
  readonly signer: Address;
  /** The signature itself, as the signer's wallet made it. */
  readonly bytes: Hex;
}

/** Whether the signer made a signature over a digest. */
export type VerifiedSignature =
  | { readonly valid: true; readonly scheme: SignatureScheme }
  | { readonly valid: false; readonly reason: string };

const MAX_SIGNATURE_BYTES = 65_536;
const WORD = 64;

function hexDigits(text: string): string {
  if (!/^0x[0-9a-fA-F]*$/.test(text)) throw new InvalidSignature('must be hex digits that begin with 0x');
  if (text.length > 2 + 2 * MAX_SIGNATURE_BYTES) throw new InvalidSignature('must be at most 64 KiB');
  return text.slice(2).toLowerCase();
}

/** Reads the bytes of a signature that comes without its signer. Throws InvalidSignature. */
export function decodeSignatureBytes(text: string): Hex {
  const hex = hexDigits(text);
  if (hex.length % 2 !== 0) throw new InvalidSignature('must be whole bytes: two hex digits each');
  return `0x${hex}`;
}

/**
 * Decodes `abi.encode(address signer, bytes signature)`. Only the one canonical encoding is accepted: offset
 * 0x40, zero padding, nothing before, between or after. Throws InvalidSignature.
 */
export function decodeSignature(text: string): DecodedSignature {
  const hex = hexDigits(text);
  if (hex.length % WORD !== 0 || hex.length < 3 * WORD) {
    throw new InvalidSignature('must be the ABI encoding of (address signer, bytes signature)');
  }
  const signer = checksumAddress(`0x${hex.slice(24, WORD)}`);
  const length = BigInt(`0x${hex.slice(2 * WORD, 3 * WORD)}`);
  const bytes: Hex = `0x${hex.slice(3 * WORD, 3 * WORD + 2 * Number(length < 65_536n ? length : 0n))}`;
  if (encodeSignature(signer, bytes) !== `0x${hex}`) {
    throw new InvalidSignature('must be the canonical ABI encoding of (address signer, bytes signature)');
  }
  if (isZeroAddress(signer)) throw new InvalidSignature('the signer must not be the zero address');
  return { signer, bytes };
}

/** `abi.encode(address signer, bytes signature)`: the form in which signatures are sent. */
export function encodeSignature(signer: Address, bytes: Hex): Hex {
  return encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [signer, bytes]);
}

type RecoverKey = (hash: Uint8Array, rs: Uint8Array, parity: number) => Promise<Uint8Array | null>;

/** Recovers the uncompressed public key (65 bytes) without native code; null when there is none. */
export const recoverKeyPortably: RecoverKey = async (hash, rs, parity) => {
  try {
    const signature = concatHex([bytesToHex(rs), parity === 0 ? '0x1b' : '0x1c']);
    return hexToBytes(await recoverPublicKey({ hash, signature }));
  } catch {
    return null;
  }
};

/** Recovers keys with the native library, some thirty times faster; undefined where it does not load. */
export function loadNativeRecovery(): RecoverKey | undefined {
  let native: typeof Secp256k1;
  try {
    native = createRequire(__filename)('secp256k1/bindings');
  } catch {
    return undefined;
  }
  return async (hash, rs, parity) => {
    try {
      return native.ecdsaRecover(rs, parity, hash, false);
    } catch {
      return null;
    }
  };
}

const recoverKey = loadNativeRecovery() ?? recoverKeyPortably;

/** Half of the order of secp256k1: a larger s is the twin of a smaller one. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Why a signature that recovers to an address is malleable. */
type Malleation = 'highS' | 'v';

async function recover(
  hash: Hex,
  signature: Hex,
): Promise<{ address: Address; malleation: Malleation | null } | null> {
  const bytes = hexToBytes(signature);
  const v = bytes[64];
  if (bytes.length !== 65 || v === undefined) return null;
  const parity = v === 27 || v === 28 ? v - 27 : v === 0 || v === 1 ? v : null;
  if (parity === null) return null;
  const key = await recoverKey(hexToBytes(hash), bytes.subarray(0, 64), parity);
  if (!key) return null;
  const address: Address = `0x${keccak256(key.subarray(1)).slice(26)}`;
  const s = BigInt(bytesToHex(bytes.subarray(32, 64)));
  return { address, malleation: s > HALF_ORDER ? 'highS' : v < 27 ? 'v' : null };
}

/**
 * The address whose key made a 65-byte signature (r, s, v) over a digest, checksummed; null when there is none, or
 * when the signature is malleable: s in the upper half of the order (EIP-2), or v other than 27 and 28.
 */
export async function recoverSigner(hash: Hex, signature: Hex): Promise<Address | null> {
  const found = await recover(hash, signature);
  return found && found.malleation === null ? checksumAddress(found.address) : null;
}

/** True when a key has made a 65-byte signature over a digest, in the one form that is not malleable. */
export async function hasSigned(signer: string, hash: string, signature: string): Promise<boolean> {
  const recovered = await recoverSigner(hash as Hex, signature as Hex);
  return recovered !== null && isSameAddress(recovered, signer);
}

const MALLEATION_TEXT: Record<Malleation, string> = {
  highS: 'the signature has its s in the upper half of the curve order; use its low-s twin',
  v: 'the signature has a v other than 27 or 28',
};

/** A digest, and a signature that somebody claims to have made over it. */
export interface WalletClaim {
  readonly hash: Hex;
  readonly signer: Address;
  readonly bytes: Hex;
}

/** Why a signature is not one of the signer's. */
export function notMadeBy(signer: Address): VerifiedSignature {
  return { valid: false, reason: `the signature was not made by ${signer} over this payload` };
}

/** Verifies a signature of the key of an address (ECDSA). No chain is asked: code at the address changes nothing. */
export async function verifyKeySignature(claim: WalletClaim): Promise<VerifiedSignature> {
  return (await findKeySignature(claim)) ?? notMadeBy(claim.signer);
}

/** The same; null when another key, or none, has made the signature. */
export async function findKeySignature({
  hash,
  signer,
  bytes,
}: WalletClaim): Promise<VerifiedSignature | null> {
  const found = await recover(hash, bytes);
  if (!found || !isSameAddress(found.address, signer)) return null;
  if (found.malleation === null) return { valid: true, scheme: 'eoa' };
  return { valid: false, reason: MALLEATION_TEXT[found.malleation] };
}
