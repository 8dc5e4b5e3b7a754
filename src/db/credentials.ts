import { createHash } from 'node:crypto';

/** A member that a credential acts for. */
export interface CredentialMember {
  readonly id: string;
  readonly name: string;
  readonly walletAddress: string;
  readonly isAdmin: boolean;
}

/** The caller of a request: an API key, or the session of a person. */
export interface Credential {
  /** key_… or ses_… */
  readonly id: string;
  readonly organizationId: string;
  readonly expiresAt: Date | null;
  /** Those who are still members: of a key in the order in which they were named; at least one. */
  readonly members: readonly CredentialMember[];
  /** What its limits count for: the key, or the member of a session, who may have several. */
  readonly limitedAs: string;
}

/** SHA-256 of the secret of a credential: what is stored of it. */
export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
