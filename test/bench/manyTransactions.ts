import { Client as PostgresClient } from 'pg';
import { tagTerm } from '../../src/db/searchTerms';
import { copyRow } from './copyRow';
import { type BenchOrganization, makeOrganization } from './organization';
import { PaymentsClient } from './paymentsClient';
import type { BenchStack } from './stack';

/** So many of the oldest are of an account, a policy, an initiator and a network of their own. */
const OLDEST = 100;
/** Of these: open, failed, expired. */
const [OPEN, FAILED, EXPIRED] = [10, 20, 30] as const;
/** The first one, and one a minute since. */
const FIRST = '2024-01-01T00:00:00Z';

/** An organization with many transactions, and what the oldest of them have. */
export interface ManyTransactions {
  readonly organization: BenchOrganization;
  readonly payments: PaymentsClient;
  readonly accountId: string;
  readonly former: {
    readonly accountId: string;
    readonly policyId: string;
    readonly initiatorId: string;
    readonly networkId: number;
    readonly recipient: string;
  };
}

const OTHER_NETWORK = 31_338;
const SUPPLIER = `0x${'5'.repeat(40)}`;

/** What copy number `n` has: one of the oldest its own, every other one of a few. */
const oldest = (own: string, others: string) => `CASE WHEN n <= ${OLDEST} THEN ${own} ELSE ${others} END`;
const idFrom = (id: string, n = 'n') => `'${id.slice(0, -8)}' || lpad((${n})::text, 8, '0')`;

/** What the copies of a transaction differ in. */
function changesOf(
  transaction: { readonly id: string; readonly organizationId: string },
  { accountId, former }: Pick<ManyTransactions, 'accountId' | 'former'>,
) {
  const shared = { id: idFrom(transaction.id), position: 'n' };
  const createdAt = `timestamptz '${FIRST}' + n * interval '1 minute'`;
  const isOpen = `n <= ${OPEN}`;
  const scope = transaction.organizationId.slice(-10);
  const terms = [
    `'${scope}/' || ${oldest(`'lease'`, `'salary'`)}`,
    `'${scope}/word' || n % 1000`,
    `'${scope}/' || n`,
    `'${scope}/to:' || ${oldest(`'${SUPPLIER}'`, `lpad((n % 500)::text, 40, '0')`)}`,
    `'${scope}/asset:31337:0x' || repeat('0', 40)`,
    `'${scope}/' || ${oldest(`'${tagTerm('Lease')}'`, `'${tagTerm('Salary')}'`)}`,
    `'${scope}/account:' || ${oldest(`'${former.accountId}'`, `'${accountId}'`)}`,
  ];
  return {
    approvals: {
      ...shared,
      created_at: createdAt,
      updated_at: createdAt,
      expires_at: `CASE WHEN ${isOpen} THEN date_trunc('second', now()) + interval '7 days' ELSE ${createdAt} + interval '7 days' END`,
      closed_at: `CASE WHEN ${isOpen} THEN NULL ELSE ${createdAt} END`,
      expired_at: `CASE WHEN n > ${FAILED} AND n <= ${EXPIRED} THEN ${createdAt} END`,
      execution_status: `CASE WHEN n <= ${OPEN} THEN NULL WHEN n <= ${FAILED} THEN 'failed' WHEN n <= ${EXPIRED} THEN NULL ELSE 'completed' END`,
      failure: `CASE WHEN n > ${OPEN} AND n <= ${FAILED} THEN '{"code":"executionReverted","message":"the call reverted","retryable":false}'::jsonb END`,
      result: `CASE WHEN n <= ${EXPIRED} THEN NULL ELSE original.result END`,
      frozen: `CASE WHEN ${isOpen} THEN NULL ELSE original.frozen END`,
      decision: `CASE WHEN n <= ${EXPIRED} THEN NULL ELSE original.decision END`,
      idempotency_key: 'NULL',
      request_hash: 'NULL',
    },
    transactions: {
      ...shared,
      account_id: oldest(`'${former.accountId}'`, 'original.account_id'),
      policy_id: oldest(`'${former.policyId}'`, 'original.policy_id'),
      initiator_id: oldest(`'${former.initiatorId}'`, 'original.initiator_id'),
      network_id: oldest(String(former.networkId), 'original.network_id'),
      description: `${oldest(`'Lease'`, `'Salary'`)} || ' word' || n % 1000 || ' ' || n`,
      type: oldest(`'CONTRACT_INTERACTION'`, 'original.type'),
      content: oldest(
        `jsonb_build_object('toAddress', '${SUPPLIER}', 'value', '0', 'calldata', '0x')`,
        'original.content',
      ),
      terms: `array_to_tsvector(ARRAY[${terms.join(', ')}])`,
      external_id: `${oldest(`'lease-'`, `'salary-'`)} || n`,
      tags: `ARRAY[${oldest(`'Lease'`, `'Salary'`)}]`,
    },
  };
}

/** Copies the account and the policy, of which the oldest transactions are. */
async function storeFormer(
  postgres: PostgresClient,
  original: Readonly<Record<'account_id' | 'policy_id' | 'initiator_id', string>>,
): Promise<ManyTransactions['former']> {
  const own = (id: string) => `${id.slice(0, -8)}00000000`;
  const [accountId, policyId] = [own(original.account_id), own(original.policy_id)];
  const one = { count: 1 };
  const ofAccount = { ...one, where: `id = '${original.account_id}'` };
  await copyRow(postgres, 'accounts', {
    ...ofAccount,
    changes: { id: `'${accountId}'`, name: `'Branch in Ghent'`, position: 'original.position + 1' },
  });
  for (const network of [31_337, OTHER_NETWORK]) {
    await copyRow(postgres, 'account_networks', {
      ...one,
      where: `account_id = '${original.account_id}'`,
      changes: { account_id: `'${accountId}'`, network_id: String(network) },
    });
  }
  await copyRow(postgres, 'policies', {
    ...one,
    where: `id = '${original.policy_id}'`,
    changes: { id: `'${policyId}'`, name: `'Leases'`, position: 'original.position + 1' },
  });
  const { rows } = await postgres.query<{ id: string }>(
    'SELECT id FROM members WHERE organization_id = (SELECT organization_id FROM members WHERE id = $1) AND id <> $1 ORDER BY id DESC LIMIT 1',
    [original.initiator_id],
  );
  return {
    accountId,
    policyId,
    initiatorId: rows[0]?.id ?? '',
    networkId: OTHER_NETWORK,
    recipient: SUPPLIER,
  };
}

/** Fills tables without their indexes, which are made anew then: an entry of each at a time would take many times as long. */
async function withoutIndexes(
  postgres: PostgresClient,
  tables: readonly string[],
  fill: () => Promise<void>,
): Promise<void> {
  const { rows } = await postgres.query<{ name: string; definition: string }>(
    `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i
     WHERE i.indrelid = ANY($1::text[]::regclass[])
       AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)`,
    [tables],
  );
  for (const { name } of rows) await postgres.query(`DROP INDEX ${name}`);
  await fill();
  await postgres.query("SET maintenance_work_mem = '256MB'");
  for (const { definition } of rows) await postgres.query(definition);
}

/** Makes an organization that has paid once, and copies that payment. Copies have no workflows, votes or fees. */
export async function storeTransactions(stack: BenchStack, count: number): Promise<ManyTransactions> {
  const organization = await makeOrganization(stack);
  const payments = await PaymentsClient.start(stack, organization);
  const { id } = await payments.create();
  await payments.execute(await payments.executeRequest(await payments.get(`/api/v1/transactions/${id}`)));
  const postgres = new PostgresClient({ connectionString: stack.superuserUrl });
  await postgres.connect();
  try {
    await postgres.query("SET session_replication_role = 'replica'");
    const { rows } = await postgres.query(`SELECT * FROM transactions WHERE id = $1`, [id]);
    const former = await storeFormer(postgres, rows[0]);
    const stored = { organization, payments, accountId: rows[0].account_id as string, former };
    const changes = changesOf({ id, organizationId: organization.id }, stored);
    const tables = ['approvals', 'transactions'] as const;
    await withoutIndexes(postgres, tables, async () => {
      for (const table of tables) {
        await postgres.query(`UPDATE ${table} SET position = ${count + 1} WHERE id = '${id}'`);
        await copyRow(postgres, table, { where: `id = '${id}'`, count, changes: changes[table] });
      }
    });
    await postgres.query('VACUUM ANALYZE approvals, transactions');
    return stored;
  } finally {
    await postgres.end();
  }
}
