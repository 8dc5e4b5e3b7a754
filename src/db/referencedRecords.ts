import type { MemberSummary } from '../domain/approval';
import type { Policy, PolicyField } from '../domain/policy';
import type { PolicyContext } from '../domain/policyEngine';
import type { TransactionRef } from '../domain/transaction';
import type { Db, Tx } from './database';
import { readDefinition } from './policyDefinition';
import { queryNumbered, requireRow } from './rows';
import { memberColumn } from './storedApprovals';
import type { PolicyRow } from './tables';

/** The records of an organization that a new transaction refers to; undefined for unknown ones. */
export interface ReferencedRecords extends Pick<PolicyContext, 'members' | 'groups'> {
  readonly account:
    | {
        readonly id: string;
        readonly name: string;
        readonly address: string;
        readonly ownerAddress: string;
        readonly networkIds: readonly number[];
      }
    | undefined;
  readonly adminsId: string;
  readonly initiator: MemberSummary | undefined;
  readonly policy: Policy | undefined;
  /** Whether the transaction to replace is one of the account that its initiator has signed and that failed for good. */
  readonly isReplaceable: boolean;
  /** The transaction that has the external id of the new one; null where none has. */
  readonly externalIdHolder: string | null;
  /** The family of the transaction to replace; null where none is to be replaced. */
  readonly family: ReplacementFamily | null;
}

/** A transaction and all that replace it, directly and indirectly: only one of them is to be executed. */
export interface ReplacementFamily {
  /** The one that replaces no other. */
  readonly first: string;
  /** One that was executed or still can be; null where there is none. */
  readonly live: { readonly id: string; readonly isExecuted: boolean } | null;
}

/**
 * SQL of the ids with one name in a setting of the policy `p`, or in all that it has.
 * `policyPeople` in SQL, as the policy is read in the same statement.
 */
export const idsOfSettings = (name: 'memberId' | 'groupId', setting: PolicyField | '*' = '*') =>
  `ARRAY(SELECT jsonb_path_query(p.definition, '$.${setting}.${name}') #>> '{}')`;

/** The members of the groups that the policy `p` names, each with its group, as one JSON column. */
export const groupPeopleColumn = (organizationId: string) =>
  `coalesce((SELECT json_agg(json_build_object('groupId', g.id, 'member', ${memberColumn('m')}) ORDER BY m.id)
    FROM groups g JOIN group_members gm ON gm.group_id = g.id JOIN members m ON m.id = gm.member_id
    WHERE g.organization_id = ${organizationId} AND g.deleted_at IS NULL AND m.removed_at IS NULL
      AND g.id = ANY (${idsOfSettings('groupId')})), '[]') AS group_people`;

/**
 * The members that the policy `p` names, an initiator, and those that `others` selects, as one JSON column. They are found
 * by their ids, however many members there are. Each argument is SQL.
 */
export const peopleColumn = (organizationId: string, initiatorId: string, others?: string) =>
  `coalesce((SELECT json_agg(${memberColumn('m')}) FROM members m
    WHERE m.id = ANY (ARRAY[${initiatorId}] || ${idsOfSettings('memberId')}${others === undefined ? '' : ` || ARRAY(${others})`})
      AND m.organization_id = ${organizationId} AND m.removed_at IS NULL), '[]') AS people`;

/** What `peopleColumn` reads. */
export interface PeopleColumn {
  readonly people: readonly MemberSummary[];
}

/** What `groupPeopleColumn` reads. */
export interface GroupPeopleColumn {
  readonly group_people: readonly { readonly groupId: string; readonly member: MemberSummary }[];
}

/** The groups that `groupPeopleColumn` read. */
export function groupsOf(row: GroupPeopleColumn): ReadonlyMap<string, readonly MemberSummary[]> {
  const groups = new Map<string, MemberSummary[]>();
  for (const { groupId, member } of row.group_people) {
    groups.set(groupId, [...(groups.get(groupId) ?? []), member]);
  }
  return groups;
}

/** What `READ` reads. */
type ReferencedColumns = GroupPeopleColumn &
  PeopleColumn & {
    readonly is_replaceable: boolean;
    readonly external_id_holder: string | null;
    readonly family: ReferencedRecords['family'];
    readonly initiator: MemberSummary | null;
    readonly admins_id: string;
  } & (
    | {
        readonly account_id: string;
        readonly account_name: string;
        readonly account_address: string;
        readonly owner_address: string;
        readonly network_ids: readonly string[];
      }
    | { readonly network_ids: null }
  ) &
  ((Pick<PolicyRow, 'definition'> & { readonly policy_id: string }) | { readonly policy_id: null });

/**
 * SQL of the ReplacementFamily of a transaction of the organization $1: all that it replaces and that replace it, directly and
 * indirectly. `transactionId`, `but`: SQL of ids; `but` is never the live one.
 */
const familyOf = (transactionId: string, but: string) => `(
      WITH RECURSIVE before AS (
        SELECT t.id, t.replaces FROM transactions t JOIN approvals a ON a.id = t.id
          WHERE t.id = ${transactionId} AND a.organization_id = $1
        UNION ALL SELECT t.id, t.replaces FROM before JOIN transactions t ON t.id = before.replaces
      ), family AS (
        SELECT id FROM before WHERE replaces IS NULL
        UNION ALL SELECT t.id FROM family JOIN transactions t ON t.replaces = family.id
      )
      SELECT json_build_object('first', b.id, 'live', (
          SELECT json_build_object('id', f.id, 'isExecuted', f.execution_status IS NOT DISTINCT FROM 'completed')
          FROM family JOIN approvals f ON f.id = family.id
          WHERE f.id <> ${but} AND (f.execution_status = 'completed' OR (f.closed_at IS NULL
            AND (f.expires_at > now() OR f.execution_status = 'processing')))
          ORDER BY f.id DESC LIMIT 1))
        FROM before b WHERE b.replaces IS NULL)`;

/** Another transaction of the same family that was executed or still can be; null where there is none. */
export async function findLiveOther(
  tx: Tx,
  { organizationId, transactionId }: TransactionRef,
): Promise<ReplacementFamily['live']> {
  const statement = `SELECT ${familyOf('$2', '$2')} AS family`;
  const [row] = await queryNumbered<{ family: ReplacementFamily | null }>(tx, statement, [
    organizationId,
    transactionId,
  ]);
  return row?.family?.live ?? null;
}

const READ = `SELECT a.id AS account_id, a.name AS account_name, a.address AS account_address,
      a.owner_address, (SELECT id FROM admin_sets WHERE organization_id = $1) AS admins_id,
      (SELECT array_agg(n.network_id ORDER BY n.network_id) FROM account_networks n WHERE n.account_id = a.id) AS network_ids,
      CASE WHEN i.id IS NOT NULL THEN ${memberColumn('i')} END AS initiator,
      p.id AS policy_id, p.definition,
      ${peopleColumn('$1', 'i.id')},
      EXISTS (SELECT FROM approvals f JOIN transactions t ON t.id = f.id
        WHERE f.organization_id = $1 AND f.id = $5 AND t.account_id = a.id
          AND f.execution_status = 'failed' AND f.closed_at IS NOT NULL
          AND EXISTS (SELECT FROM votes v WHERE v.approval_id = f.id AND v.type = 'initiator')) AS is_replaceable,
      (SELECT t.id FROM transactions t WHERE t.organization_id = $1 AND t.external_id = $6) AS external_id_holder,
      ${familyOf('$5', "''")} AS family,
      ${groupPeopleColumn('$1')}
    FROM (SELECT) AS always
    LEFT JOIN accounts a ON a.organization_id = $1 AND a.id = $2
    LEFT JOIN members i ON i.organization_id = $1 AND lower(i.wallet_address) = lower($3) AND i.removed_at IS NULL
    LEFT JOIN policies p ON p.organization_id = $1 AND p.id = $4 AND p.removed_at IS NULL`;

/** Reads the records that a new transaction refers to, in one statement. An account on no network yet is not found. */
export async function readReferencedRecords(
  db: Db | Tx,
  of: {
    organizationId: string;
    accountId: string;
    walletAddress: string;
    policyId: string;
    replaces: string | undefined;
    externalId: string | undefined;
  },
): Promise<ReferencedRecords> {
  const [found] = await queryNumbered<ReferencedColumns>(db, READ, [
    of.organizationId,
    of.accountId,
    of.walletAddress,
    of.policyId,
    of.replaces ?? '',
    of.externalId ?? null,
  ]);
  const row = requireRow(found);
  return {
    account:
      row.network_ids === null
        ? undefined
        : {
            id: row.account_id,
            name: row.account_name,
            address: row.account_address,
            ownerAddress: row.owner_address,
            networkIds: row.network_ids.map(Number),
          },
    initiator: row.initiator ?? undefined,
    adminsId: row.admins_id,
    isReplaceable: row.is_replaceable,
    externalIdHolder: row.external_id_holder,
    family: row.family,
    policy:
      row.policy_id === null
        ? undefined
        : { ...readDefinition(row.policy_id, row.definition), id: row.policy_id },
    members: new Map(row.people.map((member) => [member.id, member])),
    groups: groupsOf(row),
  };
}
