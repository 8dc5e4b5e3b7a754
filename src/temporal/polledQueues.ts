import type { PollingRole } from '../domain/lastSeen';
import { networkQueue, type TaskQueues } from './ids';

/** The task queues that the processes of each role poll. */
export function polledQueues(
  queues: TaskQueues,
  networkIds: readonly number[],
): { readonly [role in PollingRole]: readonly string[] } {
  const each = (queue: string) => networkIds.map((id) => networkQueue(queue, id));
  return {
    worker: [queues.workflows, queues.deliveries],
    chain: each(queues.chain),
    signer: [queues.signer, ...each(queues.signer)],
  };
}
