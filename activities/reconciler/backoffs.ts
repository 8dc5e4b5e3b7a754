/** A workflow takes some thousands of signals in its life: one that does not move gets fewer and fewer. */
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;

interface Pause {
  readonly atMs: number;
  readonly pauseMs: number;
}

/** Says in one pass whether something is due again. What is not asked for in a pass is forgotten. */
export type IsDue = (key: string) => boolean;

/** How long each workflow that did not move is left alone, from pass to pass: twice as long every time. */
export class Backoffs {
  private pauses = new Map<string, Pause>();

  nextPass(): IsDue {
    const last = this.pauses;
    const next = new Map<string, Pause>();
    this.pauses = next;
    return (key) => {
      const pause = last.get(key);
      const nowMs = performance.now();
      if (pause && nowMs - pause.atMs < pause.pauseMs) {
        next.set(key, pause);
        return false;
      }
      const pauseMs = pause ? Math.min(pause.pauseMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
      next.set(key, { atMs: nowMs, pauseMs });
      return true;
    };
  }
}
