import type { Command } from 'commander';
import { readInstallationId } from '../db/installation';
import type { FreezeEntry } from '../signer/journal/entries';
import { openJournalOf } from '../signer/journal/installationJournal';
import { requestFreeze } from '../signer/journal/requestFreeze';
import { recordFreeze } from '../signer/store/freezeRecords';
import { signerLease } from '../signer/store/signerLease';
import { cancelTransaction } from '../temporal/approvalMessages';
import { askEach, type Cancellation, findInFlight } from './cancelOpen';
import { type CommandContext, organizationsOf, type Within } from './commandContext';
import { CommandRefused } from './output';
import { problemText } from './problems';
import { count } from './text';

const SIGNER_LIMIT_MS = 10_000;

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
      return openJournalOf(of, { file, waitMs: 0, leaseRow: signerLease(db) });
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

/** Asks for the cancellation of everything that is signed and not decided. Never rejects: whatever fails is reported. */
async function cancelOpen(
  { config, signerDb, sender, output }: CommandContext,
  organizationId: string | undefined,
): Promise<{ readonly cancellations: Cancellation[]; readonly problem: string | null }> {
  try {
    const { journalFile } = config();
    const refs = await findInFlight(signerDb(), { journalFile, organizationId });
    const cancellations = await askEach(
      refs,
      ({ organizationId: of, transactionId: id }) =>
        cancelTransaction(sender(), { subject: 'transaction', organizationId: of, id }),
      ({ id, refusal }) => output.note(`${id}: not cancelled: ${refusal}`),
    );
    return { cancellations, problem: null };
  } catch (error) {
    return { cancellations: [], problem: problemText(error) };
  }
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
        const { cancellations, problem } = options.cancelOpen
          ? await cancelOpen(context, options.org)
          : { cancellations: [], problem: null };
        const asked = cancellations.filter(({ refusal }) => refusal === null).length;
        context.output.result(
          { frozen: organizationId, cancellations },
          [
            `Frozen: ${who}.`,
            ...(options.cancelOpen
              ? [`Cancellation requested: ${count(asked, 'transaction', 'transactions')}.`]
              : []),
            RECALL,
          ].join('\n'),
        );
        if (problem !== null) {
          throw new CommandRefused(`frozen, and what is in flight could not be listed: ${problem}`);
        }
        const refused = cancellations.length - asked;
        if (refused > 0) {
          throw new CommandRefused(
            `frozen, and ${count(refused, 'transaction is', 'transactions are')} not cancelled: run the command again`,
          );
        }
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
