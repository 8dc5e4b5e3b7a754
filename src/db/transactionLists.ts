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
import { idsOfSettings } from './referencedRecords';
import { queryRows } from './rows';
import { hasTag, hasText, type SearchCondition, tagTerm } from './searchTerms';
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
  readonly networkId?: number;
  readonly externalId?: string;
  readonly tag?: string;
  /** Only what a member might have to sign: their rules say what of it they can. */
  readonly maySign?: string;
}

const STATUS_CONDITION = {
  queued: openCondition,
  executed: `(a.execution_status IN ('completed', 'rejected') OR (a.execution_status = 'failed' AND NOT ${openCondition}))`,
  ...STAGE_CONDITION,
};

/** That a transaction is open, and a member its initiator, or named by its policy or in a group that it names. */
function mightSign(organizationId: string, memberId: string): SearchCondition {
  return [
    `a.closed_at IS NULL AND a.expires_at >= now() AND (t.initiator_id = ? OR t.policy_id IN (
      SELECT p.id FROM policies p WHERE p.organization_id = ? AND (? = ANY (${idsOfSettings('memberId', 'approverSetting')})
        OR ${idsOfSettings('groupId', 'approverSetting')} && ARRAY(SELECT gm.group_id FROM group_members gm WHERE gm.member_id = ?))))`,
    [memberId, organizationId, memberId, memberId],
  ];
}

/** The columns that are compared as they are. */
const COLUMNS = {
  accountId: 't.account_id',
  policyId: 't.policy_id',
  initiatorId: 't.initiator_id',
  networkId: 't.network_id',
  externalId: 't.external_id',
  type: 't.type',
  createdBy: 'a.created_by',
} as const satisfies { readonly [Field in keyof TransactionFilter]?: string };

const COMPARED = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];

/**
 * The column of the position, by which a list is read. Each of these fields has an index in the order of the list. What a text finds
 * is sorted, and no index is in the order of a sum: the list is not searched from its beginning for what may be at its end.
 */
function positionColumn(
  given: (...fields: readonly (keyof TransactionFilter)[]) => boolean,
): string | undefined {
  if (given('text')) return '(t.position + 0)';
  return given('accountId', 'policyId', 'initiatorId', 'networkId', 'type') ? 't.position' : undefined;
}

function ownSelection(filter: TransactionFilter): OwnSelection {
  const { organizationId, recipient, assetId, tag, text, maySign, status } = filter;
  const given = (...fields: readonly (keyof TransactionFilter)[]) =>
    fields.some((field) => filter[field] !== undefined);
  const tagged = ([noun, id]: readonly ['to' | 'asset', string | undefined]) =>
    id === undefined ? undefined : hasTag('t', organizationId ?? '', `${noun}:${id.toLowerCase()}`);
  return {
    subject: 'transaction',
    conditions: [
      // Their indexes begin with it.
      organizationId !== undefined && given('networkId', 'externalId', 'type')
        ? ['t.organization_id = ?', [organizationId]]
        : undefined,
      ...COMPARED.map((field): SearchCondition | undefined => {
        const value = filter[field];
        return value === undefined ? undefined : [`${COLUMNS[field]} = ?`, [value]];
      }),
      tagged(['to', recipient]),
      tagged(['asset', assetId]),
      tag === undefined ? undefined : hasTag('t', organizationId ?? '', tagTerm(tag)),
      text === undefined ? undefined : hasText('t', organizationId ?? '', text),
      maySign === undefined ? undefined : mightSign(organizationId ?? '', maySign),
      status && [STATUS_CONDITION[status], []],
    ],
    position: positionColumn(given),
    isSearch: given('recipient', 'assetId', 'tag', 'text'),
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
