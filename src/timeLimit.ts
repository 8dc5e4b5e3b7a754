const CLOSE_LIMIT_MS = 1_000;

/** Waits for something to close, for a second at most. What keeps it from closing is ignored. Never rejects. */
export async function closed(close: () => Promise<unknown>): Promise<void> {
  await withTimeLimit(
    close().catch(() => undefined),
    CLOSE_LIMIT_MS,
  );
}

/**
 * Settles as `work` does, or after so many milliseconds as `atLimit` does; without that, with undefined. `work` is not
 * cancelled: what becomes of it then is ignored.
 */
export function withTimeLimit<T>(work: Promise<T>, limitMs: number): Promise<T | undefined>;
export function withTimeLimit<T, L>(work: Promise<T>, limitMs: number, atLimit: () => L): Promise<T | L>;
export async function withTimeLimit<T, L>(
  work: Promise<T>,
  limitMs: number,
  atLimit?: () => L,
): Promise<T | L | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  }).then(() => atLimit?.());
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
