import type { ApprovalKey } from '../domain/approvalRef';
import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import type {
  Deployment,
  DeploymentKey,
  ProposalAction,
  ProposalContext,
  ResourceType,
} from '../domain/proposal';
import { type AdminColumns, adminColumns, adminsInColumns } from './adminColumns';
import { lockApproval } from './approvalLocks';
import {
  type ApprovalFilter,
  approvalSelection,
  type OwnSelection,
  readPageBySize,
  STAGE_CONDITION,
  type Stage,
} from './approvalSelection';
import { type TagColumn, tagColumn } from './approvalTags';
import { type Db, databaseNow, type Tx } from './database';
import { readAdmins } from './members';
import {
  type MessageColumns,
  type MessageKey,
  type MessageOrigin,
  messageColumns,
  messageOrigin,
  messageValues,
} from './receivedMessages';
import { queryNumbered, queryRows, type Statement } from './rows';
import { hasTag, hasText, isTag, storedTerms, type Tag } from './searchTerms';
import { type TimeColumn, timeColumn } from './storedApprovals';
import {
  type ProposalColumns,
  proposalColumns,
  type StoredProposal,
  selectProposals,
  storedProposal,
} from './storedProposals';
import type { OrganizationRow, ProposalRow } from './tables';

/** A proposal with the state that its rules depend on, read at one moment. */
export interface ProposalSnapshot {
  readonly record: StoredProposal;
  readonly now: ProposalContext;
  /** EIP-712 domain salt of the organization. */
  readonly domainSalt: string;
}

/** What a proposal of an organization changes, or undefined. */
export async function findResourceType(
  db: Db,
  { organizationId, id }: ApprovalKey,
): Promise<ResourceType | undefined> {
  const [row] = await queryRows<Pick<ProposalRow, 'resource_type'>>(
    db,
    'SELECT p.resource_type FROM approvals a JOIN proposals p ON p.id = a.id WHERE a.organization_id = ? AND a.id = ?',
    [organizationId, id],
  );
  return row?.resource_type;
}

/** One proposal by its id alone, for operators. */
export async function findProposalById(db: Db | Tx, id: string): Promise<StoredProposal | undefined> {
  const [found] = await selectProposals(db, 'WHERE a.id = ?', [id]);
  return found;
}

const openCondition = `(a.closed_at IS NULL AND (a.expires_at >= now()
  OR a.execution_status = 'processing'
  OR (a.execution_status = 'failed' AND EXISTS (SELECT 1 FROM deployments d
      WHERE d.proposal_id = a.id AND d.status = 'completed'))))`;

/** The filter of a list of proposals. `status`: `open` and `closed` as in `isOpen`. */
export interface ProposalFilter extends ApprovalFilter {
  readonly resourceType?: ResourceType;
  readonly status?: 'open' | 'closed' | Stage;
  readonly text?: string;
  /** What it names, each as `account:acc_…`. */
  readonly names?: readonly Tag[];
}

const STATUS_CONDITION = { open: openCondition, closed: `NOT ${openCondition}`, ...STAGE_CONDITION };

function ownSelection(filter: ProposalFilter): OwnSelection {
  const { organizationId = '', resourceType, status, text, names = [] } = filter;
  return {
    subject: 'proposal',
    conditions: [
      resourceType && ['p.resource_type = ?', [resourceType]],
      status && [STATUS_CONDITION[status], []],
      text === undefined ? undefined : hasText('p', organizationId, text),
      ...names.map((name) => hasTag('p', organizationId, name)),
    ],
    isSearch: text !== undefined || names.length > 0,
  };
}

/** Proposals, newest first, a page at a time. */
export async function listProposals(db: Db | Tx, filter: ProposalFilter): Promise<StoredProposal[]> {
  const { text, values } = approvalSelection(filter, ownSelection(filter));
  return selectProposals(db, text, values);
}

/** The state that the rules of an organization's proposals depend on: its admins and the database's time. */
export async function readProposalNow(db: Db | Tx, organizationId: string): Promise<ProposalContext> {
  return { admins: await readAdmins(db, organizationId), time: await databaseNow(db) };
}

const SNAPSHOT_COLUMNS = `${proposalColumns}, o.domain_salt, ${timeColumn}, ${adminColumns('s')}`;

/** What `SNAPSHOT_COLUMNS` need besides the approval `a`. */
const SNAPSHOT_JOINS = `JOIN proposals p ON p.id = a.id
      JOIN organizations o ON o.id = a.organization_id
      JOIN admin_sets s ON s.organization_id = a.organization_id`;

const FROM_ONE = `FROM approvals a ${SNAPSHOT_JOINS} WHERE a.organization_id = $1 AND a.id = $2`;
const SNAPSHOT = `SELECT ${SNAPSHOT_COLUMNS}, ${tagColumn} ${FROM_ONE}
      AND p.resource_type = coalesce($3, p.resource_type)`;
const FOR_MESSAGE = `SELECT ${SNAPSHOT_COLUMNS}, ${messageColumns} ${FROM_ONE}`;

interface SnapshotColumns
  extends ProposalColumns,
    AdminColumns,
    TimeColumn,
    Pick<OrganizationRow, 'domain_salt'> {}

function snapshotOf(row: SnapshotColumns): ProposalSnapshot {
  return {
    record: storedProposal(row),
    now: { time: row.read_at, admins: adminsInColumns(row) },
    domainSalt: row.domain_salt,
  };
}

/**
 * A page of proposals of an organization, newest first, each with the current admins and time, read at one moment; and whether
 * there are more. It ends before `limit` when their data together is more than so many bytes, and has one at least, if there
 * is one.
 */
export async function pageOfProposals(
  db: Db | Tx,
  filter: ProposalFilter & { readonly organizationId: string },
  maxDataBytes: number,
): Promise<{ snapshots: ProposalSnapshot[]; hasMore: boolean }> {
  const { rows, hasMore } = await readPageBySize<SnapshotColumns>(db, filter, ownSelection(filter), {
    from: 'FROM approvals a JOIN proposals p ON p.id = a.id',
    bytes: 'octet_length(p.data::text)',
    select: `SELECT ${SNAPSHOT_COLUMNS}, counted.found FROM counted JOIN approvals a ON a.id = counted.id
      ${SNAPSHOT_JOINS}`,
    maxBytes: maxDataBytes,
  });
  return { snapshots: rows.map(snapshotOf), hasMore };
}

/** One proposal of an organization, about that resource if one is named, with the current admins and time, in one statement; or undefined. */
export async function readProposalSnapshot(
  db: Db,
  { organizationId, id, resourceType }: ApprovalKey & { resourceType?: ResourceType | undefined },
): Promise<(ProposalSnapshot & TagColumn) | undefined> {
  const values = [organizationId, id, resourceType ?? null];
  const [row] = await queryNumbered<SnapshotColumns & TagColumn>(db, SNAPSHOT, values);
  return row && { ...snapshotOf(row), tag: row.tag };
}

/** Reads a proposal with the state that a message is checked against, in one statement; undefined when it does not exist. */
export async function readProposalForMessage(
  db: Db | Tx,
  key: MessageKey,
): Promise<(ProposalSnapshot & MessageOrigin) | undefined> {
  const [row] = await queryNumbered<SnapshotColumns & MessageColumns>(db, FOR_MESSAGE, messageValues(key));
  return row && { ...snapshotOf(row), ...messageOrigin(key, row) };
}

/** Locks a proposal and reads it as it is under the locks (see `lockApproval`). Undefined when there is none. */
export async function lockProposal(
  tx: Tx,
  key: MessageKey,
  options: { exclusive?: boolean | undefined } = {},
): Promise<(ProposalSnapshot & MessageOrigin) | undefined> {
  return (await lockApproval(tx, key, options)) ? readProposalForMessage(tx, key) : undefined;
}

/** Stores the proposal's own part of a new record. */
export function insertProposal(
  tx: Db | Tx,
  proposal: {
    readonly id: string;
    readonly organizationId: string;
    readonly summary: string;
    readonly resourceType: ResourceType;
    readonly action: ProposalAction;
    readonly data: JsonValue;
    /** What it names. */
    readonly mentions: readonly string[];
  },
): Statement {
  const { id, organizationId, summary, mentions } = proposal;
  return tx('proposals').insert({
    id: proposal.id,
    resource_type: proposal.resourceType,
    action: proposal.action,
    data: canonicalJson(proposal.data),
    terms: storedTerms(tx, organizationId, { texts: [id, summary], tags: mentions.filter(isTag) }),
  });
}

/** Records that the tables show the change of a proposal. */
export function markApplied(tx: Tx, id: string, effective: boolean): Statement {
  return tx('proposals')
    .where({ id })
    .update({ applied_at: tx.raw('now()'), effective });
}

/** Stores the deployments of a proposal. */
export async function insertDeployments(
  tx: Tx,
  proposalId: string,
  targets: readonly { readonly accountId: string; readonly networkId: number }[],
): Promise<void> {
  if (targets.length === 0) return;
  await tx('deployments').insert(
    targets.map((target) => ({
      proposal_id: proposalId,
      account_id: target.accountId,
      network_id: target.networkId,
      status: 'pending',
    })),
  );
}

/** Changes the status of one deployment. */
export async function updateDeployment(
  tx: Tx,
  key: Pick<DeploymentKey, 'proposalId' | 'accountId' | 'networkId'>,
  change: Pick<Deployment, 'status' | 'transactionHash' | 'failure' | 'waitingFor'>,
): Promise<void> {
  await tx('deployments')
    .where({ proposal_id: key.proposalId, account_id: key.accountId, network_id: BigInt(key.networkId) })
    .update({
      status: change.status,
      transaction_hash: change.transactionHash,
      failure: change.failure === null ? null : JSON.stringify(change.failure),
      waiting_for: change.waitingFor,
      updated_at: tx.raw('now()'),
    });
}
