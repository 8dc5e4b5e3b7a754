import type { Knex } from 'knex';
import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import type { ReferenceChange, References } from '../domain/references';
import type { TransactionRecord, TransactionRef } from '../domain/transaction';
import { lockApproval } from './approvalLocks';
import { type TagColumn, tagColumn } from './approvalTags';
import type { Db, Tx } from './database';
import { feesColumn } from './feeSums';
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
import { storedTerms, tagTerm } from './searchTerms';
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
import type { ReferenceColumns } from './tables';

/** What only the signer takes from elsewhere, or has no use for. */
export const SURROUNDINGS = `
    t.external_id, t.metadata, t.tags,
    ${feesColumn},
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
export const SELECT = `SELECT ${RECORD}, ${SURROUNDINGS} ${FROM}`;

const FOR_MESSAGE = oneTransaction(SURROUNDINGS, messageColumns);
const SNAPSHOT = oneTransaction(SURROUNDINGS, tagColumn);

const TO_OBSERVE = oneTransaction(
  ATTEMPTED,
  `CASE WHEN NOT ${UNDECIDED} THEN
    (SELECT json_object_agg(r.index, r.address) FROM relayers r WHERE r.network_id = t.network_id) END AS relayers`,
);

/** What `SURROUNDINGS` reads beside it. */
export type SnapshotColumns = RecordColumns &
  ReferenceColumns &
  GroupPeopleColumn &
  PeopleColumn & {
    readonly fees: StoredTransaction['fees'];
    readonly account_networks: readonly string[];
    readonly chain:
      | (Omit<NonNullable<StoredTransaction['chain']>, 'submittedAt'> & { readonly submittedAt: string })
      | null;
  };

/** A transaction as it was read, with the state that its rules depend on. */
export function snapshotOf(row: SnapshotColumns): TransactionSnapshot {
  const { record, now } = unsealed(row);
  const { chain, external_id: externalId, metadata, tags, fees } = row;
  return {
    record: {
      ...record,
      references: { externalId, metadata: metadata as References['metadata'], tags },
      fees,
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
  return row && { ...snapshotOf(row), tag: row.tag };
}

/** One transaction by its id alone, for operators. */
export async function findTransactionById(db: Db | Tx, id: string): Promise<TransactionSnapshot | undefined> {
  const [row] = await queryRows<SnapshotColumns>(db, `${SELECT} WHERE a.id = ?`, [id]);
  return row && snapshotOf(row);
}

/** Reads a transaction with the state that a message is checked against, in one statement; undefined when it does not exist. */
export async function readTransactionForMessage(
  db: Db | Tx,
  key: MessageKey,
): Promise<(TransactionSnapshot & MessageOrigin) | undefined> {
  const [row] = await queryNumbered<SnapshotColumns & MessageColumns>(db, FOR_MESSAGE, messageValues(key));
  return row && { ...snapshotOf(row), ...messageOrigin(key, row) };
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
  readonly references?: Partial<References>;
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
    | 'references'
  >,
): Knex.Raw {
  const { id, organizationId, summary, description, accountId, policyId, initiatorId } = transaction;
  const { externalId, tags = [] } = transaction.references ?? {};
  const { destination, toAddress, asset } = transaction.content as Partial<{
    destination: string;
    toAddress: string;
    asset: { readonly id: string };
  }>;
  const recipient = destination ?? toAddress ?? transaction.to;
  return storedTerms(tx, organizationId, {
    texts: [id, summary, description, recipient, externalId ?? '', ...tags],
    tags: [
      `to:${recipient.toLowerCase()}`,
      ...(asset ? [`asset:${asset.id.toLowerCase()}` as const] : []),
      `account:${accountId}`,
      `policy:${policyId}`,
      `member:${initiatorId}`,
      ...tags.map(tagTerm),
    ],
  });
}

/** Stores the transaction's own part of a new record. */
export function insertTransaction(tx: Db | Tx, transaction: NewTransaction & Listed): Statement {
  const { externalId = null, metadata = {}, tags = [] } = transaction.references ?? {};
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
    organization_id: transaction.organizationId,
    external_id: externalId,
    metadata: canonicalJson(metadata),
    tags: [...tags],
  });
}

/** Changes metadata and tags of a transaction, and what it is found by. */
export function updateReferences(
  tx: Tx,
  record: StoredTransaction,
  { metadata = record.references.metadata, tags = record.references.tags }: ReferenceChange,
): Statement {
  const { id, initiator, references } = record;
  const changed = { ...record, initiatorId: initiator.id, references: { ...references, tags } };
  return tx('transactions')
    .where({ id })
    .update({
      metadata: canonicalJson(metadata),
      tags: [...tags],
      terms: transactionSearchTerms(tx, changed),
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
