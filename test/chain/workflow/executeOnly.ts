import { defineSignal, setHandler } from '@temporalio/workflow';
import type { TransactionRef } from '../../../src/domain/transaction';
import type { ExecutionResult } from '../../../src/domain/transactionState';
import { executeOnChain } from '../../../workflows/execution';

/** An operator requests the cancellation. */
export const cancelSignal = defineSignal('cancel');

const HOUR_MS = 3_600_000;

/** One execution alone, with everything it reported. After each report of `slow` an hour has passed. */
export async function executeOnly(
  ref: TransactionRef,
  queue: string,
  slow: string,
): Promise<{ result: ExecutionResult; reports: (string | null)[] }> {
  const { now } = Date;
  let aheadMs = 0;
  // The class itself is frozen.
  globalThis.Date = class extends Date {
    static override now(): number {
      return now() + aheadMs;
    }
  } as DateConstructor;
  const reports: (string | null)[] = [];
  let cancelled = false;
  setHandler(cancelSignal, () => {
    cancelled = true;
  });
  const result = await executeOnChain(ref, {
    networkId: 31_337,
    queues: { chain: queue, signer: queue },
    isCancelled: () => cancelled,
    report: async ({ waitingFor }) => {
      reports.push(waitingFor);
      if (waitingFor === slow) aheadMs += HOUR_MS;
    },
  });
  return { result, reports };
}
