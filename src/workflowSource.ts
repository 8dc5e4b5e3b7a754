import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkerOptions } from '@temporalio/worker';

/**
 * The bundle of the workflows that the build created; the sources where there is none. Every module is preloaded: evaluated
 * once for all workflows of a worker, not once for each. None may keep state.
 */
export function workflowSource(): Pick<
  WorkerOptions,
  'workflowBundle' | 'workflowsPath' | 'bundlerOptions' | 'interceptors'
> {
  const workflowsPath = join(__dirname, '..', 'workflows');
  const tracing = join(workflowsPath, 'tracing');
  const bundle = [join(__dirname, '..'), join(__dirname, '..', 'dist')]
    .map((dir) => join(dir, 'workflow-bundle.js'))
    .find((file) => existsSync(file));
  return bundle
    ? { workflowBundle: { codePath: bundle } }
    : {
        workflowsPath,
        interceptors: { workflowModules: [tracing] },
        bundlerOptions: { preloadModules: [workflowsPath, tracing] },
      };
}
