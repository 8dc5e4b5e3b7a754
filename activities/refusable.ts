import { keyActor } from '../src/db/apiKeys';
import { type Actor, SYSTEM } from '../src/db/audit';
import type { Tx } from '../src/db/database';
import type { MemberSummary } from '../src/domain/proposal';
import type { Refusal } from '../src/domain/refusal';

/** Ends a database transaction without effect and carries the refusal out of it. */
export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/** Does some work; a refusal that is thrown in it is answered as a value. */
export async function refusable<T>(work: () => Promise<T>): Promise<T | { ok: false; refusal: Refusal }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) return { ok: false, refusal: error.refusal };
    throw error;
  }
}

/** A member who acts. */
export function memberActor({ id, name, walletAddress }: MemberSummary): Actor {
  return { type: 'member', id, name, walletAddress };
}

/** Who acts when a request came with an API key. */
export async function actorOf(tx: Tx, apiKeyId: string): Promise<Actor> {
  return (await keyActor(tx, apiKeyId)) ?? { ...SYSTEM, id: apiKeyId };
}

/** The key of an audit entry's details, when there is one. */
export function withKey(apiKeyId: string | null): { apiKeyId?: string } {
  return apiKeyId === null ? {} : { apiKeyId };
}
