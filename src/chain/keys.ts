import type { Address, Hex } from 'viem';
import type { UnsignedTransaction } from './rawTransaction';

/** A key that signs (ECDSA, secp256k1); it never shows its secret. */
export interface SigningKey {
  readonly address: Address;
  /** Signs a digest: r, s and v of 27 or 28, 65 bytes. */
  sign(digest: { readonly hash: Hex }): Promise<Hex>;
  /** Signs a transaction of a network: the bytes that are sent. */
  signTransaction(transaction: UnsignedTransaction): Promise<Hex>;
}

/**
 * The keys of an installation, by what they are for, wherever they are. A signature may take a while: none is awaited
 * inside a database transaction.
 */
export interface SigningKeys {
  /** Identifies the keys without revealing anything about their secrets. */
  readonly fingerprint: string;
  /** The key that owns every account of an organization. */
  organizationKey(organizationId: string): SigningKey;
  /** The key that seals the decisions of an organization. */
  sealKey(organizationId: string): SigningKey;
  /** A key that pays for gas on a network. */
  relayerKey(networkId: number, index: number): SigningKey;
}

/**
 * Keys that are all derived from one master secret, so that one backup holds every key for ever.
 * Derivation: HKDF-SHA256 (RFC 5869), 48 bytes reduced into the order of secp256k1 (FIPS 186-5, A.2.1).
 */
export type Keystore = SigningKeys;

/** A keystore cannot be opened, created or used; names the file and what to do. */
export class KeystoreError extends Error {
  override readonly name = 'KeystoreError';
}
