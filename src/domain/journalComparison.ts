/** Whether the database has all that the journal of the signer has. */
export interface Compared {
  /** False before a signer has ever compared: then nothing was ever authorized. */
  readonly isStarted: boolean;
  /** Whether it was compared since: a database loses commits only when a server starts, or its tables are copied. */
  readonly isCurrent: boolean;
  /** What it lacks; null: nothing. */
  readonly missing: string | null;
}

/** Why nothing that the database has can be relied on; undefined where it can. */
export function refuseUncompared({ isStarted, isCurrent, missing }: Compared): string | undefined {
  if (!isStarted) return undefined;
  if (!isCurrent) {
    return 'the database server was started, restored or replaced, and the signer has not compared it with its journal since';
  }
  return missing === null ? undefined : `the database was rolled back: ${missing}`;
}
