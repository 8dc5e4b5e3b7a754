import type { Db } from '../../db/database';
import { type LoginRole, readLoginRights, refuseLogin } from '../../db/logins';
import { refuseSchema, schemaState } from '../../db/migrate';
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
  return [
    refusal
      ? fail('login', refusal.found, refusal.todo)
      : ok('login', `${rights.login} has the rights of ${role} and no more`),
  ];
}

/** Work without progress. */
export async function checkWork(db: Db): Promise<Finding[]> {
  const { processing, failed, overdue, unanswered } = await findStuckWork(db, STUCK_SECONDS);
  return [
    stuck(
      'executions',
      processing,
      `without progress for ${STUCK_SECONDS} s`,
      'npx orgwallet proposals show <id> (or transactions show) says what it waits for',
    ),
    stuck(
      'failures',
      failed,
      'wait for a retry',
      'npx orgwallet proposals show <id> (or transactions show), then retry <id>',
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
