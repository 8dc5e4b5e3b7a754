import { ApiError, type ErrorCode, NoAnswer, type Schema } from '@orgwallet/client';
import { markedFetch, watchedFetch } from './connection.ts';

/** Who is signed in. */
export type Session = Schema['Session'];

/** A member of an organization, in one text. */
export const personOf = ({ organization, member }: Session): string => `${organization.id}/${member.id}`;

/** An organization that a wallet can sign in to. */
export interface Choice {
  readonly id: string;
  readonly name: string;
  readonly memberName: string;
}

interface Body {
  readonly data?: unknown;
  readonly error?: { code: ErrorCode; message: string; details?: Schema['ErrorDetails'] };
}

/** One request that is for sessions alone. They have no idempotency key, and are not repeated. Throws ApiError, NoAnswer. */
export async function ask<T>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
  fetcher = watchedFetch,
): Promise<T> {
  const json = body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {};
  let response: Response;
  try {
    response = await fetcher(path, { method, credentials: 'same-origin', ...json });
  } catch (cause) {
    throw new NoAnswer(`no answer to ${method} ${path}`, undefined, { cause });
  }
  const answered: Body = await response.json().catch(() => ({}));
  if (response.ok) return answered.data as T;
  const { code, message, details = {} } = answered.error ?? {};
  if (!code) throw new NoAnswer(`${method} ${path} answered ${response.status}`, undefined);
  const requestId = response.headers.get('x-request-id') ?? undefined;
  throw new ApiError(code, response.status, message ?? '', details, requestId);
}

/** A refused sign-in does not end the session of before. */
const signIn = <T>(method: 'GET' | 'POST', path: string, body?: object) => ask<T>(method, path, body, fetch);

export const sessions = {
  nonce: () => signIn<Schema['SessionNonce']>('GET', '/session/nonce'),
  start: (body: { message: string; signature: string; organizationId?: string }) =>
    signIn<Session>('POST', '/session', body),
  /** The session of this browser, or null when it has none. */
  current: async (): Promise<Session | null> => {
    try {
      return await ask<Session>('GET', '/session', undefined, markedFetch);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  list: () => ask<Session[]>('GET', '/sessions'),
  end: () => ask<Session>('DELETE', '/session'),
  endOther: (id: string) => ask<Session>('DELETE', `/sessions/${encodeURIComponent(id)}`),
};

/** The organizations to choose from, where a refusal says that there are several. */
export function choicesOf(error: unknown): readonly Choice[] | undefined {
  if (!(error instanceof ApiError) || error.code !== 'conflict') return undefined;
  return (error.details as { organizations?: Choice[] }).organizations;
}
