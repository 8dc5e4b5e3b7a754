import type { Db } from './database';
import { execute, queryRows } from './rows';

/** How far a journal goes: the number of its lines, and the hash of the last one. */
interface Position {
  readonly lines: number;
  readonly hash: string;
}

/** A hold of the lease: its fencing number is one more than of the hold before. */
export interface Hold {
  readonly fencing: bigint;
  readonly holder: string;
}

/** The lease as it is stored, with times of the database's clock. */
export interface StoredSignerLease {
  readonly fencing: bigint;
  /** Null where its last holder has released it. */
  readonly holder: string | null;
  readonly host: string | null;
  readonly process: number | null;
  readonly since: Date | null;
  readonly until: Date | null;
  /** By the database's clock, it has not ended. */
  readonly isHeld: boolean;
  /** How far the journal of its last holder goes. */
  readonly position: Position;
}

interface LeaseColumns extends Omit<StoredSignerLease, 'position' | 'process'> {
  readonly process: bigint | null;
  readonly lines: bigint;
  readonly hash: string;
}

/** Reads the lease of the signer. */
export async function readSignerLease(db: Db): Promise<StoredSignerLease> {
  const [row] = await queryRows<LeaseColumns>(
    db,
    `SELECT fencing, holder, host, process::bigint, held_since AS since, held_until AS until,
       holder IS NOT NULL AND held_until > now() AS "isHeld", journal_lines AS lines, journal_hash AS hash
     FROM signer_lease`,
  );
  if (!row) throw new Error('the table signer_lease has no row: run the migrations');
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
      before: StoredSignerLease,
      by: Hold & { readonly host: string; readonly process: number },
      { position, forMs, dead }: { position: Position; forMs: number; dead: string | undefined },
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
      { fencing, holder }: Hold,
      { from, to, forMs }: { from: Position; to: Position; forMs: number },
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
    async release({ fencing, holder }: Hold): Promise<void> {
      await execute(
        db,
        'UPDATE signer_lease SET holder = NULL, held_until = now() WHERE fencing = ? AND holder = ?',
        [String(fencing), holder],
      );
    },
  };
}

/** Selects a row where the database has this hold. */
export function currentHold(db: Db, { fencing, holder }: Hold) {
  return db('signer_lease').where({ fencing, holder }).select(db.raw('1'));
}
