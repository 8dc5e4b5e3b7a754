import { KeyedLimiter, LimiterTimeout } from '../temporal/keyedLimiter';
import type { ApiDependencies } from './dependencies';
import { Refused } from './refusals';

type Simulate = ApiDependencies['simulate'];
type Simulated = ReturnType<Simulate>;

/** How many transactions of one organization and network are simulated at once. */
const AT_ONCE = 2;
/** How long others of them wait for it, in milliseconds. */
const WAIT_MS = 5_000;
const RETRY_AFTER_SECONDS = 1;

function full(): Refused {
  return new Refused(
    {
      code: 'rateLimited',
      message: `more than ${AT_ONCE} transactions of this organization are being simulated on this network; send the same request again`,
    },
    { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } },
  );
}

/**
 * Simulates transactions for those who ask: one transaction once at a time, however many ask and however long it takes, and
 * few of one organization. Each takes several calls of a node, which organizations share: one that asks for many waits
 * for itself alone. Throws Refused (`rateLimited`) after 5 s.
 */
export function createSimulations(simulate: Simulate): Simulate {
  const limiter = new KeyedLimiter(AT_ONCE);
  const running = new Map<string, Simulated>();

  async function inTurn(record: Parameters<Simulate>[0]): Simulated {
    const { organizationId, networkId } = record;
    try {
      const deadline = performance.now() + WAIT_MS;
      return await limiter.run(`${organizationId}/${networkId}`, deadline, () => simulate(record));
    } catch (error) {
      throw error instanceof LimiterTimeout ? full() : error;
    } finally {
      running.delete(record.id);
    }
  }

  return (record) => {
    const inFlight = running.get(record.id) ?? inTurn(record);
    running.set(record.id, inFlight);
    return inFlight;
  };
}
