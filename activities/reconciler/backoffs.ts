/** A workflow accepts some thousands of signals in total: one without progress receives them at growing intervals. */
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;

interface Pause {
  readonly atMs: number;
  readonly pauseMs: number;
}

/** Whether a key is due in this pass. A key that is not queried in a pass is dropped. */
export type IsDue = (key: string) => boolean;

/** The pause before a workflow without progress is notified again, doubled each time. */
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
