import {
  allHandlersFinished,
  condition,
  proxyActivities,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { ProposalActivities } from '../activities/proposals';
import type { SignerActivities } from '../activities/signer';
import { operatorDetails } from '../src/domain/operatorText';
import type { ProposalState, VoteType } from '../src/domain/proposal';
import {
  type CreateResult,
  type ExecuteMessage,
  type MessageResult,
  type ProposalInput,
  parseProposalInput,
  parseSignMessage,
  proposalMessages,
  type SignMessage,
} from '../src/temporal/messages';
import { searchAttributes } from '../src/temporal/searchAttributes';
import { deployOnNetwork } from './deployment';
import { receiveMessages } from './messages';
import { parseInput, recordActivities, untilExpiryMs } from './record';

const { createProposal } = recordActivities<ProposalActivities>('Store the proposal');
const { recordVote } = recordActivities<ProposalActivities>('Verify and record a signature');
const { beginExecution } = recordActivities<ProposalActivities>('Check again and carry out');
const { reportDeployment } = recordActivities<ProposalActivities>('Note what a deployment waits for');
const { recordDeployment } = recordActivities<ProposalActivities>('Record what became of a deployment');
const { finishExecution } = recordActivities<ProposalActivities>('End the execution');
const { expireProposal } = recordActivities<ProposalActivities>('Expire');
const { readProposal } = recordActivities<ProposalActivities>('Read the record');
const { recordRestored } = recordActivities<ProposalActivities>('Note that the workflow was started again');

const { refreshNoted } = proxyActivities<ProposalActivities>({
  startToCloseTimeout: '60s',
  // Each workflow is told by a signal of its own; one told twice reads its record twice, and no more.
  retry: { initialInterval: '1s', maximumInterval: '30s' },
  summary: 'Tell the proposals that this one has changed the world of',
});

const ignore = () => undefined;

function isReady(state: ProposalState, type: VoteType): boolean {
  const settled = ['processing', 'completed', 'rejected'].includes(state.executionStatus ?? '');
  const votes = type === 'approve' ? state.approvals : state.rejections;
  return !settled && state.signatureStatus !== 'expired' && votes.length >= state.threshold;
}

/**
 * One organization operation: waits for signatures, holds the expiry timer, carries out what was decided, parks when
 * that fails, and ends when nothing can change any more.
 *
 * The record in Postgres is the truth; this workflow is its clock and its hand. Every message runs one local activity
 * that decides and writes in one database transaction.
 */
export async function proposalWorkflow(given: ProposalInput): Promise<ProposalState | null> {
  const input = parseInput(parseProposalInput, given);
  const ref = { organizationId: input.organizationId, proposalId: input.proposalId };
  const signer = proxyActivities<Pick<SignerActivities, 'provideSigningKey'>>({
    taskQueue: input.queues.signer,
    startToCloseTimeout: '10s',
    // The key is needed before an account can be made, and nothing is lost by waiting for the signer.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: "Provide the organization's signing key",
  });
  let created: CreateResult | undefined;
  let state: ProposalState | null = null;
  let published = '';
  let signingKeyReady = false;
  let othersTold: Promise<void> = Promise.resolve();

  /** Takes over what a transaction returned; never an older version for a newer one. */
  function adopt(next: ProposalState): void {
    if (state && next.version < state.version) return;
    state = next;
    setCurrentDetails(operatorDetails(next));
    const accountIds = [...new Set(next.deployments.map((d) => d.accountId))];
    const networkIds = [...new Set(next.deployments.map((d) => String(d.networkId)))];
    const { signatureStatus, executionStatus, expiresAt } = next;
    const attributes = JSON.stringify([signatureStatus, executionStatus, expiresAt, accountIds, networkIds]);
    if (attributes === published) return;
    published = attributes;
    upsertSearchAttributes([
      { key: searchAttributes.signatureStatus, value: signatureStatus },
      { key: searchAttributes.executionState, value: executionStatus ?? 'none' },
      { key: searchAttributes.expiresAt, value: new Date(expiresAt) },
      { key: searchAttributes.accountId, value: accountIds },
      { key: searchAttributes.networkId, value: networkIds },
    ]);
  }

  async function begin(
    messageId: string,
    message: ExecuteMessage & { actor?: 'operator' },
  ): Promise<MessageResult> {
    if (message.type === 'approve') await condition(() => signingKeyReady);
    const begun = await beginExecution({ ...ref, ...message, messageId });
    if (begun.ok) {
      adopt(begun.state);
      if (begun.noted) othersTold = othersTold.then(() => refreshNoted(ref)).then(() => undefined);
    }
    return begun;
  }

  async function sign(messageId: string, message: SignMessage): Promise<MessageResult> {
    const { execute, ...vote } = message;
    const signed = await recordVote({ ...ref, ...vote, messageId });
    if (!signed.ok) return signed;
    adopt(signed.state);
    if (execute !== true || !isReady(signed.state, vote.type)) return signed;
    const { type, requestId } = vote;
    const begun = await begin(`${messageId}/execute`, {
      type,
      ...(requestId === undefined ? {} : { requestId }),
    });
    // The signature is recorded whatever else happened meanwhile; an execution that lost a race is not its failure.
    return begun.ok ? begun : signed;
  }

  receiveMessages<ProposalState, MessageResult, SignMessage>(proposalMessages, {
    what: 'proposal',
    parseSign: parseSignMessage,
    state: () => state,
    created: () => created,
    sign,
    execute: begin,
    retry: (messageId) => begin(messageId, { type: 'approve', actor: 'operator' }),
    refresh: async () => adopt(await readProposal(ref)),
  });

  const { queues, found, ...request } = input;
  created = await createProposal(request);
  if (!created.ok) {
    setCurrentDetails(`**Refused:** ${created.refusal.message}\n\nNo proposal was made.`);
    await condition(allHandlersFinished);
    return null;
  }
  adopt(created.state);
  if (found) adopt(await recordRestored({ ...ref, found, runId: workflowInfo().runId }));
  signingKeyReady = !created.needsSigningKey;
  if (created.needsSigningKey) {
    const ready = signer.provideSigningKey({ organizationId: input.organizationId });
    // It is tried without end: what ends it is the cancellation of the workflow.
    void ready.then(() => {
      signingKeyReady = true;
    }, ignore);
  }

  const current = () => state as unknown as ProposalState;
  const wakes = () => current().closed || current().executionStatus === 'processing';

  async function deployMissing(): Promise<void> {
    const pending = current().deployments.filter((deployment) => deployment.status === 'pending');
    await Promise.all(
      pending.map(async ({ accountId, networkId }) => {
        const key = { ...ref, accountId, networkId };
        const result = await deployOnNetwork(key, {
          queues,
          report: async (waitingFor) => adopt(await reportDeployment({ ...key, waitingFor })),
        });
        adopt(await recordDeployment({ ...key, result }));
      }),
    );
    adopt(await finishExecution(ref));
  }

  while (!current().closed) {
    if (current().executionStatus === 'processing') {
      await deployMissing();
    } else if (current().expired) {
      // Only a deployment that is there in part gets here: it may still be finished, at any time.
      await condition(wakes);
    } else {
      const woken = await condition(wakes, untilExpiryMs(current().expiresAt), {
        summary: `Expires at ${current().expiresAt}`,
      });
      if (!woken) adopt(await expireProposal(ref));
    }
  }
  await condition(allHandlersFinished);
  await othersTold;
  return current();
}
