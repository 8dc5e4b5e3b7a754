import type { Schema } from '@orgwallet/client';
import { type AuditInput, auditHash } from '../../src/db/audit';
import { GENESIS_HASH } from '../../src/domain/feedCursor';

const INPUT: AuditInput = {
  action: 'proposal.created',
  actor: { type: 'member', id: 'mem_1', name: 'Ada', walletAddress: '0xAb' },
  resourceType: 'proposal',
  resourceId: 'prop_1',
  details: { summary: 'Create', data: { b: 1, a: [null, true] } },
};

/** A log of that many entries as the service writes it, and as `GET /audit-logs` lists it: newest first. */
export function auditLog(
  organizationId: string,
  length: number,
  inputs: readonly AuditInput[] = [INPUT],
): Schema['AuditLogEntry'][] {
  const entries: object[] = [];
  let previousHash = GENESIS_HASH;
  for (let n = 0; n < length; n += 1) {
    const input = inputs[n % inputs.length] ?? INPUT;
    const createdAt = new Date(1_748_779_200_123 + n);
    const position = BigInt(n + 1);
    const entry = { ...input, id: `log_${position}`, position, createdAt, previousHash };
    const hash = auditHash({ ...entry, organizationId });
    entries.unshift({ ...entry, position: String(position), createdAt: createdAt.toISOString(), hash });
    previousHash = hash;
  }
  // As an answer is read.
  return JSON.parse(JSON.stringify(entries));
}
