import { KeyedLimiter, LimiterTimeout } from '../temporal/keyedLimiter';
import { Refused } from './refusals';

/** How long a mutation waits for its turn, in milliseconds. */
const WAIT_MS = 5_000;
const RETRY_AFTER_SECONDS = 1;
/** The key of the limit that all organizations share. */
const ALL = '';

/** How many mutations are worked on at once, of all and of one organization; others wait. */
const LIMITS = { atOnce: 16, perOrganization: 8 };

/** The mutations that this process works on: so many at once, and so many of one organization. */
export interface Turns {
  /**
   * Waits for the turn of a mutation, and returns what ends it. Throws Refused (`rateLimited`) after 5 s: the process is
   * full.
   */
  take(organizationId: string): Promise<() => void>;
}

/** Creates them. Organizations that wait take turns, each with as many as its limit. */
export function createTurns({ atOnce, perOrganization } = LIMITS): Turns {
  const ofOne = new KeyedLimiter(perOrganization);
  const ofAll = new KeyedLimiter(atOnce);

  async function turn(limiter: KeyedLimiter, key: string, deadline: number, full: string) {
    try {
      return await limiter.take(key, deadline);
    } catch (error) {
      if (!(error instanceof LimiterTimeout)) throw error;
      const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
      throw new Refused(
        { code: 'rateLimited', message: `${full}; send the same request again` },
        { headers },
      );
    }
  }

  return {
    async take(organizationId) {
      const deadline = performance.now() + WAIT_MS;
      const own = `more than ${perOrganization} mutations of this organization are in progress`;
      const release = await turn(ofOne, organizationId, deadline, own);
      try {
        const full = `more than ${atOnce} mutations are in progress`;
        const releaseAll = await turn(ofAll, ALL, deadline, full);
        return () => {
          releaseAll();
          release();
        };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}
