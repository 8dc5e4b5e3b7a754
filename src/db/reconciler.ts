import type { ExecutionStatus, Note } from '../domain/approval';
import type { ApprovalRef } from '../domain/approvalRef';
import type { NamedNetwork } from '../domain/networkNotes';
import type { ExpiryRange } from '../domain/reconciliation';
import { approvalRef, type RefColumns } from './approvalRefs';
import type { Db } from './database';
import { isMessageReceived, restartedMessageId } from './receivedMessages';
import { queryRows, requireRow } from './rows';
import {
  type ApprovalColumns,
  approvalColumns,
  type StoredApproval,
  storedApproval,
  type TimeColumn,
  timeColumn,
} from './storedApprovals';

/** The fields of an open approval that the reconciler needs. */
export type OpenRecord = ApprovalRef & {
  /** By the database's clock, in milliseconds. */
  readonly ageMs: number;
  readonly executionStatus: ExecutionStatus | null;
  /** Since its record last changed, by the database's clock, in milliseconds. */
  readonly unchangedMs: number;
  readonly networks: readonly NamedNetwork[];
  /** Null where they say nothing of networks, and all of these are configured. */
  readonly notes: readonly Note[] | null;
};

/** An execution whose record has not changed for a while. */
export type StalledApproval = ApprovalRef & Pick<OpenRecord, 'unchangedMs'>;

/** Open approvals that expire within a range, counted. */
export interface OpenRange extends ExpiryRange {
  readonly open: number;
}

const PAGE = 1_000;

/** What the statement of `openRecords` reads. */
type OpenColumns = RefColumns & {
  readonly age_ms: number;
  readonly execution_status: ExecutionStatus | null;
  readonly unchanged_ms: number;
  readonly networks: readonly string[] | null;
  readonly notes: readonly Note[] | null;
};

function openRecord(row: OpenColumns, known: readonly string[]): OpenRecord {
  return {
    ...approvalRef(row),
    ageMs: row.age_ms,
    executionStatus: row.execution_status,
    unchangedMs: row.unchanged_ms,
    networks: (row.networks ?? []).map((name) => ({
      networkId: Number(name.slice('network:'.length)),
      isGone: !known.includes(name),
    })),
    notes: row.notes,
  };
}

/**
 * Every open approval of every organization that expires within a range, a page at a time, in the order of their ids.
 * `noteCode`: of the note that one of its networks is not among these.
 */
export async function* openRecords(
  db: Db,
  {
    networkIds,
    noteCode,
    from,
    to,
  }: ExpiryRange & { readonly networkIds: readonly number[]; readonly noteCode: string },
): AsyncGenerator<readonly OpenRecord[]> {
  const known = networkIds.map((id) => `network:${id}`);
  for (let after = ''; ; ) {
    const rows = await queryRows<OpenColumns>(
      db,
      `SELECT a.id, a.organization_id, a.subject, p.resource_type, p.action, execution_status,
          (extract(epoch FROM now() - created_at) * 1000)::float8 AS age_ms,
          (extract(epoch FROM now() - updated_at) * 1000)::float8 AS unchanged_ms,
          named.networks, CASE WHEN named.gone OR notes @> ?::jsonb THEN notes END AS notes
        FROM approvals a LEFT JOIN proposals p ON p.id = a.id, LATERAL (
          SELECT array_agg(name) AS networks, bool_or(name <> ALL (?::text[])) AS gone FROM unnest(a.names) AS name
          WHERE name LIKE 'network:%'
        ) named
        WHERE closed_at IS NULL AND a.id > ?
          AND expires_at >= coalesce(?, '-infinity'::timestamptz)
          AND expires_at < coalesce(?, 'infinity'::timestamptz)
        ORDER BY a.id LIMIT ?`,
      [JSON.stringify([{ code: noteCode }]), known, after, from, to, PAGE],
    );
    if (rows.length > 0) yield rows.map((row) => openRecord(row, known));
    if (rows.length < PAGE) return;
    after = requireRow(rows.at(-1)).id;
  }
}

/** The executions whose record has not changed for at least that long. */
export async function stalledApprovals(db: Db, milliseconds: number): Promise<StalledApproval[]> {
  const rows = await queryRows<RefColumns & { unchanged_ms: number }>(
    db,
    `SELECT a.id, a.organization_id, a.subject, p.resource_type, p.action,
        (extract(epoch FROM now() - updated_at) * 1000)::float8 AS unchanged_ms
      FROM approvals a LEFT JOIN proposals p ON p.id = a.id
      WHERE closed_at IS NULL AND execution_status = 'processing'
        AND updated_at <= now() - make_interval(secs => ?::float8 / 1000)
      ORDER BY a.id`,
    [milliseconds],
  );
  return rows.map((row) => ({ ...approvalRef(row), unchangedMs: row.unchanged_ms }));
}

/**
 * Ranges that together have every time of expiry, each with `size` open approvals or little more, and how many of them
 * are at least that old; and the limit of that age, by the database's clock.
 */
export async function openRanges(
  db: Db,
  { size, milliseconds }: { readonly size: number; readonly milliseconds: number },
): Promise<{ ranges: OpenRange[]; before: Date }> {
  const rows = await queryRows<{ starts: Date | null; open: number; before: Date }>(
    db,
    `WITH time AS (SELECT now() - make_interval(secs => ?::float8 / 1000) AS before),
        numbered AS (
          SELECT expires_at, created_at, (rank() OVER (ORDER BY expires_at) - 1) / ?::integer AS number
          FROM approvals WHERE closed_at IS NULL
        )
      SELECT min(expires_at) AS starts, count(*) FILTER (WHERE created_at < before)::integer AS open, before
        FROM time LEFT JOIN numbered ON true GROUP BY number, before ORDER BY number`,
    [milliseconds, size],
  );
  const { before } = requireRow(rows[0]);
  const ranges = rows.map(({ starts, open }, index) => ({
    from: index === 0 ? null : starts,
    to: rows[index + 1]?.starts ?? null,
    open,
  }));
  return { ranges, before };
}

/** Those of some approvals whose workflow was started before that time and that have been closed for as long, or do not exist. */
export async function closedOrLost(
  db: Db,
  started: readonly { readonly id: string; readonly startedAt: Date }[],
  milliseconds: number,
): Promise<string[]> {
  const rows = await queryRows<{ id: string }>(
    db,
    `SELECT started.id FROM unnest(?::text[], ?::timestamptz[]) AS started (id, at) LEFT JOIN approvals a ON a.id = started.id
      WHERE greatest(at, CASE WHEN a.id IS NOT NULL THEN coalesce(closed_at, 'infinity') END)
        < now() - make_interval(secs => ?::float8 / 1000)`,
    [started.map(({ id }) => id), started.map(({ startedAt }) => startedAt), milliseconds],
  );
  return rows.map(({ id }) => id);
}

/** The current fields of an approval that its repair depends on, with the database's time; undefined when it does not exist. */
export async function readRepairable(
  db: Db,
  { organizationId, id }: ApprovalRef,
): Promise<{ record: StoredApproval; time: Date } | undefined> {
  const [row] = await queryRows<ApprovalColumns & TimeColumn>(
    db,
    `SELECT ${approvalColumns}, ${timeColumn} FROM approvals a WHERE a.organization_id = ? AND a.id = ?`,
    [organizationId, id],
  );
  return row && { record: storedApproval(row), time: row.read_at };
}

/** True when a restarted run has recorded itself, which it does first. */
export async function hasRecordedItself(db: Db, { id }: ApprovalRef, runId: string): Promise<boolean> {
  return isMessageReceived(db, id, restartedMessageId(runId));
}

/** How often the workflow of an approval was restarted in the last hour. */
export async function restartsLastHour(
  db: Db,
  { subject, organizationId, id }: ApprovalRef,
): Promise<number> {
  const [row] = await queryRows<{ count: number }>(
    db,
    `SELECT count(*)::integer AS count FROM audit_log
      WHERE organization_id = ? AND resource_id = ? AND action = ?
        AND created_at > now() - interval '1 hour'`,
    [organizationId, id, `${subject}.restored`],
  );
  return requireRow(row).count;
}
