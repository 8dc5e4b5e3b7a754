import {
  allHandlersFinished,
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import type { DeliveryActivities } from '../activities/deliveries/deliveryActivities';
import type { WorkerActivities } from '../activities/worker';
import { type DeliveryState, deliveryText } from '../src/domain/delivery';
import { deliveryMessages, parseDeliveryInput } from '../src/temporal/messages';
import { databaseActivities, parseInput } from './databaseActivities';

/** A run ends after so many rounds: each adds about ten events to its history. */
const MAX_ROUNDS = 400;

const { setDeliveryPaused } = databaseActivities<WorkerActivities>('Pause or resume, as an operator');

/** What was said to a workflow since it last looked. */
interface Heard {
  hasNews: boolean;
  isAsked: boolean;
}

/** Registers the handlers of every message. */
function receiveMessages(id: string): Heard {
  const heard: Heard = { hasNews: false, isAsked: false };
  const note = (what: keyof Heard) => () => {
    heard[what] = true;
  };
  const setPaused = (isPaused: boolean) => async () => {
    await setDeliveryPaused({ id, isPaused });
    heard.isAsked = true;
  };
  const { wake, refresh, pause, resume } = deliveryMessages;
  setHandler(wake, note('hasNews'), { description: 'There may be more to send' });
  setHandler(refresh, note('isAsked'), { description: 'Read the record again, and try now' });
  setHandler(pause, setPaused(true), { description: 'Send nothing until `resume`' });
  setHandler(resume, setPaused(false), { description: 'Go on after `pause`, or after a restore' });
  return heard;
}

/** Waits for what ends a state. */
async function waitIn({ status, retryInMs }: DeliveryState, heard: Heard): Promise<void> {
  const isWoken = () => heard.hasNews || heard.isAsked;
  if (status === 'failing') await condition(isWoken, Math.max(retryInMs ?? 0, 100));
  else if (status !== 'behind') await condition(isWoken);
}

/**
 * Sends the events of an organization to one destination, in their order, until it is removed. Where it is, the record says; this
 * remembers it as well, and so notices a database that was restored from a backup.
 */
export async function deliveryWorkflow(given: unknown): Promise<void> {
  const input = parseInput(parseDeliveryInput, given);
  const { organizationId, id, queue } = input;
  const { deliver } = proxyActivities<DeliveryActivities>({
    taskQueue: queue,
    startToCloseTimeout: '30m',
    heartbeatTimeout: '30s',
    // Postgres is unavailable: what a receiver does is a result, and no error.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: 'Send what is missing',
  });
  const heard = receiveMessages(id);
  let known = input.known;
  for (let rounds = 1; ; rounds += 1) {
    const { isAsked } = heard;
    heard.hasNews = false;
    heard.isAsked = false;
    const state = await deliver({ organizationId, id, known, isAsked });
    known = { position: state.position, hash: state.hash };
    setCurrentDetails(deliveryText(state));
    if (state.status !== 'removed') await waitIn(state, heard);
    const { continueAsNewSuggested, targetWorkerDeploymentVersionChanged } = workflowInfo();
    const isLong = continueAsNewSuggested || targetWorkerDeploymentVersionChanged || rounds >= MAX_ROUNDS;
    if (state.status !== 'removed' && !isLong) continue;
    await condition(allHandlersFinished);
    if (state.status === 'removed') return;
    await continueAsNew<typeof deliveryWorkflow>({ ...input, known });
  }
}

// It goes on with the workers that there are. A worker without a build must not say so: the server refuses it.
setWorkflowOptions(
  () =>
    workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'AUTO_UPGRADE' } : {},
  deliveryWorkflow,
);
