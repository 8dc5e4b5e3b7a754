import { checksumAddress } from '../chain/address';
import { handsOutTokens } from '../chain/functions';
import { ACCOUNT_CONTRACTS } from '../chain/safe';
import type { FieldIssue } from '../contract/errors';
import type { ShownEvaluation, TransactionToEvaluate } from '../contract/policies';
import { findAccount } from '../db/accounts';
import type { Db } from '../db/database';
import { findMembersByWallet } from '../db/members';
import { listPolicies } from '../db/policies';
import { readPeople } from '../db/policyContext';
import { readUsage } from '../db/policyUsage';
import { NATIVE_COIN } from '../domain/policy';
import {
  evaluate,
  type PolicyContext,
  type PolicyTransaction,
  type Remaining,
  usageWindow,
} from '../domain/policyEngine';
import type { Outcome } from '../domain/refusal';
import { checkTarget, readContent } from '../domain/transactionContent';
import type { ApiDependencies } from './dependencies';
import { badRequest } from './refusals';

type Dependencies = { db: Db } & Pick<ApiDependencies, 'config' | 'readToken'>;

/** What a caller asks for, found in the organization; refuses what no chain or account would let through. */
async function resolve({ db, config }: Dependencies, organizationId: string, asked: TransactionToEvaluate) {
  const [account, [initiator]] = await Promise.all([
    findAccount(db, organizationId, asked.accountId),
    findMembersByWallet(db, organizationId, [asked.initiatorWalletAddress]),
  ]);
  const content = readContent(
    { to: asked.to, value: BigInt(asked.value), data: asked.data },
    checksumAddress,
  );
  const issues: FieldIssue[] = [];
  const add = (field: string, message: string) => issues.push({ field, message });
  const addRefused = (outcome: Outcome<unknown>) => {
    if (!outcome.ok) add(outcome.refusal.field ?? 'body', outcome.refusal.message);
  };
  if (!account) add('accountId', 'is no account of the organization');
  if (!initiator) add('initiatorWalletAddress', 'is not the wallet of a member');
  if (!config.networks.some(({ id }) => id === asked.networkId)) {
    add('networkId', 'is no network of this deployment');
  } else if (account && !account.networkIds.includes(asked.networkId)) {
    add('networkId', 'is no network that the account is on');
  }
  addRefused(checkTarget(asked.to, { address: account?.address ?? '', contracts: ACCOUNT_CONTRACTS }));
  addRefused(content);
  const [first, ...others] = issues;
  if (first) throw badRequest([first, ...others]);
  if (!account || !initiator || !content.ok) throw new Error('a bad transaction was not refused');
  return { account, initiatorId: initiator.id, content: content.value };
}

function showRemaining(remaining: Remaining | null): ShownEvaluation['remaining'] {
  if (remaining === null) return null;
  const until = remaining.until.toISOString();
  return 'amount' in remaining
    ? { amount: String(remaining.amount), until }
    : { count: remaining.count, until };
}

/** Evaluates a transaction under every policy of an organization, all at one moment. Stores nothing. */
export async function evaluatePolicies(
  dependencies: Dependencies,
  organizationId: string,
  asked: TransactionToEvaluate,
): Promise<ShownEvaluation[]> {
  const { db, readToken } = dependencies;
  const { account, initiatorId, content } = await resolve(dependencies, organizationId, asked);
  const { networkId } = asked;
  const transaction: PolicyTransaction = { networkId, accountId: account.id, initiatorId, content };
  let tokenFault: PolicyContext['tokenFault'] = null;
  if (content.type === 'TOKEN_TRANSFER' && content.tokenAddress !== NATIVE_COIN) {
    const token = await readToken(networkId, content.tokenAddress);
    tokenFault = token.ok ? null : token.reason;
  }
  return db.transaction(
    async (tx) => {
      const policies = await listPolicies(tx, { organizationId });
      const people = await readPeople(tx, organizationId, policies, initiatorId);
      const windows = policies.flatMap((policy) => usageWindow(policy, transaction) ?? []);
      const usages = await readUsage(tx, windows);
      const usageOf = new Map(windows.map(({ policyId }, i) => [policyId, usages[i]]));
      return policies.map((policy) => {
        const usage = usageOf.get(policy.id) ?? null;
        const context = { account, ...people, handsOutTokens, tokenFault, usage };
        const { remaining, ...evaluation } = evaluate(policy, transaction, context);
        return {
          policy: { id: policy.id, name: policy.name },
          allowed: evaluation.allowed,
          failures: [...evaluation.failures],
          approvers: [...evaluation.approvers],
          threshold: evaluation.threshold,
          remaining: showRemaining(remaining),
        };
      });
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}
