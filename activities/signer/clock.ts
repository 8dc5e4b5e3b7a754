import { MAX_CLOCKS_APART_MS } from '../../src/domain/clock';
import type { Journal } from '../../src/journal/journal';
import { SignerHold } from './refusal';

/** The time by which the signer decides. */
export interface SignerClock {
  /** Its own clock's time, but never before the last time in the journal. */
  now(): Date;
  /** Throws SignerHold where the time of the database differs by more than 60 s. */
  assertInStep(databaseTime: Date): void;
}

/** Creates the clock. `ownTime` is that of the machine, in milliseconds. */
export function createSignerClock(
  journal: Pick<Journal, 'lastTime'>,
  ownTime: () => number = Date.now,
): SignerClock {
  const now = () => new Date(Math.max(ownTime(), journal.lastTime()));
  return {
    now,
    assertInStep(databaseTime) {
      const time = now();
      const apartMs = databaseTime.getTime() - time.getTime();
      if (Math.abs(apartMs) <= MAX_CLOCKS_APART_MS) return;
      const seconds = Math.round(Math.abs(apartMs) / 1_000);
      throw new SignerHold(
        'clock',
        `the clock of the database is ${seconds} s ${apartMs > 0 ? 'ahead of' : 'behind'} the signer's (${time.toISOString()}): nothing is signed while they differ by more than ${MAX_CLOCKS_APART_MS / 1_000} s`,
      );
    },
  };
}
