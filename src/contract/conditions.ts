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

/** A condition that a transaction does not meet. */
export const conditionFailure = z
  .object({
    condition: z.enum(conditions),
    found: z.string().meta({ description: 'In words; amounts in the smallest unit.' }),
    wanted: z.string().meta({ description: 'In words; of long lists the first entries.' }),
  })
  .meta({ id: 'ConditionFailure' });
