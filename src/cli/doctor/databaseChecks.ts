import { countAccountsByNetwork } from '../../db/accounts';
import { type Db, keepsStatements } from '../../db/database';
import { findUnanswered, type UnansweredRequest } from '../../db/idempotency';
import { type LoginRole, readLoginRights, refuseLogin, refuseSession } from '../../db/logins';
import { proveNotified } from '../../db/notifications';
import { findStuckWork, readServer, type Server } from '../../db/operator';
import { refuseSchema, schemaState } from '../../db/schemaState';
import { count, duration } from '../text';
import { type Finding, fail, firstOf, MIGRATE, ok, PATIENCE_MS, stuck, warn } from './finding';

/** How long work may remain without progress, in seconds. */
const STUCK_SECONDS = 30;

/** Whether a commit that was acknowledged outlives the server that acknowledged it. */
function replication({ replicas, isSynchronous }: Server): Finding {
  if (replicas === 0) return ok('replication', 'the server has no replicas');
  const have = count(replicas, 'replica', 'replicas');
  if (isSynchronous) return ok('replication', `synchronous, ${have}`);
  return warn(
    'replication',
    `${have}, and synchronous replication is off: a failover loses what was committed last`,
    'set synchronous_standby_names, and synchronous_commit to on',
  );
}

/** The server of the database. */
export async function checkDatabase(db: Db): Promise<Finding[]> {
  const server = await readServer(db);
  return [ok('database', `Postgres ${server.version}, database ${server.name}`), replication(server)];
}

/** The schema of the database. */
export async function checkSchema(db: Db): Promise<Finding[]> {
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
  return [schema];
}

/** The rights of a login. */
export async function checkLogin(db: Db, role: LoginRole): Promise<Finding[]> {
  const rights = await readLoginRights(db, role);
  const refusal = refuseLogin(rights, role);
  const pooled = keepsStatements(db) ? undefined : await refuseSession(db);
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
  await proveNotified(db, url, PATIENCE_MS);
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

/**
 * Requests whose process has ended before it answered: those without an effect come to nothing until their client sends them
 * again. Where the effect is recorded, only its answer was lost.
 */
export function unansweredFinding(requests: readonly UnansweredRequest[], nowMs: number): Finding {
  const part = 'requests';
  const open = requests.filter(({ hasEffect }) => !hasEffect);
  const done = requests.length - open.length;
  const repeated = done > 0 ? `${done} without an answer had their effect: a repeat gets the answer` : '';
  if (open.length === 0) return ok(part, repeated || 'none stuck');
  const shown = open.map(
    ({ method, path, organizationId, createdAt }) =>
      `${method} ${path} of ${organizationId}, ${duration(nowMs - createdAt.getTime())} ago`,
  );
  return warn(
    part,
    `${open.length} without an answer and without an effect: ${firstOf(shown)}${repeated && `; ${repeated}`}`,
    'where the workers above are ok, nothing comes of them until their clients send them again, with the same X-Idempotency-Key; they are forgotten after a week',
  );
}

/** Work without progress. `nowMs`: by the database's clock. */
export async function checkWork(db: Db, nowMs: number): Promise<Finding[]> {
  const { processing, failed, overdue } = await findStuckWork(db, STUCK_SECONDS);
  return [
    stuck(
      'executions',
      processing.map(({ id, waitingFor }) => (waitingFor === null ? id : `${id} (${waitingFor})`)),
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
    unansweredFinding(await findUnanswered(db, STUCK_SECONDS), nowMs),
  ];
}
