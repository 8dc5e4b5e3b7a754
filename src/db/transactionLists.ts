import type { TransactionRecord } from '../domain/transaction';
import {
  type ApprovalFilter,
  approvalSelection,
  type OwnSelection,
  readPageBySize,
  STAGE_CONDITION,
  type Stage,
} from './approvalSelection';
import type { Db, Tx } from './database';
import { queryRows } from './rows';
import { hasTag, hasText } from './searchTerms';
import { FROM, RECORD, type TransactionSnapshot } from './storedTransactions';
import { SELECT, type SnapshotColumns, SURROUNDINGS, snapshotOf } from './transactions';

const openCondition = `(a.closed_at IS NULL AND (a.expires_at >= now() OR a.execution_status = 'processing'))`;

/** The filter of a list of transactions. queued: can still change; executed: completed, rejected, or failed and not retryable. */
export interface TransactionFilter extends ApprovalFilter {
  readonly accountId?: string;
  readonly policyId?: string;
  readonly initiatorId?: string;
  readonly type?: TransactionRecord['type'];
  /** Who gets a transfer, or the contract of a call. */
  readonly recipient?: string;
  /** Of a transfer. */
  readonly assetId?: string;
  readonly text?: string;
  readonly status?: 'queued' | 'executed' | Stage;
  readonly createdBy?: string;
}

const STATUS_CONDITION = {
  queued: openCondition,
  executed: `(a.execution_status IN ('completed', 'rejected') OR (a.execution_status = 'failed' AND NOT ${openCondition}))`,
  ...STAGE_CONDITION,
};

function ownSelection(filter: TransactionFilter): OwnSelection {
  const { organizationId = '', accountId, policyId, initiatorId, type, recipient, assetId, text } = filter;
  const { createdBy, status } = filter;
  // Each of the first three has an index in the order of the list. What a text finds is sorted in its own table: the list is
  // not searched from its beginning for what may be at its end.
  const ofOne = [accountId, policyId, initiatorId, text].some((one) => one !== undefined);
  return {
    subject: 'transaction',
    conditions: [
      accountId === undefined ? undefined : ['t.account_id = ?', [accountId]],
      policyId === undefined ? undefined : ['t.policy_id = ?', [policyId]],
      initiatorId === undefined ? undefined : ['t.initiator_id = ?', [initiatorId]],
      type && ['t.type = ?', [type]],
      recipient === undefined ? undefined : hasTag('t', organizationId, `to:${recipient.toLowerCase()}`),
      assetId === undefined ? undefined : hasTag('t', organizationId, `asset:${assetId.toLowerCase()}`),
      text === undefined ? undefined : hasText('t', organizationId, text),
      createdBy === undefined ? undefined : ['a.created_by = ?', [createdBy]],
      status && [STATUS_CONDITION[status], []],
    ],
    position: ofOne ? 't.position' : undefined,
    isSearch: [recipient, assetId, text].some((one) => one !== undefined),
  };
}

/** Transactions, newest first, a page at a time. */
export async function listTransactions(
  db: Db | Tx,
  filter: TransactionFilter,
): Promise<TransactionSnapshot[]> {
  const { text, values } = approvalSelection(filter, ownSelection(filter));
  return (await queryRows<SnapshotColumns>(db, `${SELECT} ${text}`, values)).map(snapshotOf);
}

/**
 * A page of transactions, newest first, that ends before `limit` when their calldata together is more than so many
 * bytes; and whether there are more. It has one at least, if there is one.
 */
export async function pageOfTransactions(
  db: Db | Tx,
  filter: TransactionFilter,
  maxCalldataBytes: number,
): Promise<{ snapshots: TransactionSnapshot[]; hasMore: boolean }> {
  const { rows, hasMore } = await readPageBySize<SnapshotColumns>(db, filter, ownSelection(filter), {
    from: 'FROM approvals a JOIN transactions t ON t.id = a.id',
    bytes: '(octet_length(t.calldata) - 2) / 2',
    select: `SELECT ${RECORD}, ${SURROUNDINGS}, counted.found ${FROM} JOIN counted ON counted.id = a.id`,
    maxBytes: maxCalldataBytes,
  });
  return { snapshots: rows.map(snapshotOf), hasMore };
}
