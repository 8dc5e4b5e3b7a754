import {
  condition,
  defineUpdate,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { FloorActivities } from './worker';

const LIMIT = { startToCloseTimeout: '1 minute' } as const;
const { create, sign, begin } = proxyLocalActivities<FloorActivities>(LIMIT);

/** Answers at once. */
export const bareUpdate = defineUpdate<boolean>('bare');
export const createUpdate = defineUpdate<void>('create');
export const signUpdate = defineUpdate<void, [signature: number]>('sign');
export const executeUpdate = defineUpdate<void>('execute');

/** The least that a workflow with an update can be. */
export async function bareWorkflow(): Promise<void> {
  setHandler(bareUpdate, () => true);
  await condition(() => false);
}

/** The least that a workflow can be which ends when it has got so many updates. */
export async function bareLife(updates: number): Promise<void> {
  let got = 0;
  setHandler(bareUpdate, () => {
    got += 1;
    return true;
  });
  await condition(() => got >= updates);
}

/** The least that stores a request and its signatures: one local activity with one transaction for each message. */
export async function floorApproval(): Promise<void> {
  const { workflowId } = workflowInfo();
  setHandler(createUpdate, () => create(workflowId));
  setHandler(signUpdate, (signature) => sign(workflowId, signature));
  await condition(() => false);
}

/** The least that carries out a payment: two updates, then three activities on three queues. */
export async function floorPayment(): Promise<void> {
  const { workflowId, taskQueue } = workflowInfo();
  const on = (queue: string) => proxyActivities<FloorActivities>({ ...LIMIT, taskQueue: queue });
  let isBegun = false;
  setHandler(createUpdate, () => create(workflowId));
  setHandler(executeUpdate, async () => {
    await begin(workflowId);
    isBegun = true;
  });
  await condition(() => isBegun);
  await on(`${taskQueue}-signer`).authorize(workflowId);
  await on(`${taskQueue}-chain`).send(workflowId);
  await on(taskQueue).finish(workflowId);
}
