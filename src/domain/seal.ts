import type { Decision } from './approval';
import type { JsonValue } from './canonicalJson';
import type { OrganizationState, ResourceChange } from './governance';
import type { ProposalAction, ResourceType } from './proposal';
import type { SignatureScheme } from './wallet';

/** A signature that a seal is based on. */
export interface SealedVote {
  readonly memberId: string;
  readonly signerAddress: string;
  readonly scheme: SignatureScheme;
  /** ABI-encoded `(address signer, bytes signature)` as 0x hex. */
  readonly signature: string;
}

interface SealBase {
  readonly organizationId: string;
  readonly sequence: number;
  /** Hash of the seal before it (bytes32 as 0x hex); zero for the genesis. */
  readonly previousHash: string;
  /** ISO 8601, by the signer's clock. */
  readonly at: string;
}

/** The seal with which an organization begins: its whole state, signed by every admin. */
export interface GenesisSeal extends SealBase {
  readonly type: 'genesis';
  readonly state: OrganizationState;
  readonly votes: readonly SealedVote[];
}

/** The seal of one decision: what was signed, by whom, and what it changed. */
export interface DecisionSeal extends SealBase {
  readonly type: 'decision';
  readonly proposalId: string;
  readonly resolution: 'approved' | 'rejected';
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
  readonly summary: string;
  readonly data: JsonValue;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly votes: readonly SealedVote[];
  /** Empty for a rejection. */
  readonly changes: readonly ResourceChange[];
}

export type Seal = GenesisSeal | DecisionSeal;

/** What the admins decided, as their votes say it. */
export function decisionOfSeal({ resolution }: Pick<DecisionSeal, 'resolution'>): Decision {
  return resolution === 'approved' ? 'approve' : 'reject';
}

/** The `previousHash` of a genesis. */
export const NO_SEAL = `0x${'0'.repeat(64)}`;
