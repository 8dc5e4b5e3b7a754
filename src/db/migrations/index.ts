import { createHash } from 'node:crypto';
import * as initial from './001_initial';

/** One step of the schema. Steps are never changed once released (`released.json`); a new step follows. */
export interface Migration {
  readonly name: string;
  /** Its statements, without bindings. */
  readonly sql: string;
}

/** Every step of the schema, in order. */
export const migrations: readonly Migration[] = [{ name: '001_initial', sql: initial.sql }];

/** Identifies what a step does: SHA-256 of its statements, hex. */
export function migrationHash({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex');
}
