import { condition, proxyActivities } from '@temporalio/workflow';
import type { ProposalActivities } from '../activities/lifecycle';
import type { SignerActivities } from '../activities/signer/signer';
import { proposalDetails } from '../src/domain/operatorText';
import type { ProposalState } from '../src/domain/proposal';
import { type ProposalInput, proposalInput, proposalSignMessage } from '../src/temporal/messages';
import { ApprovalRun } from './approval';
import { databaseActivities, parseInput } from './database';
import { deployOnNetwork } from './deployment';

const { reportDeployment } = databaseActivities<ProposalActivities>('Record what a deployment waits for');
const { recordDeployment } = databaseActivities<ProposalActivities>('Record the outcome of a deployment');
const { finishDeployments } = databaseActivities<ProposalActivities>('End the execution');

const { refreshNoted } = proxyActivities<ProposalActivities>({
  startToCloseTimeout: '60s',
  // Each workflow gets its own signal; a workflow that gets two reads its record twice.
  retry: { initialInterval: '1s', maximumInterval: '30s' },
  summary: 'Notify the workflows of the approvals that this execution was noted on',
});

const ignore = () => undefined;

/** Deploys missing accounts, and ends the execution. */
async function deployMissing(run: ApprovalRun<ProposalState>, input: ProposalInput): Promise<void> {
  const { organizationId, id, queues } = input;
  const pending = run.current.deployments.filter(({ status }) => status === 'pending');
  await Promise.all(
    pending.map(async ({ accountId, networkId }) => {
      const key = { organizationId, proposalId: id, accountId, networkId };
      const result = await deployOnNetwork(key, {
        queues,
        report: async (waitingFor) => run.adopt(await reportDeployment({ ...key, waitingFor })),
      });
      run.adopt(await recordDeployment({ ...key, result }));
    }),
  );
  run.adopt(await finishDeployments({ organizationId, id }));
}

/** The organization's signing key, which accounts are created with. */
class SigningKey {
  isReady = false;

  /** Requests it from the signer until the workflow is cancelled. */
  provide({ organizationId, queues }: ProposalInput): void {
    const { provideSigningKey } = proxyActivities<Pick<SignerActivities, 'provideSigningKey'>>({
      taskQueue: queues.signer,
      startToCloseTimeout: '10s',
      // The key is needed before an account can be created; waiting for the signer loses nothing.
      retry: { initialInterval: '500ms', maximumInterval: '15s' },
      summary: "Provide the organization's signing key",
    });
    void provideSigningKey({ organizationId }).then(() => {
      this.isReady = true;
    }, ignore);
  }
}

/**
 * One organization operation: waits for the signatures of admins, drives its expiry timer, executes the decision,
 * parks after a failure, and ends when it is closed.
 *
 * The record in Postgres is the truth; this workflow drives its timers and side effects. Every message runs one local
 * activity that decides and writes in one database transaction.
 */
export async function proposalWorkflow(given: ProposalInput): Promise<ProposalState | null> {
  const input = parseInput(proposalInput, given);
  const { organizationId, id } = input;
  const signingKey = new SigningKey();
  let notified: Promise<unknown> = Promise.resolve();

  const run = new ApprovalRun<ProposalState>('proposal', input, (own) => ({
    signSchema: proposalSignMessage,
    details: proposalDetails,
    places: ({ deployments }) => ({
      accountIds: [...new Set(deployments.map(({ accountId }) => accountId))],
      networkIds: [...new Set(deployments.map(({ networkId }) => networkId))],
    }),
    onCreated({ needsSigningKey }) {
      if (needsSigningKey) signingKey.provide(input);
      else signingKey.isReady = true;
    },
    untilExecutable: () => condition(() => signingKey.isReady),
    onBegun({ noted }) {
      if (noted) notified = notified.then(() => refreshNoted({ organizationId, id }));
    },
    execute: () => deployMissing(own, input),
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
