import { createHash, randomUUID } from 'node:crypto';
import type { Db } from '../../src/db/database';
import { canonicalJson, type JsonValue } from '../../src/domain/canonicalJson';

/** A POST that is stored as the API stores it, and not sent on. */
interface StoredPost {
  readonly id?: string;
  readonly organizationId: string;
  readonly credentialId: string;
  /** X-Idempotency-Key; by default the id of the request. */
  readonly key?: string;
  /** POST by default. */
  readonly method?: string;
  readonly path: string;
  readonly body: object;
  readonly resourceId: string;
  /** By default nobody works on it. */
  readonly leaseUntil?: Date;
}

/** Stores a request that is not answered. Returns its id. */
export async function storeRequest(db: Db, post: StoredPost): Promise<string> {
  const {
    id = randomUUID(),
    key = id,
    method = 'POST',
    organizationId,
    credentialId,
    path,
    body,
    resourceId,
  } = post;
  const hashed = canonicalJson([method, path, body as JsonValue]);
  await db('idempotency_requests').insert({
    id,
    organization_id: organizationId,
    key,
    credential_id: credentialId,
    method,
    path,
    request_hash: createHash('sha256').update(hashed).digest(),
    body: JSON.stringify(body),
    resource_id: resourceId,
    lease_owner: randomUUID(),
    lease_until: post.leaseUntil ?? new Date(0),
  });
  return id;
}
