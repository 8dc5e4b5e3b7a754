import {
  createApiKeyEndpoint,
  listApiKeysEndpoint,
  newApiKey,
  revokeApiKeyEndpoint,
  type ShownApiKey,
} from '../../contract/apiKeyContract';
import { ApiKeyError, issueAsAdmin, revokeAsAdmin } from '../../credentials/apiKeys';
import { type ApiKey, listApiKeys } from '../../db/apiKeys';
import type { Db } from '../../db/database';
import { credentialEnded, requiresAdmin } from '../../domain/credential';
import { isId } from '../../domain/schemas';
import { readJsonBody } from '../body';
import type { ApiDependencies } from '../dependencies';
import { parseWith } from '../query';
import { badRequest, notFound, Refused } from '../refusals';
import type { Asked } from '../requestContext';
import { MAX_SESSION_BODY_BYTES, type SessionRoute, sessionOf, sessionRoute } from '../sessionRoute';

/** The most keys of a list: all that are valid, and the newest others. */
const MAX_LISTED = 200;

interface Dependencies {
  readonly db: Db;
  readonly config: Pick<ApiDependencies['config'], 'networks' | 'production'>;
}

const time = (date: Date | null) => date?.toISOString() ?? null;
const copied = <T>(list: readonly T[] | null) => list && [...list];

function keyView({ id, name, prefix, rights, memberIds, ...times }: ApiKey): ShownApiKey {
  const { scopes, networkIds, accountIds, addressRanges } = rights;
  return {
    ...{ id, name, prefix, memberIds: [...memberIds], scopes: [...scopes] },
    ...{
      networkIds: copied(networkIds),
      accountIds: copied(accountIds),
      addressRanges: copied(addressRanges),
    },
    createdAt: times.createdAt.toISOString(),
    expiresAt: time(times.expiresAt),
    lastUsedAt: time(times.lastUsedAt),
    revokedAt: time(times.revokedAt),
  };
}

/** What was done as an admin. Throws Refused where the session is not one of an admin any more. */
function done<T>(outcome: T | 'unauthorized' | 'notAdmin', sessionId: string): T {
  if (outcome === 'unauthorized') throw new Refused(credentialEnded(sessionId));
  if (outcome === 'notAdmin') throw new Refused(requiresAdmin(sessionId));
  return outcome;
}

/** The session of an admin. Throws Refused. */
function adminOf(asked: Asked) {
  const { id: sessionId, organizationId, members } = sessionOf(asked);
  if (!members.some(({ isAdmin }) => isAdmin)) throw new Refused(requiresAdmin(sessionId));
  return { sessionId, organizationId };
}

/** GET and POST /api-keys, DELETE /api-keys/{apiKeyId}. */
export function apiKeyRoutes({ db, config }: Dependencies): SessionRoute[] {
  async function keyOf(organizationId: string, id: string): Promise<ShownApiKey> {
    const [key] = await listApiKeys(db, { organizationId, id });
    if (!key) throw notFound('API key');
    return keyView(key);
  }

  function assertConfigured(networkIds: readonly number[] | null): void {
    const available = config.networks.map(({ id }) => id);
    const unknown = networkIds?.findIndex((id) => !available.includes(id)) ?? -1;
    if (unknown < 0) return;
    const message = `network ${networkIds?.[unknown]} is not configured (available: ${available.join(', ')})`;
    throw badRequest([{ field: `networkIds[${unknown}]`, message }]);
  }

  return [
    sessionRoute(config, listApiKeysEndpoint, async (asked) => {
      const { organizationId } = adminOf(asked);
      const keys = await listApiKeys(db, { organizationId, limit: MAX_LISTED });
      return { data: keys.map(keyView).reverse() };
    }),
    sessionRoute(config, createApiKeyEndpoint, async (asked) => {
      const admin = adminOf(asked);
      const body = parseWith(newApiKey, await readJsonBody(asked.request, MAX_SESSION_BODY_BYTES));
      const { name, memberIds, expiresAt, ...rights } = body;
      assertConfigured(rights.networkIds);
      const wanted = { name, memberIds, rights, expiresAt: expiresAt === null ? null : new Date(expiresAt) };
      const issued = await issueAsAdmin(db, admin, wanted).catch((error: unknown) => {
        if (!(error instanceof ApiKeyError)) throw error;
        const { field, message } = error;
        throw field === null ? new Refused({ code: 'conflict', message }) : badRequest([{ field, message }]);
      });
      const { id, key } = done(issued, admin.sessionId);
      return { data: { ...(await keyOf(admin.organizationId, id)), key } };
    }),
    sessionRoute(config, revokeApiKeyEndpoint, async (asked) => {
      const admin = adminOf(asked);
      const id = String(asked.request.params.apiKeyId);
      if (!isId('key', id)) throw notFound('API key');
      done(await revokeAsAdmin(db, admin, id), admin.sessionId);
      return { data: await keyOf(admin.organizationId, id) };
    }),
  ];
}
