import type { ShownSession } from '../contract/sessions';
import type { Session } from '../db/sessions';
import type { ApiDependencies } from './dependencies';

/** A session as its member sees it, with the Temporal UI where there is one. */
export function sessionView(
  session: Session,
  currentId: string,
  { uiUrl, namespace }: ApiDependencies['config']['temporal'],
): ShownSession {
  const { id, name, walletAddress } = session.member;
  return {
    id: session.id,
    organization: session.organization,
    member: { id, name, type: 'user', walletAddress },
    isAdmin: session.isAdmin,
    current: session.id === currentId,
    ...(session.userAgent === null ? {} : { userAgent: session.userAgent }),
    createdAt: session.createdAt.toISOString(),
    lastUsedAt: session.lastUsedAt.toISOString(),
    idleExpiresAt: session.idleExpiresAt.toISOString(),
    expiresAt: session.expiresAt.toISOString(),
    ...(uiUrl === undefined ? {} : { temporalUiUrl: uiUrl, temporalNamespace: namespace }),
  };
}
