import { randomBytes } from 'node:crypto';
import { findAccount } from '../db/accounts';
import { countValidKeys, insertApiKey, lockApiKey, markKeyRevoked, memberIdsOfKey } from '../db/apiKeys';
import { holdAdmins } from '../db/approvalLocks';
import { appendAudit } from '../db/audit';
import { type ActingMember, holdCredential } from '../db/authority';
import { type Db, databaseNow, type Tx } from '../db/database';
import { newId } from '../db/ids';
import { queueAlone } from '../db/lockQueues';
import { findMembers } from '../db/members';
import { type Actor, memberActor } from '../domain/actor';
import { credentialDetail } from '../domain/credential';
import { ALL_RIGHTS, type KeyRights } from '../domain/keyRights';

const KEY_PREFIX = 'ow_live_';
const KEY_BYTES = 32;
/** The most valid keys of an organization. */
const MAX_API_KEYS = 100;

/** A key cannot be issued, revoked or rotated; the message says why. */
export class ApiKeyError extends Error {
  override readonly name = 'ApiKeyError';
  constructor(
    message: string,
    /** The field of the request that is at fault; null: what there is already. */
    readonly field: string | null = 'memberIds',
  ) {
    super(message);
  }
}

/** A key, which is shown only once. */
interface IssuedKey {
  readonly id: string;
  readonly key: string;
}

function rightsDetail({ scopes, networkIds, accountIds, addressRanges }: KeyRights) {
  const copied = <T>(list: readonly T[] | null) => list && [...list];
  return {
    scopes: [...scopes],
    ...{
      networkIds: copied(networkIds),
      accountIds: copied(accountIds),
      addressRanges: copied(addressRanges),
    },
  };
}

/**
 * Issues a key for members of type api and returns it: the only time that it can be seen. Audited. Throws ApiKeyError
 * when a member is not of the organization or not of type api, and where there are MAX_API_KEYS.
 */
export async function issueApiKey(
  tx: Tx,
  input: {
    readonly organizationId: string;
    readonly memberIds: readonly string[];
    readonly expiresAt?: Date;
    readonly name?: string | null;
    /** Absent: those of a key that an operator issues. */
    readonly rights?: KeyRights;
    readonly actor: Actor;
    /** The session of the admin who issues it. */
    readonly sessionId?: string;
    /** Id of the key that this one replaces. */
    readonly rotatedFrom?: string;
  },
): Promise<IssuedKey> {
  const { organizationId, memberIds, expiresAt = null, name = null, rights = ALL_RIGHTS } = input;
  const { actor, rotatedFrom, sessionId = null } = input;
  if (memberIds.length === 0) throw new ApiKeyError('a key needs at least one member');
  if (new Set(memberIds).size !== memberIds.length) throw new ApiKeyError('a member is given twice');
  const members = await findMembers(tx, organizationId, memberIds);
  for (const [n, id] of memberIds.entries()) {
    const member = members.find((candidate) => candidate.id === id);
    const field = `memberIds[${n}]`;
    if (!member) throw new ApiKeyError(`member ${id} not found in organization ${organizationId}`, field);
    if (member.type !== 'api')
      throw new ApiKeyError(`member ${id} is a person: only members of type api have keys`, field);
  }
  // One after the other: two that are issued at once count each other. The one that is replaced is about to be revoked.
  await queueAlone(tx, [`${organizationId}/apiKeys`]);
  const valid = (await countValidKeys(tx, organizationId)) - (rotatedFrom === undefined ? 0 : 1);
  if (valid >= MAX_API_KEYS) {
    const message = `the organization has ${valid} API keys, the maximum: revoke one that is not used`;
    throw new ApiKeyError(message, null);
  }
  const id = newId('key');
  const key = KEY_PREFIX + randomBytes(KEY_BYTES).toString('base64url');
  await insertApiKey(tx, { id, organizationId, key, name, rights, memberIds, expiresAt });
  await appendAudit(tx, organizationId, [
    {
      action: 'apiKey.issued',
      actor,
      resourceType: 'apiKey',
      resourceId: id,
      details: {
        after: {
          ...{ name, memberIds: [...memberIds], expiresAt: expiresAt?.toISOString() ?? null },
          ...rightsDetail(rights),
        },
        ...credentialDetail(sessionId),
        ...(rotatedFrom === undefined ? {} : { rotatedFrom }),
      },
    },
  ]);
  return { id, key };
}

/**
 * Revokes a key: from the commit on it is refused. Audited. Returns false when it was already revoked. Throws
 * ApiKeyError when there is no such key.
 */
export async function revokeApiKey(
  tx: Tx,
  input: {
    readonly apiKeyId: string;
    readonly actor: Actor;
    readonly rotatedTo?: string;
    readonly sessionId?: string;
  },
): Promise<boolean> {
  const { apiKeyId, actor, rotatedTo, sessionId = null } = input;
  const key = await lockApiKey(tx, apiKeyId);
  if (!key) throw new ApiKeyError(`API key ${apiKeyId} not found`);
  if (key.revokedAt) return false;
  await markKeyRevoked(tx, apiKeyId, rotatedTo ?? null);
  await appendAudit(tx, key.organizationId, [
    {
      action: 'apiKey.revoked',
      actor,
      resourceType: 'apiKey',
      resourceId: apiKeyId,
      details: { ...(rotatedTo === undefined ? {} : { rotatedTo }), ...credentialDetail(sessionId) },
    },
  ]);
  return true;
}

/**
 * Issues a key for the same members with the same name, rights and expiry, and revokes the old one, in the caller's transaction.
 * Throws ApiKeyError when the old one is unknown or revoked, or one of its members has been removed.
 */
export async function rotateApiKey(
  tx: Tx,
  { apiKeyId, actor }: { readonly apiKeyId: string; readonly actor: Actor },
): Promise<IssuedKey> {
  const old = await lockApiKey(tx, apiKeyId);
  if (!old) throw new ApiKeyError(`API key ${apiKeyId} not found`);
  if (old.revokedAt) throw new ApiKeyError(`API key ${apiKeyId} is revoked: issue a new one`);
  const issued = await issueApiKey(tx, {
    organizationId: old.organizationId,
    memberIds: await memberIdsOfKey(tx, apiKeyId),
    name: old.name,
    rights: old.rights,
    actor,
    rotatedFrom: apiKeyId,
    ...(old.expiresAt ? { expiresAt: old.expiresAt } : {}),
  });
  await revokeApiKey(tx, { apiKeyId, actor, rotatedTo: issued.id });
  return issued;
}

/** The session of an admin, who issues and revokes keys. */
interface AdminSession {
  readonly organizationId: string;
  readonly sessionId: string;
}

/** Does something as an admin, who stays one until it is done. `unauthorized`: the session has ended. */
async function asAdmin<T>(
  db: Db,
  { organizationId, sessionId }: AdminSession,
  work: (tx: Tx, admin: ActingMember) => Promise<T>,
): Promise<T | 'unauthorized' | 'notAdmin'> {
  return db.transaction(async (tx) => {
    await holdAdmins(tx, organizationId);
    const admin = await holdCredential(tx, sessionId);
    if (!admin) return 'unauthorized';
    return admin.isAdmin ? work(tx, admin) : 'notAdmin';
  });
}

/** Issues a key as an admin. Throws ApiKeyError with the field at fault. */
export function issueAsAdmin(
  db: Db,
  session: AdminSession,
  key: {
    readonly name: string;
    readonly memberIds: readonly string[];
    readonly rights: KeyRights;
    readonly expiresAt: Date | null;
  },
): Promise<IssuedKey | 'unauthorized' | 'notAdmin'> {
  const { organizationId, sessionId } = session;
  return asAdmin(db, session, async (tx, admin) => {
    const { name, memberIds, rights, expiresAt } = key;
    if (expiresAt && expiresAt <= (await databaseNow(tx))) {
      throw new ApiKeyError('must be in the future', 'expiresAt');
    }
    for (const [n, id] of (rights.accountIds ?? []).entries()) {
      if (await findAccount(tx, organizationId, id)) continue;
      throw new ApiKeyError(`account ${id} not found in this organization`, `accountIds[${n}]`);
    }
    return issueApiKey(tx, {
      ...{ organizationId, sessionId, name, memberIds, rights, actor: memberActor(admin) },
      ...(expiresAt ? { expiresAt } : {}),
    });
  });
}

/** Revokes a key as an admin. False: there is none of this organization that is valid. */
export function revokeAsAdmin(
  db: Db,
  session: AdminSession,
  apiKeyId: string,
): Promise<boolean | 'unauthorized' | 'notAdmin'> {
  const { organizationId, sessionId } = session;
  return asAdmin(db, session, async (tx, admin) => {
    const key = await lockApiKey(tx, apiKeyId);
    if (key?.organizationId !== organizationId) return false;
    return revokeApiKey(tx, { apiKeyId, actor: memberActor(admin), sessionId });
  });
}
