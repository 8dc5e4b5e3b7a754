import { ApiError, NoAnswer } from '@orgwallet/client';

/** Idempotency keys of what was sent and had no final answer yet, by what it is. */
const open = new Map<string, string>();

/** Whether something that got this error may still take effect, or can be sent again as it is. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof NoAnswer || (error instanceof ApiError && error.status === 401);
}

/** Sends something with an idempotency key: the same one until there is a final answer. */
export async function once<T>(what: string, send: (idempotencyKey: string) => Promise<T>): Promise<T> {
  const idempotencyKey = open.get(what) ?? crypto.randomUUID();
  open.set(what, idempotencyKey);
  try {
    const answer = await send(idempotencyKey);
    open.delete(what);
    return answer;
  } catch (error) {
    if (!isUnanswered(error)) open.delete(what);
    throw error;
  }
}
