import { createRequire } from 'node:module';
import type * as Secp256k1 from 'secp256k1';
import {
  type Address,
  bytesToHex,
  concatHex,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  hexToBytes,
  isErc6492Signature,
  keccak256,
  parseAbi,
  parseErc6492Signature,
} from 'viem';
import { recoverPublicKey } from 'viem/utils';
import { isSameAddress } from '../domain/address';
import { checksumAddress, isZeroAddress } from './address';
import { ask, type ChainClient } from './clients';
import { CallTooLarge, creationByte, staticCallWord } from './evmCalls';

/** How a signature was verified. */
export type SignatureScheme = 'eoa' | 'eip1271' | 'erc6492';

/** The client of the network of contract signers. */
export type SignerClient = ChainClient;

/** The text is not a signature in the required form. */
export class InvalidSignature extends Error {
  override readonly name = 'InvalidSignature';
}

/** A decoded signature. */
export interface DecodedSignature {
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
/** Gas that a contract signer may use to check one signature. */
const CONTRACT_GAS = 5_000_000n;
/** The same for one that has to be deployed first, inside the call. */
const COUNTERFACTUAL_GAS = 8_000_000n;

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

const MALLEATION_TEXT: Record<Malleation, string> = {
  highS: 'the signature has its s in the upper half of the curve order; use its low-s twin',
  v: 'the signature has a v other than 27 or 28',
};

/** A digest, and a signature that somebody claims to have made over it. */
interface Claim {
  readonly hash: Hex;
  readonly signer: Address;
  readonly bytes: Hex;
}

/**
 * Verifies a signature over a digest: as that of a key (EOA) first, then, when `client` is given, as that of a
 * contract: EIP-1271 where there is code at the signer's address, ERC-6492 only while there is none.
 *
 * A contract that fails or misbehaves makes the signature invalid. Throws ChainUnavailable when the network of contract
 * signers is needed and unavailable.
 */
export async function verifySignature({
  client,
  ...claim
}: Claim & { readonly client?: SignerClient }): Promise<VerifiedSignature> {
  const byKey = await verifyKeySignature(claim);
  if (byKey) return byKey;
  if (client) return verifyContractSignature({ ...claim, client });
  return { valid: false, reason: `the signature was not made by ${claim.signer} over this payload` };
}

/** The first half of `verifySignature`: null when the key of the signer's address has not made the signature. */
export async function verifyKeySignature({ hash, signer, bytes }: Claim): Promise<VerifiedSignature | null> {
  const found = await recover(hash, bytes);
  if (!found || !isSameAddress(found.address, signer)) return null;
  if (found.malleation === null) return { valid: true, scheme: 'eoa' };
  return { valid: false, reason: MALLEATION_TEXT[found.malleation] };
}

/** The second half of `verifySignature`: asks the contract that is, or would be, at the signer's address. */
export async function verifyContractSignature(
  claim: Claim & { readonly client: SignerClient },
): Promise<VerifiedSignature> {
  try {
    return await askContract(claim);
  } catch (error) {
    if (!(error instanceof CallTooLarge)) throw error;
    return { valid: false, reason: 'the signature is too long to be checked on chain' };
  }
}

const erc1271Abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
]);
const EIP1271_MAGIC = '0x1626ba7e';

async function askContract({
  hash,
  signer,
  bytes,
  client,
}: Claim & { readonly client: SignerClient }): Promise<VerifiedSignature> {
  const code = await ask(client, (rpc) => rpc.getCode({ address: signer }));
  const wrapped = isErc6492Signature(bytes);
  if (code !== undefined && code !== '0x') {
    const inner = wrapped ? unwrap(bytes) : bytes;
    if (inner === null) return { valid: false, reason: 'the ERC-6492 wrapping cannot be decoded' };
    const data = encodeFunctionData({
      abi: erc1271Abi,
      functionName: 'isValidSignature',
      args: [hash, inner],
    });
    const word = await staticCallWord(client, { to: signer, data, gas: CONTRACT_GAS });
    if (word?.startsWith(EIP1271_MAGIC)) return { valid: true, scheme: 'eip1271' };
    return { valid: false, reason: `the contract ${signer} does not accept the signature over this payload` };
  }
  if (!wrapped) {
    return { valid: false, reason: `the signature was not made by ${signer} over this payload` };
  }
  const validator = encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [signer, hash, bytes],
  });
  const accepted = await creationByte(client, { code: validator, gas: COUNTERFACTUAL_GAS });
  if (accepted === 1) return { valid: true, scheme: 'erc6492' };
  return {
    valid: false,
    reason: `the contract that would be at ${signer} does not accept the signature over this payload`,
  };
}

function unwrap(bytes: Hex): Hex | null {
  try {
    return parseErc6492Signature(bytes).signature;
  } catch {
    return null;
  }
}
