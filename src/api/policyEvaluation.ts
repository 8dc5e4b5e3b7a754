import { carriedCalls } from '../chain/carriedCalls';
import { isRestricted } from '../chain/functions';
import type { ShownEvaluation, TransactionToEvaluate } from '../contract/policies';
import type { Db, Tx } from '../db/database';
import { findGroups } from '../db/groups';
import { findMembers } from '../db/members';
import { listPolicies } from '../db/policies';
import { readUsage } from '../db/policyUsage';
import { memberSummary } from '../domain/approval';
import { type Policy, policyPeople } from '../domain/policy';
import {
  evaluate,
  type PolicyContext,
  type PolicyTransaction,
  type Remaining,
  usageWindow,
} from '../domain/policyEngine';
import { checkReplacement, namedToken, readTransferredToken } from '../transactions/plan';
import type { ApiDependencies } from './dependencies';
import { acceptOrThrow } from './refusals';
import { resolveRequest } from './transactionRequests';

type Dependencies = { db: Db } & Pick<ApiDependencies, 'config' | 'readToken' | 'readRecipientCode'>;

function showRemaining(remaining: Remaining | null): ShownEvaluation['remaining'] {
  if (remaining === null) return null;
  const until = remaining.until.toISOString();
  return 'amount' in remaining
    ? { amount: String(remaining.amount), until }
    : { count: remaining.count, until };
}

/** The current members and groups that policies depend on when this member initiates a transaction. */
async function readPeople(
  tx: Tx,
  organizationId: string,
  policies: readonly Policy[],
  initiatorId: string,
): Promise<Pick<PolicyContext, 'members' | 'groups'>> {
  const { memberIds, groupIds } = policyPeople(policies);
  const members = await findMembers(tx, organizationId, [initiatorId, ...memberIds]);
  const groups = groupIds.length === 0 ? [] : await findGroups(tx, organizationId, groupIds);
  return {
    members: new Map(members.map((member) => [member.id, memberSummary(member)])),
    groups: new Map(groups.map((group) => [group.id, group.members])),
  };
}

/** Evaluates a transaction under every policy of an organization, all at one moment. Stores nothing. */
export async function evaluatePolicies(
  dependencies: Dependencies,
  organizationId: string,
  request: TransactionToEvaluate,
): Promise<ShownEvaluation[]> {
  const { db, readToken, readRecipientCode } = dependencies;
  const { records, resolved } = await resolveRequest(dependencies, organizationId, request);
  acceptOrThrow(checkReplacement(records, request));
  const { account, content } = resolved;
  const { nativeAsset } = resolved.network;
  const { networkId } = request;
  const initiatorId = resolved.initiator.id;
  const carried = carriedCalls({ to: request.to, value: BigInt(request.value), data: request.data });
  const transaction: PolicyTransaction = { networkId, accountId: account.id, initiatorId, content, carried };
  const [read, recipientCode] = await Promise.all([
    readTransferredToken(readToken, networkId, content, undefined),
    readRecipientCode({ organizationId, networkId, content }),
  ]);
  const mark = recipientCode === null ? {} : { recipientCode };
  return db.transaction(
    async (tx) => {
      const policies = await listPolicies(tx, { organizationId });
      const people = await readPeople(tx, organizationId, policies, initiatorId);
      const windows = policies.flatMap((policy) => usageWindow(policy, transaction) ?? []);
      const usages = await readUsage(tx, windows);
      const usageOf = new Map(windows.map(({ policyId }, i) => [policyId, usages[i]]));
      return policies.map((policy) => {
        const usage = usageOf.get(policy.id) ?? null;
        // As in a creation: a token that the policy names is not read again.
        const token = namedToken(networkId, content, policy) ?? read;
        const tokenFault = token && !token.ok ? token.reason : null;
        const context = { account, ...people, isRestricted, nativeAsset, tokenFault, usage };
        const { remaining, ...evaluation } = evaluate(policy, transaction, context);
        return {
          policy: { id: policy.id, name: policy.name },
          allowed: evaluation.allowed,
          failures: [...evaluation.failures],
          approvers: [...evaluation.approvers],
          threshold: evaluation.threshold,
          remaining: showRemaining(remaining),
          ...mark,
        };
      });
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}
