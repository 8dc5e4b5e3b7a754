import type { ShownEvaluation, TransactionToEvaluate } from '../contract/policyContract';
import type { Db, Tx } from '../db/database';
import { findGroups } from '../db/groups';
import { findMembers } from '../db/members';
import { listPolicies } from '../db/policies';
import { readUsage } from '../db/policyUsage';
import { toMemberSummary } from '../domain/approval';
import { type Policy, policyPeople } from '../domain/policy';
import { type PolicyContext, type Remaining, usageWindow } from '../domain/policyEngine';
import { evaluateRequested, readRequested, readTransferredToken } from '../transactions/plan';
import type { ApiDependencies } from './dependencies';
import { acceptOrThrow } from './refusals';

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
    members: new Map(members.map((member) => [member.id, toMemberSummary(member)])),
    groups: new Map(groups.map((group) => [group.id, group.members])),
  };
}

/** Evaluates a transaction under every policy of an organization, all at one moment. Stores nothing. */
export async function evaluatePolicies(
  dependencies: Dependencies,
  organizationId: string,
  request: TransactionToEvaluate,
): Promise<ShownEvaluation[]> {
  const { db, config, readToken, readRecipientCode } = dependencies;
  const { networks } = config;
  const requested = acceptOrThrow(await readRequested({ db, networks }, organizationId, request));
  const { transaction } = requested;
  const { networkId, initiatorId, content } = transaction;
  const [read, recipientCode] = await Promise.all([
    readTransferredToken({ readToken }, transaction),
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
        const now = { ...people, read, usage: usageOf.get(policy.id) ?? null };
        const { remaining, ...evaluation } = evaluateRequested(requested, policy, now);
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
