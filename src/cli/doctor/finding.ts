import { withTimeLimit } from '../../timeLimit';
import { lacksSchema, problemText } from '../problems';

/** The result of one check. */
export interface Finding {
  /** The checked part. */
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

const SHOWN = 5;

/** The first of some ids, such as `txn_1, txn_2, …`. */
export function firstOf(ids: readonly string[], most = SHOWN): string {
  return `${ids.slice(0, most).join(', ')}${ids.length > most ? ', …' : ''}`;
}

/** Work of one kind without progress, by its ids. */
export function stuck(part: string, ids: readonly string[], what: string, todo: string): Finding {
  if (ids.length === 0) return ok(part, 'none stuck');
  return warn(part, `${ids.length} ${what}: ${firstOf(ids)}`, todo);
}

const CHECK_LIMIT_MS = 6_000;
/** Of what only computes: it ends, however slow the machine is. */
export const COMPUTING_LIMIT_MS = 120_000;
/** What a part that did not answer in time says about its settings: nothing. */
const SLOW = 'it is unavailable, or this machine or its network is slow: run doctor again';
/** What to do about a schema of another version. */
export const MIGRATE = './orgwallet db migrate';

/** Checks a part; an error or a timeout is a finding too. Never rejects. */
export async function runCheck(
  part: string,
  todo: string,
  work: () => Promise<Finding[]>,
  limitMs = CHECK_LIMIT_MS,
): Promise<Finding[]> {
  try {
    const late = [fail(part, `no answer within ${limitMs / 1_000} s`, SLOW)];
    return await withTimeLimit(work(), limitMs, () => late);
  } catch (error) {
    const text = problemText(error).split('\n')[0] ?? 'failed';
    return [fail(part, text, lacksSchema(text) ? MIGRATE : todo)];
  }
}
