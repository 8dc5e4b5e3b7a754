import { CancellationScope } from '@temporalio/workflow';

/** Runs several functions at once; returns the result of the first to end, and cancels the others. */
export async function first<T>(things: readonly (() => Promise<T>)[]): Promise<T> {
  const scope = new CancellationScope();
  try {
    return await scope.run(() => Promise.race(things.map((thing) => thing())));
  } finally {
    scope.cancel();
  }
}
