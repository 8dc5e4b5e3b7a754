import type { Db, Row, Tx } from './database';
import { uuidOrNull } from './ids';
import { openOfKey } from './openOfKey';
import { type PreparedStatement, runPrepared } from './prepared';

/** What the create of a transaction is judged by, apart from its content. */
export interface RequestToTransact {
  /** Its stored body, and the key that sent it; undefined when there is no such request. */
  readonly request: { readonly body: Row; readonly apiKeyId: string } | undefined;
  /** True when the transaction has been made already. */
  readonly made: boolean;
  /** How many open proposals and transactions the key has made. */
  readonly open: number;
  readonly now: Date;
}

function statement(name: string, admins: string): PreparedStatement {
  return {
    name,
    text: `WITH s AS MATERIALIZED (SELECT 1 FROM admin_sets WHERE organization_id = $1 ${admins})
      SELECT r.body, r.api_key_id, date_trunc('milliseconds', now()) AS read_at,
        EXISTS (SELECT FROM transactions WHERE organization_id = $1 AND id = $2) AS made,
        ${openOfKey('$1', 'r.api_key_id')} AS open
      FROM (SELECT count(*) FROM s) AS locked
      LEFT JOIN idempotency_requests r ON r.organization_id = $1 AND r.resource_id = $2 AND r.id = $3
        AND r.method = 'POST' AND r.path = '/api/v1/transactions'`,
  };
}
const READ = statement('request_to_transact', '');
// The admins are locked, so that nothing that the plan has looked at is changed before its transaction is there.
const READ_LOCKED = statement('request_to_transact_locked', 'FOR SHARE');

/** Reads the stored request to make a transaction, with what it is judged by, in one statement. */
export async function readRequestToTransact(
  db: Db | Tx,
  key: { organizationId: string; transactionId: string; requestId?: string },
  options: { lock?: true } = {},
): Promise<RequestToTransact> {
  const values = [key.organizationId, key.transactionId, uuidOrNull(key.requestId)];
  const [row]: Row[] = await runPrepared(db, options.lock ? READ_LOCKED : READ, values);
  return {
    request: row.api_key_id === null ? undefined : { body: row.body, apiKeyId: row.api_key_id },
    made: row.made,
    open: row.open,
    now: row.read_at,
  };
}
