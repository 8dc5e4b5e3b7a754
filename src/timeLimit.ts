/**
 * Settles as `work` does, or after so many milliseconds as `atLimit` does. `work` is not cancelled: what becomes of it then
 * is ignored.
 */
export async function withTimeLimit<T, L>(
  work: Promise<T>,
  limitMs: number,
  atLimit: () => L,
): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  }).then(atLimit);
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
