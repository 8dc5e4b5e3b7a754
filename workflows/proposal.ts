import { CancellationScope, condition, proxyActivities, sleep } from '@temporalio/workflow';
import type { ProposalActivities } from '../activities/worker';
import { proposalDetails } from '../src/domain/operatorText';
import type { ProposalState } from '../src/domain/proposal';
import type { SignerActivities } from '../src/signer/activities';
import { type ProposalInput, parseProposalInput, parseProposalSignMessage } from '../src/temporal/messages';
import { operationName } from '../src/temporal/searchAttributes';
import { ApprovalRun } from './approval';
import { waitingForSigner } from './backoff';
import { databaseActivities, parseInput } from './databaseActivities';
import { deployOnNetwork } from './deployment';

const { reportDeployment } = databaseActivities<ProposalActivities>('Record what a deployment waits for');
const { recordDeployment } = databaseActivities<ProposalActivities>('Record the outcome of a deployment');
const { applySeal } = databaseActivities<ProposalActivities>('Carry out what is sealed');
const { finishDeployments } = databaseActivities<ProposalActivities>('End the execution');

const { refreshNoted } = proxyActivities<ProposalActivities>({
  startToCloseTimeout: '60s',
  // Each workflow gets its own signal; a workflow that gets two reads its record twice.
  retry: { initialInterval: '1s', maximumInterval: '30s' },
  summary: 'Notify the workflows of the requests that this execution was noted on',
});

/** Whatever becomes of this execution: what it was noted on stays noted. */
function notify({ organizationId, id }: ProposalInput): Promise<number> {
  return CancellationScope.nonCancellable(() => refreshNoted({ organizationId, id }));
}

const UNREACHABLE_PAUSE_MS = 5_000;

/** Deploys missing accounts, and ends the execution. */
async function deployMissing(run: ApprovalRun<ProposalState>, input: ProposalInput): Promise<void> {
  const { organizationId, id, queues } = input;
  const pending = run.current.deployments.filter(({ status }) => status === 'pending');
  await Promise.all(
    pending.map(async ({ accountId, networkId }) => {
      const key = { organizationId, proposalId: id, accountId, networkId };
      const result = await deployOnNetwork(key, {
        queues,
        report: (waiting) => run.update(() => reportDeployment({ ...key, ...waiting })),
      });
      await run.update(() => recordDeployment({ ...key, result }));
    }),
  );
  await run.update(() => finishDeployments({ organizationId, id }));
}

/**
 * Has the signer seal the decision, and carries out what is sealed. While the signer does not answer, or the endpoints for
 * contract wallets do not, the execution waits.
 */
async function sealDecision(run: ApprovalRun<ProposalState>, input: ProposalInput): Promise<boolean> {
  const { organizationId, id, queues } = input;
  const { sealProposal } = proxyActivities<SignerActivities>({
    taskQueue: queues.signer,
    startToCloseTimeout: '30s',
    // It seals once: a second call returns the seal of the first. A refusal is a result and is not retried.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: 'Verify all evidence and seal the decision',
  });
  const result = await sealProposal({ organizationId, id });
  if ('unreachable' in result || 'held' in result) {
    await run.reportWaiting('held' in result ? waitingForSigner(result) : { waitingFor: result.unreachable });
    await sleep(UNREACHABLE_PAUSE_MS);
    return false;
  }
  const { noted } = await run.adoptFrom(
    () => applySeal({ organizationId, id, result }),
    ({ state }) => state,
  );
  return noted;
}

/**
 * One organization operation: waits for the signatures of admins, drives its expiry timer, executes the decision,
 * parks after a failure, and ends when it is closed.
 *
 * The record in Postgres is the truth; this workflow drives its timers and side effects. Every message runs one local
 * activity that decides and writes in one database transaction.
 */
export async function proposalWorkflow(given: ProposalInput): Promise<ProposalState | null> {
  const input = parseInput(parseProposalInput, given);
  let notified: Promise<unknown> = Promise.resolve();

  const run = new ApprovalRun<ProposalState>('proposal', input, (own) => ({
    parseSignMessage: parseProposalSignMessage,
    details: proposalDetails,
    places: ({ deployments }) => ({
      accountIds: [...new Set(deployments.map(({ accountId }) => accountId))],
      networkIds: [...new Set(deployments.map(({ networkId }) => networkId))],
    }),
    content: (state) => ({ operation: operationName(state), amount: null }),
    async execute() {
      if (own.current.applied) return deployMissing(own, input);
      const noted = await sealDecision(own, input);
      if (noted) notified = notified.then(() => notify(input));
    },
    async park() {
      // Only a partly deployed proposal is expired here: it may still be finished at any time.
      if (own.current.expired) await condition(() => own.isClosedOrProcessing);
      else await own.changedBeforeExpiry();
    },
  }));
  const end = await run.follow();
  await notified;
  return end;
}
