import { appendAudit } from '../db/audit';
import type { Tx } from '../db/database';
import type { UnknownExecution } from '../db/unknownExecutions';
import type { Actor } from '../domain/actor';

/** Records in the audit log of its organization that nobody here has authorized what an account executed. */
export async function auditUnknownExecution(
  tx: Tx,
  { organizationId, accountId, networkId, safeNonce, safeTxHash, transactionHash }: UnknownExecution,
  actor: Actor,
): Promise<void> {
  await appendAudit(tx, organizationId, [
    {
      action: 'account.unknownExecution',
      actor,
      resourceType: 'account',
      resourceId: accountId,
      details: { networkId, safeNonce: String(safeNonce), safeTxHash, transactionHash },
    },
  ]);
}
