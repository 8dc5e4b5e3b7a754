import type { Command } from 'commander';
import { operationDomainSalt } from '../chain/domainSalt';
import { createOrganization, listOrganizations } from '../db/organizations';
import type { Within } from './context';
import { readOrganizationFile } from './organizationFile';
import { CommandRefused } from './output';
import { table } from './text';

/** `org create`, `org list`. */
export function organizationCommands(program: Command, within: Within): void {
  const org = program.command('org').description('Organizations, the tenants of this installation');

  org
    .command('create')
    .description('Create an organization with its members and admins')
    .requiredOption(
      '--file <org.json>',
      '{name, threshold, members: [{name, type, walletAddress, walletKind?, admin}]}',
    )
    .action((options: { file: string }, command: Command) =>
      within(command, async ({ db, output }) => {
        const input = readOrganizationFile(options.file);
        const created = await createOrganization(db(), input, operationDomainSalt).catch((error) => {
          throw error instanceof RangeError ? new CommandRefused(`${options.file}: ${error.message}`) : error;
        });
        const members = input.members.map((member, index) => [
          created.memberIds[index] ?? '',
          member.name,
          member.type,
          member.admin ? 'admin' : '',
        ]);
        const bot = input.members.findIndex(({ type, admin }) => type === 'api' && admin);
        output.result(
          created,
          [
            `organization ${created.organizationId}`,
            table(['member', 'name', 'type', ''], members, ''),
            `Next: orgwallet keys issue --member ${created.memberIds[bot]}`,
          ].join('\n'),
        );
      }),
    );

  org
    .command('list')
    .description('List all organizations')
    .action((_options: object, command: Command) =>
      within(command, async ({ db, output }) => {
        const organizations = (await listOrganizations(db())).map(({ id, name, createdAt }) => ({
          id,
          name,
          createdAt: createdAt.toISOString(),
        }));
        output.result(
          organizations,
          table(
            ['id', 'name', 'created'],
            organizations.map(({ id, name, createdAt }) => [id, name, createdAt]),
            'There are no organizations yet: orgwallet org create --file org.json',
          ),
        );
      }),
    );
}
