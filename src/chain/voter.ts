import { isSameAddress } from '../domain/address';
import type { MemberSummary } from '../domain/approval';
import { accept, type Result, refuse } from '../domain/refusal';
import type { SignatureScheme } from '../domain/wallet';
import { verifyContractSignature, type WalletEndpoints } from './contractSignatures';
import { decodeSignature, InvalidSignature, verifyKeySignature } from './signatures';
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
}) => Promise<Result<Voter>>;

/**
 * Creates the function that identifies voters; `endpoints` are asked about contract wallets.
 *
 * A wallet is verified as the kind that its member is stated to have: a key by ECDSA alone, a contract by EIP-1271 alone.
 * Eligibility is checked before any chain call. The function refuses with invalidSignature (not decodable, malleable,
 * wrong, over another payload) or forbidden (valid, but by somebody who may not vote). For a contract wallet it throws
 * EndpointsMissing without endpoints, and ChainUnavailable when they do not answer or disagree.
 */
export function createIdentifyVoter(endpoints: WalletEndpoints): IdentifyVoter {
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
    const claim = { hash, signer, bytes };
    const verified =
      member?.walletKind === 'contract'
        ? await verifyContractSignature(endpoints, claim)
        : await verifyKeySignature(claim);
    if (!verified.valid) return refuse('invalidSignature', verified.reason, 'signature');
    if (!member) return refuse('forbidden', `signer ${signer} is not ${role}`, 'signature');
    return accept({ member, signerAddress: member.walletAddress, scheme: verified.scheme });
  };
}
