import { ApplicationFailure } from '@temporalio/activity';
import type { Refusal } from '../../src/domain/refusal';

/**
 * Rolls a database transaction back with a refusal. An activity that does not return it as a value fails for good, and so does
 * what waits for it: such as a workflow whose record Postgres has lost.
 */
export class Rollback extends ApplicationFailure {
  constructor(readonly refusal: Refusal) {
    super(refusal.message, 'Refused', true);
  }
}

/** Runs `work`; returns a refusal that rolled it back as a value. */
export async function catchRefusal<T>(
  work: () => Promise<T>,
): Promise<T | { readonly ok: false; readonly refusal: Refusal }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Rollback) return { ok: false, refusal: error.refusal };
    throw error;
  }
}
