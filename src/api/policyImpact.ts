import { isRestricted } from '../chain/functions';
import type { NetworkConfig } from '../config';
import type { ShownImpact } from '../contract/policyImpactContract';
import type { Db } from '../db/database';
import { type RecentTransaction, readRecentTransactions } from '../db/recentTransactions';
import { toMemberSummary } from '../domain/approval';
import type { JsonValue } from '../domain/canonicalJson';
import {
  membersOf,
  type OrganizationState,
  type PolicyState,
  type ResourceChange,
} from '../domain/governance';
import type { ConditionFailure, Evaluation } from '../domain/policyEngine';
import { replayPolicy } from '../domain/policyImpact';
import { changeState } from '../operations/change';
import type { OperationRule } from '../operations/rule';
import { createPause } from '../pause';
import { readPast } from './pastTransactions';
import { acceptOrThrow } from './refusals';

/** The most transactions that are evaluated, and the most evaluations: each policy is evaluated for each of them. */
const MAX_TRANSACTIONS = 500;
const MAX_EVALUATIONS = 5_000;
/** The calldata of all of them together: all of it is read. */
const MAX_CALLDATA_BYTES = 1_048_576;
/** The most transactions of a policy that are returned one by one. */
const MAX_CHANGED = 50;

/** The members and groups of a state. */
function peopleOf(state: OrganizationState) {
  const members = Object.values(state.members).map(toMemberSummary);
  const groups = Object.values(state.groups).map(
    ({ id, memberIds }) => [id, membersOf(state, memberIds).map(toMemberSummary)] as const,
  );
  return { members: new Map(members.map((member) => [member.id, member])), groups: new Map(groups) };
}

function countConditions(failures: readonly (readonly ConditionFailure[])[]) {
  const counts = new Map<ConditionFailure['condition'], number>();
  for (const { condition } of failures.flat()) counts.set(condition, (counts.get(condition) ?? 0) + 1);
  return [...counts]
    .map(([condition, transactions]) => ({ condition, transactions }))
    .sort((one, two) => two.transactions - one.transactions);
}

type PolicyChange = Extract<ResourceChange, { readonly type: 'policy' }>;

/** One transaction with what a policy says of it as it is and as it becomes; undefined: there is no such policy. */
interface Compared {
  readonly transaction: RecentTransaction;
  readonly before: Evaluation | undefined;
  readonly after: Evaluation | undefined;
}

const isPermitted = (evaluation: Evaluation | undefined) => evaluation?.allowed ?? false;

function shownImpact(
  { id, before, after }: PolicyChange,
  compared: readonly Compared[],
): ShownImpact['policies'][number] {
  const changed = compared.filter((one) => isPermitted(one.before) !== isPermitted(one.after));
  const permitted = compared.filter((one) => isPermitted(one.after)).length;
  const newlyPermitted = changed.filter((one) => isPermitted(one.after)).length;
  return {
    id: before && id,
    name: (after ?? before)?.definition.name ?? '',
    permitted,
    refused: compared.length - permitted,
    newlyPermitted,
    noLongerPermitted: changed.length - newlyPermitted,
    conditions: countConditions(compared.map((one) => one.after?.failures ?? [])),
    changed: changed.slice(0, MAX_CHANGED).map(({ transaction, after: evaluation }) => ({
      transactionId: transaction.id,
      createdAt: transaction.createdAt.toISOString(),
      summary: transaction.summary.split('\n', 1)[0] ?? '',
      description: transaction.description,
      permitted: isPermitted(evaluation),
      failures: [...(evaluation?.failures ?? [])],
    })),
  };
}

/** A change of policies: its rule with its data, the state before it, and what the admins sign. */
interface Change {
  readonly rule: OperationRule;
  readonly state: OrganizationState;
  readonly data: JsonValue;
  readonly summary: string;
}

/**
 * What a change of policies would have permitted of the last transactions. It stores nothing. Throws Refused (`conflict`) where the
 * change is impossible now.
 */
export async function policyImpact(
  { db, networks }: { readonly db: Db; readonly networks: readonly NetworkConfig[] },
  { rule, state, data, summary }: Change,
): Promise<ShownImpact> {
  const { changes } = acceptOrThrow(changeState(rule, state, data));
  const policies = changes.filter((change): change is PolicyChange => change.type === 'policy');
  const recent = await readRecentTransactions(db, state.id, {
    limit: Math.min(MAX_TRANSACTIONS, Math.floor(MAX_EVALUATIONS / policies.length)),
    maxCalldataBytes: MAX_CALLDATA_BYTES,
  });
  const pause = createPause();
  const past = await readPast(recent, pause);
  const records = {
    ...peopleOf(state),
    isRestricted,
    nativeAssetOn: (networkId: number) => networks.find(({ id }) => id === networkId)?.nativeAsset ?? null,
  };

  async function replay(policy: PolicyState | null): Promise<readonly Evaluation[]> {
    if (!policy) return [];
    const evaluations: Evaluation[] = [];
    for (const evaluation of replayPolicy({ id: policy.id, ...policy.definition }, past, records)) {
      evaluations.push(evaluation);
      await pause();
    }
    return evaluations;
  }

  const shown: ShownImpact['policies'] = [];
  for (const change of policies) {
    const [before, after] = [await replay(change.before), await replay(change.after)];
    const newest = past.length - 1;
    const compared = recent
      .slice(0, past.length)
      .map((transaction, i) => ({ transaction, before: before[newest - i], after: after[newest - i] }));
    shown.push(shownImpact(change, compared));
  }
  return {
    summary,
    transactions: past.length,
    since: past[0]?.createdAt.toISOString() ?? null,
    policies: shown,
  };
}
