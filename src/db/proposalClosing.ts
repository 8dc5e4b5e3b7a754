import type { JsonValue } from '../domain/canonicalJson';
import { type ProposalRecord, partlyDeployed, standing } from '../domain/proposal';
import { appendAudit, OPERATOR } from './audit';
import type { Db } from './database';
import {
  freeClaims,
  listProposals,
  lockProposal,
  readNow,
  type StoredProposal,
  updateProposal,
} from './proposals';

const PAGE = 100;

/**
 * Closes an open proposal as an operator, in one audited transaction. False when it is closed already, or
 * `mayClose` does not let it, asked under its lock with the time of the database.
 */
export async function closeProposal(
  db: Db,
  { organizationId, proposalId }: { organizationId: string; proposalId: string },
  closing: {
    readonly reason: string;
    readonly details?: { readonly [key: string]: JsonValue };
    readonly mayClose: (record: ProposalRecord, time: Date) => boolean;
  },
): Promise<boolean> {
  const { reason, details, mayClose } = closing;
  return db.transaction(async (tx) => {
    // The admins before the proposal: whoever locks both does so in this order.
    const now = await readNow(tx, organizationId, { lock: 'share' });
    const record = await lockProposal(tx, organizationId, proposalId);
    if (!record || record.closed || !mayClose(record, now.time)) return false;
    await freeClaims(tx, proposalId);
    await updateProposal(tx, proposalId, {
      executionStatus: 'failed',
      failure: {
        code: 'closedByOperator',
        message: reason,
        at: now.time.toISOString(),
        attempt: record.executionAttempt,
      },
      closedWith: standing(record, now),
    });
    await appendAudit(tx, organizationId, [
      {
        action: 'proposal.closed',
        actor: OPERATOR,
        resourceType: 'proposal',
        resourceId: proposalId,
        details: { resourceType: record.resourceType, action: record.action, reason, ...details },
      },
    ]);
    return true;
  });
}

/** What is on its way to a chain, or has changed something, can only be finished. */
function nothingDone(record: ProposalRecord): boolean {
  return record.executionStatus !== 'processing' && !record.effective && !partlyDeployed(record);
}

/**
 * Closes the open proposals that were made with an API key, as far as nothing of them is done or on its way. Each is
 * one audited transaction. Returns those that were closed; their workflows learn of it by a `refresh`.
 */
export async function closeProposalsOfKey(
  db: Db,
  key: { organizationId: string; apiKeyId: string },
): Promise<StoredProposal[]> {
  const closed: StoredProposal[] = [];
  const reason = `the API key ${key.apiKeyId} that proposed it was revoked`;
  for (let before: bigint | undefined; ; ) {
    const page = await listProposals(db, {
      organizationId: key.organizationId,
      status: 'open',
      limit: PAGE,
      ...(before === undefined ? {} : { before }),
    });
    for (const proposal of page) {
      if (proposal.createdByKey !== key.apiKeyId) continue;
      const { organizationId, id: proposalId } = proposal;
      if (await closeProposal(db, { organizationId, proposalId }, { reason, mayClose: nothingDone })) {
        closed.push(proposal);
      }
    }
    before = page.at(-1)?.position;
    if (page.length < PAGE) return closed;
  }
}
