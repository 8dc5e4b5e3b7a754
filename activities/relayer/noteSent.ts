import { guardVersion, undefinedOnConflict } from '../../src/db/approvalLocks';
import { updateApproval } from '../../src/db/approvals';
import { auditStatements } from '../../src/db/audit';
import type { Db } from '../../src/db/database';
import type { UnsentEnvelope } from '../../src/db/envelopes';
import { markSent, readUnsent } from '../../src/db/followedAttempts';
import { requireRow } from '../../src/db/rows';
import { SYSTEM } from '../../src/domain/actor';

/**
 * Records that an envelope was sent; only the first time counts. The first one of a transaction's attempt is audited, in
 * the same statement. `read`: the envelope as it was read before. False where what it is recorded with has changed since:
 * then it is called again, without that.
 */
export async function noteSent(db: Db, id: bigint, read?: UnsentEnvelope | null): Promise<boolean> {
  const sending = read === undefined ? await readUnsent(db, id) : read;
  if (!sending) return true;
  const { organizationId, transactionId, version, sequence } = sending;
  const isOfTransaction = sending.kind === 'transaction' && organizationId !== null && transactionId !== null;
  if (!isOfTransaction || sending.sentBefore) {
    await markSent(db, id);
    return true;
  }
  const audit = auditStatements(db, organizationId, [
    {
      action: 'transaction.broadcast',
      actor: SYSTEM,
      resourceType: 'transaction',
      resourceId: transactionId,
      details: {
        networkId: sending.networkId,
        transactionHash: sending.transactionHash,
        accountNonce: sending.safeNonce,
        relayerAddress: sending.relayerAddress,
      },
    },
  ]);
  const written = [{ name: 'noted', statement: markSent(db, id) }, ...audit];
  const record = { id: transactionId, organizationId, version: requireRow(version) };
  const guard = guardVersion(db, { record, sequence: BigInt(requireRow(sequence)), credentialId: null });
  return (
    (await undefinedOnConflict(() => updateApproval(db, transactionId, {}, written, guard))) !== undefined
  );
}
