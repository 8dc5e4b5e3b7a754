import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One step of the schema. Steps are never changed once released (`released.json`); a new step follows. */
export interface Migration {
  readonly name: string;
  /** Its statements, without bindings. */
  readonly sql: string;
}

/** The step in the file of that name: to the byte, as its hash is compared. */
function step(name: string): Migration {
  return { name, sql: readFileSync(join(__dirname, `${name}.sql`), 'utf8') };
}

/** Every step of the schema, in order. */
export const migrations: readonly Migration[] = [step('001_initial')];

/** Identifies what a step does: SHA-256 of its statements, hex. */
export function migrationHash({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex');
}
