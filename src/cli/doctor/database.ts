import { countAccountsByNetwork } from '../../db/accounts';
import { type Db, keepsPrepared } from '../../db/database';
import { type LoginRole, readLoginRights, refuseLogin, refuseSession } from '../../db/logins';
import { refuseSchema, schemaState } from '../../db/migrate';
import { proveNotified } from '../../db/notifications';
import { findStuckWork, readServer, type Server } from '../../db/operator';
import { count } from '../text';
import { type Finding, fail, MIGRATE, ok, stuck, warn } from './finding';

/** How long work may remain without progress, in seconds. */
const STUCK_SECONDS = 30;

/** Whether a commit that was acknowledged outlives the server that acknowledged it. */
export function replication({ replicas, isSynchronous }: Server): Finding {
  if (replicas === 0) return ok('replication', 'the server has no replicas');
  const have = count(replicas, 'replica', 'replicas');
  if (isSynchronous) return ok('replication', `synchronous, ${have}`);
  return warn(
    'replication',
    `${have}, and synchronous replication is off: a failover loses what was committed last`,
    'set synchronous_standby_names, and synchronous_commit to on',
  );
}

/** The database and its schema. */
export async function checkDatabase(db: Db): Promise<Finding[]> {
  const server = await readServer(db);
  const state = await schemaState(db);
  const { applied, missing, unknown } = state;
  const refusal = refuseSchema(state);
  const schema = refusal
    ? fail('schema', refusal, 'see "Upgrade" in the documentation')
    : missing.length > 0
      ? fail('schema', `lacks ${missing.join(', ')}`, MIGRATE)
      : unknown.length > 0
        ? warn(
            'schema',
            `has ${unknown.join(', ')}, which this version does not know`,
            'run the version that made them',
          )
        : ok('schema', `up to date (${count(applied.length, 'migration', 'migrations')})`);
  return [ok('database', `Postgres ${server.version}, database ${server.name}`), schema, replication(server)];
}

/** The rights of a login. */
export async function checkLogin(db: Db, role: LoginRole): Promise<Finding[]> {
  const rights = await readLoginRights(db, role);
  const refusal = refuseLogin(rights, role);
  const pooled = keepsPrepared(db) ? undefined : await refuseSession(db);
  return [
    ...(pooled ? [fail('pooler', pooled, 'see "Through PgBouncer" in docs/production.md')] : []),
    refusal
      ? fail('login', refusal.found, refusal.todo)
      : ok('login', `${rights.login} has the rights of ${role} and no more`),
  ];
}

/** Whether the API hears at once of executions that have ended. */
export async function checkNotifications(db: Db, url: string | undefined): Promise<Finding[]> {
  if (url === undefined) {
    return [ok('notifications', 'DATABASE_LISTEN_URL is not set: the API looks once a second')];
  }
  await proveNotified(db, url);
  return [ok('notifications', 'received')];
}

/** Accounts on networks that this host does not know: nothing can be read or executed there. */
export async function checkAccountNetworks(
  db: Db,
  networks: readonly { readonly id: number }[],
): Promise<Finding[]> {
  const counts = await countAccountsByNetwork(db);
  const unknown = counts.filter(({ networkId }) => !networks.some(({ id }) => id === networkId));
  return unknown.map(({ networkId, accounts }) =>
    fail(
      `network ${networkId}`,
      `${count(accounts, 'account is', 'accounts are')} on it, and it is not configured`,
      'add it to NETWORKS_FILE of every process',
    ),
  );
}

/** Work without progress. */
export async function checkWork(db: Db): Promise<Finding[]> {
  const { processing, failed, overdue, unanswered } = await findStuckWork(db, STUCK_SECONDS);
  return [
    stuck(
      'executions',
      processing,
      `without progress for ${STUCK_SECONDS} s`,
      './orgwallet proposals show <id> (or transactions show) says what it waits for',
    ),
    stuck(
      'failures',
      failed,
      'wait for a retry',
      './orgwallet proposals show <id> (or transactions show), then retry <id>',
    ),
    stuck('expiries', overdue, 'past their expiry and still open', 'see the workers above, and the runbook'),
    stuck(
      'requests',
      unanswered,
      'without an answer',
      'no action needed: a retry with its X-Idempotency-Key finishes each once',
    ),
  ];
}
