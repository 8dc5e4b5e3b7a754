import type { Command } from 'commander';
import { migrate } from '../db/migrate';
import type { Within } from './commandContext';

/** `db migrate`. */
export function databaseCommands(program: Command, within: Within): void {
  const db = program.command('db').description('The database');

  db.command('migrate')
    .description('Bring the schema up to date; needs the login that owns the tables')
    .option(
      '--production',
      'this is an installation of production: the database remembers it for ever, and every command and role obeys',
    )
    .action((options: { production?: true }, command: Command) =>
      within(command, async ({ migrationDatabaseUrl, output }) => {
        const production = options.production === true;
        const { applied } = await migrate(migrationDatabaseUrl(), { production });
        const words = applied.length > 0 ? `applied ${applied.join(', ')}` : 'nothing to do';
        output.result({ applied }, production ? `${words}; this is an installation of production` : words);
      }),
    );
}
