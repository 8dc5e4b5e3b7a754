import { partlyDeployed, standing } from '../domain/proposal';
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

async function closeOne(db: Db, { organizationId, id }: StoredProposal, reason: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const record = await lockProposal(tx, organizationId, id);
    if (!record || record.closed) return false;
    // What is on its way to a chain, or has changed something, can only be finished.
    if (record.executionStatus === 'processing' || record.effective || partlyDeployed(record)) return false;
    const now = await readNow(tx, organizationId, { lock: 'share' });
    await freeClaims(tx, id);
    await updateProposal(tx, id, {
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
        resourceId: id,
        details: { resourceType: record.resourceType, action: record.action, reason },
      },
    ]);
    return true;
  });
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
  for (let before: bigint | undefined; ; ) {
    const page = await listProposals(db, {
      organizationId: key.organizationId,
      status: 'open',
      limit: PAGE,
      ...(before === undefined ? {} : { before }),
    });
    for (const proposal of page) {
      if (proposal.createdByKey !== key.apiKeyId) continue;
      if (await closeOne(db, proposal, `the API key ${key.apiKeyId} that proposed it was revoked`)) {
        closed.push(proposal);
      }
    }
    before = page.at(-1)?.position;
    if (page.length < PAGE) return closed;
  }
}
