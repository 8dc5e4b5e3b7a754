import type { Knex } from 'knex';
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

/**
 * The WHERE, ORDER BY and LIMIT of a list of approvals `a`, newest first. `own`: the subject's conditions (undefined is left
 * out), and the column of its position where its own table is read in the order of the list.
 */
export function approvalSelection(
  filter: ApprovalFilter,
  own: {
    readonly subject: ApprovalRow['subject'];
    readonly conditions: readonly (SearchCondition | undefined)[];
    readonly position?: string | undefined;
  },
): { text: string; values: Knex.Value[] } {
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

/**
 * Two common table expressions for a page that is limited by size as well: `counted` numbers what was selected (`n`), with the
 * sum of its sizes up to there (`upto`) and how many there are (`found`).
 */
export function countedPage(from: string, bytes: string, selection: string): string {
  return `listed AS (
        SELECT a.id, a.position, ${bytes} AS bytes ${from} ${selection}
      ), counted AS (
        SELECT id, row_number() OVER newest AS n, sum(bytes) OVER newest AS upto, (count(*) OVER ())::integer AS found
        FROM listed WINDOW newest AS (ORDER BY position DESC, id DESC)
      )`;
}

/** Where an approval is in the course of things, one of these: what failed can still be open. */
export type Stage = 'done' | 'failed' | 'expired';

/** The condition of a stage. */
export const STAGE_CONDITION: { readonly [S in Stage]: string } = {
  done: "a.execution_status IN ('completed', 'rejected')",
  failed: "a.execution_status IN ('failed', 'blocked')",
  expired: 'a.execution_status IS NULL AND (a.closed_at IS NOT NULL OR a.expires_at < now())',
};
