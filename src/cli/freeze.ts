import type { Command } from 'commander';
import { undecidedAuthorizations } from '../db/authorizations';
import { recordFreeze } from '../db/freezes';
import { readInstallationId } from '../db/installation';
import type { FreezeEntry } from '../journal/entries';
import { requestFreeze } from '../journal/freezeRequests';
import { openJournalOf } from '../journal/installationJournal';
import { cancelTransaction, type MessageOutcome } from '../temporal/approvals';
import { type CommandContext, organizationsOf, type Within } from './context';
import { count } from './text';

const SIGNER_LIMIT_MS = 10_000;
const AT_MOST = 10_000;

/** Records a freeze, or its end, in the journal, and in the database for the audit log. */
async function record(
  { config, signerDb, output }: CommandContext,
  asked: Pick<FreezeEntry, 'type' | 'organizationId'>,
): Promise<FreezeEntry> {
  const { journalFile: file } = config();
  const db = signerDb();
  return requestFreeze(file, asked, {
    waitMs: SIGNER_LIMIT_MS,
    async open() {
      const of = { installationId: await readInstallationId(db), hasAuthorizations: false };
      return openJournalOf(of, { file, waitMs: 0 });
    },
    record: async (entry) => {
      await recordFreeze(db, entry).catch((error) =>
        output.note(
          `it is in force, and could not be recorded in the database for the audit log: ${error.message}`,
        ),
      );
    },
  });
}

async function assertOrganization({ signerDb }: CommandContext, id: string | undefined): Promise<void> {
  if (id === undefined) return;
  await organizationsOf(signerDb(), id);
}

function refusalOf(outcome: MessageOutcome): string | null {
  if ('gone' in outcome) return 'its workflow is not running: repeat the command in a minute';
  return outcome.ok ? null : outcome.refusal.message;
}

/** Asks for the cancellation of everything that is signed and that the signer has not seen decided. */
async function cancelOpen(
  { signerDb, sender, output }: CommandContext,
  organizationId: string | undefined,
): Promise<{ id: string; refusal: string | null }[]> {
  const results: { id: string; refusal: string | null }[] = [];
  for (const ref of await undecidedAuthorizations(signerDb(), { organizationId, limit: AT_MOST })) {
    const { transactionId: id } = ref;
    const outcome = await cancelTransaction(sender(), {
      subject: 'transaction',
      organizationId: ref.organizationId,
      id,
    });
    const refusal = refusalOf(outcome);
    if (refusal !== null) output.note(`${id}: not cancelled: ${refusal}`);
    results.push({ id, refusal });
  }
  return results;
}

const RECALL =
  'Signed bytes cannot be recalled: what was signed before can still be executed, by anybody who has the bytes, until its nonce is used.';

/** `freeze` and `unfreeze`. */
export function freezeCommands(program: Command, within: Within): void {
  program
    .command('freeze')
    .description(
      'On the host of the signer: sign nothing but cancellations, and governance, until `unfreeze`',
    )
    .option('--org <org_…>', 'only this organization')
    .option('--cancel-open', 'also cancel what is signed and not executed yet')
    .action((options: { org?: string; cancelOpen?: true }, command: Command) =>
      within(command, async (context) => {
        await assertOrganization(context, options.org);
        const organizationId = options.org ?? null;
        await record(context, { type: 'freeze', organizationId });
        const who = options.org ?? 'every organization';
        const cancelled = options.cancelOpen ? await cancelOpen(context, options.org) : [];
        const asked = cancelled.filter(({ refusal }) => refusal === null).length;
        context.output.result(
          { frozen: organizationId, cancellations: cancelled },
          [
            `Frozen: ${who}.`,
            ...(options.cancelOpen
              ? [`Cancellation requested: ${count(asked, 'transaction', 'transactions')}.`]
              : []),
            RECALL,
          ].join('\n'),
        );
      }),
    );

  program
    .command('unfreeze')
    .description('On the host of the signer: end a freeze; what has waited continues by itself')
    .option('--org <org_…>', 'the freeze of this organization (default: the one of every organization)')
    .action((options: { org?: string }, command: Command) =>
      within(command, async (context) => {
        await assertOrganization(context, options.org);
        const organizationId = options.org ?? null;
        await record(context, { type: 'unfreeze', organizationId });
        context.output.result(
          { unfrozen: organizationId },
          `Not frozen any more: ${options.org ?? 'every organization'}.`,
        );
      }),
    );
}
