/** How far a journal goes: the number of its lines, and the hash of the last one. */
export interface JournalPosition {
  readonly lines: number;
  readonly hash: string;
}

/**
 * No journal goes so far: the row with the position was deleted, and nobody knows how far the journal went. The defaults of the
 * columns of `signer_lease` say so: only the migration that creates the table begins with no lines.
 */
export const UNKNOWN_POSITION: JournalPosition = { lines: Number.MAX_SAFE_INTEGER, hash: 'unknown' };

/** Whether nobody knows how far the journal went. */
export function isUnknownPosition({ hash }: JournalPosition): boolean {
  return hash === UNKNOWN_POSITION.hash;
}

/** How long a hold lasts after it was renewed last, in milliseconds. */
export const LEASE_HOLD_MS = 20_000;

/** A hold of the lease of the signer: `fencing` is one more than of the hold before. */
export interface LeaseHold {
  readonly fencing: bigint;
  readonly holder: string;
}

/** The lease of the signer as the database has it, with times of its clock. */
export interface StoredLease {
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
  readonly position: JournalPosition;
}
