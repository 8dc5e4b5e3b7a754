import type { Db, Tx } from './database';
import { queryRows, requireRow } from './rows';

/** The organization that a member is or was of, or undefined. */
export async function findOrganizationOfMember(db: Db | Tx, memberId: string): Promise<string | undefined> {
  const row = await db('members').where({ id: memberId }).first('organization_id');
  return row?.organization_id;
}

/** The organization that an API key belongs to, or undefined. */
export async function findOrganizationOfKey(db: Db | Tx, apiKeyId: string): Promise<string | undefined> {
  const row = await db('api_keys').where({ id: apiKeyId }).first('organization_id');
  return row?.organization_id;
}

/** The organization that an account belongs to, or undefined. */
export async function findOrganizationOfAccount(db: Db | Tx, accountId: string): Promise<string | undefined> {
  const row = await db('accounts').where({ id: accountId }).first('organization_id');
  return row?.organization_id;
}

/** A Postgres server. */
export interface Server {
  readonly version: string;
  /** The name of the database. */
  readonly name: string;
  readonly replicas: number;
  /** Whether a commit waits for a replica. */
  readonly isSynchronous: boolean;
}

/** What the server is, and whether it replicates. */
export async function readServer(db: Db | Tx): Promise<Server> {
  const [row] = await queryRows<Omit<Server, 'isSynchronous'> & { commit: string; standbys: string }>(
    db,
    `SELECT current_setting('server_version') AS version, current_database() AS name,
       (SELECT count(*)::int FROM pg_stat_replication) AS replicas,
       current_setting('synchronous_commit') AS commit,
       current_setting('synchronous_standby_names') AS standbys`,
  );
  const { commit, standbys, ...server } = requireRow(row);
  return { ...server, isSynchronous: standbys !== '' && !['off', 'local'].includes(commit) };
}

/** Work that needs attention: ids of proposals, then of transactions, at most 100 of each. */
interface StuckWork {
  /** Being executed, and the record has not changed for a while; what it waits for, where that is known. */
  readonly processing: readonly { readonly id: string; readonly waitingFor: string | null }[];
  /** The execution failed or was blocked, does not continue by itself, and can still be retried or rejected. */
  readonly failed: readonly string[];
  /** Past their expiry, and it is not recorded. */
  readonly overdue: readonly string[];
}

const MAX_IDS = 100;

/** Finds work without progress for `seconds`. */
export async function findStuckWork(db: Db | Tx, seconds: number): Promise<StuckWork> {
  const before = db.raw('now() - make_interval(secs => ?)', [seconds]);
  const approvals = () => db('approvals').orderBy('subject').orderBy('created_at').limit(MAX_IDS);
  const [processing, failed, overdue] = await Promise.all([
    approvals()
      .where({ execution_status: 'processing' })
      .where('updated_at', '<', before)
      .select<StuckWork['processing']>(
        'id',
        db.raw(
          `coalesce(waiting_for, (SELECT min(d.waiting_for) FROM deployments d
            WHERE d.proposal_id = approvals.id AND d.status = 'pending')) AS "waitingFor"`,
        ),
      ),
    approvals()
      .whereIn('execution_status', ['failed', 'blocked'])
      .whereNull('closed_at')
      .whereRaw(
        `NOT EXISTS (SELECT FROM transactions t WHERE t.id = approvals.id AND t.awaits_relayer_wei IS NOT NULL)`,
      )
      .pluck('id'),
    approvals()
      .where({ closed_at: null, expired_at: null })
      .whereRaw(`execution_status IS DISTINCT FROM 'processing'`)
      .where('expires_at', '<', before)
      .pluck('id'),
  ]);
  return { processing, failed, overdue };
}
