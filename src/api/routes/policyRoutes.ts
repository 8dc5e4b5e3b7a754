import {
  evaluatePoliciesEndpoint,
  getPolicyEndpoint,
  listPoliciesEndpoint,
  type ShownPolicy,
} from '../../contract/policyContract';
import { getPolicyImpactEndpoint, previewPoliciesEndpoint } from '../../contract/policyImpactContract';
import { type Account, findAccounts } from '../../db/accounts';
import type { Db } from '../../db/database';
import { definitionOf, findPolicy, listPolicies, type StoredPolicy } from '../../db/policies';
import { readProposalSnapshot } from '../../db/proposals';
import { readOrganizationState } from '../../db/seals';
import { notAdmitted } from '../../domain/admission';
import type { JsonValue } from '../../domain/canonicalJson';
import { policyView } from '../../domain/policy';
import { checkOpen } from '../../domain/voting';
import { kindOfRequest, operationKindOf } from '../../operations';
import { planOperation } from '../../operations/plan';
import type { Cursors } from '../cursors';
import type { ApiDependencies } from '../dependencies';
import { listOrPage } from '../pages';
import { evaluatePolicies } from '../policyEvaluation';
import { policyImpact } from '../policyImpact';
import { acceptOrThrow, notFound, Refused } from '../refusals';
import { dryRunRoute, type Route, readRoute } from '../requestContext';

function show(policy: StoredPolicy, accounts: readonly Account[]): ShownPolicy {
  const times = { createdAt: policy.createdAt.toISOString(), updatedAt: policy.updatedAt.toISOString() };
  const view = policyView({ id: policy.id, ...definitionOf(policy) }, accounts);
  return { ...view, ...times } as ShownPolicy;
}

type Deps = { db: Db; cursors: Cursors } & Pick<
  ApiDependencies,
  'config' | 'readToken' | 'readRecipientCode'
>;

/** What policies that nobody has proposed yet would have permitted. */
function previewRoute({ db, config, readToken }: Deps): Route {
  const { networks, production } = config;
  return dryRunRoute(previewPoliciesEndpoint, async (context) => {
    const body = context.body as unknown as JsonValue;
    const kind = kindOfRequest('/policies/proposals', body);
    const planning = { db, networks, production, readToken };
    const planned = acceptOrThrow(await planOperation(planning, context.organizationId, kind, body));
    return { data: await policyImpact({ db, networks }, { rule: kind, ...planned }) };
  });
}

/** What the policies of an open proposal would have permitted. */
function impactRoute({ db, config: { networks } }: Deps): Route {
  return readRoute(getPolicyImpactEndpoint, async ({ organizationId, params: { proposalId = '' } }) => {
    const snapshot = await readProposalSnapshot(db, {
      organizationId,
      id: proposalId,
      resourceType: 'policies',
    });
    if (!snapshot) throw notFound('proposal');
    const { record, now } = snapshot;
    acceptOrThrow(checkOpen('proposal', record, now.time));
    const state = await readOrganizationState(db, organizationId);
    if (!state) throw new Refused(notAdmitted(organizationId).refusal);
    const { data, summary } = record;
    const rule = operationKindOf('policies', record.action);
    return { data: await policyImpact({ db, networks }, { rule, state, data, summary }) };
  });
}

/** GET /policies and /policies/{policyId}, POST /policies/evaluate; what changed policies would have permitted. */
export function policyRoutes(deps: Deps): Route[] {
  const { db, cursors, config, readToken, readRecipientCode } = deps;

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
    previewRoute(deps),
    impactRoute(deps),
  ];
}
