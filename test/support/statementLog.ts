import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { asAdmin, sharedStack } from './stack';
import { until } from './until';

/** A statement as Postgres logged it when it was executed; BEGIN and COMMIT are statements. */
export interface LoggedStatement {
  /** The login that sent it. */
  readonly login: string;
  /** The process of its connection. */
  readonly connection: string;
  readonly text: string;
}

/** What counts the statements of a database. */
export interface StatementLog {
  /** The statements of the service and of the signer since the last call, in their order. */
  read(): LoggedStatement[];
  /** Waits until nobody has sent a statement for a while, and reads. */
  readQuiet(): Promise<LoggedStatement[]>;
}

/** Longer than one operation pauses between two of its statements, waits for a network apart. */
const QUIET_MS = 120;
/** As `startPostgres` has it logged. */
const LINE =
  /^\S+ \S+ UTC \[(?<connection>\d+)\] (?<login>\w+)@(?<database>\w+) LOG: {2}(?:statement|execute [^:]+): (?<text>.*(?:\n\t.*)*)/gm;

/** Lets the shared Postgres log every statement that connections to a database, opened from now on, execute. */
export async function logStatements(database: string): Promise<StatementLog> {
  await asAdmin(sharedStack().databaseAdminUrl, async (client) => {
    await client.query(`alter database ${database} set log_statement = 'all'`);
    await client.query(`alter database ${database} set log_parameter_max_length = 0`);
  });
  const file = join(sharedStack().dir, 'logs', 'postgres.log');
  let position = statSync(file).size;

  function read(): LoggedStatement[] {
    const length = statSync(file).size - position;
    const bytes = Buffer.alloc(length);
    const log = openSync(file, 'r');
    readSync(log, bytes, 0, length, position);
    closeSync(log);
    const whole = bytes.lastIndexOf('\n') + 1;
    position += whole;
    return [...bytes.toString('utf8', 0, whole).matchAll(LINE)].flatMap(({ groups }) => {
      const { login = '', connection = '', text = '' } = groups ?? {};
      const isOfService = groups?.database === database && login !== 'orgwallet_owner';
      return isOfService ? [{ login, connection, text: text.replace(/\s+/g, ' ').trim() }] : [];
    });
  }

  return {
    read,
    async readQuiet() {
      const found = read();
      let changedAt = performance.now();
      await until('nobody sends a statement', async () => {
        const more = read();
        if (more.length > 0) changedAt = performance.now();
        found.push(...more);
        return performance.now() - changedAt > QUIET_MS;
      });
      return found;
    },
  };
}
