import { isSameAddress } from '../domain/address';
import type { MemberSummary } from '../domain/approval';
import { accept, type Outcome, refuse } from '../domain/refusal';
import {
  decodeSignature,
  InvalidSignature,
  type SignatureScheme,
  type SignerClient,
  verifySignature,
} from './signatures';
import { hashTypedPayload } from './typedData';

/** Who signed, and how it was verified. */
export interface Voter {
  readonly member: MemberSummary;
  readonly signerAddress: string;
  readonly scheme: SignatureScheme;
}

/** Identifies who signed a payload, and checks that they may vote. */
export type IdentifyVoter = (input: {
  /** EIP-712 typed data as JSON text. */
  readonly payload: string;
  /** ABI-encoded `(address signer, bytes signature)` as 0x hex. */
  readonly signature: string;
  /** The members who may sign it. */
  readonly eligible: readonly MemberSummary[];
  /** What a voter must be, for the refusal; an admin of the organization by default. */
  readonly role?: string;
}) => Promise<Outcome<Voter>>;

/**
 * Creates the function that identifies voters. `client` is of the network of contract signers.
 *
 * Eligibility is checked before any chain call. The function refuses with invalidSignature (not decodable, malleable,
 * wrong, over another payload) or forbidden (valid, but by somebody who may not vote), and throws ChainUnavailable when
 * the network of a contract signer is unavailable.
 */
export function createIdentifyVoter(client: SignerClient): IdentifyVoter {
  return async ({ payload, signature, eligible, role = 'an admin of the organization' }) => {
    let decoded: ReturnType<typeof decodeSignature>;
    try {
      decoded = decodeSignature(signature);
    } catch (error) {
      if (error instanceof InvalidSignature) return refuse('invalidSignature', error.message, 'signature');
      throw error;
    }
    const { signer, bytes } = decoded;
    const member = eligible.find(({ walletAddress }) => isSameAddress(walletAddress, signer));
    const hash = hashTypedPayload(payload);
    const verified = await verifySignature(
      member ? { hash, signer, bytes, client } : { hash, signer, bytes },
    );
    if (!verified.valid) return refuse('invalidSignature', verified.reason, 'signature');
    if (!member) return refuse('forbidden', `signer ${signer} is not ${role}`, 'signature');
    return accept({ member, signerAddress: member.walletAddress, scheme: verified.scheme });
  };
}
