/**
 * Waits for `work`, so many milliseconds at most: then for what `atLimit` returns or throws, and `work` goes on unwatched.
 * Rejects as `work` does.
 */
export async function withTimeLimit<T, L>(
  work: Promise<T>,
  limitMs: number,
  atLimit: () => L,
): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<L>((resolve, reject) => {
    timer = setTimeout(() => {
      try {
        resolve(atLimit());
      } catch (error) {
        reject(error as Error);
      }
    }, limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
