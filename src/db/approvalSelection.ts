import type { Knex } from 'knex';
import type { ApprovalRow } from './tables';

/** The filter of a list of approvals, whatever their subject. */
export interface ApprovalFilter {
  readonly organizationId?: string;
  readonly executionStatus?: readonly string[];
  /** Only those that are not closed. */
  readonly unclosed?: true;
  readonly before?: bigint;
  readonly limit: number;
}

/**
 * The WHERE, ORDER BY and LIMIT of a list of approvals `a`, newest first. `own`: the subject's conditions, each with the
 * value of its placeholder (undefined leaves it out), and those that need no value.
 */
export function approvalSelection(
  filter: ApprovalFilter,
  own: {
    readonly subject: ApprovalRow['subject'];
    readonly valued: readonly (readonly [sql: string, value: Knex.Value | undefined])[];
    readonly fixed: readonly string[];
  },
): { text: string; values: Knex.Value[] } {
  const valued = [
    ['a.organization_id = ?', filter.organizationId],
    // Named in every list: the index in the order of a list begins with the organization and the subject.
    ['a.subject = ?', own.subject],
    ['a.execution_status = ANY (?::text[])', filter.executionStatus && [...filter.executionStatus]],
    ['a.position < ?::bigint', filter.before === undefined ? undefined : String(filter.before)],
    ...own.valued,
  ] as const;
  const given = valued.filter((pair): pair is readonly [string, Knex.Value] => pair[1] !== undefined);
  const conditions = [
    ...given.map(([sql]) => sql),
    ...(filter.unclosed ? ['a.closed_at IS NULL'] : []),
    ...own.fixed,
  ];
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const order = filter.organizationId === undefined ? 'a.id DESC' : 'a.position DESC, a.id DESC';
  return {
    text: `${where} ORDER BY ${order} LIMIT ?`,
    values: [...given.map(([, value]) => value), filter.limit],
  };
}
