import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import type {
  Deployment,
  Failure,
  Note,
  Now,
  ProposalAction,
  ProposalRecord,
  ResourceType,
  ResultResource,
  Standing,
  Vote,
} from '../domain/proposal';
import type { Db, Row, Tx } from './database';
import { databaseNow } from './database';
import { readAdmins } from './members';

/** A proposal as it is stored. */
export interface StoredProposal extends ProposalRecord {
  /** What the change needs besides `data`, fixed when proposed. */
  readonly plan: JsonValue;
  readonly updatedAt: Date;
  /** Place in the order of commit. */
  readonly position: bigint;
  readonly createdByKey: string | null;
  /** How the votes stood when the last execution began. */
  readonly executedWith: Standing | null;
  readonly votes: readonly StoredVote[];
}

/** A recorded signature with its evidence. */
export interface StoredVote extends Vote {
  readonly scheme: 'eoa' | 'eip1271' | 'erc6492';
  /** The signature as it was sent: ABI-encoded signer and bytes. */
  readonly signature: string;
  readonly createdAt: Date;
}

/** The deployments of `proposals` as one JSON column. */
export const deploymentsColumn = `coalesce((SELECT json_agg(json_build_object(
    'accountId', d.account_id, 'networkId', d.network_id, 'status', d.status,
    'transactionHash', d.transaction_hash, 'failure', d.failure, 'waitingFor', d.waiting_for
  ) ORDER BY d.account_id, d.network_id) FROM proposal_deployments d WHERE d.proposal_id = proposals.id), '[]') AS deployments`;

/** The votes of `proposals` as one JSON column. */
export const votesColumn = `coalesce((SELECT json_agg(json_build_object(
    'memberId', v.member_id, 'type', v.type, 'signerAddress', v.signer_address, 'scheme', v.scheme,
    'signature', v.signature, 'createdAt', v.created_at
  ) ORDER BY v.id) FROM proposal_votes v WHERE v.proposal_id = proposals.id), '[]') AS votes`;

/** Reads a row of `proposals` with the two columns above. */
export function storedProposal(row: Row): StoredProposal {
  return {
    id: row.id,
    organizationId: row.organization_id,
    resourceType: row.resource_type,
    action: row.action,
    data: row.data,
    plan: row.plan,
    summary: row.summary,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
    position: row.position,
    version: row.version,
    createdByKey: row.created_by_key,
    executedWith: row.executed_with,
    executionStatus: row.execution_status,
    executionAttempt: row.execution_attempt,
    applied: row.applied_at !== null,
    effective: row.effective,
    failure: row.failure,
    notes: row.notes,
    result: row.result,
    closed: row.closed_at !== null,
    frozen: row.frozen,
    votes: row.votes.map((vote: Row) => ({ ...vote, createdAt: new Date(vote.createdAt) })),
    deployments: row.deployments,
  };
}

function selectProposals(db: Db | Tx) {
  return db('proposals').select('proposals.*', db.raw(votesColumn), db.raw(deploymentsColumn));
}

/** One proposal of an organization, or undefined. */
export async function findProposal(
  db: Db | Tx,
  organizationId: string,
  id: string,
  resourceType?: ResourceType,
): Promise<StoredProposal | undefined> {
  const query = selectProposals(db).where({ organization_id: organizationId, id }).first();
  if (resourceType !== undefined) query.where('resource_type', resourceType);
  const row = await query;
  return row && storedProposal(row);
}

/** The admin proposal that is queued: it can still change. Undefined when there is none. */
export async function findQueuedAdminProposal(
  db: Db,
  organizationId: string,
): Promise<StoredProposal | undefined> {
  const [queued] = await listProposals(db, {
    organizationId,
    resourceType: 'admins',
    status: 'open',
    limit: 1,
  });
  return queued;
}

/** One proposal by its id alone, for operators. */
export async function findProposalById(db: Db | Tx, id: string): Promise<StoredProposal | undefined> {
  const row = await selectProposals(db).where({ id }).first();
  return row && storedProposal(row);
}

/**
 * Locks a proposal until the end of the transaction and reads it as it is then. Undefined when there is none. Whoever
 * needs the organization's admins locked too locks them first.
 */
export async function lockProposal(
  tx: Tx,
  organizationId: string,
  id: string,
): Promise<StoredProposal | undefined> {
  const locked = await tx('proposals').where({ organization_id: organizationId, id }).forUpdate().first('id');
  return locked && findProposal(tx, organizationId, id);
}

const openCondition = `proposals.closed_at IS NULL AND (proposals.expires_at >= now()
  OR proposals.execution_status = 'processing'
  OR (proposals.execution_status = 'failed' AND EXISTS (SELECT 1 FROM proposal_deployments d
      WHERE d.proposal_id = proposals.id AND d.status = 'completed')))`;

/** Proposals, newest first, a page at a time. `status` as in `isOpen`. */
export async function listProposals(
  db: Db | Tx,
  page: {
    organizationId?: string;
    resourceType?: ResourceType;
    status?: 'open' | 'closed';
    executionStatus?: readonly string[];
    before?: bigint;
    limit: number;
  },
): Promise<StoredProposal[]> {
  const query = selectProposals(db).orderBy('position', 'desc').orderBy('id', 'desc').limit(page.limit);
  if (page.organizationId !== undefined) query.where('organization_id', page.organizationId);
  if (page.resourceType !== undefined) query.where('resource_type', page.resourceType);
  if (page.status === 'open') query.whereRaw(openCondition);
  if (page.status === 'closed') query.whereRaw(`NOT (${openCondition})`);
  if (page.executionStatus !== undefined) query.whereIn('execution_status', [...page.executionStatus]);
  if (page.before !== undefined) query.where('position', '<', String(page.before));
  return (await query).map(storedProposal);
}

/** The world that an organization's open proposals are judged in: its admins and the database's time. */
export async function readNow(
  db: Db | Tx,
  organizationId: string,
  options: { lock?: 'share' } = {},
): Promise<Now> {
  return { admins: await readAdmins(db, organizationId, options), time: await databaseNow(db) };
}

/** Stores a new proposal and takes its claims. Answers the claim that is taken instead when there is one. */
export async function insertProposal(
  tx: Tx,
  proposal: {
    id: string;
    organizationId: string;
    resourceType: ResourceType;
    action: ProposalAction;
    data: JsonValue;
    plan: JsonValue;
    summary: string;
    expiresAt: Date;
    createdByKey: string | null;
    claims: readonly string[];
    names: readonly string[];
  },
): Promise<{ takenClaim: string; byProposal: string } | undefined> {
  const inserted = await tx('proposals')
    .insert({
      id: proposal.id,
      organization_id: proposal.organizationId,
      resource_type: proposal.resourceType,
      action: proposal.action,
      data: canonicalJson(proposal.data),
      plan: canonicalJson(proposal.plan),
      summary: proposal.summary,
      expires_at: proposal.expiresAt,
      position: 0,
      created_by_key: proposal.createdByKey,
      names: proposal.names,
    })
    .onConflict(tx.raw(`(organization_id) WHERE resource_type = 'admins' AND closed_at IS NULL`))
    .ignore()
    .returning('id');
  if (inserted.length === 0) {
    const queued = await tx('proposals')
      .where({ organization_id: proposal.organizationId, resource_type: 'admins', closed_at: null })
      .first('id');
    return { takenClaim: 'admins', byProposal: queued?.id ?? '' };
  }
  for (const claim of [...proposal.claims].sort()) {
    const taken = await tx('proposal_claims')
      .insert({ organization_id: proposal.organizationId, claim, proposal_id: proposal.id })
      .onConflict(['organization_id', 'claim'])
      .ignore()
      .returning('claim');
    if (taken.length === 0) {
      const holder = await tx('proposal_claims')
        .where({ organization_id: proposal.organizationId, claim })
        .first('proposal_id');
      return { takenClaim: claim, byProposal: holder?.proposal_id ?? '' };
    }
  }
  return undefined;
}

/**
 * Sets a new proposal's place in the order of commit: the position of the audit entry of its creation. Returns the
 * proposal as it is stored; it has no votes and no deployments yet.
 */
export async function placeProposal(tx: Tx, id: string, position: bigint): Promise<StoredProposal> {
  const [row] = await tx('proposals')
    .where({ id })
    .update({ position: String(position) })
    .returning('*');
  return storedProposal({ ...row, votes: [], deployments: [] });
}

/** What can change about a stored proposal. */
export interface ProposalChange {
  executionStatus?: ProposalRecord['executionStatus'];
  executionAttempt?: number;
  executedWith?: Standing;
  applied?: true;
  effective?: boolean;
  failure?: Failure | null;
  notes?: readonly Note[];
  result?: { resolution: 'approved' | 'rejected'; resources: readonly ResultResource[] };
  expired?: true;
  /** Freezes how the votes stand; nothing can change any more. */
  closedWith?: Standing;
  /** Freezes how the votes stand at expiry, while a deployment may still be finished. */
  frozen?: Standing;
}

/** Changes a proposal, counts its version up and tells listeners on `proposal_changed` at commit. */
export async function updateProposal(tx: Tx, id: string, change: ProposalChange): Promise<void> {
  const now = tx.raw('now()');
  await tx('proposals')
    .where({ id })
    .update({
      version: tx.raw('version + 1'),
      updated_at: now,
      ...(change.executionStatus !== undefined ? { execution_status: change.executionStatus } : {}),
      ...(change.executionAttempt !== undefined ? { execution_attempt: change.executionAttempt } : {}),
      ...(change.executedWith ? { executed_with: JSON.stringify(change.executedWith) } : {}),
      ...(change.applied ? { applied_at: now } : {}),
      ...(change.effective !== undefined ? { effective: change.effective } : {}),
      ...(change.failure !== undefined
        ? { failure: change.failure === null ? null : JSON.stringify(change.failure) }
        : {}),
      ...(change.notes !== undefined ? { notes: JSON.stringify(change.notes) } : {}),
      ...(change.result !== undefined ? { result: JSON.stringify(change.result) } : {}),
      ...(change.expired ? { expired_at: now } : {}),
      ...(change.frozen ? { frozen: JSON.stringify(change.frozen) } : {}),
      ...(change.closedWith ? { frozen: JSON.stringify(change.closedWith), closed_at: now } : {}),
    });
  await tx.raw(`SELECT pg_notify('proposal_changed', ?)`, [id]);
}

/** Frees everything that a proposal claims. */
export async function freeClaims(tx: Tx, proposalId: string): Promise<void> {
  await tx('proposal_claims').where({ proposal_id: proposalId }).delete();
}

/** Notes that a new message has its effect in this transaction. Call it with the proposal locked. */
export async function takeMessage(
  tx: Tx,
  messageId: string,
  proposalId: string,
  kind: string,
): Promise<void> {
  await tx('proposal_messages').insert({ message_id: messageId, proposal_id: proposalId, kind });
}

/** True when a message with this id has had its effect on that proposal. */
export async function messageWasTaken(db: Db | Tx, messageId: string, proposalId: string): Promise<boolean> {
  const taken = await db('proposal_messages')
    .where({ message_id: messageId, proposal_id: proposalId })
    .first('message_id');
  return taken !== undefined;
}

/** Notes the deployments that a proposal has to make. */
export async function insertDeployments(
  tx: Tx,
  proposalId: string,
  targets: readonly { accountId: string; networkId: number }[],
): Promise<void> {
  if (targets.length === 0) return;
  await tx('proposal_deployments').insert(
    targets.map((target) => ({
      proposal_id: proposalId,
      account_id: target.accountId,
      network_id: target.networkId,
      status: 'pending',
    })),
  );
}

/** Changes where one deployment stands. */
export async function updateDeployment(
  tx: Tx,
  key: { proposalId: string; accountId: string; networkId: number },
  change: Pick<Deployment, 'status' | 'transactionHash' | 'failure' | 'waitingFor'>,
): Promise<void> {
  await tx('proposal_deployments')
    .where({ proposal_id: key.proposalId, account_id: key.accountId, network_id: key.networkId })
    .update({
      status: change.status,
      transaction_hash: change.transactionHash,
      failure: change.failure === null ? null : JSON.stringify(change.failure),
      waiting_for: change.waitingFor,
      updated_at: tx.raw('now()'),
    });
}
