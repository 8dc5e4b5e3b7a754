import { z } from 'zod';
import type { Condition } from '../domain/policyEngine';

const conditions = [
  'network',
  'account',
  'initiator',
  'transactionType',
  'token',
  'amount',
  'destination',
  'contract',
  'function',
  'value',
  'budget',
] as const satisfies readonly Condition[];

/** A condition that a policy sets. */
export const policyCondition = z.enum(conditions).meta({ id: 'PolicyCondition' });

/** A condition that a transaction does not meet. */
export const conditionFailure = z
  .object({
    condition: policyCondition,
    found: z.string().meta({ description: 'What the transaction has, for people; amounts in whole units.' }),
    wanted: z
      .string()
      .meta({ description: 'What the policy permits, for people; of long lists the first entries.' }),
  })
  .meta({ id: 'ConditionFailure', description: 'A condition of a policy that a transaction does not meet.' });
