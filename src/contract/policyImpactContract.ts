import { z } from 'zod';
import { idOf, timestamp } from '../domain/schemas';
import { conditionFailure, policyCondition } from './conditions';
import { endpoint } from './endpoint';
import { EXAMPLE_POLICY, policiesBodies } from './policyContract';
import { dataResponse } from './primitives';

const impact = z
  .object({
    summary: z.string().meta({ description: 'What the admins sign: the `summary` of the proposal.' }),
    transactions: z.int().min(0).meta({ description: 'How many of the last transactions were evaluated.' }),
    since: timestamp
      .nullable()
      .meta({ description: 'When the oldest of these was created; null: there are none.' }),
    policies: z
      .array(
        z
          .object({
            id: idOf('pol').nullable().meta({ description: 'null: a new policy.' }),
            name: z.string(),
            permitted: z.int().min(0).meta({ description: 'How many the changed policy permits.' }),
            refused: z.int().min(0).meta({ description: 'How many it does not permit.' }),
            newlyPermitted: z
              .int()
              .min(0)
              .meta({ description: 'Of those permitted, how many it does not permit now.' }),
            noLongerPermitted: z
              .int()
              .min(0)
              .meta({ description: 'Of those not permitted, how many it permits now.' }),
            conditions: z
              .array(
                z
                  .object({ condition: policyCondition, transactions: z.int().min(1) })
                  .meta({ id: 'ConditionCount' }),
              )
              .meta({ description: 'How many transactions do not meet each condition, the most first.' }),
            changed: z
              .array(
                z
                  .object({
                    transactionId: idOf('txn'),
                    createdAt: timestamp,
                    summary: z.string().meta({ description: 'The first line of its summary.' }),
                    description: z.string(),
                    permitted: z.boolean().meta({ description: 'Whether the changed policy permits it.' }),
                    failures: z
                      .array(conditionFailure)
                      .meta({ description: 'Every condition that is not met.' }),
                  })
                  .meta({ id: 'ImpactOnTransaction' }),
              )
              .meta({ description: 'Those newly and no longer permitted, newest first; at most 50.' }),
          })
          .meta({ id: 'ImpactOfPolicy', description: 'What one policy would have permitted.' }),
      )
      .meta({ description: 'In the order of the request.' }),
  })
  .meta({ id: 'PolicyImpact', description: 'What changed policies would have permitted in the past.' });

/** What changed policies would have permitted in the past. */
export type ShownImpact = z.output<typeof impact>;

export const previewPoliciesEndpoint = endpoint({
  id: 'previewPolicies',
  tag: 'Policies',
  method: 'post',
  path: '/policies/impact',
  access: 'read',
  summary: 'Preview a proposal of policies',
  description:
    'Takes the body of `POST /policies/proposals`, refuses what that refuses, and returns what the admins would sign and which ' +
    'of the last 500 transactions it would have permitted: fewer for more than ten policies, or with much calldata. Each is ' +
    'evaluated as of its creation, with the members and groups of now. A budget is used by those that the policy would have ' +
    'permitted, and that were executed or still can be. A dry run: nothing is stored.',
  params: {},
  query: z.strictObject({}),
  body: policiesBodies.mixed,
  response: dataResponse(impact),
  status: 200,
  dryRun: true,
  errors: ['conflict'],
  exampleBody: { policies: [EXAMPLE_POLICY] },
});

export const getPolicyImpactEndpoint = endpoint({
  id: 'getPolicyImpact',
  tag: 'Policies',
  method: 'get',
  path: '/policies/proposals/{proposalId}/impact',
  access: 'read',
  summary: 'Get the impact of a proposal of policies',
  description:
    'Which of the last 500 transactions a proposal that can be signed would have permitted; see `POST /policies/impact`. A removed ' +
    'policy permits nothing.',
  params: { proposalId: 'prop' },
  query: z.strictObject({}),
  response: dataResponse(impact),
  status: 200,
  errors: ['notFound', 'conflict', 'proposalExpired'],
});
