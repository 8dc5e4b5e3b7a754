import { z } from 'zod';
import { envelope, timestamp } from './primitives';

/** The cookie of a session. The prefix makes browsers refuse it without TLS, for other paths and from other hosts. */
export const SESSION_COOKIE = '__Host-orgwallet-session';

const MAX_MESSAGE_LENGTH = 4_096;
const MAX_SIGNATURE_LENGTH = 20_000;

/** The body of `POST /session`. */
export const newSession = z.strictObject({
  message: z.string().min(1).max(MAX_MESSAGE_LENGTH),
  signature: z
    .string()
    .max(MAX_SIGNATURE_LENGTH)
    .regex(/^0x([0-9a-fA-F]{2})*$/, 'must be 0x and pairs of hex digits'),
  organizationId: z.string().optional(),
});

/** The session of a person, as its member sees it. */
const session = z.strictObject({
  id: z.string(),
  organization: z.strictObject({ id: z.string(), name: z.string() }),
  member: z.strictObject({
    id: z.string(),
    name: z.string(),
    type: z.literal('user'),
    walletAddress: z.string(),
  }),
  isAdmin: z.boolean(),
  current: z.boolean(),
  userAgent: z.string().optional(),
  createdAt: timestamp,
  lastUsedAt: timestamp,
  idleExpiresAt: timestamp,
  expiresAt: timestamp,
  temporalUiUrl: z.string().optional(),
  temporalNamespace: z.string().optional(),
});

/** A session in responses. */
export type ShownSession = z.input<typeof session>;

/** `networkIds`: the chain ids that the message may name. */
export const nonceResponse = envelope(
  z.strictObject({ nonce: z.string(), expiresAt: timestamp, networkIds: z.array(z.int()) }),
);
export const sessionResponse = envelope(session);
export const sessionsResponse = envelope(z.array(session));
