import type { Knex } from 'knex';
import type { Room, UsageWindow } from '../domain/policyEngine';
import type { Db, Tx } from './database';

/** A window, and what others may have used of it at most. */
export interface RoomInWindow {
  readonly window: UsageWindow;
  readonly room: Room;
}

/** SQL that raises `isWithoutRoom` where others have reserved more. With the budget locked. */
export function requireRoom(db: Db | Tx, { window, room }: RoomInWindow): Knex.Raw {
  const { policyId, hours, asset, initiatorId, accountId, destination } = window;
  return db.raw('require_room(?, ?, ?::bigint, ?, ?, ?, ?, ?::numeric, ?::integer)', [
    ...[policyId, hours, asset?.networkId ?? null, asset?.tokenAddress ?? null],
    ...[initiatorId, accountId, destination],
    'amount' in room ? String(room.amount) : null,
    'executions' in room ? room.executions : null,
  ]);
}

/** Of `require_room`. */
const WITHOUT_ROOM = 'OW002';

/** Whether nothing was written because the budget has no room. */
export function isWithoutRoom(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === WITHOUT_ROOM;
}
