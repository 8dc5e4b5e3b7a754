import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';

/**
 * Has a workflow go on with the workers that there are, whatever their build. A worker without a build must not say so: the
 * server refuses it.
 */
export function runOnAnyBuild(workflow: (...args: never[]) => Promise<unknown>): void {
  setWorkflowOptions(
    () =>
      workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'AUTO_UPGRADE' } : {},
    workflow as (...args: unknown[]) => Promise<unknown>,
  );
}
