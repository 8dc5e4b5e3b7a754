import {
  evaluatePoliciesEndpoint,
  getPolicyEndpoint,
  listPoliciesEndpoint,
  type ShownPolicy,
} from '../../contract/policyContract';
import { type Account, findAccounts } from '../../db/accounts';
import type { Db } from '../../db/database';
import { definitionOf, findPolicy, listPolicies, type StoredPolicy } from '../../db/policies';
import { policyView } from '../../domain/policy';
import type { Cursors } from '../cursors';
import type { ApiDependencies } from '../dependencies';
import { listOrPage } from '../pages';
import { evaluatePolicies } from '../policyEvaluation';
import { notFound } from '../refusals';
import { dryRunRoute, type Route, readRoute } from '../requestContext';

function show(policy: StoredPolicy, accounts: readonly Account[]): ShownPolicy {
  const times = { createdAt: policy.createdAt.toISOString(), updatedAt: policy.updatedAt.toISOString() };
  const view = policyView({ id: policy.id, ...definitionOf(policy) }, accounts);
  return { ...view, ...times } as ShownPolicy;
}

/** GET /policies and /policies/{policyId}, POST /policies/evaluate. */
export function policyRoutes({
  db,
  cursors,
  config,
  readToken,
  readRecipientCode,
}: { db: Db; cursors: Cursors } & Pick<
  ApiDependencies,
  'config' | 'readToken' | 'readRecipientCode'
>): Route[] {
  async function accountsOf(
    organizationId: string,
    policies: readonly StoredPolicy[],
  ): Promise<readonly Account[]> {
    const ids = new Set(policies.flatMap(({ accountIds }) => accountIds ?? []));
    return ids.size === 0 ? [] : findAccounts(db, organizationId, [...ids]);
  }

  return [
    readRoute(listPoliciesEndpoint, async ({ organizationId, query }) => {
      let accounts: readonly Account[] = [];
      return listOrPage(
        cursors,
        { organizationId, list: 'policies' },
        query,
        async (page) => {
          const policies = await listPolicies(db, { organizationId, ...page });
          accounts = await accountsOf(organizationId, policies);
          return policies;
        },
        (policy) => show(policy, accounts),
      );
    }),
    readRoute(getPolicyEndpoint, async ({ organizationId, params }) => {
      const policy = await findPolicy(db, organizationId, params.policyId ?? '');
      if (!policy) throw notFound('policy');
      return { data: show(policy, await accountsOf(organizationId, [policy])) };
    }),
    dryRunRoute(evaluatePoliciesEndpoint, async ({ organizationId, body }) => ({
      data: await evaluatePolicies({ db, config, readToken, readRecipientCode }, organizationId, body),
    })),
  ];
}
