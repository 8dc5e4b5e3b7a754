import { MAX_CLOCKS_APART_MS } from '../domain/clock';
import type { Journal } from './journal/journal';
import type { SteadyTime } from './journal/steadyTime';
import { TemporaryRefusal } from './refusal';

/** The time by which the signer decides. */
export interface SignerClock {
  /** Its own clock's time, as it was in step, and what has elapsed since; never before the last time in the journal. */
  now(): Date;
  /** Throws TemporaryRefusal where the time of the database differs by more than 60 s. */
  assertInStep(databaseTime: Date): void;
}

/** Creates the clock. A step of the machine's clock counts once that is in step with the database. */
export function createSignerClock(journal: Pick<Journal, 'lastTime'>, steady: SteadyTime): SignerClock {
  const after = (ms: number) => new Date(Math.max(ms, journal.lastTime()));
  return {
    now: () => after(steady.now()),
    assertInStep(databaseTime) {
      const machineTime = steady.look();
      const time = after(machineTime);
      const apartMs = databaseTime.getTime() - time.getTime();
      if (Math.abs(apartMs) <= MAX_CLOCKS_APART_MS) {
        steady.adopt(machineTime);
        return;
      }
      const seconds = Math.round(Math.abs(apartMs) / 1_000);
      throw new TemporaryRefusal(
        'clock',
        `the clock of the database is ${seconds} s ${apartMs > 0 ? 'ahead of' : 'behind'} the signer's (${time.toISOString()}): nothing is signed while they differ by more than ${MAX_CLOCKS_APART_MS / 1_000} s`,
      );
    },
  };
}
