import { z } from 'zod';
import { address, idOf, networkId, timestamp } from '../domain/schemas';
import { createApiKeyEndpoint, listApiKeysEndpoint, revokeApiKeyEndpoint } from './apiKeyContract';
import {
  confirmChannelEndpoint,
  createChannelEndpoint,
  listChannelsEndpoint,
  removeChannelEndpoint,
  sendChannelCodeEndpoint,
  testChannelEndpoint,
  updateChannelEndpoint,
} from './channelContract';
import { dataResponse } from './primitives';
import { type SessionEndpoint, sessionEndpoint } from './sessionEndpoint';

/** The cookie of a session. The prefix makes browsers refuse it without TLS, for other paths and from other hosts. */
export const SESSION_COOKIE = '__Host-orgwallet-session';

/** The cookie by which a browser is recognized at the next sign-in. It gives no access. */
export const BROWSER_COOKIE = '__Host-orgwallet-browser';

const MAX_MESSAGE_LENGTH = 4_096;
const MAX_SIGNATURE_LENGTH = 20_000;

/** The body of `POST /session`. */
export const newSession = z
  .strictObject({
    message: z.string().min(1).max(MAX_MESSAGE_LENGTH).meta({
      description: 'An EIP-4361 message with the nonce, for the origin of the page.',
    }),
    signature: z
      .string()
      .max(MAX_SIGNATURE_LENGTH)
      .regex(/^0x([0-9a-fA-F]{2})*$/, 'must be 0x and pairs of hex digits')
      .meta({ description: 'Signature of the wallet (EIP-191), or of its contract.' }),
    organizationId: z
      .string()
      .optional()
      .meta({ description: 'Needed by a wallet that is a member of several organizations.' }),
  })
  .meta({ id: 'NewSessionRequest' });

/** The session of a person, as its member sees it. */
const session = z
  .strictObject({
    id: idOf('ses'),
    organization: z.strictObject({ id: z.string(), name: z.string() }).meta({ id: 'SessionOrganization' }),
    member: z
      .strictObject({ id: idOf('mem'), name: z.string(), type: z.literal('user'), walletAddress: address })
      .meta({ id: 'SessionMember', description: 'Who is signed in.' }),
    isAdmin: z.boolean().meta({ description: 'Whether the member is an admin now.' }),
    current: z.boolean().meta({ description: 'True for the session that asks.' }),
    userAgent: z.string().optional().meta({ description: 'The browser that signed in.' }),
    createdAt: timestamp,
    lastUsedAt: timestamp.meta({ description: 'Written once a minute.' }),
    idleExpiresAt: timestamp.meta({ description: 'When it ends without another use.' }),
    expiresAt: timestamp.meta({ description: 'When it ends in any case.' }),
    temporalUiUrl: z.string().optional().meta({ description: 'The Temporal UI, if it is configured.' }),
    temporalNamespace: z.string().optional(),
  })
  .meta({ id: 'Session', description: 'The session of a person.' });

/** A session in responses. */
export type ShownSession = z.input<typeof session>;

const nonceResponse = dataResponse(
  z
    .strictObject({
      nonce: z.string().meta({ examples: ['5f2c9a1e0b7d48369c1f5a7be0d24c13'] }),
      expiresAt: timestamp,
      networkIds: z.array(networkId).meta({ description: 'The chain ids that the message may name.' }),
    })
    .meta({ id: 'SessionNonce', description: 'What a message to sign in contains.' }),
);
const sessionResponse = dataResponse(session);
const sessionsResponse = dataResponse(z.array(session)).meta({ id: 'SessionsResponse' });

export const getSessionNonceEndpoint = sessionEndpoint({
  id: 'getSessionNonce',
  method: 'get',
  path: '/session/nonce',
  needsSession: false,
  summary: 'Get a nonce to sign in',
  description: 'It begins one session, within 5 minutes, and can be tried five times.',
  response: nonceResponse,
  errors: [],
});

export const startSessionEndpoint = sessionEndpoint({
  id: 'startSession',
  method: 'post',
  path: '/session',
  needsSession: false,
  summary: 'Sign in',
  description:
    'Begins the session of a member of type `user` whose wallet has signed an EIP-4361 message, and sets its cookie. Of a ' +
    'wallet in several organizations one has to be named: 409 with `details.organizations`.',
  body: newSession,
  exampleBody: {
    message:
      'localhost:8443 wants you to sign in with your Ethereum account:\n0x70997970C51812dc3A010C7d01b50e0d17dc79C8\n\n\n' +
      'URI: https://localhost:8443\nVersion: 1\nChain ID: 31337\nNonce: 5f2c9a1e0b7d48369c1f5a7be0d24c13\n' +
      'Issued At: 2025-06-01T12:00:00.000Z',
    signature: `0x${'5e'.repeat(65)}`,
  },
  response: sessionResponse,
  status: 201,
  setsCookie: true,
  errors: ['unauthorized', 'conflict'],
});

export const getSessionEndpoint = sessionEndpoint({
  id: 'getSession',
  method: 'get',
  path: '/session',
  summary: 'Get the own session',
  description: 'Returns the session of the cookie.',
  response: sessionResponse,
});

export const endSessionEndpoint = sessionEndpoint({
  id: 'endSession',
  method: 'delete',
  path: '/session',
  summary: 'Sign out',
  description: 'Ends the session of the cookie, and clears the cookie.',
  response: sessionResponse,
  setsCookie: true,
});

export const listSessionsEndpoint = sessionEndpoint({
  id: 'listSessions',
  method: 'get',
  path: '/sessions',
  summary: 'List the own sessions',
  description: 'Returns the open sessions of the same member, newest first.',
  response: sessionsResponse,
});

export const endOtherSessionEndpoint = sessionEndpoint({
  id: 'endOtherSession',
  method: 'delete',
  path: '/sessions/{sessionId}',
  summary: 'End one of the own sessions',
  description: 'Ends an open session of the same member. The cookie is cleared with its own session.',
  params: { sessionId: 'ses' },
  response: sessionResponse,
});

/** Every endpoint of sessions. */
export const sessionEndpoints: readonly SessionEndpoint[] = [
  getSessionNonceEndpoint,
  startSessionEndpoint,
  getSessionEndpoint,
  endSessionEndpoint,
  listSessionsEndpoint,
  endOtherSessionEndpoint,
  listApiKeysEndpoint,
  createApiKeyEndpoint,
  revokeApiKeyEndpoint,
  listChannelsEndpoint,
  createChannelEndpoint,
  updateChannelEndpoint,
  removeChannelEndpoint,
  confirmChannelEndpoint,
  sendChannelCodeEndpoint,
  testChannelEndpoint,
];
