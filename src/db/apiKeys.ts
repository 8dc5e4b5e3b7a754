import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Actor } from '../domain/actor';
import { appendAudit } from './audit';
import { KEY_VALID } from './authority';
import { type KeyCredential, secretHash } from './credentials';
import type { Db, Tx } from './database';
import { newId } from './ids';
import { queueAlone } from './lockQueues';
import { type PreparedStatement, runPrepared } from './prepared';
import type { ApiKeyRow } from './tables';

const KEY_PREFIX = 'ow_live_';
const KEY_SHAPE = /^ow_live_[A-Za-z0-9_-]{43}$/;
const KEY_BYTES = 32;

/** A key as operators see it, without its secret. */
export interface ApiKey {
  readonly id: string;
  readonly organizationId: string;
  readonly memberIds: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** A key cannot be issued, revoked or rotated; the message says why. */
export class ApiKeyError extends Error {
  override readonly name = 'ApiKeyError';
}

/** What `KEYS_BY_HASH` reads. */
interface KeyByHash extends Pick<ApiKeyRow, 'id' | 'organization_id' | 'key_hash' | 'expires_at'> {
  readonly members: KeyCredential['members'];
}

const KEYS_BY_HASH: PreparedStatement = {
  name: 'api_keys_by_hash',
  text: `SELECT k.id, k.organization_id, k.key_hash, k.expires_at, coalesce(json_agg(json_build_object(
      'id', m.id, 'name', m.name, 'walletAddress', m.wallet_address,
      'isAdmin', EXISTS (SELECT 1 FROM admin_set_members a
        WHERE a.organization_id = k.organization_id AND a.member_id = m.id)
    ) ORDER BY p.place) FILTER (WHERE m.id IS NOT NULL), '[]') AS members
    FROM api_keys k
    LEFT JOIN api_key_members p ON p.api_key_id = k.id
    LEFT JOIN members m ON m.id = p.member_id AND m.removed_at IS NULL AND m.type = 'api'
    WHERE k.key_hash = ANY($1) AND ${KEY_VALID}
    GROUP BY k.id`,
};

/**
 * Who each key is. A key that is malformed, unknown, revoked, expired or without a member that is still there is not in
 * the result.
 */
export async function authenticate(
  db: Db,
  keys: readonly string[],
): Promise<ReadonlyMap<string, KeyCredential>> {
  const wellShaped = keys.filter((key) => KEY_SHAPE.test(key));
  if (wellShaped.length === 0) return new Map();
  const hashes = wellShaped.map(secretHash);
  const rows = await runPrepared<KeyByHash>(db, KEYS_BY_HASH, [hashes]);
  const authenticated = new Map<string, KeyCredential>();
  for (const row of rows.filter(({ members }) => members.length > 0)) {
    const key = wellShaped[hashes.findIndex((hash) => timingSafeEqual(row.key_hash, hash))];
    if (key === undefined) continue;
    authenticated.set(key, {
      kind: 'apiKey',
      id: row.id,
      organizationId: row.organization_id,
      expiresAt: row.expires_at,
      members: row.members,
    });
  }
  return authenticated;
}

/**
 * Issues a key for members of type api and returns it: the only time that it can be seen. Audited. Throws ApiKeyError
 * when a member is not of the organization or not of type api.
 */
export async function issueApiKey(
  tx: Tx,
  input: {
    organizationId: string;
    memberIds: readonly string[];
    expiresAt?: Date;
    actor: Actor;
    /** Id of the key that this one replaces. */
    rotatedFrom?: string;
  },
): Promise<{ id: string; key: string }> {
  const { organizationId, memberIds, expiresAt, actor, rotatedFrom } = input;
  if (memberIds.length === 0) throw new ApiKeyError('a key needs at least one member');
  if (new Set(memberIds).size !== memberIds.length) throw new ApiKeyError('a member is given twice');
  const members = await tx('members')
    .where({ organization_id: organizationId, removed_at: null })
    .whereIn('id', [...memberIds]);
  for (const id of memberIds) {
    const member = members.find((candidate) => candidate.id === id);
    if (!member) throw new ApiKeyError(`member ${id} not found in organization ${organizationId}`);
    if (member.type !== 'api')
      throw new ApiKeyError(`member ${id} is a person: only members of type api have keys`);
  }
  const id = newId('key');
  const key = KEY_PREFIX + randomBytes(KEY_BYTES).toString('base64url');
  await tx('api_keys').insert({
    id,
    organization_id: organizationId,
    key_hash: secretHash(key),
    expires_at: expiresAt ?? null,
  });
  await tx('api_key_members').insert(
    memberIds.map((memberId, place) => ({ api_key_id: id, member_id: memberId, place })),
  );
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

/** Locks a key, once no effect of it is in flight; those that come meanwhile wait, and find what becomes of it. */
async function lockKey(tx: Tx, apiKeyId: string): Promise<ApiKeyRow | undefined> {
  await queueAlone(tx, [apiKeyId]);
  return tx('api_keys').where({ id: apiKeyId }).forNoKeyUpdate().first();
}

/**
 * Revokes a key: from the commit on it is refused. Audited. Returns false when it was already revoked. Throws
 * ApiKeyError when there is no such key.
 */
export async function revokeApiKey(
  tx: Tx,
  input: { apiKeyId: string; actor: Actor; rotatedTo?: string },
): Promise<boolean> {
  const { apiKeyId, actor, rotatedTo } = input;
  const row = await lockKey(tx, apiKeyId);
  if (!row) throw new ApiKeyError(`API key ${apiKeyId} not found`);
  if (row.revoked_at) return false;
  await tx('api_keys')
    .where({ id: apiKeyId })
    .update({ revoked_at: tx.raw('now()'), rotated_to: rotatedTo ?? null });
  await appendAudit(tx, row.organization_id, [
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
  input: { apiKeyId: string; actor: Actor },
): Promise<{ id: string; key: string }> {
  const { apiKeyId, actor } = input;
  const row = await lockKey(tx, apiKeyId);
  if (!row) throw new ApiKeyError(`API key ${apiKeyId} not found`);
  if (row.revoked_at) throw new ApiKeyError(`API key ${apiKeyId} is revoked: issue a new one`);
  const memberIds = await tx('api_key_members')
    .where({ api_key_id: apiKeyId })
    .orderBy('place')
    .pluck('member_id');
  const issued = await issueApiKey(tx, {
    organizationId: row.organization_id,
    memberIds,
    actor,
    rotatedFrom: apiKeyId,
    ...(row.expires_at ? { expiresAt: row.expires_at } : {}),
  });
  await revokeApiKey(tx, { apiKeyId, actor, rotatedTo: issued.id });
  return issued;
}

/** The keys of one organization, or of all, oldest first. */
export async function listApiKeys(db: Db | Tx, filter: { organizationId?: string } = {}): Promise<ApiKey[]> {
  const query = db('api_keys')
    .select<(ApiKeyRow & { member_ids: string[] })[]>(
      'api_keys.*',
      db.raw(
        'ARRAY(SELECT member_id FROM api_key_members m WHERE m.api_key_id = api_keys.id ORDER BY place) AS member_ids',
      ),
    )
    .orderBy('id');
  if (filter.organizationId !== undefined) query.where('organization_id', filter.organizationId);
  return (await query).map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    memberIds: row.member_ids,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  }));
}
