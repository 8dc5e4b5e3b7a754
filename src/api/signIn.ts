import type { Request } from 'express';
import type { z } from 'zod';
import type { newSession } from '../contract/sessionContract';
import { newToken, startSession } from '../credentials/memberSessions';
import type { Db } from '../db/database';
import { findPeople, type Membership } from '../db/members';
import { attemptNonce } from '../db/sessionNonces';
import { listSessions, type Session } from '../db/sessions';
import type { Admission } from './admission';
import type { ApiDependencies } from './dependencies';
import { Refused } from './refusals';
import { browserToken } from './sessionCookie';
import { checkSignInMessage, readSignInMessage } from './signInMessage';

/** What signing in depends on. */
export interface SignInDependencies extends Pick<ApiDependencies, 'findSignedMessage'> {
  readonly db: Db;
  readonly admission: Pick<Admission, 'countSession'>;
  readonly config: Pick<ApiDependencies['config'], 'networks'>;
}

const MAX_USER_AGENT_LENGTH = 200;
const SPENT = 'message: its nonce is unknown, used or expired: ask for a new one';

function unauthorized(message: string): Refused {
  return new Refused({ code: 'unauthorized', message });
}

/** What a browser says about itself, without what is not printable. */
function userAgentOf({ headers }: Request): string | null {
  const text = (headers['user-agent'] ?? '').replaceAll(/[^\x20-\x7e]/g, '').slice(0, MAX_USER_AGENT_LENGTH);
  return text === '' ? null : text;
}

/**
 * The members whose wallet has signed a text, in all organizations. Also the contract of somebody who is not a member is asked
 * about what its key has not signed: neither the time nor a failure of the network says who is one.
 */
async function findSignatories(
  { db, findSignedMessage }: Pick<SignInDependencies, 'db' | 'findSignedMessage'>,
  { walletAddress, message, signature }: { walletAddress: string; message: string; signature: string },
): Promise<Membership[]> {
  const people = await findPeople(db, walletAddress);
  const hasSigned = async (walletKind: Membership['walletKind']) =>
    (await findSignedMessage({ walletAddress, walletKind, signature, messages: [message] })).ok;
  const byKey = await hasSigned('key');
  const mayBeContract = !byKey || people.some(({ walletKind }) => walletKind === 'contract');
  const byContract = mayBeContract && (await hasSigned('contract'));
  return people.filter(({ walletKind }) => (walletKind === 'key' ? byKey : byContract));
}

/** The one organization to sign in to. Refuses with conflict when it has to be chosen. */
function chosenMembership(
  signatories: readonly Membership[],
  { organizationId, walletAddress }: { organizationId: string | undefined; walletAddress: string },
): Membership {
  const possible = signatories.filter(
    (one) => organizationId === undefined || one.organizationId === organizationId,
  );
  const [first, ...others] = possible;
  if (!first) {
    const message = 'the signature is not one of the wallet of a member of type user';
    throw new Refused({ code: 'unauthorized', message }, { details: { walletAddress } });
  }
  if (others.length === 0) return first;
  throw new Refused(
    {
      code: 'conflict',
      message: 'this wallet is a member of several organizations: name one with organizationId',
    },
    {
      details: {
        organizations: possible.map(({ organizationId: id, organizationName: name, memberName }) => ({
          id,
          name,
          memberName,
        })),
      },
    },
  );
}

/** Starts a session with a signed message, and returns it with its token, and what its browser is recognized by. Throws Refused. */
export async function signIn(
  dependencies: SignInDependencies,
  request: Request,
  body: z.output<typeof newSession>,
): Promise<{ token: string; browser: string; session: Session }> {
  const { db, config, admission } = dependencies;
  const origin = request.headers.origin ?? '';
  const message = readSignInMessage(body.message);
  const { open, now } = await attemptNonce(db, message.nonce);
  checkSignInMessage(message, { origin, networkIds: config.networks.map(({ id }) => id), now });
  if (!open) throw unauthorized(SPENT);
  const walletAddress = message.address;
  const signatories = await findSignatories(dependencies, { ...body, walletAddress });
  const { organizationId, memberId, walletKind } = chosenMembership(signatories, {
    organizationId: body.organizationId,
    walletAddress,
  });
  await admission.countSession(memberId);
  const browser = browserToken(request.headers.cookie) ?? newToken();
  const started = await startSession(db, {
    organizationId,
    memberId,
    wallet: { walletAddress, walletKind },
    nonce: message.nonce,
    origin,
    userAgent: userAgentOf(request),
    browser,
  });
  if (started === 'spent') throw unauthorized(SPENT);
  if (started === 'gone') throw unauthorized('the wallet of the member has changed: sign in again');
  const session = (await listSessions(db, { organizationId, memberId })).find(({ id }) => id === started.id);
  if (!session) throw new Error(`session ${started.id} was not stored`);
  return { token: started.token, browser, session };
}
