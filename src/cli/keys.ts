import { type Command, InvalidArgumentError } from 'commander';
import { parseDurationMs } from '../config';
import {
  type ApiKey,
  ApiKeyError,
  issueApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from '../db/apiKeys';
import { OPERATOR } from '../db/audit';
import { databaseNow } from '../db/database';
import { closeProposalsOfKey } from '../db/proposalClosing';
import { refreshProposal, TemporalUnavailable } from '../temporal/client';
import { withContext } from './context';
import { CommandRefused, table } from './output';

function duration(text: string): number {
  try {
    return parseDurationMs(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

async function refusable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiKeyError) throw new CommandRefused(error.message);
    throw error;
  }
}

function stateOf(key: ApiKey): string {
  if (key.revokedAt) return `revoked ${key.revokedAt.toISOString()}`;
  return key.expiresAt ? `expires ${key.expiresAt.toISOString()}` : 'valid';
}

/** `keys issue`, `keys list`, `keys revoke`, `keys rotate`. */
export function keyCommands(program: Command): void {
  const keys = program.command('keys').description('API keys: what programs authenticate with');

  keys
    .command('issue')
    .description('Issue a key for members of type api; it is shown once')
    .requiredOption('--member <mem_…>', 'a member the key acts for (may be given again)', collect)
    .option('--expires <90d>', 'how long it is valid (d, h, m, s)', duration)
    .action((options: { member: string[]; expires?: number }, command: Command) =>
      withContext(command, async ({ db, output }) => {
        const member = await db()('members').where({ id: options.member[0] }).first('organization_id');
        if (!member) throw new CommandRefused(`there is no member ${options.member[0]}`);
        const issued = await refusable(() =>
          db().transaction(async (tx) => {
            const expires =
              options.expires === undefined
                ? {}
                : { expiresAt: new Date((await databaseNow(tx)).getTime() + options.expires) };
            const input = {
              organizationId: member.organization_id,
              memberIds: options.member,
              actor: OPERATOR,
            };
            return issueApiKey(tx, { ...input, ...expires });
          }),
        );
        output.result(issued, `${issued.id}\n${issued.key}\nKeep it now: it is shown only this once.`);
      }),
    );

  keys
    .command('list')
    .description('List the keys, without their secrets')
    .option('--org <org_…>', 'only of this organization')
    .action((options: { org?: string }, command: Command) =>
      withContext(command, async ({ db, output }) => {
        const list = await listApiKeys(
          db(),
          options.org === undefined ? {} : { organizationId: options.org },
        );
        output.result(
          list,
          table(
            ['id', 'organization', 'members', 'state'],
            list.map((key) => [key.id, key.organizationId, key.memberIds.join(','), stateOf(key)]),
            'There are no keys yet: orgwallet keys issue --member mem_…',
          ),
        );
      }),
    );

  keys
    .command('revoke')
    .description('Revoke a key: it is refused from now on')
    .argument('<key_…>')
    .option('--close-open', 'also close the open proposals that were made with it')
    .action((id: string, options: { closeOpen?: boolean }, command: Command) =>
      withContext(command, async ({ db, sender, output }) => {
        const revoked = await refusable(() =>
          db().transaction((tx) => revokeApiKey(tx, { apiKeyId: id, actor: OPERATOR })),
        );
        const row = await db()('api_keys').where({ id }).first('organization_id');
        const closed = options.closeOpen
          ? await closeProposalsOfKey(db(), { organizationId: row.organization_id, apiKeyId: id })
          : [];
        let workflowsTold = true;
        for (const { organizationId, resourceType, id: proposalId } of closed) {
          try {
            await refreshProposal(sender(), { organizationId, resourceType, proposalId });
          } catch (error) {
            if (!(error instanceof TemporalUnavailable)) throw error;
            workflowsTold = false;
          }
        }
        const lines = [
          revoked ? `${id} is revoked` : `${id} was revoked before`,
          ...closed.map((proposal) => `closed ${proposal.id}: ${proposal.summary}`),
          ...(workflowsTold ? [] : ['Temporal is away: the workflows of these end at their expiry']),
        ];
        output.result(
          { id, revoked, closed: closed.map((proposal) => proposal.id), workflowsTold },
          lines.join('\n'),
        );
      }),
    );

  keys
    .command('rotate')
    .description('Issue a new key for the same members and revoke the old one')
    .argument('<key_…>')
    .action((id: string, _options: object, command: Command) =>
      withContext(command, async ({ db, output }) => {
        const issued = await refusable(() =>
          db().transaction((tx) => rotateApiKey(tx, { apiKeyId: id, actor: OPERATOR })),
        );
        output.result(issued, `${issued.id}\n${issued.key}\nKeep it now: it is shown only this once.`);
      }),
    );
}
