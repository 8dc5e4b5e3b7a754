import type { NetworkConfig } from '../../src/config';
import { updateApproval } from '../../src/db/approvals';
import { appendAudit } from '../../src/db/audit';
import type { Tx } from '../../src/db/database';
import { type ProposalSnapshot, updateDeployment } from '../../src/db/proposals';
import { SYSTEM } from '../../src/domain/actor';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import type { Deployment, DeploymentKey, DeploymentResult, ProposalState } from '../../src/domain/proposal';
import { operationKindOf } from '../../src/operations';
import type { RecordedChange } from '../../src/operations/kind';
import { approvalEntry } from '../approvals/approvalEntry';
import type { ApprovalDeps, Seen } from '../approvals/executableSubject';
import { completeApproval, failApproval, failureAt } from '../approvals/finish';
import { lockOrRefuse, readApprovalState } from '../approvals/read';
import type { Waiting } from '../approvals/wait';
import { executableProposal as subject } from './executableProposal';

interface LockedDeployment {
  readonly seen: Seen<ProposalSnapshot>;
  readonly deployment: Deployment;
}

async function lockDeployment(tx: Tx, key: DeploymentKey): Promise<LockedDeployment> {
  const { organizationId, proposalId, accountId, networkId } = key;
  const seen = await lockOrRefuse(tx, subject, { organizationId, id: proposalId });
  const deployment = seen.record.deployments.find(
    (candidate) => candidate.accountId === accountId && candidate.networkId === networkId,
  );
  if (!deployment) {
    throw new Error(`proposal ${proposalId} has no deployment of ${accountId} on network ${networkId}`);
  }
  return { seen, deployment };
}

/** Stores what a pending deployment waits for (null: nothing). */
export async function reportDeployment(
  { db }: Pick<ApprovalDeps, 'db'>,
  { waitingFor, reason, ...key }: DeploymentKey & Waiting,
): Promise<ProposalState> {
  return db.transaction(async (tx) => {
    const { seen, deployment } = await lockDeployment(tx, key);
    if (deployment.status !== 'pending' || deployment.waitingFor === waitingFor) {
      return subject.state(seen);
    }
    await updateDeployment(tx, key, { ...deployment, waitingFor });
    await updateApproval(tx, key.proposalId, {});
    const state = await readApprovalState(tx, subject, seen.record);
    if (reason) {
      const { accountId, networkId } = key;
      const details = { reason, waitingFor, accountId, networkId };
      const entry = approvalEntry(subject, seen.record, 'signingStopped', SYSTEM, details);
      await appendAudit(tx, key.organizationId, [entry]);
    }
    return state;
  });
}

/** Stores the outcome of a deployment on its account; returns the audit entries of the operation. */
async function storeOutcome(
  tx: Tx,
  key: DeploymentKey,
  result: DeploymentResult,
  { record, now }: Seen<ProposalSnapshot>,
): Promise<RecordedChange> {
  const { deployments } = operationKindOf(record.resourceType, record.action);
  if (!deployments) throw new Error(`a ${record.resourceType} ${record.action} proposal deploys nothing`);
  const { organizationId, proposalId } = key;
  if (result.status === 'failed') {
    const failure = failureAt(now.time, record.executionAttempt, result.failure);
    const transactionHash = failure.transactionHash ?? null;
    await updateDeployment(tx, key, { status: 'failed', transactionHash, failure, waitingFor: null });
    return { audit: deployments.failed(proposalId, { ...key, failure }) };
  }
  const { transactionHash } = result;
  await updateDeployment(tx, key, { status: 'completed', transactionHash, failure: null, waitingFor: null });
  return deployments.completed({ tx, organizationId }, proposalId, { ...key, ...result });
}

/** Records the outcome of one deployment. Idempotent. */
export async function recordDeployment(
  { db }: Pick<ApprovalDeps, 'db'>,
  { result, ...key }: DeploymentKey & { readonly result: DeploymentResult },
): Promise<ProposalState> {
  return db.transaction(async (tx) => {
    const { seen, deployment } = await lockDeployment(tx, key);
    if (deployment.status !== 'pending') return subject.state(seen);
    const recorded = await storeOutcome(tx, key, result, seen);
    await updateApproval(tx, key.proposalId, {});
    const state = await readApprovalState(tx, subject, seen.record);
    const positions = await appendAudit(
      tx,
      key.organizationId,
      recorded.audit.map((entry) => ({ ...entry, actor: SYSTEM })),
    );
    await recorded.setPositions?.(positions);
    return state;
  });
}

function missingText(
  networks: readonly NetworkConfig[],
  failed: readonly Deployment[],
  total: number,
): string {
  const nameOf = (id: number) => networks.find((network) => network.id === id)?.name ?? String(id);
  const reasons = failed.map(
    ({ networkId, failure }) => `${nameOf(networkId)} (${networkId}): ${failure?.message ?? 'unknown'}`,
  );
  return `${failed.length} of ${total} deployments missing. ${reasons.join('; ')}`;
}

/** Ends an execution when all its deployments have an outcome: completed, or failed with the missing ones and why. */
export async function finishDeployments(
  { db, networks }: Pick<ApprovalDeps, 'db' | 'networks'>,
  { organizationId, id }: ApprovalKey,
): Promise<ProposalState> {
  return db.transaction(async (tx) => {
    const seen = await lockOrRefuse(tx, subject, { organizationId, id });
    const { executionStatus, deployments } = seen.record;
    const isUndecided = deployments.some(({ status }) => status === 'pending');
    if (executionStatus !== 'processing' || isUndecided) return subject.state(seen);
    const failed = deployments.filter(({ status }) => status === 'failed');
    if (failed.length === 0) return completeApproval(tx, subject, seen);
    const first = failed[0]?.failure;
    return failApproval(tx, subject, seen, {
      status: 'failed',
      failure: {
        code: first?.code ?? 'rpc',
        message: missingText(networks, failed, deployments.length),
        transactionHash: first?.transactionHash,
      },
    });
  });
}
