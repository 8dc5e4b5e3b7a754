import type { Db } from '../../db/database';
import { execute, queryRows } from '../../db/rows';
import type { SharedSettings } from '../../domain/settingDifferences';
import type { JournalPosition, LeaseHold, StoredLease } from '../../domain/signerLease';

interface LeaseColumns extends Omit<StoredLease, 'position' | 'process'> {
  readonly process: bigint | null;
  readonly lines: bigint;
  readonly hash: string;
}

/** Reads the lease of the signer. */
export async function readSignerLease(db: Db): Promise<StoredLease> {
  const [row] = await queryRows<LeaseColumns>(
    db,
    `SELECT fencing, holder, host, process::bigint, held_since AS since, held_until AS until,
       holder IS NOT NULL AND held_until > now() AS "isHeld", journal_lines AS lines, journal_hash AS hash
     FROM signer_lease`,
  );
  if (!row) throw new Error('the table signer_lease has no row: run `./orgwallet db migrate`');
  const { lines, hash, process, ...lease } = row;
  const position = { lines: Number(lines), hash };
  return { ...lease, process: process === null ? null : Number(process), position };
}

/**
 * The lease of the signer, with its login. Each call is one statement, so that it may go through a pooler; times are of the
 * database's clock.
 */
export function signerLease(db: Db) {
  return {
    read: () => readSignerLease(db),

    /** Takes it for `forMs`, if it is as it was read and not held, or held by `dead`, whose process has ended. */
    async take(
      before: StoredLease,
      by: LeaseHold & { readonly host: string; readonly process: number },
      { position, forMs, dead }: { position: JournalPosition; forMs: number; dead: string | undefined },
    ): Promise<boolean> {
      const taken = await execute(
        db,
        `UPDATE signer_lease SET fencing = ?, holder = ?, host = ?, process = ?, held_since = now(),
           held_until = now() + make_interval(secs => ?), journal_lines = ?, journal_hash = ?
         WHERE fencing = ? AND journal_lines = ? AND journal_hash = ?
           AND (holder IS NULL OR holder = ? OR held_until <= now())`,
        [
          ...[
            String(by.fencing),
            by.holder,
            by.host,
            by.process,
            forMs / 1_000,
            position.lines,
            position.hash,
          ],
          ...[String(before.fencing), before.position.lines, before.position.hash, dead ?? null],
        ] as (string | number)[],
      );
      return taken === 1;
    },

    /** Renews a hold for `forMs`, and moves the position of the journal. False where it is not held so. */
    async renew(
      { fencing, holder }: LeaseHold,
      { from, to, forMs }: { from: JournalPosition; to: JournalPosition; forMs: number },
    ): Promise<boolean> {
      const renewed = await execute(
        db,
        `UPDATE signer_lease SET held_until = now() + make_interval(secs => ?), journal_lines = ?, journal_hash = ?
         WHERE fencing = ? AND holder = ? AND journal_lines = ? AND journal_hash = ?`,
        [forMs / 1_000, to.lines, to.hash, String(fencing), holder, from.lines, from.hash],
      );
      return renewed === 1;
    },

    /** Gives a hold up. */
    async release({ fencing, holder }: LeaseHold): Promise<void> {
      await execute(
        db,
        'UPDATE signer_lease SET holder = NULL, held_until = now() WHERE fencing = ? AND holder = ?',
        [String(fencing), holder],
      );
    },
  };
}

/** Records what the signer that has this hold was started with, for those who compare it with theirs. */
export async function recordSignerSettings(
  db: Db,
  { fencing, holder }: LeaseHold,
  settings: SharedSettings,
): Promise<void> {
  await db('signer_lease')
    .where({ fencing, holder })
    .update({ settings: JSON.stringify(settings) });
}

/** What the last signer was started with, and where; undefined where there was none. */
export async function readSignerSettings(
  db: Db,
): Promise<{ readonly settings: SharedSettings; readonly host: string } | undefined> {
  const row = await db('signer_lease').first('settings', 'host');
  return row?.settings && row.host ? { settings: JSON.parse(row.settings), host: row.host } : undefined;
}

/** Selects a row where the database has this hold. */
export function currentHold(db: Db, { fencing, holder }: LeaseHold) {
  return db('signer_lease').where({ fencing, holder }).select(db.raw('1'));
}
