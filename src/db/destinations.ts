import type { DeliveryOutcome, DeliveryReason, DisabledFor, PausedFor } from '../domain/delivery';
import type { Db, Tx } from './database';
import { type FeedPlace, lockFeedEnd } from './feed';
import { execute, queryRows } from './rows';
import type { DeliveryAttemptRow, DestinationRow } from './tables';

/** Where the events of an organization are sent to. */
export interface Destination extends FeedPlace {
  /** whk_… */
  readonly id: string;
  readonly organizationId: string;
  readonly kind: DestinationRow['kind'];
  readonly url: string;
  /** Null: every type. */
  readonly types: readonly string[] | null;
  readonly description: string;
  /** Of its secret; the one before it counts for a day beside it. */
  readonly generation: number;
  readonly rotatedAt: Date | null;
  readonly disabledFor: DisabledFor | null;
  readonly pausedFor: PausedFor | null;
  /** Attempts at the event after its position, none of which was taken. */
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly lastFailure: string | null;
  readonly failingSince: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

function destination(row: DestinationRow): Destination {
  return {
    id: row.id,
    organizationId: row.organization_id,
    kind: row.kind,
    url: row.url,
    types: row.types,
    description: row.description,
    generation: row.generation,
    rotatedAt: row.rotated_at,
    disabledFor: row.disabled_for,
    pausedFor: row.paused_for,
    position: row.position,
    hash: row.hash,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    lastFailure: row.last_failure,
    failingSince: row.failing_since,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** What a destination begins with. */
type NewDestination = Pick<
  Destination,
  'id' | 'organizationId' | 'kind' | 'url' | 'types' | 'description' | 'position' | 'hash' | 'disabledFor'
>;

/** Stores a new destination. */
export async function insertDestination(tx: Tx, made: NewDestination): Promise<void> {
  await tx('destinations').insert({
    id: made.id,
    organization_id: made.organizationId,
    kind: made.kind,
    url: made.url,
    types: made.types && [...made.types],
    description: made.description,
    position: made.position,
    hash: made.hash,
    disabled_for: made.disabledFor,
  });
}

/** The destinations of an organization, or of all, newest first. */
export async function listDestinations(
  db: Db | Tx,
  {
    organizationId,
    kinds,
  }: { readonly organizationId?: string | undefined; readonly kinds?: readonly Destination['kind'][] } = {},
): Promise<Destination[]> {
  const query = db('destinations').orderBy('id', 'desc');
  if (organizationId !== undefined) query.where({ organization_id: organizationId });
  if (kinds) query.whereIn('kind', [...kinds]);
  return (await query).map(destination);
}

/** One destination, or undefined. `organizationId`: only one of that. */
export async function findDestination(
  db: Db | Tx,
  id: string,
  {
    organizationId,
    kinds,
    lock = false,
  }: {
    readonly organizationId?: string;
    readonly kinds?: readonly Destination['kind'][];
    readonly lock?: boolean;
  } = {},
): Promise<Destination | undefined> {
  const query = db('destinations').where({ id });
  if (organizationId !== undefined) query.where({ organization_id: organizationId });
  if (kinds) query.whereIn('kind', [...kinds]);
  if (lock) query.forUpdate();
  const row = await query.first();
  return row && destination(row);
}

/** A destination as it is now, and whether events are to be sent to it once more; undefined where it is not there. */
export async function readSending(
  db: Db,
  id: string,
): Promise<{ readonly destination: Destination; readonly hasResends: boolean } | undefined> {
  const [row] = await queryRows<DestinationRow & { has_resends: boolean }>(
    db,
    `SELECT d.*, EXISTS (SELECT FROM resends r WHERE r.destination_id = d.id) AS has_resends
    FROM destinations d WHERE d.id = :id`,
    { id },
  );
  return row && { destination: destination(row), hasResends: row.has_resends };
}

/** What of a destination can be changed. */
export interface DestinationChange {
  readonly url?: string;
  readonly types?: readonly string[] | null;
  readonly description?: string;
  readonly generation?: number;
  readonly rotatedAt?: Date;
  readonly disabledFor?: DisabledFor | null;
  readonly pausedFor?: PausedFor | null;
}

/**
 * Changes a destination. One that is neither disabled nor paused any more, or has another URL, begins its attempts anew. Returns it
 * as it is then.
 */
export async function updateDestination(tx: Tx, id: string, change: DestinationChange): Promise<Destination> {
  const { url, types, description, generation, rotatedAt, disabledFor, pausedFor } = change;
  const isNew = url !== undefined || disabledFor === null || pausedFor === null;
  const [row] = await tx('destinations')
    .where({ id })
    .update({
      ...(url === undefined ? {} : { url }),
      ...(types === undefined ? {} : { types: types && [...types] }),
      ...(description === undefined ? {} : { description }),
      ...(generation === undefined ? {} : { generation }),
      ...(rotatedAt === undefined ? {} : { rotated_at: rotatedAt }),
      ...(disabledFor === undefined ? {} : { disabled_for: disabledFor }),
      ...(pausedFor === undefined ? {} : { paused_for: pausedFor }),
      ...(isNew ? { attempts: 0, next_attempt_at: null, last_failure: null, failing_since: null } : {}),
      updated_at: tx.fn.now(),
    })
    .returning('*');
  if (!row) throw new Error(`destination ${id} is not there`);
  return destination(row);
}

/** Moves a destination to the end of the log, which stays that until the end of the transaction: it gets what happens from then on. */
export async function moveToEnd(
  tx: Tx,
  { id, organizationId }: Pick<Destination, 'id' | 'organizationId'>,
): Promise<void> {
  const { position, hash } = await lockFeedEnd(tx, organizationId);
  await tx('destinations').where({ id }).update({ position, hash });
}

/** Removes a destination with its attempts. */
export async function deleteDestination(tx: Tx, id: string): Promise<void> {
  await tx('destinations').where({ id }).delete();
}

/** An attempt, to be recorded. */
export interface MadeAttempt {
  readonly reason: DeliveryReason;
  readonly event: { readonly id: string; readonly type: string; readonly position: bigint };
  readonly attempt: number;
  readonly isLast: boolean;
  readonly outcome: DeliveryOutcome;
}

/** What a receiver may answer that Postgres cannot store. */
const storable = (text: string | null) => text?.replaceAll('\u0000', '\ufffd') ?? null;

const attemptColumns = (made: readonly MadeAttempt[]) =>
  JSON.stringify(
    made.map(({ reason, event, attempt, isLast, outcome }) => ({
      reason,
      event_id: event.id,
      event_type: event.type,
      position: String(event.position),
      attempt,
      is_last: isLast,
      status: outcome.status,
      fault: outcome.fault,
      message: outcome.message,
      answer: storable(outcome.answer),
      duration_ms: Math.round(outcome.durationMs),
    })),
  );

const INSERT_ATTEMPTS = `INSERT INTO delivery_attempts
    (destination_id, reason, event_id, event_type, position, attempt, is_last, status, fault, message, answer, duration_ms)
  SELECT :id, a.reason, a.event_id, a.event_type, a.position, a.attempt, a.is_last, a.status, a.fault, a.message, a.answer,
    a.duration_ms
  FROM jsonb_to_recordset(CAST(:made AS jsonb)) AS a (reason text, event_id text, event_type text, position bigint, attempt integer,
    is_last boolean, status integer, fault text, message text, answer text, duration_ms integer)`;

/** Records attempts that move nothing. */
export async function insertAttempts(db: Db | Tx, id: string, made: readonly MadeAttempt[]): Promise<void> {
  if (made.length > 0) await execute(db, INSERT_ATTEMPTS, { id, made: attemptColumns(made) });
}

/** How far a destination has come, and with what. */
export interface Progress {
  readonly from: FeedPlace;
  readonly to: FeedPlace;
  readonly made: readonly MadeAttempt[];
  /** Whether something was taken. */
  readonly isTaken: boolean;
  /** Where the event after `to` was not taken: how often, why, and when it is tried again. */
  readonly failure?:
    | { readonly attempts: number; readonly text: string; readonly pauseMs: number }
    | undefined;
  /** For how long nothing may be sent, without a failure. */
  readonly waitMs?: number | undefined;
}

/**
 * Moves a destination, and records the attempts, in one statement. Returns it as it is then; undefined where it is not where it was:
 * another process has moved it.
 */
export async function moveDestination(
  db: Db,
  id: string,
  progress: Progress,
): Promise<Destination | undefined> {
  const { from, to, made, isTaken, failure, waitMs } = progress;
  const [row] = await queryRows<DestinationRow>(
    db,
    `WITH moved AS (
      UPDATE destinations d SET position = :to, hash = :toHash,
        attempts = :attempts, last_failure = :failure,
        next_attempt_at = CASE WHEN :pause > 0 THEN now() + make_interval(secs => :pause / 1000.0) END,
        failing_since = CASE
          WHEN :failed THEN CASE WHEN :taken THEN now() ELSE coalesce(d.failing_since, now()) END
          WHEN NOT :taken THEN d.failing_since END,
        updated_at = now()
      WHERE d.id = :id AND d.position = :from AND d.hash = :fromHash RETURNING d.*
    ), attempted AS (${INSERT_ATTEMPTS} WHERE EXISTS (SELECT FROM moved))
    SELECT * FROM moved`,
    {
      id,
      from: String(from.position),
      fromHash: from.hash,
      to: String(to.position),
      toHash: to.hash,
      attempts: failure?.attempts ?? 0,
      failure: failure?.text ?? null,
      failed: failure !== undefined,
      pause: failure?.pauseMs ?? waitMs ?? 0,
      taken: isTaken,
      made: attemptColumns(made),
    },
  );
  return row && destination(row);
}

/** Events that are to be sent once more, the oldest first. */
export async function listResends(db: Db, id: string, limit: number): Promise<bigint[]> {
  const rows = await db('resends').where({ destination_id: id }).orderBy('position').limit(limit);
  return rows.map(({ position }) => position);
}

/** Which events are to be sent once more. */
export type ResendSelection =
  | { readonly eventIds: readonly string[] }
  | { readonly from: bigint; readonly to: bigint }
  | { readonly failed: true };

/** SQL: that the receiver took what was sent, of a row of `delivery_attempts`; `isTaking` says it of an answer. */
export const IS_TAKEN = '(coalesce(status, 0) BETWEEN 200 AND 299)';

const RESENT: { readonly [key in 'eventIds' | 'from' | 'failed']: string } = {
  eventIds: 'a.id = ANY(:eventIds)',
  from: 'a.position BETWEEN :from AND :to AND (CAST(:types AS text[]) IS NULL OR a.action = ANY(:types))',
  failed: `a.id IN (SELECT event_id FROM delivery_attempts WHERE destination_id = :id GROUP BY event_id
    HAVING bool_or(is_last AND NOT ${IS_TAKEN}) AND NOT bool_or(${IS_TAKEN}))`,
};

/** Has events sent once more, at most so many, of those that the destination is past. Returns how many. */
export function insertResends(
  tx: Tx,
  { id, organizationId, position, types }: Destination,
  selection: ResendSelection,
  limit: number,
): Promise<number> {
  const isRange = 'from' in selection;
  const name = isRange ? 'from' : 'failed' in selection ? 'failed' : 'eventIds';
  const bindings = {
    eventIds: 'eventIds' in selection ? [...selection.eventIds] : [],
    from: isRange ? String(selection.from) : '0',
    to: isRange ? String(selection.to) : '0',
    types: types && [...types],
  };
  return execute(
    tx,
    `INSERT INTO resends (destination_id, position)
    SELECT :id, a.position FROM audit_log a
    WHERE a.organization_id = :organizationId AND a.position <= :position AND ${RESENT[name]}
    ORDER BY a.position LIMIT :limit
    ON CONFLICT DO NOTHING`,
    { id, organizationId, position: String(position), limit, ...bindings },
  );
}

/** Removes events that were sent once more, and records how. */
export async function finishResends(
  db: Db,
  id: string,
  positions: readonly bigint[],
  made: readonly MadeAttempt[],
): Promise<void> {
  await execute(
    db,
    `WITH attempted AS (${INSERT_ATTEMPTS} WHERE EXISTS (SELECT FROM destinations WHERE destinations.id = :id))
    DELETE FROM resends WHERE destination_id = :id AND position = ANY(CAST(:positions AS bigint[]))`,
    { id, made: attemptColumns(made), positions: positions.map(String) },
  );
}

/** One attempt, as it was recorded. */
export interface DeliveryAttempt {
  readonly id: bigint;
  readonly reason: DeliveryReason;
  readonly eventId: string;
  readonly eventType: string;
  readonly eventPosition: bigint;
  readonly attempt: number;
  readonly status: number | null;
  readonly fault: string | null;
  readonly message: string | null;
  readonly answer: string | null;
  readonly durationMs: number;
  readonly createdAt: Date;
  /** Its place in the list. */
  readonly position: bigint;
}

/** The attempts of a destination, newest first: before one of them, at one event, only those that were taken or were not. */
export async function listAttempts(
  db: Db,
  page: {
    readonly id: string;
    readonly limit: number;
    readonly before?: bigint;
    readonly isTaken?: boolean;
    readonly eventId?: string;
  },
): Promise<DeliveryAttempt[]> {
  const query = db('delivery_attempts')
    .where({ destination_id: page.id })
    .orderBy('id', 'desc')
    .limit(page.limit);
  if (page.before !== undefined) query.where('id', '<', page.before);
  if (page.eventId !== undefined) query.where({ event_id: page.eventId });
  if (page.isTaken !== undefined) query.whereRaw(`${IS_TAKEN} = ?`, [page.isTaken]);
  const rows: DeliveryAttemptRow[] = await query;
  return rows.map((row) => ({
    id: row.id,
    reason: row.reason,
    eventId: row.event_id,
    eventType: row.event_type,
    eventPosition: row.position,
    attempt: row.attempt,
    status: row.status,
    fault: row.fault,
    message: row.message,
    answer: row.answer,
    durationMs: row.duration_ms,
    createdAt: row.created_at,
    position: row.id,
  }));
}

/** Deletes attempts of more than 30 days ago. */
export async function sweepAttempts(db: Db): Promise<void> {
  await execute(db, `DELETE FROM delivery_attempts WHERE created_at < now() - interval '30 days'`);
}

/** A destination, and what it lacks. */
export interface DestinationLag {
  readonly id: string;
  readonly organizationId: string;
  readonly kind: DestinationRow['kind'];
  readonly isDisabled: boolean;
  readonly isPaused: boolean;
  /** The next event was not taken. */
  readonly isFailing: boolean;
  /** Something can be sent now. */
  readonly isDue: boolean;
  /** For how long it could be sent, in ms; 0: nothing can. */
  readonly dueMs: number;
  /** The age of the oldest event that it has not, of any type, in ms; 0: it has every one. */
  readonly oldestMs: number;
}

/** Every destination with what it lacks, or those of some organizations. */
export function destinationLags(db: Db, organizationIds?: readonly string[]): Promise<DestinationLag[]> {
  return queryRows<DestinationLag>(
    db,
    `SELECT l.*, l."dueMs" > 0 AS "isDue" FROM (
      SELECT d.id, d.organization_id AS "organizationId", d.kind, d.disabled_for IS NOT NULL AS "isDisabled",
        d.paused_for IS NOT NULL AS "isPaused", d.attempts > 0 AS "isFailing",
        CASE WHEN d.disabled_for IS NOT NULL OR d.paused_for IS NOT NULL OR d.next_attempt_at > clock_timestamp() THEN 0
          WHEN d.next_attempt_at IS NOT NULL THEN 1 + extract(epoch FROM clock_timestamp() - d.next_attempt_at) * 1000
          WHEN oldest.created_at IS NOT NULL THEN
            1 + extract(epoch FROM clock_timestamp() - greatest(oldest.created_at, d.updated_at)) * 1000
          WHEN EXISTS (SELECT FROM resends r WHERE r.destination_id = d.id) THEN 1 + extract(epoch FROM clock_timestamp() - d.updated_at) * 1000
          ELSE 0 END::float AS "dueMs",
        coalesce(extract(epoch FROM clock_timestamp() - oldest.created_at) * 1000, 0)::float AS "oldestMs"
      FROM destinations d
      LEFT JOIN audit_log oldest ON oldest.organization_id = d.organization_id AND oldest.position = d.position + 1
      WHERE CAST(:ids AS text[]) IS NULL OR d.organization_id = ANY(:ids)
    ) AS l`,
    { ids: organizationIds ? [...organizationIds] : null },
  );
}
