import { sleep } from '@temporalio/workflow';

/** How long a network that does not answer is asked again before anything is signed. */
const PATIENCE_BEFORE_SIGNING_MS = 20_000;
const MAX_PAUSE_MS = 30_000;
const MAX_PAUSE_BEFORE_SIGNING_MS = 5_000;

/** What waits for a chain: it tells what for, and how long it goes on. */
export interface Patience {
  /** Tells what is waited for (null: nothing any more); nothing is told twice. */
  tell(waitingFor: string | null): Promise<void>;
  /** What was told last. */
  told(): string | null;
  /** Waits; each time twice as long. */
  pause(why: string): Promise<void>;
  /** Waits out a network that is away before anything is signed; false when patience ends. */
  outwait(message: string): Promise<boolean>;
  /** Something moved: the pauses are short again. */
  moved(): void;
}

/** Makes the patience of one execution on one network. */
export function createPatience(options: {
  readonly networkId: number;
  readonly firstPauseMs: number;
  readonly report: (waitingFor: string | null) => Promise<void>;
}): Patience {
  const { networkId, firstPauseMs, report } = options;
  let told: string | null = null;
  let pauseMs = firstPauseMs;
  let silentSince: number | undefined;

  async function tell(waitingFor: string | null): Promise<void> {
    if (waitingFor === told) return;
    told = waitingFor;
    await report(waitingFor);
  }

  async function pause(why: string, longestMs = MAX_PAUSE_MS): Promise<void> {
    await sleep(pauseMs, { summary: why });
    pauseMs = Math.min(pauseMs * 2, longestMs);
  }

  return {
    tell,
    told: () => told,
    pause,
    async outwait(message) {
      silentSince ??= Date.now();
      if (Date.now() - silentSince >= PATIENCE_BEFORE_SIGNING_MS) return false;
      await tell(message);
      await pause(`Ask network ${networkId} again`, MAX_PAUSE_BEFORE_SIGNING_MS);
      return true;
    },
    moved() {
      silentSince = undefined;
      pauseMs = firstPauseMs;
    },
  };
}
