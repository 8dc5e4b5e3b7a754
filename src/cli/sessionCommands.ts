import type { Command } from 'commander';
import { endSession } from '../credentials/memberSessions';
import { listSessions } from '../db/sessions';
import { OPERATOR } from '../domain/actor';
import { organizationsOf, type Within } from './commandContext';
import { CommandRefused } from './output';
import { table } from './text';

/** `sessions list`, `sessions end`. */
export function sessionCommands(program: Command, within: Within): void {
  const sessions = program.command('sessions').description('Sessions: people who are signed in');

  sessions
    .command('list')
    .description('List the sessions that are valid now')
    .option('--org <org_…>', 'only of this organization')
    .action((options: { org?: string }, command: Command) =>
      within(command, async ({ db, output }) => {
        await organizationsOf(db(), options.org);
        const list = await listSessions(
          db(),
          options.org === undefined ? 'allOrganizations' : { organizationId: options.org },
        );
        output.result(
          list,
          table(
            ['id', 'organization', 'member', 'last used', 'ends'],
            list.map(({ id, organization, member, lastUsedAt, idleExpiresAt }) => [
              id,
              organization.id,
              `${member.name} (${member.id})`,
              lastUsedAt.toISOString(),
              idleExpiresAt.toISOString(),
            ]),
            'Nobody is signed in.',
          ),
        );
      }),
    );

  sessions
    .command('end')
    .description('End a session: it is refused from now on')
    .argument('<ses_…>')
    .action((id: string, _options: object, command: Command) =>
      within(command, async ({ db, output }) => {
        if (!(await endSession(db(), { id }, OPERATOR)))
          throw new CommandRefused(`open session ${id} not found`);
        output.result({ id, ended: true }, `${id} has ended`);
      }),
    );
}
