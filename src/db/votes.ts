import type { VoteType } from '../domain/approval';
import type { Db, Tx } from './database';
import type { Statement } from './rows';
import type { StoredVote } from './storedApprovals';

/** A vote as it is first stored. */
export interface NewVote {
  readonly memberId: string;
  readonly type: VoteType;
  readonly signerAddress: string;
  readonly scheme: StoredVote['scheme'];
  readonly signature: string;
  readonly signatureHash: string;
  readonly initiatorSignatureHash: string | null;
  readonly reason: string | null;
  readonly credentialId: string | null;
}

/** Stores a vote. Its message and a change of the record belong with it. */
export function insertVote(tx: Db | Tx, id: string, vote: NewVote): Statement {
  return tx('votes').insert({
    approval_id: id,
    member_id: vote.memberId,
    type: vote.type,
    signer_address: vote.signerAddress,
    scheme: vote.scheme,
    signature: vote.signature,
    signature_hash: vote.signatureHash,
    initiator_signature_hash: vote.initiatorSignatureHash,
    reason: vote.reason,
    credential_id: vote.credentialId,
  });
}
