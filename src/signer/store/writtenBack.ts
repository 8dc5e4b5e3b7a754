import type { Db, Tx } from '../../db/database';
import type { Actor } from '../../domain/actor';
import type { Decision, Tally } from '../../domain/approval';
import type { DecisionSeal } from '../../domain/seal';

/** Writes back the record of a proposal that was sealed: its execution continues from its seal. */
export async function writeSealedProposal(
  tx: Tx,
  seal: DecisionSeal,
  execution: { readonly decision: Decision; readonly by: Actor; readonly with: Tally },
): Promise<void> {
  const { proposalId: id, organizationId, summary, resourceType, action, data, expiresAt, at } = seal;
  const begun = {
    execution_status: 'processing' as const,
    decision: execution.decision,
    decided_by: JSON.stringify(execution.by),
    executed_with: JSON.stringify(execution.with),
    failure: null,
    closed_at: null,
    frozen: null,
  };
  await tx('approvals')
    .insert({
      id,
      subject: 'proposal',
      organization_id: organizationId,
      summary,
      created_at: new Date(at),
      expires_at: new Date(expiresAt),
      position: 0,
      ...begun,
    })
    .onConflict('id')
    .merge({ ...begun, version: tx.raw('approvals.version + 1') });
  await tx('proposals')
    .insert({ id, resource_type: resourceType, action, data: JSON.stringify(data) })
    .onConflict('id')
    .ignore();
}

/** Stores the votes of a sealed proposal, each with the hash of its signature, where they are missing. */
export async function writeSealedVotes(
  tx: Tx,
  { proposalId, votes, at }: DecisionSeal,
  type: Decision,
  hashOf: (signature: string) => string,
): Promise<void> {
  if (votes.length === 0) return;
  await tx('votes')
    .insert(
      votes.map(({ memberId, signerAddress, scheme, signature }) => ({
        approval_id: proposalId,
        member_id: memberId,
        type,
        signer_address: signerAddress,
        scheme,
        signature,
        signature_hash: hashOf(signature),
        created_at: new Date(at),
      })),
    )
    .onConflict()
    .ignore();
}

/** The request that expires last; undefined where there is none. */
export async function latestExpiry(
  db: Db | Tx,
): Promise<{ readonly id: string; readonly expiresAt: Date } | undefined> {
  const row = await db('approvals').orderBy('expires_at', 'desc').first('id', 'expires_at');
  return row && { id: row.id, expiresAt: row.expires_at };
}

/** What is open: transactions, and proposals that are not decided; oldest first. */
export async function openRequests(
  db: Db | Tx,
): Promise<{ readonly id: string; readonly organizationId: string; readonly expiresAt: Date }[]> {
  const rows = await db('approvals')
    .whereNull('closed_at')
    .whereNotExists(db('seals').whereRaw('seals.proposal_id = approvals.id'))
    .orderBy('created_at')
    .select('id', 'organization_id', 'expires_at');
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    expiresAt: row.expires_at,
  }));
}
