import type { Command } from 'commander';
import { migrate } from '../db/database';
import { withContext } from './context';

/** `db migrate`. */
export function databaseCommands(program: Command): void {
  const db = program.command('db').description('The database');

  db.command('migrate')
    .description('Bring the schema up to date; needs the login that owns the tables')
    .action((_options: object, command: Command) =>
      withContext(command, async ({ config, output }) => {
        const { applied } = await migrate(config.databaseUrl);
        output.result({ applied }, applied.length > 0 ? `applied ${applied.join(', ')}` : 'nothing to do');
      }),
    );
}
