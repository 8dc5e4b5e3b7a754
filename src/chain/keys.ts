import type { PrivateKeyAccount } from 'viem/accounts';

/** A key that signs; it never shows its secret. */
export type SigningKey = Pick<PrivateKeyAccount, 'address' | 'sign' | 'signTypedData' | 'signTransaction'>;

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
