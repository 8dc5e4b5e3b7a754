import type { Response } from 'express';
import type { Credential } from '../db/credentials';
import { Refused } from './refusals';

/** Who may listen at a time on one process, streams and held requests together. */
const MOST_LISTENING: { readonly [kind in Credential['kind']]: number } = { session: 4, apiKey: 16 };

/** Counts an answer among those that a credential listens with, until it is closed. Throws Refused where it has too many. */
export type EnterListening = (credential: Credential, response: Response) => void;

/** Counts the answers that each credential listens with. */
export function createListeningLimit(): EnterListening {
  const entered = new Map<string, number>();
  return ({ kind, id }, response) => {
    const count = entered.get(id) ?? 0;
    if (count >= MOST_LISTENING[kind]) {
      const message = `this credential listens ${count} times on this process, the maximum`;
      throw new Refused({ code: 'rateLimited', message }, { headers: { 'Retry-After': '1' } });
    }
    if (response.closed) return;
    entered.set(id, count + 1);
    response.once('close', () => {
      const left = (entered.get(id) ?? 1) - 1;
      if (left === 0) entered.delete(id);
      else entered.set(id, left);
    });
  };
}
