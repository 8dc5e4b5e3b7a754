import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { z } from 'zod';
import { checksumAddress, isWellFormedAddress } from '../chain/address';
import { operationDomainSalt } from '../chain/domainSalt';
import { nameInput } from '../contract/primitives';
import { createOrganization, listOrganizations } from '../db/organizations';
import { withContext } from './context';
import { CommandRefused, table } from './output';

const ZERO_ADDRESS = /^0x0{40}$/i;

const organizationFile = z.strictObject({
  name: nameInput,
  threshold: z.int().min(1),
  members: z
    .array(
      z.strictObject({
        name: nameInput,
        type: z.enum(['user', 'api']),
        walletAddress: z
          .string()
          .refine(isWellFormedAddress, 'must be an address in one case or with a right checksum')
          .refine((text) => !ZERO_ADDRESS.test(text), 'must not be the zero address')
          .transform((text) => checksumAddress(text)),
        admin: z.boolean(),
      }),
    )
    .min(1),
});

function readOrganizationFile(file: string): z.output<typeof organizationFile> {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CommandRefused(`${file}: ${(error as Error).message}`);
  }
  const parsed = organizationFile.safeParse(json);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => {
    const field = issue.path.reduce<string>(
      (path, part) =>
        typeof part === 'number' ? `${path}[${part}]` : path ? `${path}.${String(part)}` : String(part),
      '',
    );
    return `${file}: ${field || 'the file'}: ${issue.message}`;
  });
  throw new CommandRefused(lines.join('\n'));
}

/** `org create`, `org list`. */
export function organizationCommands(program: Command): void {
  const org = program.command('org').description('Organizations, the tenants of this deployment');

  org
    .command('create')
    .description('Create an organization with its members and admins')
    .requiredOption('--file <org.json>', '{name, threshold, members: [{name, type, walletAddress, admin}]}')
    .action((options: { file: string }, command: Command) =>
      withContext(command, async ({ db, output }) => {
        const input = readOrganizationFile(options.file);
        try {
          const created = await createOrganization(db(), input, operationDomainSalt);
          const members = input.members.map((member, index) => [
            created.memberIds[index] ?? '',
            member.name,
            member.type,
            member.admin ? 'admin' : '',
          ]);
          output.result(
            created,
            `organization ${created.organizationId}\n${table(['member', 'name', 'type', ''], members, '')}`,
          );
        } catch (error) {
          if (error instanceof RangeError) throw new CommandRefused(`${options.file}: ${error.message}`);
          throw error;
        }
      }),
    );

  org
    .command('list')
    .description('List all organizations')
    .action((_options: object, command: Command) =>
      withContext(command, async ({ db, output }) => {
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
