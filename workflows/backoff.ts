import { sleep } from '@temporalio/workflow';
import type { Waiting } from '../activities/approvals/wait';
import type { TemporarilyRefused } from '../src/signer/refusal';

/** The report of a hold of the signer. */
export function waitingForSigner({ held: waitingFor, reason }: TemporarilyRefused): Waiting {
  return { waitingFor, ...(reason ? { reason } : {}) };
}

/** How long an unavailable network is retried before anything is signed. */
const RETRY_BEFORE_SIGNING_MS = 20_000;
const MAX_PAUSE_MS = 30_000;
const MAX_PAUSE_BEFORE_SIGNING_MS = 5_000;

/** Who asks a network: each has endpoints of its own. */
export type Asking = 'chain' | 'signer';

/** Growing pauses between checks of one network, and the report of what it waits for. */
export interface Backoff {
  /** Reports what it waits for (null: nothing), with `Waiting.reason`; the same is not reported twice in a row. */
  report(waitingFor: string | null, reason?: Waiting['reason']): Promise<void>;
  /** What was reported last. */
  reported(): string | null;
  /** Waits; each time twice as long. */
  pause(why: string): Promise<void>;
  /** Waits while a network is unavailable before anything is signed; false after 20 s without an answer. */
  retryUnavailable(asking: Asking, message: string): Promise<boolean>;
  /** The network has answered: what follows is another outage. */
  answered(asking: Asking): void;
  /** There was progress: the pauses are short again. */
  reset(): void;
}

/** Creates the backoff of one effect on one network. `firstPauseMs` is the shortest pause. */
export function createBackoff(options: {
  readonly networkId: number;
  readonly firstPauseMs: number;
  readonly report: (waiting: Waiting) => Promise<void>;
}): Backoff {
  const { networkId, firstPauseMs } = options;
  let reported: string | null = null;
  let pauseMs = firstPauseMs;
  const unavailableSince = new Map<Asking, number>();

  async function report(waitingFor: string | null, reason?: Waiting['reason']): Promise<void> {
    if (waitingFor === reported) return;
    reported = waitingFor;
    await options.report({ waitingFor, ...(reason ? { reason } : {}) });
  }

  async function pause(why: string, longestMs = MAX_PAUSE_MS): Promise<void> {
    await sleep(pauseMs, { summary: `${why} (network ${networkId})` });
    pauseMs = Math.min(pauseMs * 2, longestMs);
  }

  return {
    report,
    reported: () => reported,
    pause,
    async retryUnavailable(asking, message) {
      const since = unavailableSince.get(asking) ?? Date.now();
      unavailableSince.set(asking, since);
      if (Date.now() - since >= RETRY_BEFORE_SIGNING_MS) return false;
      await report(message);
      await pause('Retry the network', MAX_PAUSE_BEFORE_SIGNING_MS);
      return true;
    },
    answered(asking) {
      unavailableSince.delete(asking);
    },
    reset() {
      unavailableSince.clear();
      pauseMs = firstPauseMs;
    },
  };
}
