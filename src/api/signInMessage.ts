import type { SiweMessage } from 'viem/siwe';
import { createSiweMessage, parseSiweMessage } from 'viem/siwe';
import { NONCE_SECONDS } from '../domain/session';
import { badRequest, Refused } from './refusals';

/** How far the clock of a browser may be off, in milliseconds. */
const CLOCK_DIFFERENCE_MS = 5 * 60_000;
const MAX_AGE_MS = NONCE_SECONDS * 1_000 + CLOCK_DIFFERENCE_MS;

/** A message that asks to sign in, read from its text. */
type SignInMessage = Readonly<Omit<SiweMessage, 'issuedAt'>> & { readonly issuedAt: Date };

/** What a message is compared with. */
interface SignInTerms {
  /** Where the request comes from, one of this service's. */
  readonly origin: string;
  readonly networkIds: readonly number[];
  readonly now: Date;
}

const REQUIRED = ['domain', 'address', 'uri', 'version', 'chainId', 'nonce', 'issuedAt'] as const;

function malformed(message: string): Refused {
  return badRequest([{ field: 'message', message }]);
}

/** The text that has exactly these fields. */
function textOf(message: SignInMessage): string {
  try {
    return createSiweMessage(message);
  } catch (error) {
    const { name, shortMessage } = error as Error & { shortMessage?: string };
    throw malformed(`is not an EIP-4361 message: ${shortMessage ?? name}`);
  }
}

/**
 * Reads an EIP-4361 message. Refuses with validationError a text that is not, to the letter, the one that its fields make:
 * what the wallet showed and what is read here are the same.
 */
export function readSignInMessage(text: string): SignInMessage {
  const parsed = parseSiweMessage(text);
  const missing = REQUIRED.find((field) => parsed[field] === undefined);
  if (missing !== undefined) throw malformed(`is not an EIP-4361 message: it has no ${missing}`);
  const message = parsed as SignInMessage;
  if (textOf(message) !== text) {
    throw malformed(
      'is not the EIP-4361 message that its fields make (expected a checksummed address, and times as 2026-01-31T12:00:00.000Z)',
    );
  }
  return message;
}

function originOf(uri: string): string | undefined {
  try {
    return new URL(uri).origin;
  } catch {
    return undefined;
  }
}

/** What is wrong with where a message asks to sign in to. */
function placeIssue(message: SignInMessage, { origin, networkIds }: SignInTerms): string | undefined {
  const { protocol, host } = new URL(origin);
  const { domain, scheme, uri, chainId } = message;
  if (domain !== host) return `domain "${domain}" is not the one of this page (expected ${host})`;
  if (scheme !== undefined && `${scheme}:` !== protocol) return `scheme "${scheme}" is not https`;
  if (originOf(uri) !== origin) return `URI "${uri}" is not of this page (expected ${origin})`;
  if (!networkIds.includes(chainId)) {
    return `chain ID ${chainId} is not configured (expected one of ${networkIds.join(', ')})`;
  }
  return undefined;
}

/** What is wrong with the times of a message. */
function timeIssue({ issuedAt, notBefore, expirationTime }: SignInMessage, now: Date): string | undefined {
  const ageMs = now.getTime() - issuedAt.getTime();
  if (ageMs < -CLOCK_DIFFERENCE_MS) return `issued at ${issuedAt.toISOString()}, which is in the future`;
  if (ageMs > MAX_AGE_MS) return `issued at ${issuedAt.toISOString()}, which is too long ago`;
  if (notBefore && notBefore > now) return `not valid before ${notBefore.toISOString()}`;
  if (expirationTime && expirationTime <= now) return `expired at ${expirationTime.toISOString()}`;
  return undefined;
}

/** Refuses with unauthorized a message that asks for something else than to sign in here and now. */
export function checkSignInMessage(message: SignInMessage, terms: SignInTerms): void {
  const issue = placeIssue(message, terms) ?? timeIssue(message, terms.now);
  if (issue !== undefined) throw new Refused({ code: 'unauthorized', message: `message: ${issue}` });
}
