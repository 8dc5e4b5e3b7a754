import type { Command } from 'commander';
import { migrate } from '../db/migrate';
import type { Within } from './context';

/** `db migrate`. */
export function databaseCommands(program: Command, within: Within): void {
  const db = program.command('db').description('The database');

  db.command('migrate')
    .description('Bring the schema up to date; needs the login that owns the tables')
    .action((_options: object, command: Command) =>
      within(command, async ({ migrationDatabaseUrl, output }) => {
        const { applied } = await migrate(migrationDatabaseUrl());
        output.result({ applied }, applied.length > 0 ? `applied ${applied.join(', ')}` : 'nothing to do');
      }),
    );
}
