import { condition, defineUpdate, setHandler } from '@temporalio/workflow';

/** Answers at once. */
export const bareUpdate = defineUpdate<boolean>('bare');

/** The least that a workflow with an update can be: what the service's workflows are compared with. */
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
