import type { Knex } from 'knex';
import type { Db, Tx } from './database';
import { queryRows } from './rows';
import type { SearchCondition } from './searchTerms';
import type { ApprovalRow } from './tables';

/** The filter of a list of approvals, whatever their subject. */
export interface ApprovalFilter {
  readonly organizationId?: string;
  readonly executionStatus?: readonly string[];
  /** Only those that are not closed. */
  readonly unclosed?: true;
  /** Created at this time or later. */
  readonly from?: Date;
  /** Created before this time. */
  readonly to?: Date;
  readonly before?: bigint;
  readonly limit: number;
}

/** By how much the order of commit and the times of creation may differ, clocks set back included. */
const DISORDER = "interval '1 day'";

/** The position of the first or last approval that is a day or more beyond a time: nearer to it nothing is left out. */
function bound(beyond: 'before' | 'after'): string {
  const [comparison, order, none] =
    beyond === 'before'
      ? [`< ?::timestamptz - ${DISORDER}`, 'DESC', '-1']
      : [`>= ?::timestamptz + ${DISORDER}`, 'ASC', `${2n ** 63n - 1n}`];
  return `coalesce((SELECT b.position FROM approvals b WHERE b.organization_id = ? AND b.subject = ?
    AND b.created_at ${comparison} ORDER BY b.created_at ${order} LIMIT 1), ${none})`;
}

/** That approvals were created in a period. By the bounds a list begins where the period does, however old that is. */
function inPeriod(
  { organizationId = '', from, to }: ApprovalFilter,
  subject: ApprovalRow['subject'],
  position: string,
): SearchCondition[] {
  return [
    ...(from
      ? [
          ['a.created_at >= ?', [from]] as const,
          [`${position} > ${bound('before')}`, [organizationId, subject, from]] as const,
        ]
      : []),
    ...(to
      ? [
          ['a.created_at < ?', [to]] as const,
          [`${position} < ${bound('after')}`, [organizationId, subject, to]] as const,
        ]
      : []),
  ];
}

/** What a list of one subject adds to the filter of all approvals. */
export interface OwnSelection {
  readonly subject: ApprovalRow['subject'];
  /** Undefined is left out. */
  readonly conditions: readonly (SearchCondition | undefined)[];
  /** The column of its position, where its own table is read in the order of the list. */
  readonly position?: string | undefined;
  /** It is looked for by `terms`, whose index has no order. */
  readonly isSearch: boolean;
}

/** A part of a statement with the values of its placeholders. */
interface Selection {
  readonly text: string;
  readonly values: readonly Knex.Value[];
}

/** The WHERE, ORDER BY and LIMIT of a list of approvals `a`, newest first. */
export function approvalSelection(filter: ApprovalFilter, own: OwnSelection): Selection {
  const { organizationId, executionStatus, before, unclosed, limit } = filter;
  const { subject, position = 'a.position' } = own;
  const conditions: readonly (SearchCondition | undefined)[] = [
    organizationId === undefined ? undefined : ['a.organization_id = ?', [organizationId]],
    // Named in every list: the index in the order of a list begins with the organization and the subject.
    ['a.subject = ?', [subject]],
    executionStatus && ['a.execution_status = ANY (?::text[])', [[...executionStatus]]],
    before === undefined ? undefined : [`${position} < ?::bigint`, [String(before)]],
    unclosed ? ['a.closed_at IS NULL', []] : undefined,
    ...inPeriod(filter, subject, position),
    ...own.conditions,
  ];
  const given = conditions.filter((one) => one !== undefined);
  const order = organizationId === undefined ? 'a.id DESC' : `${position} DESC, a.id DESC`;
  return {
    text: `WHERE ${given.map(([sql]) => sql).join(' AND ')} ORDER BY ${order} LIMIT ?`,
    values: [...given.flatMap(([, values]) => values), limit],
  };
}

/** A search looks among so many of the newest first: a word that nearly all have is found there, and its index is not read. */
const NEWEST = 1_000;

/** The condition that an approval is one of the newest of its list, however it is filtered. */
function amongNewest(
  { organizationId = '', before = 2n ** 63n - 1n }: ApprovalFilter,
  subject: ApprovalRow['subject'],
): SearchCondition {
  return [
    `a.id = ANY (ARRAY(SELECT b.id FROM approvals b WHERE b.organization_id = ? AND b.subject = ?
      AND b.position < ?::bigint ORDER BY b.position DESC LIMIT ?))`,
    [organizationId, subject, String(before), NEWEST],
  ];
}

/**
 * Common table expressions for a page that is limited by size as well, of one more than the limit: `counted` numbers what was
 * selected (`n`), with the sum of its sizes up to there (`upto`) and how many there are (`found`).
 */
function countedPage(
  filter: ApprovalFilter,
  own: OwnSelection,
  { from, bytes }: { readonly from: string; readonly bytes: string },
): Selection {
  const limit = filter.limit + 1;
  const select = (...more: readonly SearchCondition[]): Selection => {
    const conditions = [...own.conditions, ...more];
    const { text, values } = approvalSelection({ ...filter, limit }, { ...own, conditions });
    return { text: `SELECT a.id, a.position, ${bytes} AS bytes ${from} ${text}`, values };
  };
  const counted = `counted AS (
        SELECT id, row_number() OVER newest AS n, sum(bytes) OVER newest AS upto, (count(*) OVER ())::integer AS found
        FROM listed WINDOW newest AS (ORDER BY position DESC, id DESC)
      )`;
  if (!own.isSearch) {
    const { text, values } = select();
    return { text: `listed AS (${text}), ${counted}`, values };
  }
  const first = select(amongNewest(filter, own.subject));
  const all = select(['(SELECT count(*) FROM first) < ?', [limit]]);
  return {
    text: `first AS MATERIALIZED (${first.text}),
      listed AS (SELECT * FROM first WHERE (SELECT count(*) FROM first) >= ? UNION ALL (${all.text})), ${counted}`,
    values: [...first.values, limit, ...all.values],
  };
}

/**
 * Reads a page, newest first, that ends before `limit` when its sizes together are more than `maxBytes`, and has one at least, if
 * there is one; and whether there are more. `select` joins `counted` by its `id` and shows `counted.found`.
 */
export async function readPageBySize<Row>(
  db: Db | Tx,
  filter: ApprovalFilter,
  own: OwnSelection,
  page: { readonly from: string; readonly bytes: string; readonly select: string; readonly maxBytes: number },
): Promise<{ readonly rows: readonly Row[]; readonly hasMore: boolean }> {
  const { text, values } = countedPage(filter, own, page);
  const rows = await queryRows<Row & { readonly found: number }>(
    db,
    `WITH ${text}
      ${page.select}
      WHERE counted.n = 1 OR (counted.n <= ? AND counted.upto <= ?) ORDER BY counted.n`,
    [...values, filter.limit, page.maxBytes],
  );
  return { rows, hasMore: (rows[0]?.found ?? 0) > rows.length };
}

/** Where an approval is in the course of things, one of these: what failed can still be open. */
export type Stage = 'done' | 'failed' | 'expired';

/** The condition of a stage. */
export const STAGE_CONDITION: { readonly [S in Stage]: string } = {
  done: "a.execution_status IN ('completed', 'rejected')",
  failed: "a.execution_status IN ('failed', 'blocked')",
  expired: 'a.execution_status IS NULL AND (a.closed_at IS NOT NULL OR a.expires_at < now())',
};
