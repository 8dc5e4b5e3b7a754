import { closeApproval } from '../../src/db/approvalClosing';
import { decideAuthorization, insertAuthorization } from '../../src/db/authorizations';
import type { Db } from '../../src/db/database';
import { requireRow } from '../../src/db/rows';
import { readTransaction } from '../../src/db/transactions';
import { usageOf } from '../../src/transactions/policy';
import { aHash } from './builders';

/** Closes a transaction as failed, with a cancellation that the signer has read: another one may replace it. */
export async function cancelForGood(db: Db, organizationId: string, id: string): Promise<void> {
  const ref = { subject: 'transaction', organizationId, id } as const;
  await closeApproval(db, ref, { reason: 'not wanted', mayClose: () => true });
  const { record } = requireRow(await readTransaction(db, { organizationId, transactionId: id }));
  const at = new Date();
  await db.transaction(async (tx) => {
    const taken = { safeNonce: 1_000_000n, safeTxHash: aHash(), authorizedAt: at };
    await insertAuthorization(tx, { ...usageOf(record), ...taken });
    await decideAuthorization(tx, id, { outcome: 'cancelled', blockAt: at });
  });
}
