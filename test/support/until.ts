const FIRST_PAUSE_MS = 25;
const LAST_PAUSE_MS = 200;

/**
 * Waits until `look` gives something; fails with its last error, or the description, when the limit is over. What
 * takes longer is looked at less often: looking takes time from what is waited for.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | null | false>,
  limitMs = 60_000,
): Promise<T> {
  const end = Date.now() + limitMs;
  let last: unknown;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    try {
      const found = await look();
      if (found) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`waited ${limitMs} ms in vain until ${what}`, { cause: last });
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(pauseMs * 1.5, LAST_PAUSE_MS);
  }
}
