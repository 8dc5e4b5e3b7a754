import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import type { Failure, MemberSummary, Note } from '../domain/proposal';
import type {
  TransactionNow,
  TransactionRecord,
  TransactionResult,
  TransactionStanding,
  TransactionVote,
  TransactionVoteType,
} from '../domain/transaction';
import type { Db, Row, Tx } from './database';
import { uuidOrNull } from './ids';
import { readDefinition } from './policies';
import { type PreparedStatement, runPrepared } from './prepared';
import { groupPeopleColumn, groupsOf, memberColumn } from './transactionWorld';

/** A transaction as it is stored. */
export interface StoredTransaction extends TransactionRecord {
  /** Place in the order of commit. */
  readonly position: bigint;
  readonly createdByKey: string | null;
  readonly accountName: string;
  /** Networks that the account is on. */
  readonly accountNetworkIds: readonly number[];
  readonly votes: readonly StoredTransactionVote[];
}

/** A recorded signature with its evidence. */
export interface StoredTransactionVote extends TransactionVote {
  readonly scheme: 'eoa' | 'eip1271' | 'erc6492';
  /** The signature as it was sent: ABI-encoded signer and bytes. */
  readonly signature: string;
  readonly createdAt: Date;
}

/** A transaction with the world that it is judged in, read at one moment. */
export interface TransactionSnapshot {
  readonly record: StoredTransaction;
  readonly now: TransactionNow;
}

const SELECT = `SELECT t.*, date_trunc('milliseconds', now()) AS read_at,
    a.address AS account_address, a.name AS account_name,
    coalesce((SELECT array_agg(n.network_id) FROM account_networks n WHERE n.account_id = a.id), '{}') AS account_networks,
    ${memberColumn('i')} AS initiator,
    p.definition AS policy_definition, p.removed_at IS NOT NULL AS policy_removed,
    coalesce((SELECT json_agg(json_build_object(
        'memberId', v.member_id, 'type', v.type, 'signerAddress', v.signer_address, 'scheme', v.scheme,
        'signature', v.signature, 'signatureHash', v.signature_hash,
        'initiatorSignatureHash', v.initiator_signature_hash, 'createdAt', v.created_at
      ) ORDER BY v.id) FROM transaction_votes v WHERE v.transaction_id = t.id), '[]') AS votes,
    coalesce((SELECT json_agg(${memberColumn('m')}) FROM members m
      WHERE m.organization_id = t.organization_id AND m.removed_at IS NULL AND (m.id = t.initiator_id
        OR m.id IN (p.definition->'initiatorSetting'->>'memberId', p.definition->'approverSetting'->>'memberId')
        OR EXISTS (SELECT FROM transaction_votes v WHERE v.transaction_id = t.id AND v.member_id = m.id))), '[]') AS people,
    ${groupPeopleColumn('t.organization_id')},
    carried.transaction_hash AS carried_hash, carried.submitted_at, carried.confirmations
  FROM transactions t
  JOIN accounts a ON a.id = t.account_id
  JOIN members i ON i.id = t.initiator_id
  JOIN policies p ON p.id = t.policy_id
  LEFT JOIN LATERAL (
    SELECT coalesce(max(c.outcome_hash), (array_agg(e.transaction_hash ORDER BY e.id DESC))[1]) AS transaction_hash,
      min(e.sent_at) AS submitted_at, max(c.confirmations) AS confirmations
    FROM chain_attempts c JOIN chain_envelopes e ON e.attempt_id = c.id AND e.sent_at IS NOT NULL
    WHERE c.transaction_id = t.id AND c.kind = 'transaction'
      -- what an earlier execution came to says nothing of the one under way
      AND (c.outcome IS NULL OR t.execution_status IS DISTINCT FROM 'processing')
    GROUP BY c.id ORDER BY c.id DESC LIMIT 1
  ) AS carried ON true`;

function snapshot(row: Row): TransactionSnapshot {
  const people: MemberSummary[] = row.people;
  return {
    record: {
      id: row.id,
      organizationId: row.organization_id,
      accountId: row.account_id,
      accountAddress: row.account_address,
      accountName: row.account_name,
      accountNetworkIds: row.account_networks.map(Number),
      networkId: Number(row.network_id),
      policyId: row.policy_id,
      initiator: row.initiator,
      description: row.description,
      type: row.type,
      to: row.to_address,
      value: BigInt(row.value),
      calldata: row.calldata,
      content: row.content,
      summary: row.summary,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      expiresAt: row.expires_at,
      position: row.position,
      version: row.version,
      createdByKey: row.created_by_key,
      executionStatus: row.execution_status,
      executionAttempt: row.execution_attempt,
      executedWith: row.executed_with,
      waitingFor: row.waiting_for,
      awaitsRelayerWei: row.awaits_relayer_wei === null ? null : BigInt(row.awaits_relayer_wei),
      givingUp: row.giving_up,
      failure: row.failure,
      notes: row.notes,
      result: row.result,
      chain:
        row.carried_hash === null
          ? null
          : {
              transactionHash: row.carried_hash,
              submittedAt: row.submitted_at,
              confirmations: row.confirmations,
            },
      closed: row.closed_at !== null,
      frozen: row.frozen,
      votes: row.votes.map((vote: Row) => ({ ...vote, createdAt: new Date(vote.createdAt) })),
    },
    now: {
      time: row.read_at,
      policy: { ...readDefinition(row.policy_definition), id: row.policy_id },
      policyRemoved: row.policy_removed,
      members: new Map(people.map((member) => [member.id, member])),
      groups: groupsOf(row),
    },
  };
}

/** Names a transaction. */
export interface TransactionKey {
  readonly organizationId: string;
  readonly transactionId: string;
}

const SNAPSHOT: PreparedStatement = {
  name: 'transaction_snapshot',
  text: `${SELECT} WHERE t.organization_id = $1 AND t.id = $2`,
};

/** One transaction of an organization with the world of now, in one statement; or undefined. */
export async function readTransaction(
  db: Db | Tx,
  { organizationId, transactionId }: TransactionKey,
): Promise<TransactionSnapshot | undefined> {
  const [row]: Row[] = await runPrepared(db, SNAPSHOT, [organizationId, transactionId]);
  return row && snapshot(row);
}

/** One transaction by its id alone, for operators. */
export async function findTransactionById(db: Db | Tx, id: string): Promise<TransactionSnapshot | undefined> {
  const { rows } = await db.raw<{ rows: Row[] }>(`${SELECT} WHERE t.id = ?`, [id]);
  return rows[0] && snapshot(rows[0]);
}

const openCondition = `(t.closed_at IS NULL AND (t.expires_at >= now() OR t.execution_status = 'processing'))`;

/** Which transactions a list holds. queued: can still change; executed: completed or rejected. */
export interface TransactionFilter {
  readonly organizationId?: string;
  readonly accountId?: string;
  readonly status?: 'queued' | 'executed';
  readonly executionStatus?: readonly string[];
  /** Only those that are not closed. */
  readonly unclosed?: true;
  readonly createdByKey?: string;
  readonly before?: bigint;
  readonly limit: number;
}

function selection(filter: TransactionFilter): { text: string; values: never[] } {
  const conditions: [string, unknown][] = [
    ['t.organization_id = ?', filter.organizationId],
    ['t.account_id = ?', filter.accountId],
    ['t.execution_status = ANY (?::text[])', filter.executionStatus && [...filter.executionStatus]],
    ['t.created_by_key = ?', filter.createdByKey],
    ['t.position < ?::bigint', filter.before === undefined ? undefined : String(filter.before)],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  const where = [
    'true',
    ...given.map(([condition]) => condition),
    ...(filter.unclosed ? ['t.closed_at IS NULL'] : []),
    ...(filter.status === 'queued' ? [openCondition] : []),
    ...(filter.status === 'executed' ? [`t.execution_status IN ('completed', 'rejected')`] : []),
  ];
  const order = filter.organizationId === undefined ? 't.id DESC' : 't.position DESC, t.id DESC';
  return {
    text: `WHERE ${where.join(' AND ')} ORDER BY ${order} LIMIT ?`,
    values: [...given.map(([, value]) => value), filter.limit] as never[],
  };
}

/** Transactions, newest first, a page at a time. */
export async function listTransactions(
  db: Db | Tx,
  filter: TransactionFilter,
): Promise<TransactionSnapshot[]> {
  const { text, values } = selection(filter);
  const { rows } = await db.raw<{ rows: Row[] }>(`${SELECT} ${text}`, values);
  return rows.map(snapshot);
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
  const { rows: found } = await db.raw<{ rows: Row[] }>(
    `SELECT t.id, (octet_length(t.calldata) - 2) / 2 AS bytes FROM transactions t ${text}`,
    values,
  );
  let bytes = 0;
  const fitting = found.slice(0, filter.limit).filter((row, i) => {
    bytes += row.bytes;
    return i === 0 || bytes <= maxCalldataBytes;
  });
  if (fitting.length === 0) return { snapshots: [], hasMore: false };
  const { rows } = await db.raw<{ rows: Row[] }>(
    `${SELECT} WHERE t.id = ANY (?::text[]) ORDER BY t.position DESC, t.id DESC`,
    [fitting.map(({ id }) => id)],
  );
  return { snapshots: rows.map(snapshot), hasMore: found.length > fitting.length };
}

/** Names a message to a transaction, or (without `messageId`) only the transaction. */
export interface TransactionMessageKey extends TransactionKey {
  readonly messageId?: string;
  /** Id of the stored request that carried it, when it came through the API. */
  readonly requestId?: string;
}

/** A transaction with everything that a message to it is judged by. */
export interface TransactionForMessage extends TransactionSnapshot {
  /** True when the message has had its effect. */
  readonly messageTaken: boolean;
  /** The API key that sent the message; null when it came another way. */
  readonly apiKeyId: string | null;
}

const FOR_MESSAGE: PreparedStatement = {
  name: 'transaction_for_message',
  text: `SELECT whole.*,
      EXISTS (SELECT FROM transaction_messages WHERE transaction_id = $2 AND message_id = $3) AS message_taken,
      (SELECT api_key_id FROM idempotency_requests r
        WHERE r.id = $4 AND r.organization_id = $1 AND r.resource_id = $2) AS request_api_key_id
    FROM (${SELECT} WHERE t.organization_id = $1 AND t.id = $2) AS whole`,
};

/** Reads a transaction with what a message to it is judged by, in one statement; undefined when there is none. */
export async function readTransactionForMessage(
  db: Db | Tx,
  { organizationId, transactionId, messageId, requestId }: TransactionMessageKey,
): Promise<TransactionForMessage | undefined> {
  const values = [organizationId, transactionId, messageId ?? null, uuidOrNull(requestId)];
  const [row]: Row[] = await runPrepared(db, FOR_MESSAGE, values);
  return row && { ...snapshot(row), messageTaken: row.message_taken, apiKeyId: row.request_api_key_id };
}

// The admins come first, as everywhere: an execution that changes people or policies has the organization to itself.
const LOCK: PreparedStatement = {
  name: 'lock_transaction',
  text: `WITH admins AS MATERIALIZED (
      SELECT organization_id FROM admin_sets WHERE organization_id = $1 FOR SHARE
    )
    SELECT 1 FROM admins JOIN transactions ON transactions.organization_id = admins.organization_id
    WHERE transactions.id = $2
    FOR UPDATE OF transactions`,
};

/**
 * Locks a transaction, and its organization's people and policies against change, until the end of the database
 * transaction; then reads it as it is under the locks. Undefined when there is none.
 */
export async function lockTransaction(
  tx: Tx,
  key: TransactionMessageKey,
): Promise<TransactionForMessage | undefined> {
  const locked = await runPrepared(tx, LOCK, [key.organizationId, key.transactionId]);
  // A statement of its own: one that has waited for a lock still sees the rest as it was before.
  return locked.length === 0 ? undefined : readTransactionForMessage(tx, key);
}

/** A transaction as it is first stored. */
export interface NewTransaction {
  readonly id: string;
  readonly organizationId: string;
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
  readonly summary: string;
  readonly names: readonly string[];
  readonly expiresAt: Date;
  readonly createdByKey: string | null;
}

/** Stores a new transaction. Its place in the list follows with `placeTransaction`. */
export async function insertTransaction(tx: Tx, transaction: NewTransaction): Promise<void> {
  await tx('transactions').insert({
    id: transaction.id,
    organization_id: transaction.organizationId,
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
    summary: transaction.summary,
    names: transaction.names,
    expires_at: transaction.expiresAt,
    created_by_key: transaction.createdByKey,
    position: 0,
  });
}

/** Sets a new transaction's place in the order of commit: the position of the audit entry of its creation. */
export async function placeTransaction(tx: Tx, id: string, position: bigint): Promise<void> {
  await tx('transactions')
    .where({ id })
    .update({ position: String(position) });
}

/** The network of a transaction, and how its execution stands; undefined when there is none. */
export async function findTransactionStatus(
  db: Db | Tx,
  { organizationId, transactionId }: TransactionKey,
): Promise<{ readonly networkId: number; readonly executionStatus: string | null } | undefined> {
  const row = await db('transactions')
    .where({ organization_id: organizationId, id: transactionId })
    .first('network_id', 'execution_status');
  return row && { networkId: Number(row.network_id), executionStatus: row.execution_status };
}

/** What can change about a stored transaction. */
export interface TransactionChange {
  executionStatus?: TransactionRecord['executionStatus'];
  executionAttempt?: number;
  executionStarted?: true;
  executedWith?: TransactionStanding;
  waitingFor?: string | null;
  awaitsRelayerWei?: bigint | null;
  givingUp?: boolean;
  failure?: Failure | null;
  notes?: readonly Note[];
  result?: TransactionResult | null;
  expired?: true;
  /** Freezes how the votes stand; nothing can change any more. */
  closedWith?: TransactionStanding;
  /** Takes a close back: the chain has lost the block that decided it. */
  reopened?: true;
}

/** Changes a transaction, counts its version up and tells listeners on `transaction_changed` at commit. */
export async function updateTransaction(tx: Tx, id: string, change: TransactionChange): Promise<void> {
  const now = tx.raw('now()');
  const json = (value: object | null) => (value === null ? null : JSON.stringify(value));
  const wei = change.awaitsRelayerWei;
  await tx('transactions')
    .where({ id })
    .update({
      version: tx.raw('version + 1'),
      updated_at: now,
      ...(change.executionStatus === undefined ? {} : { execution_status: change.executionStatus }),
      ...(change.executionAttempt === undefined ? {} : { execution_attempt: change.executionAttempt }),
      ...(change.executionStarted ? { execution_started_at: now } : {}),
      ...(change.executedWith ? { executed_with: json(change.executedWith) } : {}),
      ...(change.waitingFor === undefined ? {} : { waiting_for: change.waitingFor }),
      ...(wei === undefined ? {} : { awaits_relayer_wei: wei === null ? null : String(wei) }),
      ...(change.givingUp === undefined ? {} : { giving_up: change.givingUp }),
      ...(change.failure === undefined ? {} : { failure: json(change.failure) }),
      ...(change.notes ? { notes: JSON.stringify(change.notes) } : {}),
      ...(change.result === undefined ? {} : { result: json(change.result) }),
      ...(change.expired ? { expired_at: now } : {}),
      ...(change.closedWith ? { frozen: json(change.closedWith), closed_at: now } : {}),
      ...(change.reopened ? { frozen: null, closed_at: null } : {}),
    })
    .returning(tx.raw(`pg_notify('transaction_changed', id) AS told`));
}

/** Stores a vote. What it concerns gains its member, so that what becomes of them is noted. */
export async function insertTransactionVote(
  tx: Tx,
  vote: {
    readonly transactionId: string;
    readonly memberId: string;
    readonly type: TransactionVoteType;
    readonly signerAddress: string;
    readonly scheme: StoredTransactionVote['scheme'];
    readonly signature: string;
    readonly signatureHash: string;
    readonly initiatorSignatureHash: string | null;
    readonly reason: string | null;
    readonly apiKeyId: string | null;
  },
): Promise<void> {
  await tx.raw(
    `WITH vote AS (
      INSERT INTO transaction_votes (transaction_id, member_id, type, signer_address, scheme, signature,
        signature_hash, initiator_signature_hash, reason, api_key_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING transaction_id, 'member:' || member_id AS name
    )
    UPDATE transactions SET names = array_append(names, vote.name) FROM vote
    WHERE id = vote.transaction_id AND NOT names @> ARRAY[vote.name]`,
    [
      vote.transactionId,
      vote.memberId,
      vote.type,
      vote.signerAddress,
      vote.scheme,
      vote.signature,
      vote.signatureHash,
      vote.initiatorSignatureHash,
      vote.reason,
      vote.apiKeyId,
    ] as never[],
  );
}

/** Notes that a new message has its effect in this transaction. Call it with the record locked. */
export async function takeTransactionMessage(
  tx: Tx,
  messageId: string,
  transactionId: string,
  kind: string,
): Promise<void> {
  await tx('transaction_messages').insert({ message_id: messageId, transaction_id: transactionId, kind });
}

/** True when a message with this id has had its effect on that transaction. */
export async function transactionMessageWasTaken(
  db: Db | Tx,
  messageId: string,
  transactionId: string,
): Promise<boolean> {
  const taken = await db('transaction_messages')
    .where({ message_id: messageId, transaction_id: transactionId })
    .first('message_id');
  return taken !== undefined;
}
