import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { SessionEndpoint } from '../contract/sessionEndpoint';
import type { SessionCredential } from '../db/credentials';
import { exchangeOf, sendJson } from './exchange';
import type { Asked } from './requestContext';

/** The longest body, in bytes: a message and a signature fit, and anybody can have so much read. */
export const MAX_SESSION_BODY_BYTES = 32_768;

/** An endpoint for the browsers of people, with its handler. */
export interface SessionRoute {
  readonly endpoint: SessionEndpoint;
  readonly serve: (asked: Asked) => Promise<void>;
}

/** Answers with data, compared with its schema outside production. */
export function sessionRoute<Answer extends z.ZodType>(
  { production }: { readonly production: boolean },
  endpoint: SessionEndpoint<z.ZodType, Answer>,
  answer: (asked: { readonly request: Request; readonly response: Response }) => Promise<z.input<Answer>>,
): SessionRoute {
  return {
    endpoint,
    async serve(asked) {
      const body = await answer(asked);
      if (!production) endpoint.response.parse(body);
      sendJson(asked.request, asked.response, endpoint.status, JSON.stringify(body));
    },
  };
}

/** The session of a request that was admitted. */
export function sessionOf({ response }: Asked): SessionCredential {
  const { credential } = exchangeOf(response);
  if (credential?.kind !== 'session') throw new Error('a request reached its handler without a session');
  return credential;
}
