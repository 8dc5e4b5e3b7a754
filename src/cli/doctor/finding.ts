import { lacksSchema, problemText } from '../problems';

/** One thing that was looked at. */
export interface Finding {
  /** What was looked at. */
  readonly part: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do about it; absent when there is nothing to do. */
  readonly todo?: string;
}

export const ok = (part: string, found: string): Finding => ({ part, status: 'ok', found });
export const warn = (part: string, found: string, todo: string): Finding => ({
  part,
  status: 'warn',
  found,
  todo,
});
export const fail = (part: string, found: string, todo: string): Finding => ({
  part,
  status: 'fail',
  found,
  todo,
});

const SHOWN_IDS = 5;

/** What of a kind of work does not move, by its ids. */
export function stuck(part: string, ids: readonly string[], what: string, todo: string): Finding {
  if (ids.length === 0) return ok(part, 'none stuck');
  const shown = ids.slice(0, SHOWN_IDS).join(', ');
  return warn(part, `${ids.length} ${what}: ${shown}${ids.length > SHOWN_IDS ? ', …' : ''}`, todo);
}

const LOOK_LIMIT_MS = 6_000;
/** What to do about a schema that is not that of this version. */
export const MIGRATE = 'npx orgwallet db migrate';

/** Looks at a part; what keeps it from answering, silence included, is a finding too. Never rejects. */
export async function look(
  part: string,
  todo: string,
  work: () => Promise<Finding[]>,
  limitMs = LOOK_LIMIT_MS,
): Promise<Finding[]> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1_000} s`)), limitMs);
  });
  try {
    return await Promise.race([work(), limit]);
  } catch (error) {
    const text = problemText(error).split('\n')[0] ?? 'failed';
    return [fail(part, text, lacksSchema(text) ? MIGRATE : todo)];
  } finally {
    clearTimeout(timer);
  }
}
