import { nestedCallsOf } from '../chain/nestedCalls';
import type { RecentTransaction } from '../db/recentTransactions';
import type { PastTransaction } from '../domain/policyImpact';
import type { Pause } from '../pause';
import { contentOf } from '../transactions/policy';

/** The calls that transactions carry, all of them together: every one is compared with every entry of a policy. */
const MAX_NESTED_CALLS = 1_000;

/** How many calls a transaction carries, at every depth. */
function nestedCallsIn({ calls }: PastTransaction['nested']): number {
  return (calls ?? []).reduce((sum, { nested }) => sum + 1 + nestedCallsIn(nested), 0);
}

/**
 * The newest of some transactions, as a policy is evaluated with them: as many as carry at most `MAX_NESTED_CALLS` together.
 *
 * @param recent the newest first
 * @returns the oldest first
 */
export async function readPast(
  recent: readonly RecentTransaction[],
  pause: Pause,
): Promise<PastTransaction[]> {
  const past: PastTransaction[] = [];
  let calls = 0;
  for (const one of recent) {
    const { id, createdAt, counts, accountId, accountNetworkIds, networkId, initiatorId } = one;
    const nested = nestedCallsOf({ to: one.to, value: one.value, data: one.calldata });
    calls += nestedCallsIn(nested);
    if (calls > MAX_NESTED_CALLS) break;
    const account = { id: accountId, networkIds: accountNetworkIds };
    past.push({
      ...{ id, createdAt, counts, account, accountId, networkId, initiatorId, nested },
      content: contentOf(one),
    });
    await pause();
  }
  return past.reverse();
}
