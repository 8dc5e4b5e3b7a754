import type { Db } from '../../src/db/database';

/** What is stored for an organization: per table the number of rows and a digest of them. */
export type StoredState = { readonly [table: string]: { readonly rows: number; readonly digest: string } };

/**
 * Rows of requests and of challenges come and go with refused requests. The signing key of an organization is made in the
 * background, some time after its first proposal. When a credential was used last is not state either. Movements are read in the
 * background as blocks come, and compared with balances, with entries of the audit log, of which the head says nothing that its last entry does not.
 */
const NOT_STATE =
  "'idempotency_requests', 'registration_challenges', 'signing_keys', 'movements', 'account_scans', 'account_proofs', 'unexplained_changes', 'audit_heads'";

/** Makes one query over every table that names an organization, or whose first reference is to such a table. */
const MAKE_QUERY = `
  WITH owned AS (
    SELECT c.oid, c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relkind = 'r' AND a.attname = 'organization_id' AND c.relnamespace = 'public'::regnamespace
  ), parts AS (
    SELECT DISTINCT ON (k.conrelid) k.conrelid AS oid, a.attname AS part_key, o.relname AS parent, b.attname AS key
    FROM pg_constraint k JOIN owned o ON o.oid = k.confrelid
      JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
      JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[1]
    WHERE k.contype = 'f' AND k.conrelid NOT IN (SELECT oid FROM owned)
    ORDER BY k.conrelid, a.attnum
  ), looked AS (
    SELECT relname, 'organization_id = $1' || CASE relname WHEN 'audit_log' THEN ' AND action NOT LIKE ''movement.%''' ELSE '' END
      AS condition FROM owned
    UNION ALL
    SELECT oid::regclass::name, format('%I IN (SELECT %I FROM %I WHERE organization_id = $1)', part_key, key, parent)
    FROM parts
  )
  SELECT string_agg(format(
    'SELECT %L AS name, count(*)::int AS rows, md5(string_agg(row, chr(10) ORDER BY row)) AS digest FROM %I t, LATERAL (SELECT (to_jsonb(t) - %L)::text AS row) r WHERE %s',
    relname, relname, 'last_used_at', condition), ' UNION ALL ') AS query
  FROM looked WHERE NOT relname IN (${NOT_STATE})`;

let query: string | undefined;

/** Reads the state of an organization in one query; equal states mean that nothing has changed in between. */
export async function storedState(db: Db, organizationId: string): Promise<StoredState> {
  query ??= (await db.raw(MAKE_QUERY)).rows[0].query as string;
  const { rows } = await db.raw(
    query.replaceAll('$1', '?'),
    Array(query.split('$1').length - 1).fill(organizationId),
  );
  return Object.fromEntries(
    rows.map(({ name, ...state }: { name: string; rows: number; digest: string }) => [name, state]),
  );
}
