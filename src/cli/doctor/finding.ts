import type { NetConnectOpts } from 'node:net';
import { isOfDatabase } from '../../db/databaseAnswer';
import { withTimeLimit } from '../../timeLimit';
import { lacksSchema, problemText } from '../problems';
import { duration } from '../text';
import { accepts, targetText } from './target';

/** The result of one check. */
export interface Finding {
  /** The checked part. */
  readonly part: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do about it; absent when there is nothing to do. */
  readonly todo?: string;
}

/** What the service says of itself: the parts that it cannot reach, by their names in `/statusz`. */
export interface Reported extends Finding {
  readonly unavailable: readonly string[];
}

/** A finding that there is nothing to do about. */
export const ok = (part: string, found: string): Finding => ({ part, status: 'ok', found });

/** A finding that somebody should look at. */
export const warn = (part: string, found: string, todo: string): Finding => ({
  part,
  status: 'warn',
  found,
  todo,
});

/** A finding of something that does not work. */
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

/**
 * How long a part may take to answer, and a check to be finished; in milliseconds. The service itself waits for less: what
 * answers later than that is reported as slow, and not as unavailable.
 */
export const ANSWER_LIMIT_MS = 20_000;
/** Of single calls: a limit of theirs says less than that of the check, which has to come first. */
export const PATIENCE_MS = ANSWER_LIMIT_MS + 5_000;
/** Of what computes, or reads a long file: it ends, however slow the machine is. */
export const COMPUTING_LIMIT_MS = 30_000;
/** What takes longer to be reached is slow, in milliseconds. */
const SLOW_MS = 2_000;

/** What to do about what is slow: its settings are not why. */
export const SLOW =
  'look at the load of this machine, of the part and of the way between; no setting of it is wrong';
/** What to do about what the database refuses, or what waits for it. */
export const DATABASE_TODO = 'see the database above';
/** What to do about a schema of another version. */
export const MIGRATE = './orgwallet db migrate';

/** A part that has answered, after so many milliseconds. Where the service waits for less, `waitsMs`, that is said. */
export function slow(part: string, tookMs: number, { who = 'it', waitsMs = Number.POSITIVE_INFINITY } = {}) {
  const wait = `; the service waits ${duration(waitsMs)}, and takes it for unavailable`;
  return warn(part, `slow: ${who} answered after ${duration(tookMs)}${tookMs > waitsMs ? wait : ''}`, SLOW);
}

/** Whether an answer that took so many milliseconds is late. */
export function isSlow(tookMs: number): boolean {
  return tookMs >= SLOW_MS;
}

function failed(part: string, todo: string, error: unknown): Finding {
  const text = problemText(error).split('\n')[0] ?? 'failed';
  if (lacksSchema(text)) return fail(part, text, MIGRATE);
  // Whatever was being checked: the cause is where the error comes from.
  return fail(part, text, isOfDatabase(error) ? DATABASE_TODO : todo);
}

/**
 * Checks a part that has been reached; an error is a finding too. What is not finished in time says that something is slow,
 * and nothing else. Never rejects.
 */
export async function runCheck(
  part: string,
  todo: string,
  work: () => Promise<Finding[]>,
  limitMs = ANSWER_LIMIT_MS,
): Promise<Finding[]> {
  try {
    const late = [warn(part, `slow: not finished within ${limitMs / 1_000} s, and not checked`, SLOW)];
    return await withTimeLimit(work(), limitMs, () => late);
  } catch (error) {
    return [failed(part, todo, error)];
  }
}

/** A part that does not answer in time: it says nothing, or it cannot even be connected to. */
async function silent({ part, todo, target }: Reached, limitMs: number): Promise<Finding> {
  const found = `no answer within ${limitMs / 1_000} s`;
  if (target === undefined) return fail(part, found, SLOW);
  const [to, where] = [target(), targetText(target())];
  return (await accepts(to))
    ? fail(
        part,
        `${found}, and ${where} accepts connections`,
        'it hangs, or it is very slow: look at its log and its load; its address is not why',
      )
    : fail(
        part,
        `${found}, nor any connection to ${where}`,
        `${todo}; or a firewall drops what is sent there`,
      );
}

/** A part that has to be reached before it can be checked. */
interface Reached {
  readonly part: string;
  readonly todo: string;
  /** Where it is, to look whether anything listens there. */
  readonly target?: () => NetConnectOpts;
}

/**
 * Reaches a part. An error is a finding; so is a late answer, and one that does not come. Never rejects.
 */
export async function reach(
  reached: Reached,
  work: () => Promise<Finding[]>,
  limitMs = ANSWER_LIMIT_MS,
): Promise<Finding[]> {
  const startedAt = performance.now();
  try {
    const findings = await withTimeLimit(work(), limitMs);
    if (findings === undefined) return [await silent(reached, limitMs)];
    const tookMs = performance.now() - startedAt;
    return isSlow(tookMs) ? [...findings, slow(reached.part, tookMs)] : findings;
  } catch (error) {
    return [failed(reached.part, reached.todo, error)];
  }
}

/** Whether something is found that does not work. */
export function hasFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ status }) => status === 'fail');
}
