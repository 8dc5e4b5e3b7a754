import { timingSafeEqual } from 'node:crypto';
import type { KeyRights } from '../domain/keyRights';
import { KEY_VALID } from './authority';
import { type KeyCredential, secretHash } from './credentials';
import type { Db, Tx } from './database';
import { queueAlone } from './lockQueues';
import { queryNumbered, requireRow } from './rows';
import type { ApiKeyRow } from './tables';

/** `ow_live_` and four characters of the secret, of 43. */
const PREFIX_LENGTH = 12;
const KEY_SHAPE = /^ow_live_[A-Za-z0-9_-]{43}$/;

/** A key as operators see it, without its secret. */
export interface ApiKey {
  readonly id: string;
  readonly organizationId: string;
  /** Null: issued without one. */
  readonly name: string | null;
  /** Its first characters. */
  readonly prefix: string;
  readonly rights: KeyRights;
  readonly memberIds: readonly string[];
  readonly createdAt: Date;
  /** Written once a minute. */
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** What `KEYS_BY_HASH` reads. */
interface KeyByHash extends Pick<ApiKeyRow, 'id' | 'organization_id' | 'key_hash' | 'rights' | 'expires_at'> {
  readonly members: KeyCredential['members'];
}

/** It counts as use. One that an effect of its own holds counts with a later request: nobody waits for it here. */
const KEYS_BY_HASH = `WITH used AS (
      UPDATE api_keys u SET last_used_at = now() WHERE u.id IN (
        SELECT k.id FROM api_keys k WHERE k.key_hash = ANY($1) AND ${KEY_VALID}
          AND (k.last_used_at IS NULL OR k.last_used_at < now() - interval '1 minute')
        FOR NO KEY UPDATE OF k SKIP LOCKED)
    )
    SELECT k.id, k.organization_id, k.key_hash, k.rights, k.expires_at, coalesce(json_agg(json_build_object(
      'id', m.id, 'name', m.name, 'walletAddress', m.wallet_address,
      'isAdmin', EXISTS (SELECT 1 FROM admin_set_members a
        WHERE a.organization_id = k.organization_id AND a.member_id = m.id)
    ) ORDER BY p.place) FILTER (WHERE m.id IS NOT NULL), '[]') AS members
    FROM api_keys k
    LEFT JOIN api_key_members p ON p.api_key_id = k.id
    LEFT JOIN members m ON m.id = p.member_id AND m.removed_at IS NULL AND m.type = 'api'
    WHERE k.key_hash = ANY($1) AND ${KEY_VALID}
    GROUP BY k.id`;

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
  const rows = await queryNumbered<KeyByHash>(db, KEYS_BY_HASH, [hashes]);
  const authenticated = new Map<string, KeyCredential>();
  for (const row of rows.filter(({ members }) => members.length > 0)) {
    const key = wellShaped[hashes.findIndex((hash) => timingSafeEqual(row.key_hash, hash))];
    if (key === undefined) continue;
    authenticated.set(key, {
      kind: 'apiKey',
      id: row.id,
      organizationId: row.organization_id,
      rights: row.rights,
      expiresAt: row.expires_at,
      members: row.members,
    });
  }
  return authenticated;
}

/** A key to store. */
interface NewApiKey {
  readonly id: string;
  readonly organizationId: string;
  /** The key itself, of which only a hash is stored. */
  readonly key: string;
  readonly name: string | null;
  readonly rights: KeyRights;
  readonly memberIds: readonly string[];
  readonly expiresAt: Date | null;
}

/** Stores a key with its members, in their order. */
export async function insertApiKey(
  tx: Tx,
  { id, organizationId, key, name, rights, memberIds, expiresAt }: NewApiKey,
): Promise<void> {
  await tx('api_keys').insert({
    id,
    organization_id: organizationId,
    key_hash: secretHash(key),
    prefix: key.slice(0, PREFIX_LENGTH),
    name,
    rights: JSON.stringify(rights),
    expires_at: expiresAt,
  });
  await tx('api_key_members').insert(
    memberIds.map((memberId, place) => ({ api_key_id: id, member_id: memberId, place })),
  );
}

/** Locks a key, once no effect of it is in flight; those that come meanwhile wait, and find what becomes of it. */
export async function lockApiKey(tx: Tx, id: string): Promise<Omit<ApiKey, 'memberIds'> | undefined> {
  await queueAlone(tx, [id]);
  const row = await tx('api_keys').where({ id }).forNoKeyUpdate().first();
  return row && apiKey(row);
}

/** Records that a key is revoked, and the one that replaces it, if any. */
export async function markKeyRevoked(tx: Tx, id: string, rotatedTo: string | null): Promise<void> {
  await tx('api_keys')
    .where({ id })
    .update({ revoked_at: tx.raw('now()'), rotated_to: rotatedTo });
}

/** The ids of the members of a key, in their order. */
export function memberIdsOfKey(tx: Tx, id: string): Promise<string[]> {
  return tx('api_key_members').where({ api_key_id: id }).orderBy('place').pluck('member_id');
}

function apiKey(row: ApiKeyRow): Omit<ApiKey, 'memberIds'> {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    prefix: row.prefix,
    rights: row.rights,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}

/** How many keys of an organization are neither revoked nor expired. */
export async function countValidKeys(tx: Tx, organizationId: string): Promise<number> {
  const [row] = await queryNumbered<{ count: number }>(
    tx,
    `SELECT count(*)::integer AS count FROM api_keys k WHERE k.organization_id = $1 AND ${KEY_VALID}`,
    [organizationId],
  );
  return requireRow(row).count;
}

/** Which keys: of one organization, by its id, and of the valid ones and then the newest others at most so many. */
interface KeyFilter {
  readonly organizationId?: string;
  readonly id?: string;
  readonly limit?: number;
}

/** The keys of one organization, or of all, oldest first. */
export async function listApiKeys(
  db: Db | Tx,
  { organizationId, id, limit }: KeyFilter = {},
): Promise<ApiKey[]> {
  const query = db('api_keys')
    .select<(ApiKeyRow & { member_ids: string[] })[]>(
      'api_keys.*',
      db.raw(
        'ARRAY(SELECT member_id FROM api_key_members m WHERE m.api_key_id = api_keys.id ORDER BY place) AS member_ids',
      ),
    )
    .orderBy('id');
  if (organizationId !== undefined) query.where('organization_id', organizationId);
  if (id !== undefined) query.where({ id });
  if (organizationId !== undefined && limit !== undefined) {
    const shown = `SELECT k.id FROM api_keys k WHERE k.organization_id = ? ORDER BY ${KEY_VALID} DESC, k.id DESC LIMIT ?`;
    query.whereRaw(`id IN (${shown})`, [organizationId, limit]);
  }
  return (await query).map((row) => ({ ...apiKey(row), memberIds: row.member_ids }));
}
