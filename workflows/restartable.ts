import { CancellationScope, isCancellation } from '@temporalio/workflow';

/** Something in progress that can be ended, to begin again from another state. */
export interface Restartable {
  /** Resolves when it has ended by itself, or because it is to begin again. */
  readonly ended: Promise<void>;
  /** Ends it: cancels its timers and activities. */
  restart(): void;
}

/** Begins something that can be ended, to begin again. */
export function restartable(begin: () => Promise<void>): Restartable {
  const scope = new CancellationScope();
  let isRestarted = false;
  const ended = scope.run(begin).catch((error) => {
    if (!isRestarted || !isCancellation(error)) throw error;
  });
  return {
    ended,
    restart() {
      isRestarted = true;
      scope.cancel();
    },
  };
}
