/** Calls `work` with each item, at most `limit` at a time. Rejects with the first failure; calls in progress continue. */
export async function mapLimit<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const runner = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, runner));
}
