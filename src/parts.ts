import { withTimeLimit } from './timeLimit';

/** A part that the service uses, or that another process runs. */
export interface CheckedPart {
  /** Throws when it is unavailable; PartUnknown when that cannot be said. */
  readonly check: () => Promise<void>;
  /** Whether this process can do nothing without it; without others it does the rest. */
  readonly isRequired: boolean;
  /** What is shown of it besides, as it was checked last: when it was seen, where the check itself does not see it. */
  readonly shown?: () => { readonly lastSeen: Date | null; readonly queues?: object };
}

/** The parts by name. */
export type CheckedParts = { readonly [name: string]: CheckedPart };

/** What cannot be said, because something else is unavailable: the cause is reported once. */
export class PartUnknown extends Error {
  override readonly name = 'PartUnknown';
}

/** The state of a part. `slow`: it has answered, and late. `lastSeen`: when it was last known to work; null: never. */
export interface PartState {
  readonly status: 'up' | 'slow' | 'down' | 'unknown';
  readonly reason?: string;
  readonly lastSeen: string | null;
  readonly queues?: object;
}

/** A part that takes longer to answer is slow, in milliseconds. */
const SLOW_MS = 2_000;
/** When each part has last answered in this process. */
const seenAt = new WeakMap<CheckedPart['check'], Date>();

async function answerOf(
  { check }: CheckedPart,
  limitMs: number,
): Promise<Pick<PartState, 'status' | 'reason'>> {
  const startedAt = performance.now();
  try {
    await withTimeLimit(check(), limitMs, () => {
      throw new Error(`no answer within ${limitMs / 1_000} s`);
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { status: error instanceof PartUnknown ? 'unknown' : 'down', reason };
  }
  seenAt.set(check, new Date());
  const tookMs = performance.now() - startedAt;
  if (tookMs < SLOW_MS) return { status: 'up' };
  return { status: 'slow', reason: `answered after ${(tookMs / 1_000).toFixed(1)} s` };
}

async function stateOf(part: CheckedPart, limitMs: number): Promise<PartState> {
  const answer = await answerOf(part, limitMs);
  const { lastSeen, ...shown } = part.shown?.() ?? { lastSeen: seenAt.get(part.check) ?? null };
  return { ...answer, lastSeen: lastSeen?.toISOString() ?? null, ...shown };
}

/** The states of parts, each checked for `limitMs` at most, and the names of those that are unavailable. */
export async function statesOf(
  parts: CheckedParts,
  limitMs: number,
): Promise<{
  readonly unavailable: readonly string[];
  readonly parts: { readonly [name: string]: PartState };
}> {
  const states = await Promise.all(
    Object.entries(parts).map(async ([name, part]) => [name, await stateOf(part, limitMs)] as const),
  );
  const unavailable = states.filter(([, { status }]) => status === 'down').map(([name]) => name);
  return { unavailable, parts: Object.fromEntries(states) };
}
