import type { Refusal } from '../../src/domain/refusal';

/** Rolls a database transaction back and carries the refusal out of it. */
export class Rollback extends Error {
  override readonly name = 'Rollback';
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/** Does some work; a refusal that rolled it back is returned as a value. */
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
