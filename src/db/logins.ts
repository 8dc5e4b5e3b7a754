import { type Db, IDLE_TRANSACTION_LIMIT_MS } from './database';
import { queryRows, requireRow } from './rows';

/** The roles that migrations grant to: of everything but the signer, and of the signer. */
export type LoginRole = 'orgwallet_service' | 'orgwallet_signer';

/** What a login can do, as far as it is more than the grants of one role. */
interface LoginRights {
  readonly login: string;
  /** SUPERUSER, CREATEROLE, BYPASSRLS and REPLICATION, those that it has. */
  readonly attributes: readonly string[];
  /** An object of this database that it owns, such as `table members`. */
  readonly owned: string | null;
  /** Roles that it can become, or whose rights it has. */
  readonly roles: readonly string[];
  /** It is the role, or inherits its grants. */
  readonly granted: boolean;
}

/** Reads what the login of a pool can do. */
export async function readLoginRights(db: Db, role: LoginRole): Promise<LoginRights> {
  const [row] = await queryRows<LoginRights>(
    db,
    `SELECT me.rolname AS login,
       array_remove(ARRAY[
         CASE WHEN me.rolsuper THEN 'SUPERUSER' END,
         CASE WHEN me.rolcreaterole THEN 'CREATEROLE' END,
         CASE WHEN me.rolbypassrls THEN 'BYPASSRLS' END,
         CASE WHEN me.rolreplication THEN 'REPLICATION' END], NULL) AS attributes,
       (SELECT pg_describe_object(o.classid, o.objid, o.objsubid)
        FROM pg_shdepend o JOIN pg_database d ON d.datname = current_database()
        WHERE o.refclassid = 'pg_authid'::regclass AND o.refobjid = me.oid AND o.deptype = 'o'
          AND (o.dbid = d.oid OR (o.classid = 'pg_database'::regclass AND o.objid = d.oid))
        ORDER BY o.classid <> 'pg_class'::regclass, o.objid LIMIT 1) AS owned,
       ARRAY(
         SELECT other.rolname::text FROM pg_roles other
         WHERE other.oid <> me.oid AND (
           -- before Postgres 16 every member can SET ROLE
           CASE WHEN current_setting('server_version_num')::int >= 160000
             THEN pg_has_role(me.oid, other.oid, 'SET') ELSE pg_has_role(me.oid, other.oid, 'MEMBER') END
           OR pg_has_role(me.oid, other.oid, 'MEMBER WITH ADMIN OPTION')
           OR (pg_has_role(me.oid, other.oid, 'USAGE') AND other.rolname <> :role))
         ORDER BY 1) AS roles,
       EXISTS (SELECT FROM pg_roles wanted
         WHERE wanted.rolname = :role AND pg_has_role(me.oid, wanted.oid, 'USAGE')) AS granted
     FROM pg_roles me WHERE me.rolname = session_user`,
    { role },
  );
  return requireRow(row);
}

/** Why a login must not be used for a role, and what to do; undefined when it has the grants of the role and no more. */
export function refuseLogin(
  rights: LoginRights,
  role: LoginRole,
): { found: string; todo: string } | undefined {
  const { login, attributes, owned, roles, granted } = rights;
  const instead = `use the login ${role} (docs/production.md)`;
  if (attributes.length > 0) return { found: `login "${login}" has ${attributes.join(', ')}`, todo: instead };
  if (owned !== null) return { found: `login "${login}" owns ${owned}`, todo: instead };
  if (roles.length > 0) {
    const some = roles.join(', ');
    return {
      found: `login "${login}" can act as ${some}`,
      todo: `REVOKE ${some} FROM ${login}, or ${instead}`,
    };
  }
  if (!granted) return { found: `login "${login}" has no rights of ${role}`, todo: instead };
  return undefined;
}

/** The settings that a login has by itself in this database, where a pooler does not let a connection set them. */
const SESSION_SETTINGS = [
  { name: 'TimeZone', value: 'UTC' },
  { name: 'statement_timeout', value: '8s' },
  { name: 'idle_in_transaction_session_timeout', value: `${IDLE_TRANSACTION_LIMIT_MS / 1_000}s` },
] as const;

/** What to do about the first setting of a session that a login lacks; undefined when it has all. */
export async function refuseSession(db: Db): Promise<string | undefined> {
  const columns = SESSION_SETTINGS.map(({ name }) => `current_setting('${name}') AS "${name}"`);
  const [row] = await queryRows<Record<string, string>>(
    db,
    `SELECT session_user AS login, current_database() AS database, ${columns.join(', ')}`,
  );
  const has = requireRow(row);
  const missing = SESSION_SETTINGS.find(({ name, value }) => has[name] !== value);
  if (!missing) return undefined;
  const { name, value } = missing;
  const todo = `ALTER ROLE ${has.login} IN DATABASE ${has.database} SET ${name} = '${value}'`;
  return `${name} is ${has[name]} through the pooler: ${todo}, and reconnect the pooler`;
}
