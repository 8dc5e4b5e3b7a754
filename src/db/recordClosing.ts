import type { JsonValue } from '../domain/canonicalJson';
import { type Failure, type ProposalRecord, partlyDeployed, standing } from '../domain/proposal';
import type { RecordRef, Repairable } from '../domain/reconciliation';
import { type TransactionRecord, transactionStanding } from '../domain/transaction';
import { type AuditInput, appendAudit, OPERATOR } from './audit';
import type { Db } from './database';
import { freeClaims, listProposals, lockProposal, readNow, updateProposal } from './proposals';
import { listTransactions, lockTransaction, updateTransaction } from './transactions';

const PAGE = 100;

/** Why an operator closes a record, and whether it may still be closed: asked under its lock, with the time of the database. */
export interface Closing<Record> {
  readonly reason: string;
  readonly details?: { readonly [key: string]: JsonValue };
  readonly mayClose: (record: Record, time: Date) => boolean;
}

/** What is changed of a record that is closed, whichever kind it is. */
function closure(reason: string, record: { executionAttempt: number }, time: Date) {
  const failure: Failure = {
    code: 'closedByOperator',
    message: reason,
    at: time.toISOString(),
    attempt: record.executionAttempt,
  };
  return { executionStatus: 'failed', failure } as const;
}

function closedEntry(
  { kind, id }: Pick<RecordRef, 'kind' | 'id'>,
  details: { readonly [key: string]: JsonValue },
): AuditInput {
  return { action: `${kind}.closed`, actor: OPERATOR, resourceType: kind, resourceId: id, details };
}

/** Closes an open proposal as an operator, in one audited transaction. False when it is closed already, or may not be. */
export async function closeProposal(
  db: Db,
  { organizationId, proposalId }: { organizationId: string; proposalId: string },
  { reason, details, mayClose }: Closing<ProposalRecord>,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    // The admins before the proposal: whoever locks both does so in this order.
    const now = await readNow(tx, organizationId, { lock: 'share' });
    const record = await lockProposal(tx, organizationId, proposalId);
    if (!record || record.closed || !mayClose(record, now.time)) return false;
    await freeClaims(tx, proposalId);
    await updateProposal(tx, proposalId, {
      ...closure(reason, record, now.time),
      closedWith: standing(record, now),
    });
    const { resourceType, action } = record;
    await appendAudit(tx, organizationId, [
      closedEntry({ kind: 'proposal', id: proposalId }, { resourceType, action, reason, ...details }),
    ]);
    return true;
  });
}

/** The same for a transaction. */
export async function closeTransaction(
  db: Db,
  { organizationId, transactionId }: { organizationId: string; transactionId: string },
  { reason, details, mayClose }: Closing<TransactionRecord>,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const locked = await lockTransaction(tx, { organizationId, transactionId });
    if (!locked) return false;
    const { record, now } = locked;
    if (record.closed || !mayClose(record, now.time)) return false;
    await updateTransaction(tx, transactionId, {
      ...closure(reason, record, now.time),
      closedWith: transactionStanding(record, now),
      waitingFor: null,
      awaitsRelayerWei: null,
    });
    const { accountId, networkId } = record;
    await appendAudit(tx, organizationId, [
      closedEntry({ kind: 'transaction', id: transactionId }, { accountId, networkId, reason, ...details }),
    ]);
    return true;
  });
}

/** The same for a record of either kind. */
export async function closeRecord(
  db: Db,
  { kind, organizationId, id }: RecordRef,
  closing: Closing<Repairable>,
): Promise<boolean> {
  return kind === 'proposal'
    ? closeProposal(db, { organizationId, proposalId: id }, closing)
    : closeTransaction(db, { organizationId, transactionId: id }, closing);
}

/** A record that was closed. */
export type ClosedRecord = RecordRef & { readonly summary: string };

/** Goes through pages, newest first, and closes what can be. */
async function closePages<Record extends { readonly position: bigint }>(
  read: (before: { before?: bigint }) => Promise<readonly Record[]>,
  close: (record: Record) => Promise<ClosedRecord | undefined>,
): Promise<ClosedRecord[]> {
  const closed: ClosedRecord[] = [];
  for (let before: bigint | undefined; ; ) {
    const page = await read(before === undefined ? {} : { before });
    for (const record of page) closed.push(...[(await close(record)) ?? []].flat());
    before = page.at(-1)?.position;
    if (page.length < PAGE) return closed;
  }
}

/** What is on its way to a chain, or has changed something, can only be finished. */
function nothingDone(record: ProposalRecord): boolean {
  return record.executionStatus !== 'processing' && !record.effective && !partlyDeployed(record);
}

/**
 * Closes the open proposals and transactions that were made with an API key, as far as nothing of them is done or on
 * its way. Each is one audited transaction. Returns those that were closed; their workflows learn of it by a `refresh`.
 */
export async function closeOpenOfKey(
  db: Db,
  { organizationId, apiKeyId }: { organizationId: string; apiKeyId: string },
): Promise<ClosedRecord[]> {
  const reason = `the API key ${apiKeyId} that proposed it was revoked`;
  const proposals = await closePages(
    (before) => listProposals(db, { organizationId, status: 'open', limit: PAGE, ...before }),
    async ({ id, resourceType, action, summary, createdByKey }) => {
      if (createdByKey !== apiKeyId) return undefined;
      const closing = { reason, mayClose: nothingDone };
      const closed = await closeProposal(db, { organizationId, proposalId: id }, closing);
      return closed ? { kind: 'proposal', organizationId, id, resourceType, action, summary } : undefined;
    },
  );
  const transactions = await closePages(
    async (before) => {
      const page = { organizationId, createdByKey: apiKeyId, limit: PAGE, ...before };
      const snapshots = await listTransactions(db, { ...page, unclosed: true });
      return snapshots.map(({ record }) => record);
    },
    async ({ id, summary }) => {
      const mayClose = ({ executionStatus }: TransactionRecord) => executionStatus !== 'processing';
      const closed = await closeTransaction(db, { organizationId, transactionId: id }, { reason, mayClose });
      return closed ? { kind: 'transaction', organizationId, id, summary } : undefined;
    },
  );
  return [...proposals, ...transactions];
}
