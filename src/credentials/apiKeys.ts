import { randomBytes } from 'node:crypto';
import { insertApiKey, lockApiKey, markKeyRevoked, memberIdsOfKey } from '../db/apiKeys';
import { appendAudit } from '../db/audit';
import type { Tx } from '../db/database';
import { newId } from '../db/ids';
import { findMembers } from '../db/members';
import type { Actor } from '../domain/actor';

const KEY_PREFIX = 'ow_live_';
const KEY_BYTES = 32;

/** A key cannot be issued, revoked or rotated; the message says why. */
export class ApiKeyError extends Error {
  override readonly name = 'ApiKeyError';
}

/** A key, which is shown only once. */
interface IssuedKey {
  readonly id: string;
  readonly key: string;
}

/**
 * Issues a key for members of type api and returns it: the only time that it can be seen. Audited. Throws ApiKeyError
 * when a member is not of the organization or not of type api.
 */
export async function issueApiKey(
  tx: Tx,
  input: {
    readonly organizationId: string;
    readonly memberIds: readonly string[];
    readonly expiresAt?: Date;
    readonly actor: Actor;
    /** Id of the key that this one replaces. */
    readonly rotatedFrom?: string;
  },
): Promise<IssuedKey> {
  const { organizationId, memberIds, expiresAt = null, actor, rotatedFrom } = input;
  if (memberIds.length === 0) throw new ApiKeyError('a key needs at least one member');
  if (new Set(memberIds).size !== memberIds.length) throw new ApiKeyError('a member is given twice');
  const members = await findMembers(tx, organizationId, memberIds);
  for (const id of memberIds) {
    const member = members.find((candidate) => candidate.id === id);
    if (!member) throw new ApiKeyError(`member ${id} not found in organization ${organizationId}`);
    if (member.type !== 'api')
      throw new ApiKeyError(`member ${id} is a person: only members of type api have keys`);
  }
  const id = newId('key');
  const key = KEY_PREFIX + randomBytes(KEY_BYTES).toString('base64url');
  await insertApiKey(tx, { id, organizationId, key, memberIds, expiresAt });
  await appendAudit(tx, organizationId, [
    {
      action: 'apiKey.issued',
      actor,
      resourceType: 'apiKey',
      resourceId: id,
      details: {
        after: { memberIds: [...memberIds], expiresAt: expiresAt?.toISOString() ?? null },
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
  input: { readonly apiKeyId: string; readonly actor: Actor; readonly rotatedTo?: string },
): Promise<boolean> {
  const { apiKeyId, actor, rotatedTo } = input;
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
      details: rotatedTo === undefined ? {} : { rotatedTo },
    },
  ]);
  return true;
}

/**
 * Issues a key for the same members with the same expiry and revokes the old one, in the caller's transaction.
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
    actor,
    rotatedFrom: apiKeyId,
    ...(old.expiresAt ? { expiresAt: old.expiresAt } : {}),
  });
  await revokeApiKey(tx, { apiKeyId, actor, rotatedTo: issued.id });
  return issued;
}
