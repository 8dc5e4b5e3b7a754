import type { Policy } from './policy';
import {
  type Evaluation,
  evaluate,
  HOUR_MS,
  type PolicyContext,
  type PolicyTransaction,
  type Usage,
  type UsageWindow,
  usageWindow,
} from './policyEngine';
import { spendingOf } from './transactionContent';

/** A transaction of the past. */
export interface PastTransaction extends PolicyTransaction {
  readonly id: string;
  readonly createdAt: Date;
  /** Whether it was executed or still can be: only then it takes something from a budget. */
  readonly counts: boolean;
  readonly account: NonNullable<PolicyContext['account']>;
}

/** What a policy is evaluated with besides the transaction. */
type Records = Pick<PolicyContext, 'members' | 'groups' | 'isRestricted'> & {
  readonly nativeAssetOn: (networkId: number) => PolicyContext['nativeAsset'];
};

/** What permitted transactions have used of one window of a policy, the oldest first. */
type Uses = { readonly at: Date; readonly amount: bigint }[];

/** What tells the windows of one policy apart. */
const keyOf = ({ initiatorId, accountId, destination }: UsageWindow) =>
  `${initiatorId} ${accountId} ${destination?.toLowerCase()}`;

/** What was used of a window at a moment. */
function usageAt({ hours }: UsageWindow, uses: Readonly<Uses>, at: Date): Usage {
  const begin = at.getTime() - hours * HOUR_MS;
  const counted = uses.filter((use) => use.at.getTime() >= begin);
  return {
    amount: counted.reduce((sum, { amount }) => sum + amount, 0n),
    executions: counted.length,
    oldestBlockAt: counted[0]?.at ?? null,
    at,
  };
}

/**
 * What a policy would have said of past transactions, each at the time when it was created, with the members and groups
 * of now. Its budget is used by those that it would have permitted, from when they were created. Yields one result for each
 * transaction, in their order, so that whoever asks can pause in between.
 *
 * @param transactions the oldest first
 */
export function* replayPolicy(
  policy: Policy,
  transactions: readonly PastTransaction[],
  { nativeAssetOn, ...records }: Records,
): Generator<Evaluation> {
  const used = new Map<string, Uses>();
  for (const past of transactions) {
    const window = usageWindow(policy, past);
    const uses = (window && used.get(keyOf(window))) ?? [];
    const evaluation = evaluate(policy, past, {
      ...records,
      account: past.account,
      nativeAsset: nativeAssetOn(past.networkId),
      // Whether a token could be read then, nobody knows.
      tokenFault: null,
      usage: window && usageAt(window, uses, past.createdAt),
    });
    if (window && evaluation.allowed && past.counts) {
      uses.push({ at: past.createdAt, amount: spendingOf(past.content).amount });
      used.set(keyOf(window), uses);
    }
    yield evaluation;
  }
}
