import { existsSync } from 'node:fs';
import { signerEndpoints } from '../chain/contractSignatures';
import { hasAuthorizations } from '../db/authorizations';
import type { Db } from '../db/database';
import { readInstallationId } from '../db/installation';
import { signerLease } from '../db/signerLease';
import type { UnknownExecutionEntry } from '../journal/entries';
import { openJournalOf } from '../journal/installationJournal';
import type { Journal } from '../journal/journal';
import { compareJournal, isComplete, type Missing } from '../recovery/compareJournal';
import { fillJournal } from '../recovery/newJournal';
import { findUnknownExecutions } from '../recovery/unknownExecutions';
import { writeBack } from '../recovery/writeBack';
import { type CommandContext, keystoreOf } from './context';
import { CommandRefused } from './output';
import { count } from './text';

/** The options of `signer reconcile-restore`. */
interface Options {
  readonly write?: true;
  readonly newJournal?: true;
}

/** What the chains have executed and nobody here knows, on every network whose endpoints answer. */
async function unknownExecutions(
  { config, output }: CommandContext,
  db: Db,
  journal: Journal,
): Promise<UnknownExecutionEntry[]> {
  const found: UnknownExecutionEntry[] = [];
  for (const network of config().networks) {
    const { clients } = signerEndpoints(network);
    if (clients.length === 0) {
      output.note(`network ${network.name}: not compared, because it has no signerRpcUrls`);
    } else {
      found.push(...(await findUnknownExecutions({ db, journal }, network, clients)));
    }
  }
  return found;
}

function lines(missing: Missing, unknown: readonly UnknownExecutionEntry[]): string[] {
  const { seals, authorizations, rejections, cancellations, outcomes, freezes } = missing;
  return [
    ...[...seals].map(
      ([organizationId, entries]) =>
        `${organizationId}: ${count(entries.length, 'decision', 'decisions')}, from ${entries[0]?.sequence} on`,
    ),
    ...authorizations.map(
      ({ transactionId, accountId, networkId, safeNonce, safeTxHash }) =>
        `${transactionId}: authorized at nonce ${safeNonce} of ${accountId} on network ${networkId} (${safeTxHash})`,
    ),
    ...rejections.map((id) => `${id}: rejected`),
    ...cancellations.map((id) => `${id}: to be cancelled`),
    ...outcomes.map(({ transactionId, outcome }) => `${transactionId}: ${outcome}`),
    ...freezes.map(({ type, organizationId }) => `${organizationId ?? 'every organization'}: ${type}`),
    ...[...missing.unknownExecutions, ...unknown].map(
      ({ accountId, networkId, safeNonce, safeTxHash, transactionHash }) =>
        `ALARM: nonce ${safeNonce} of ${accountId} on network ${networkId} was used by an execution that nobody here knows: ${safeTxHash} in ${transactionHash}. Find out what it paid, before anything of that account is asked for again`,
    ),
  ];
}

function shown({ seals, authorizations, ...rest }: Missing, unknown: readonly UnknownExecutionEntry[]) {
  return {
    seals: Object.fromEntries(
      [...seals].map(([id, entries]) => [id, entries.map(({ sequence }) => sequence)]),
    ),
    authorizations: authorizations.map(({ transactionId }) => transactionId),
    rejections: rest.rejections,
    cancellations: rest.cancellations,
    outcomes: rest.outcomes.map(({ transactionId }) => transactionId),
    freezes: rest.freezes.map(({ organizationId }) => organizationId),
    unknownExecutions: [...rest.unknownExecutions, ...unknown].map(({ safeTxHash }) => safeTxHash),
  };
}

async function openJournal({ config }: CommandContext, db: Db, { newJournal }: Options): Promise<Journal> {
  const { journalFile: file } = config();
  const isPresent = existsSync(file);
  if (newJournal && isPresent) throw new CommandRefused(`${file} exists: --new-journal is for a lost one`);
  const of = { installationId: await readInstallationId(db), hasAuthorizations: await hasAuthorizations(db) };
  return openJournalOf(of, { file, waitMs: 0, anew: newJournal === true, leaseRow: signerLease(db) });
}

/**
 * Compares a restored database with the journal and the chains, and shows what it lacks; with `write`, writes it back.
 * Needs the keystore, the journal, whose signer is stopped, and the login that owns the tables.
 */
export async function reconcileRestore(context: CommandContext, options: Options): Promise<void> {
  const db = context.ownerDb();
  const keystore = await keystoreOf(context);
  const journal = await openJournal(context, db, options);
  try {
    if (options.newJournal) await fillJournal({ db, journal, keystore });
    const { missing } = await compareJournal(journal, db);
    const unknown = await unknownExecutions(context, db, journal);
    const found = [
      ...(options.newJournal
        ? [`${journal.file}: made anew, ${count(journal.lines(), 'line', 'lines')}`]
        : []),
      ...lines(missing, unknown),
    ];
    const isDone = isComplete(missing) && unknown.length === 0;
    const isWritten = !isDone && options.write === true;
    if (isWritten) {
      if (unknown.length > 0) await journal.append(...unknown);
      await writeBack(
        { db, journal, keystore },
        { ...missing, unknownExecutions: [...missing.unknownExecutions, ...unknown] },
      );
    }
    const end = isDone
      ? 'The database has all that the journal and the chains have.'
      : isWritten
        ? 'Written back. Start the service: what was authorized continues by itself.'
        : 'Nothing was written to the database. To write it back: npx orgwallet signer reconcile-restore --write';
    context.output.result({ ...shown(missing, unknown), written: isWritten }, [...found, end].join('\n'));
  } finally {
    await journal.close();
  }
}
