import type { Db, Tx } from './database';
import { queryNumbered } from './rows';

/** Where an organization has an address. */
export interface KnownAddress {
  readonly address: string;
  readonly type: 'account' | 'member' | 'policy' | 'addressBookEntry';
  readonly id: string;
  readonly name: string;
  /** null: of no certain network. */
  readonly networkId: number | null;
}

/** What was paid to an address, or called there: what was executed. */
interface PaidAddress {
  readonly address: string;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** Whom it may be about: an address, and those with the same ends. */
interface Sought {
  readonly organizationId: string;
  /** Checksummed. */
  readonly address: string;
}

/** The same of several addresses. */
interface SoughtAddresses {
  readonly organizationId: string;
  readonly addresses: readonly string[];
}

/** SQL: the first and the last three hex digits of an address. The index of `policy_usage` has the same text. */
const endsOf = (column: string) => `(lower(substr(${column}, 3, 3) || right(${column}, 3)))`;

/** SQL: the ends of the addresses of a parameter. */
const endsIn = (parameter: string) =>
  `ANY(ARRAY(SELECT ${endsOf('sought')} FROM unnest(${parameter}::text[]) AS s (sought)))`;

/** Most rows of an answer: an organization has not so many in good faith. */
const MAX_KNOWN = 1_000;
const MAX_PAID = 100;

const KNOWN = `WITH known AS (
    SELECT address, 'account' AS type, id, name, NULL::bigint AS network_id FROM accounts WHERE organization_id = $1
    UNION ALL SELECT wallet_address, 'member', id, name, NULL FROM members
      WHERE organization_id = $1 AND removed_at IS NULL
    UNION ALL SELECT address, 'addressBookEntry', id, name, network_id FROM address_book_entries WHERE organization_id = $1
    UNION ALL SELECT DISTINCT named.address, 'policy', p.id, p.name, (p.definition->>'networkId')::bigint
      FROM policies p CROSS JOIN LATERAL jsonb_array_elements_text(
        jsonb_path_query_array(p.definition, '$.tokenTransferCondition.destinationAddresses[*]')
        || jsonb_path_query_array(p.definition, '$.contractInteractionCondition[*].contractAddress')) AS named (address)
      WHERE p.organization_id = $1 AND p.removed_at IS NULL
  )
  SELECT address, type, id, name, network_id AS "networkId" FROM known
  WHERE ${endsOf('address')} = ${endsIn('$2')}
  ORDER BY array_position(ARRAY['account', 'member', 'addressBookEntry', 'policy'], type), name, id LIMIT ${MAX_KNOWN}`;

/** Where an organization has addresses, and those with the same ends. */
export async function findKnownAddresses(
  db: Db | Tx,
  { organizationId, addresses }: SoughtAddresses,
): Promise<KnownAddress[]> {
  const rows = await queryNumbered<Omit<KnownAddress, 'networkId'> & { readonly networkId: bigint | null }>(
    db,
    KNOWN,
    [organizationId, addresses],
  );
  return rows.map((row) => ({ ...row, networkId: row.networkId === null ? null : Number(row.networkId) }));
}

const executedBefore = (ends: string) =>
  `organization_id = $1 AND ${endsOf('destination')} = ${ends}
    AND status = 'committed' AND ($3::timestamptz IS NULL OR block_at < $3)`;

const PAID = `SELECT destination AS address, count(*)::integer AS count, min(block_at) AS "firstAt", max(block_at) AS "lastAt"
  FROM policy_usage WHERE ${executedBefore(endsIn('$2'))} GROUP BY destination ORDER BY count DESC LIMIT ${MAX_PAID}`;

/** What an organization has paid to addresses and to those with the same ends, maybe only before a time. */
export function findPaidAddresses(
  db: Db | Tx,
  { organizationId, addresses }: SoughtAddresses,
  before: Date | null,
): Promise<PaidAddress[]> {
  return queryNumbered<PaidAddress>(db, PAID, [organizationId, addresses, before]);
}

const LAST = `SELECT transaction_id AS id FROM policy_usage
  WHERE ${executedBefore(endsOf('$2::text'))} AND destination = $2 ORDER BY block_at DESC LIMIT 1`;

/** The last transaction to an address that was executed, maybe only before a time; or undefined. */
export async function findLastPayment(
  db: Db | Tx,
  { organizationId, address }: Sought,
  before: Date | null,
): Promise<string | undefined> {
  const [row] = await queryNumbered<{ id: string }>(db, LAST, [organizationId, address, before]);
  return row?.id;
}
