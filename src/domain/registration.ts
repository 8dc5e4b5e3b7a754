import { quoted } from './quoted';

/** How long a text is valid, in seconds. */
export const CHALLENGE_SECONDS = 600;

/** What a member's wallet signs to prove that its owner controls it. */
export interface RegistrationChallenge {
  readonly organizationId: string;
  readonly organizationName: string;
  /** Checksummed. */
  readonly walletAddress: string;
  /** Never used before. */
  readonly nonce: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/**
 * The text that is signed (EIP-191): a sentence, then one field a line, laid out like EIP-4361. Each value ends with
 * its line, and the user-chosen one is quoted.
 */
export function registrationMessage(challenge: RegistrationChallenge): string {
  return [
    'orgwallet asks you to prove that you control this wallet:',
    challenge.walletAddress,
    '',
    'Sign this to register it as the wallet of a member of the organization below. It approves nothing and moves nothing.',
    '',
    `Organization: ${challenge.organizationId}`,
    `Organization Name: ${quoted(challenge.organizationName)}`,
    `Nonce: ${challenge.nonce}`,
    `Issued At: ${challenge.issuedAt.toISOString()}`,
    `Expiration Time: ${challenge.expiresAt.toISOString()}`,
  ].join('\n');
}
