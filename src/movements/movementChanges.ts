import type { ReadRange } from '../chain/movementReading';
import { type AuditInput, appendAudit } from '../db/audit';
import type { Tx } from '../db/database';
import {
  type AnnouncedMovements,
  insertMovements,
  type MovementToStore,
  type NotedMovement,
  noteAnnounced,
  reverseMovements,
  updateMovements,
} from '../db/movements';
import { requireRow } from '../db/rows';
import { SYSTEM } from '../domain/actor';

/** An entry names so many movements, and says how many there are. */
const NAMED_MOVEMENTS = 20;

/** Where movements are stored. */
interface StoredFor {
  readonly networkId: number;
  /** The addresses of tokens of the token list. */
  readonly listed: readonly string[];
  /** Whether the movements of an account at a block are events. */
  readonly isAnnounced: (accountId: string) => boolean;
}

type Group = [NotedMovement, ...NotedMovement[]];

function entryOf(networkId: number, movements: Readonly<Group>): AuditInput {
  const [{ accountId, status }] = movements;
  const blocks = movements.map(({ blockNumber }) => blockNumber).sort((one, two) => Number(one - two));
  return {
    action: `movement.${status}`,
    actor: SYSTEM,
    resourceType: 'account',
    resourceId: accountId,
    details: {
      networkId,
      count: movements.length,
      movementIds: movements.slice(0, NAMED_MOVEMENTS).map(({ id }) => id),
      fromBlock: String(blocks[0]),
      toBlock: String(blocks.at(-1)),
    },
  };
}

/** One entry for all movements of an account that have come to the same state: however many somebody sends, it is one. */
async function announce(tx: Tx, networkId: number, noted: readonly NotedMovement[]): Promise<void> {
  const groups = new Map<string, Group>();
  for (const movement of noted.filter(({ counts }) => counts)) {
    const key = `${movement.accountId}/${movement.status}`;
    const group = groups.get(key);
    if (group) group.push(movement);
    else groups.set(key, [movement]);
  }
  const groupsOf = new Map<string, Group[]>();
  for (const group of groups.values()) {
    const [{ organizationId }] = group;
    groupsOf.set(organizationId, [...(groupsOf.get(organizationId) ?? []), group]);
  }
  const announced: AnnouncedMovements[] = [];
  // In one order for everybody, so that nobody waits for each other.
  for (const [organizationId, own] of [...groupsOf].sort(([one], [two]) => (one < two ? -1 : 1))) {
    const entries = own.map((group) => entryOf(networkId, group));
    const positions = await appendAudit(tx, organizationId, entries);
    for (const [i, group] of own.entries()) {
      const ids = group.map(({ id }) => id);
      announced.push({ position: requireRow(positions[i]), status: group[0].status, ids });
    }
  }
  await noteAnnounced(tx, announced);
}

/** Stores what a reading has changed, with its entries of the audit log. Returns how many movements it were. */
export async function storeReading(tx: Tx, { networkId, listed, isAnnounced }: StoredFor, read: ReadRange) {
  const timed = (movements: ReadRange['added']): MovementToStore[] =>
    movements.map((movement) => ({ ...movement, time: read.timeOf(movement.block.number) }));
  const reversed = await reverseMovements(tx, read.reversed);
  const added = await insertMovements(tx, networkId, timed(read.added), listed);
  const changed = await updateMovements(tx, timed(read.changed));
  const noted = [...reversed, ...added, ...changed].filter(({ accountId }) => isAnnounced(accountId));
  await announce(tx, networkId, noted);
  return { reversed: reversed.length, added: added.length, changed: changed.length };
}
