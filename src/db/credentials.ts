import { createHash } from 'node:crypto';
import type { KeyRights } from '../domain/keyRights';

/** A member that a credential acts for. */
export interface CredentialMember {
  readonly id: string;
  readonly name: string;
  readonly walletAddress: string;
  readonly isAdmin: boolean;
}

interface AnyCredential {
  readonly organizationId: string;
  readonly expiresAt: Date | null;
  /** Those who are still members: of a key in the order in which they were named; at least one. */
  readonly members: readonly CredentialMember[];
}

/** An API key. */
export interface KeyCredential extends AnyCredential {
  readonly kind: 'apiKey';
  readonly rights: KeyRights;
  /** key_… */
  readonly id: string;
}

/** The session of a person. */
export interface SessionCredential extends AnyCredential {
  readonly kind: 'session';
  /** ses_… */
  readonly id: string;
  /** Who is signed in, maybe in other sessions too. */
  readonly memberId: string;
}

/** The caller of a request. */
export type Credential = KeyCredential | SessionCredential;

/** SHA-256 of the secret of a credential: what is stored of it. */
export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
