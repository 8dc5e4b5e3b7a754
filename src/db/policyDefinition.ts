import { z } from 'zod';
import { type PolicyDefinition, policyDefinitionSchema } from '../domain/policy';

/** Reads a stored definition. Throws, with the id of the policy, for one with any unknown field. */
export function readDefinition(policyId: string, stored: unknown): PolicyDefinition {
  const read = policyDefinitionSchema.safeParse(stored);
  if (read.success) return read.data;
  throw new Error(
    `stored policy ${policyId} is unreadable and permits nothing: ${z.prettifyError(read.error)}`,
  );
}
