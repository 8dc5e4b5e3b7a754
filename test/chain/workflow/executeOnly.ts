import { defineSignal, setHandler } from '@temporalio/workflow';
import type { ExecutionResult, TransactionRef } from '../../../src/domain/transaction';
import { executeOnChain } from '../../../workflows/execution';

/** An operator requests the cancellation. */
export const cancelSignal = defineSignal('cancel');

/** One execution alone, with everything it reported. */
export async function executeOnly(
  ref: TransactionRef,
  queue: string,
): Promise<{ result: ExecutionResult; reports: (string | null)[] }> {
  const reports: (string | null)[] = [];
  let cancelled = false;
  setHandler(cancelSignal, () => {
    cancelled = true;
  });
  const result = await executeOnChain(ref, {
    networkId: 31_337,
    queues: { chain: queue, signer: queue },
    isCancelled: () => cancelled,
    report: async (waitingFor) => {
      reports.push(waitingFor);
    },
  });
  return { result, reports };
}
