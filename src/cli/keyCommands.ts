import { type Command, InvalidArgumentError } from 'commander';
import { closeOpenOfKey } from '../approvals/closing';
import { parseDurationMs } from '../config';
import { issueApiKey, revokeApiKey, rotateApiKey } from '../credentials/apiKeys';
import { type ApiKey, listApiKeys } from '../db/apiKeys';
import type { SummarizedApproval } from '../db/approvalRefs';
import { databaseNow } from '../db/database';
import { findOrganizationOfKey, findOrganizationOfMember } from '../db/operator';
import { OPERATOR } from '../domain/actor';
import { summaryOnOneLine } from '../domain/summary';
import { mapLimit } from '../mapLimit';
import { refreshApproval } from '../temporal/approvalMessages';
import type { WorkflowSender } from '../temporal/client';
import { collect } from './collect';
import { organizationsOf, type Within } from './commandContext';
import { CommandRefused } from './output';
import { table } from './text';

const MAX_LIFETIME_MS = parseDurationMs('3650d');

function lifetime(text: string): number {
  try {
    const ms = parseDurationMs(text);
    if (ms <= 0 || ms > MAX_LIFETIME_MS) throw new Error('must be above 0 and at most 3650d');
    return ms;
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** The state of a key at a time. */
export function keyState(key: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, time: Date): string {
  if (key.revokedAt) return `revoked ${key.revokedAt.toISOString()}`;
  if (!key.expiresAt) return 'valid';
  return `${key.expiresAt <= time ? 'expired' : 'expires'} ${key.expiresAt.toISOString()}`;
}

function shownOnce({ id, key }: { id: string; key: string }): string {
  return `${id}\n${key}\nStore it now: it is shown only once.`;
}

const AT_ONCE = 16;

/**
 * Notifies the workflow of each closed record; false when some could not be notified. Never rejects: the key is revoked, and
 * the closed records have to be printed.
 */
export async function notifyWorkflows(
  sender: () => WorkflowSender,
  closed: readonly SummarizedApproval[],
): Promise<boolean> {
  let areNotified = true;
  await mapLimit(AT_ONCE, closed, async (record) => {
    try {
      await refreshApproval(sender(), record);
    } catch {
      areNotified = false;
    }
  });
  return areNotified;
}

/** `keys issue`. */
function addIssue(keys: Command, within: Within): void {
  keys
    .command('issue')
    .description('Issue a key for members of type api; it is shown once')
    .requiredOption('--member <mem_…>', 'a member the key acts for (may be given again)', collect)
    .option('--expires <90d>', 'how long it is valid (d, h, m, s); without it, until it is revoked', lifetime)
    .action((options: { member: string[]; expires?: number }, command: Command) =>
      within(command, async ({ db, output }) => {
        const { member: memberIds, expires: lifetimeMs } = options;
        const organizationId = await findOrganizationOfMember(db(), memberIds[0] ?? '');
        if (organizationId === undefined) throw new CommandRefused(`member ${memberIds[0]} not found`);
        const issued = await db().transaction(async (tx) => {
          const expiresAt =
            lifetimeMs === undefined ? undefined : new Date((await databaseNow(tx)).getTime() + lifetimeMs);
          return issueApiKey(tx, {
            organizationId,
            memberIds,
            actor: OPERATOR,
            ...(expiresAt === undefined ? {} : { expiresAt }),
          });
        });
        output.result(issued, shownOnce(issued));
      }),
    );
}

/** `keys list`. */
function addList(keys: Command, within: Within): void {
  keys
    .command('list')
    .description('List the keys, without their secrets')
    .option('--org <org_…>', 'only of this organization')
    .action((options: { org?: string }, command: Command) =>
      within(command, async ({ db, output }) => {
        await organizationsOf(db(), options.org);
        const list = await listApiKeys(
          db(),
          options.org === undefined ? {} : { organizationId: options.org },
        );
        const time = await databaseNow(db());
        output.result(
          list,
          table(
            ['id', 'organization', 'members', 'state'],
            list.map((key) => [key.id, key.organizationId, key.memberIds.join(' '), keyState(key, time)]),
            'There are no keys yet: orgwallet keys issue --member mem_…',
          ),
        );
      }),
    );
}

/** `keys revoke`: closes what was made with the key, where that is asked for. */
function addRevoke(keys: Command, within: Within): void {
  keys
    .command('revoke')
    .description('Revoke a key: it is refused from now on')
    .argument('<key_…>')
    .option('--close-open', 'also close the open proposals and transactions that were made with it')
    .action((id: string, options: { closeOpen?: boolean }, command: Command) =>
      within(command, async ({ db, sender, output }) => {
        const revoked = await db().transaction((tx) => revokeApiKey(tx, { apiKeyId: id, actor: OPERATOR }));
        const organizationId = await findOrganizationOfKey(db(), id);
        const { closed, left } =
          options.closeOpen && organizationId !== undefined
            ? await closeOpenOfKey(db(), { organizationId, apiKeyId: id })
            : { closed: [], left: [] };
        const workflowsNotified = await notifyWorkflows(sender, closed);
        output.result(
          {
            id,
            revoked,
            closed: closed.map((record) => record.id),
            left: left.map((record) => record.id),
            workflowsNotified,
          },
          [
            revoked ? `${id} is revoked` : `${id} was already revoked`,
            ...closed.map((record) => `closed ${record.id}: ${summaryOnOneLine(record.summary)}`),
            ...left.map(
              (record) => `left ${record.id}, which is being executed: ${summaryOnOneLine(record.summary)}`,
            ),
          ].join('\n'),
        );
        if (!workflowsNotified) {
          output.note(
            'Temporal is unavailable, or was for some workflows: those of the closed records end within a minute after it is back.',
          );
        }
      }),
    );
}

/** `keys rotate`. */
function addRotate(keys: Command, within: Within): void {
  keys
    .command('rotate')
    .description('Issue a new key for the same members and revoke the old one')
    .argument('<key_…>')
    .action((id: string, _options: object, command: Command) =>
      within(command, async ({ db, output }) => {
        const issued = await db().transaction((tx) => rotateApiKey(tx, { apiKeyId: id, actor: OPERATOR }));
        output.result(issued, shownOnce(issued));
      }),
    );
}

/** `keys issue`, `keys list`, `keys revoke`, `keys rotate`. */
export function keyCommands(program: Command, within: Within): void {
  const keys = program.command('keys').description('API keys: the credentials of API clients');
  addIssue(keys, within);
  addList(keys, within);
  addRevoke(keys, within);
  addRotate(keys, within);
}
