import type { z } from 'zod';
import { describeIssue, fieldIssues } from '../../../src/contract/issues.ts';
import type { Faults } from '../domain/faults.ts';

/** What a schema of the contract finds wrong with a body, in the words of the service and by the paths that it names. */
export function faultsIn(schema: z.ZodType, body: unknown): Faults {
  const read = schema.safeParse(body, { error: describeIssue });
  if (read.success) return {};
  return Object.fromEntries(
    fieldIssues(read.error)
      .map(({ field, message }) => [field, message])
      .reverse(),
  );
}
