import type { Actor } from '../domain/actor';
import type { JsonValue } from '../domain/canonicalJson';
import { SHOWN_DETAILS } from '../domain/eventTypes';
import { type FeedCursor, GENESIS_HASH } from '../domain/feedCursor';
import type { FeedEntry } from '../domain/feedEvent';
import { KEY_VALID } from './authority';
import type { Db, Tx } from './database';
import { queryNumbered, requireRow } from './rows';
import { VALID } from './sessionValidity';

/** Entries of one organization that are read at once. */
export const FEED_PAGE = 500;

/** A place in the feed that the log has had: one to go on from. */
export interface FeedPlace extends FeedCursor {
  readonly hash: string;
}

/** The feed of one organization after a position. Entries have the details that events show, and no others. */
export interface FeedPart {
  /** The end of the log. */
  readonly head: FeedPlace;
  /** The hash at the position; undefined: the log does not reach it. */
  readonly hashAtPosition: string | undefined;
  /** Those after it, in their order, at most as many as were asked for. */
  readonly entries: readonly FeedEntry[];
}

interface EntryColumns {
  readonly organizationId: string;
  readonly position: string;
  readonly id: string;
  readonly action: string;
  readonly actor: Actor;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly details: { readonly [key: string]: JsonValue };
  readonly createdAtMs: number;
  readonly previousHash: string;
  readonly hash: string;
}

/** What `READ_FEED` reads. */
interface FeedColumns {
  readonly heads: readonly {
    readonly organizationId: string;
    readonly position: string;
    readonly hash: string;
  }[];
  readonly entries: readonly EntryColumns[];
  readonly valid: readonly string[];
}

/** One snapshot: an entry is there with all before it, because the head is locked from its position to its commit. */
const READ_FEED = `WITH heard AS (SELECT * FROM unnest($1::text[], $2::bigint[]) AS h (organization_id, position))
  SELECT
    (SELECT coalesce(json_agg(json_build_object('organizationId', h.organization_id, 'position', h.position::text,
        'hash', h.hash)), '[]')
      FROM heard JOIN audit_heads h USING (organization_id)) AS heads,
    (SELECT coalesce(json_agg(json_build_object('organizationId', e.organization_id, 'position', e.position::text,
        'id', e.id, 'action', e.action, 'actor', e.actor, 'resourceType', e.resource_type, 'resourceId', e.resource_id,
        'details', (SELECT coalesce(jsonb_object_agg(d.key, d.value), '{}') FROM jsonb_each(e.details) AS d
          WHERE d.key = ANY($4)),
        'createdAtMs', (extract(epoch FROM e.created_at) * 1000)::bigint, 'previousHash', e.previous_hash,
        'hash', e.hash) ORDER BY e.organization_id, e.position), '[]')
      FROM heard CROSS JOIN LATERAL (
        SELECT a.* FROM audit_log a
        WHERE a.organization_id = heard.organization_id AND a.position >= heard.position
        ORDER BY a.position LIMIT $5) AS e) AS entries,
    ARRAY(SELECT s.id FROM sessions s JOIN members m ON m.id = s.member_id
      WHERE s.id = ANY($3) AND ${VALID}
      UNION ALL
      SELECT k.id FROM api_keys k WHERE k.id = ANY($3) AND ${KEY_VALID} AND EXISTS (
        SELECT FROM api_key_members p JOIN members m ON m.id = p.member_id
        WHERE p.api_key_id = k.id AND m.removed_at IS NULL AND m.type = 'api')) AS valid`;

function feedEntry({ position, createdAtMs, ...entry }: EntryColumns): FeedEntry {
  return { ...entry, position: BigInt(position), createdAt: new Date(createdAtMs) };
}

/**
 * The feeds of some organizations, each after a position of its own and at most `limit` entries of it, and which of some credentials
 * are valid, in one statement. Nothing of it counts as use.
 */
export async function readFeeds(
  db: Db,
  heard: ReadonlyMap<string, bigint>,
  credentialIds: readonly string[],
  limit = FEED_PAGE,
): Promise<{ feeds: ReadonlyMap<string, FeedPart>; valid: ReadonlySet<string> }> {
  const positions = [...heard.values()].map(String);
  const values = [[...heard.keys()], positions, [...credentialIds], SHOWN_DETAILS, limit + 1];
  const row = requireRow((await queryNumbered<FeedColumns>(db, READ_FEED, values))[0]);
  const feeds = row.heads.map(({ organizationId, position, hash }): [string, FeedPart] => {
    const from = heard.get(organizationId) ?? 0n;
    const own = row.entries.filter((entry) => entry.organizationId === organizationId).map(feedEntry);
    const [first] = own;
    const isAt = first?.position === from;
    return [
      organizationId,
      {
        head: { position: BigInt(position), hash },
        hashAtPosition: isAt ? first.hash : from === 0n ? GENESIS_HASH : undefined,
        entries: isAt ? own.slice(1) : own.slice(0, limit),
      },
    ];
  });
  return { feeds: new Map(feeds), valid: new Set(row.valid) };
}

/** Which of some places the log of an organization has, and whether any of them is one of another organization. */
export async function findPlaces(
  db: Db,
  organizationId: string,
  places: readonly FeedPlace[],
): Promise<{ own: readonly bigint[]; isForeign: boolean }> {
  const rows = await queryNumbered<{ organization_id: string; position: string | bigint }>(
    db,
    `SELECT a.organization_id, a.position FROM unnest($1::bigint[], $2::text[]) AS p (position, hash)
      CROSS JOIN audit_heads h
      JOIN audit_log a ON a.organization_id = h.organization_id AND a.position = p.position AND a.hash = p.hash`,
    [places.map(({ position }) => String(position)), places.map(({ hash }) => hash)],
  );
  const own = rows.filter((row) => row.organization_id === organizationId);
  return {
    own: own.map(({ position }) => BigInt(position)),
    isForeign: rows.length > own.length,
  };
}

/** The end of the feed of an organization, which stays that until the end of the transaction. */
export async function lockFeedEnd(tx: Tx, organizationId: string): Promise<FeedPlace> {
  const row = await tx('audit_heads')
    .where({ organization_id: organizationId })
    .forUpdate()
    .first('position', 'hash');
  return requireRow(row);
}
