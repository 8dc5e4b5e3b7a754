import type { ApprovalKey } from '../domain/approvalRef';
import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import type { Db, Tx } from './database';
import type { Statement } from './rows';
import type { StoredVote } from './storedApprovals';

/** The proof of one outcome: the payload, the signatures over it, and who was eligible. */
interface Evidence {
  readonly resolution: 'approved' | 'rejected';
  readonly payload: string;
  readonly votes: readonly StoredVote[];
  readonly threshold: number;
  /** The admins, or the policy with its members and groups. */
  readonly electorate: JsonValue;
}

/** Stores the proof of an outcome, append-only. */
export function insertEvidence(
  tx: Db | Tx,
  { organizationId, id }: ApprovalKey,
  { resolution, payload, votes, threshold, electorate }: Evidence,
): Statement {
  return tx('evidence').insert({
    organization_id: organizationId,
    approval_id: id,
    resolution,
    payload,
    signatures: JSON.stringify(
      votes.map(({ memberId, type, signerAddress, scheme, signature }) => ({
        memberId,
        type,
        signerAddress,
        scheme,
        signature,
      })),
    ),
    threshold,
    electorate: canonicalJson(electorate),
  });
}
