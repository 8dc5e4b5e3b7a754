import { ApiError, NoAnswer } from '@orgwallet/client';

/** Idempotency keys of what was sent and had no final answer yet, by what it is. */
interface Keys {
  get(what: string): string | null | undefined;
  set(what: string, idempotencyKey: string): void;
  delete(what: string): void;
}

const inMemory: Keys = new Map<string, string>();

const stored = (what: string) => `orgwallet.sent.${what}`;
/** Of what a person would send once more after a reload: a request that may have been created. */
export const inThisTab: Keys = {
  get: (what) => sessionStorage.getItem(stored(what)),
  set: (what, idempotencyKey) => sessionStorage.setItem(stored(what), idempotencyKey),
  delete: (what) => sessionStorage.removeItem(stored(what)),
};

/** Whether something that got this error may still take effect, or can be sent again as it is. */
export function isUnanswered(error: unknown): boolean {
  return (
    error instanceof NoAnswer || (error instanceof ApiError && (error.isTemporary || error.status === 401))
  );
}

/** Sends something with an idempotency key: the same one until there is a final answer. */
export async function once<T>(
  what: string,
  send: (idempotencyKey: string) => Promise<T>,
  keys: Keys = inMemory,
): Promise<T> {
  const idempotencyKey = keys.get(what) ?? crypto.randomUUID();
  keys.set(what, idempotencyKey);
  try {
    const answer = await send(idempotencyKey);
    keys.delete(what);
    return answer;
  } catch (error) {
    if (!isUnanswered(error)) keys.delete(what);
    throw error;
  }
}
