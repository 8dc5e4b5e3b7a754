import type { AdminSet, MemberSummary } from '../domain/proposal';
import { accept, type Outcome, refuse } from '../domain/refusal';
import {
  decodeSignature,
  InvalidSignature,
  type SignatureScheme,
  type SignerClient,
  verifySignature,
} from './signatures';
import { hashTypedPayload } from './typedData';

/** Who signed, and how it was proved. */
export interface Voter {
  readonly member: MemberSummary;
  readonly signerAddress: string;
  readonly scheme: SignatureScheme;
}

/** Finds out who signed a payload, and whether they may vote. */
export type IdentifyVoter = (input: {
  /** EIP-712 typed data as JSON text. */
  readonly payload: string;
  /** ABI-encoded `(address signer, bytes signature)` as 0x hex. */
  readonly signature: string;
  /** Those who may sign it. */
  readonly admins: Pick<AdminSet, 'members'> & Partial<AdminSet>;
  /** What a signer is not who may not: no admin of the organization, unless it says otherwise. */
  readonly role?: string;
}) => Promise<Outcome<Voter>>;

/**
 * Makes the function that identifies voters. `client` reaches the network where contract signers live.
 *
 * Membership is looked at before any chain call. The function refuses with invalidSignature (not decodable,
 * malleable, wrong, over another payload) or forbidden (valid, but its signer is no admin), and throws
 * ChainUnavailable when a contract signer cannot be asked.
 */
export function createIdentifyVoter(client: SignerClient): IdentifyVoter {
  return async ({ payload, signature, admins, role = 'admin of the organization' }) => {
    let decoded: ReturnType<typeof decodeSignature>;
    try {
      decoded = decodeSignature(signature);
    } catch (error) {
      if (error instanceof InvalidSignature) return refuse('invalidSignature', error.message, 'signature');
      throw error;
    }
    const { signer, bytes } = decoded;
    const admin = admins.members.find(
      (member) => member.walletAddress.toLowerCase() === signer.toLowerCase(),
    );
    const hash = hashTypedPayload(payload);
    const verified = await verifySignature(admin ? { hash, signer, bytes, client } : { hash, signer, bytes });
    if (!verified.valid) return refuse('invalidSignature', verified.reason, 'signature');
    if (!admin) return refuse('forbidden', `signer ${signer} is no ${role}`, 'signature');
    return accept({ member: admin, signerAddress: admin.walletAddress, scheme: verified.scheme });
  };
}
