import type { Knex } from 'knex';
import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import type { TransactionRecord, TransactionRef } from '../domain/transaction';
import { lockApproval } from './approvalLocks';
import {
  type ApprovalFilter,
  approvalSelection,
  countedPage,
  STAGE_CONDITION,
  type Stage,
} from './approvalSelection';
import { type TagColumn, tagColumn } from './approvalTags';
import type { Db, Tx } from './database';
import {
  type MessageColumns,
  type MessageKey,
  type MessageOrigin,
  messageColumns,
  messageOrigin,
  messageValues,
} from './receivedMessages';
import {
  type GroupPeopleColumn,
  groupPeopleColumn,
  groupsOf,
  type PeopleColumn,
  peopleColumn,
} from './referencedRecords';
import { queryNumbered, queryRows, type Statement } from './rows';
import { hasTag, hasText, storedTerms } from './searchTerms';
import {
  ATTEMPTED,
  FROM,
  oneTransaction,
  RECORD,
  type RecordColumns,
  type StoredTransaction,
  type TransactionSnapshot,
  UNDECIDED,
  type UnsealedTransaction,
  unsealed,
} from './storedTransactions';

/** What only the signer takes from elsewhere. */
const SURROUNDINGS = `
    coalesce((SELECT array_agg(n.network_id) FROM account_networks n WHERE n.account_id = account.id), '{}')
      AS account_networks,
    ${peopleColumn('a.organization_id', 't.initiator_id', 'SELECT v.member_id FROM votes v WHERE v.approval_id = a.id')},
    ${groupPeopleColumn('a.organization_id')},
    (SELECT json_build_object(
        'transactionHash', coalesce(max(c.outcome_hash), (array_agg(e.transaction_hash ORDER BY e.id DESC))[1]),
        'submittedAt', coalesce(min(e.sent_at), max(c.block_at)), 'confirmations', max(c.confirmations))
      FROM chain_attempts c LEFT JOIN chain_envelopes e ON e.attempt_id = c.id AND e.sent_at IS NOT NULL
      WHERE c.transaction_id = t.id AND c.kind = 'transaction'
        -- an envelope that a restored backup has lost may have executed it
        AND (e.id IS NOT NULL OR c.outcome_hash IS NOT NULL)
        -- the outcome of an earlier execution says nothing about the current one
        AND (c.outcome IS NULL OR a.execution_status IS DISTINCT FROM 'processing')
      GROUP BY c.id ORDER BY c.id DESC LIMIT 1) AS chain`;

/** The record with the state that its rules depend on. */
const SELECT = `SELECT ${RECORD}, ${SURROUNDINGS} ${FROM}`;

const FOR_MESSAGE = oneTransaction(SURROUNDINGS, messageColumns);
const SNAPSHOT = oneTransaction(SURROUNDINGS, tagColumn);

const TO_OBSERVE = oneTransaction(
  ATTEMPTED,
  `CASE WHEN NOT ${UNDECIDED} THEN
    (SELECT json_object_agg(r.index, r.address) FROM relayers r WHERE r.network_id = t.network_id) END AS relayers`,
);

/** What `SURROUNDINGS` reads beside it. */
type SnapshotColumns = RecordColumns &
  GroupPeopleColumn &
  PeopleColumn & {
    readonly account_networks: readonly string[];
    readonly chain:
      | (Omit<NonNullable<StoredTransaction['chain']>, 'submittedAt'> & { readonly submittedAt: string })
      | null;
  };

function snapshot(row: SnapshotColumns): TransactionSnapshot {
  const { record, now } = unsealed(row);
  const { chain } = row;
  return {
    record: {
      ...record,
      accountNetworkIds: row.account_networks.map(Number),
      chain: chain && { ...chain, submittedAt: new Date(chain.submittedAt) },
    },
    now: {
      ...now,
      members: new Map(row.people.map((member) => [member.id, member])),
      groups: groupsOf(row),
    },
  };
}

/** The call of a transaction, before it is observed on its chain. */
export interface TransactionToObserve {
  readonly record: UnsealedTransaction['record'];
  /** Something of it was stored to be signed. */
  readonly attempted: boolean;
  /** The registered relayers of its network by index; null where something of its account is undecided, or none is. */
  readonly relayers: Readonly<Record<string, string>> | null;
}

/** One transaction of an organization before it is observed, in one statement; or undefined. */
export async function readTransactionToObserve(
  db: Db,
  { organizationId, transactionId }: TransactionRef,
): Promise<TransactionToObserve | undefined> {
  const values = [organizationId, transactionId];
  type Row = RecordColumns & Pick<TransactionToObserve, 'attempted' | 'relayers'>;
  const [row] = await queryNumbered<Row>(db, TO_OBSERVE, values);
  return row && { record: unsealed(row).record, attempted: row.attempted, relayers: row.relayers };
}

/** One transaction of an organization with the state that its rules depend on, in one statement; or undefined. */
export async function readTransaction(
  db: Db | Tx,
  { organizationId, transactionId }: TransactionRef,
): Promise<(TransactionSnapshot & TagColumn) | undefined> {
  const values = [organizationId, transactionId];
  const [row] = await queryNumbered<SnapshotColumns & TagColumn>(db, SNAPSHOT, values);
  return row && { ...snapshot(row), tag: row.tag };
}

/** One transaction by its id alone, for operators. */
export async function findTransactionById(db: Db | Tx, id: string): Promise<TransactionSnapshot | undefined> {
  const [row] = await queryRows<SnapshotColumns>(db, `${SELECT} WHERE a.id = ?`, [id]);
  return row && snapshot(row);
}

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

function selection(filter: TransactionFilter) {
  const { organizationId = '', accountId, policyId, initiatorId, type, recipient, assetId, text } = filter;
  const { createdBy, status } = filter;
  // Each of the first three has an index in the order of the list. What a text finds is sorted in its own table: the list is
  // not searched from its beginning for what may be at its end.
  const ofOne = [accountId, policyId, initiatorId, text].some((one) => one !== undefined);
  return approvalSelection(filter, {
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
  });
}

/** Transactions, newest first, a page at a time. */
export async function listTransactions(
  db: Db | Tx,
  filter: TransactionFilter,
): Promise<TransactionSnapshot[]> {
  const { text, values } = selection(filter);
  return (await queryRows<SnapshotColumns>(db, `${SELECT} ${text}`, values)).map(snapshot);
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
  const { text, values } = selection({ ...filter, limit: filter.limit + 1 });
  const rows = await queryRows<SnapshotColumns & { readonly found: number }>(
    db,
    `WITH ${countedPage('FROM approvals a JOIN transactions t ON t.id = a.id', '(octet_length(t.calldata) - 2) / 2', text)}
      SELECT ${RECORD}, ${SURROUNDINGS}, page.found ${FROM} JOIN counted page ON page.id = a.id
      WHERE page.n = 1 OR (page.n <= ? AND page.upto <= ?) ORDER BY page.n`,
    [...values, filter.limit, maxCalldataBytes],
  );
  return { snapshots: rows.map(snapshot), hasMore: (rows[0]?.found ?? 0) > rows.length };
}

/** Reads a transaction with the state that a message is checked against, in one statement; undefined when it does not exist. */
export async function readTransactionForMessage(
  db: Db | Tx,
  key: MessageKey,
): Promise<(TransactionSnapshot & MessageOrigin) | undefined> {
  const [row] = await queryNumbered<SnapshotColumns & MessageColumns>(db, FOR_MESSAGE, messageValues(key));
  return row && { ...snapshot(row), ...messageOrigin(key, row) };
}

/** Locks a transaction and reads it as it is under the locks (see `lockApproval`). Undefined when there is none. */
export async function lockTransaction(
  tx: Tx,
  key: MessageKey,
): Promise<(TransactionSnapshot & MessageOrigin) | undefined> {
  return (await lockApproval(tx, key)) ? readTransactionForMessage(tx, key) : undefined;
}

/** The transaction's own part of a new record. */
export interface NewTransaction {
  readonly id: string;
  readonly accountId: string;
  readonly networkId: number;
  readonly policyId: string;
  readonly initiatorId: string;
  readonly description: string;
  readonly type: TransactionRecord['type'];
  readonly to: string;
  readonly value: bigint;
  readonly calldata: string;
  readonly content: JsonValue;
  readonly replaces: string | null;
}

/** What a transaction is listed and found by, besides what it is. */
interface Listed {
  readonly organizationId: string;
  readonly summary: string;
  /** That of its approval. */
  readonly position: Knex.Raw | bigint;
}

/** What a search finds a transaction by. */
export function transactionSearchTerms(
  tx: Db | Tx,
  transaction: Pick<
    NewTransaction & Listed,
    | 'id'
    | 'organizationId'
    | 'summary'
    | 'description'
    | 'accountId'
    | 'policyId'
    | 'initiatorId'
    | 'content'
    | 'to'
  >,
): Knex.Raw {
  const { id, organizationId, summary, description, accountId, policyId, initiatorId } = transaction;
  const { destination, toAddress, asset } = transaction.content as Partial<{
    destination: string;
    toAddress: string;
    asset: { readonly id: string };
  }>;
  const recipient = destination ?? toAddress ?? transaction.to;
  return storedTerms(tx, organizationId, {
    texts: [id, summary, description, recipient],
    tags: [
      `to:${recipient.toLowerCase()}`,
      ...(asset ? [`asset:${asset.id.toLowerCase()}` as const] : []),
      `account:${accountId}`,
      `policy:${policyId}`,
      `member:${initiatorId}`,
    ],
  });
}

/** Stores the transaction's own part of a new record. */
export function insertTransaction(tx: Db | Tx, transaction: NewTransaction & Listed): Statement {
  return tx('transactions').insert({
    id: transaction.id,
    account_id: transaction.accountId,
    network_id: transaction.networkId,
    policy_id: transaction.policyId,
    initiator_id: transaction.initiatorId,
    description: transaction.description,
    type: transaction.type,
    to_address: transaction.to,
    value: String(transaction.value),
    calldata: transaction.calldata,
    content: canonicalJson(transaction.content),
    replaces: transaction.replaces,
    position: transaction.position,
    terms: transactionSearchTerms(tx, transaction),
  });
}

/** Sets what an execution waits for, or that it is to be cancelled. Writes only differences. Returns the record then. */
export async function updateExecution<
  R extends Pick<TransactionRecord, 'id' | 'awaitsRelayerWei' | 'cancelling'>,
>(
  tx: Db | Tx,
  record: R,
  change: Partial<Pick<TransactionRecord, 'awaitsRelayerWei' | 'cancelling'>>,
): Promise<R> {
  const { awaitsRelayerWei = record.awaitsRelayerWei, cancelling = record.cancelling } = change;
  if (awaitsRelayerWei === record.awaitsRelayerWei && cancelling === record.cancelling) return record;
  await tx('transactions')
    .where({ id: record.id })
    .update({
      awaits_relayer_wei: awaitsRelayerWei === null ? null : String(awaitsRelayerWei),
      cancelling,
    });
  return { ...record, awaitsRelayerWei, cancelling };
}
