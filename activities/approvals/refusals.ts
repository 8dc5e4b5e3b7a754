import type { Refusal } from '../../src/domain/refusal';

/** Rolls a database transaction back with a refusal. */
export class Rollback extends Error {
  override readonly name = 'Rollback';
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
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
