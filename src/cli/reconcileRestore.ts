import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { signerEndpoints } from '../chain/contractSignatures';
import type { Keystore } from '../chain/keys';
import type { Db } from '../db/database';
import { readInstallationId } from '../db/installation';
import { isUnknownPosition, type JournalPosition } from '../domain/signerLease';
import { compareJournal, isComplete, type Missing } from '../signer/comparison/compareJournal';
import { assertNotForked, isShorter } from '../signer/comparison/fork';
import { signedOutside } from '../signer/comparison/signedOutside';
import type { UnknownExecutionEntry, UpkeepEntry } from '../signer/journal/entries';
import { openJournalOf } from '../signer/journal/installationJournal';
import type { Journal } from '../signer/journal/journal';
import { type Completed, completeJournal } from '../signer/recovery/completeJournal';
import { cutOffRequests, cutoffOfNow } from '../signer/recovery/cutOffRequests';
import {
  findUnknownExecutions,
  isKeeperAhead,
  networksOfAccounts,
} from '../signer/recovery/findUnknownExecutions';
import { writeBack } from '../signer/recovery/writeBack';
import { recordFreeze } from '../signer/store/freezeRecords';
import { hasAuthorizations } from '../signer/store/signedAuthorizations';
import { readSignerLease, signerLease } from '../signer/store/signerLease';
import { type CommandContext, identifyVoterOf, keystoreOf } from './commandContext';
import { CommandRefused } from './output';
import { count } from './text';

/** The options of `signer reconcile-restore`. */
interface Options {
  readonly write?: true;
  readonly newJournal?: true;
}

/** What is compared. */
interface Parts {
  readonly db: Db;
  readonly journal: Journal;
  readonly keystore: Keystore;
}

/** What the chains have executed and nobody here knows, on every network whose endpoints answer. */
async function unknownExecutions(
  { installationConfig, output }: CommandContext,
  parts: Parts,
  isCompleted: boolean,
): ReturnType<typeof findUnknownExecutions> {
  const unknown: UnknownExecutionEntry[] = [];
  const upkeep: UpkeepEntry[] = [];
  for (const network of (await installationConfig()).networks) {
    const { clients } = signerEndpoints(network);
    if (clients.length === 0) {
      output.note(`network ${network.name}: not compared, because it has no signerRpcUrls`);
    } else {
      const found = await findUnknownExecutions(parts, network, clients, { isCompleted });
      unknown.push(...found.unknown);
      upkeep.push(...found.upkeep);
    }
  }
  return { unknown, upkeep };
}

/** Whether the keeper of an admins' Safe has executed more than the journal has. */
async function isAnyKeeperAhead({ installationConfig }: CommandContext, parts: Parts): Promise<boolean> {
  for (const network of (await installationConfig()).networks) {
    const { clients } = signerEndpoints(network);
    if (clients.length > 0 && (await isKeeperAhead(parts, network, clients))) return true;
  }
  return false;
}

function lines(missing: Missing, unknown: readonly UnknownExecutionEntry[]): string[] {
  const { seals, authorizations, rejections, cancellations, outcomes, freezes, upkeep } = missing;
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
    ...upkeep.map(
      ({ safe, networkId, safeNonce, safeTxHash }) =>
        `admins' Safe: nonce ${safeNonce} of ${safe} on network ${networkId} (${safeTxHash})`,
    ),
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
    upkeep: rest.upkeep.map(({ safeTxHash }) => safeTxHash),
    unknownExecutions: [...rest.unknownExecutions, ...unknown].map(({ safeTxHash }) => safeTxHash),
  };
}

async function openJournal({ config }: CommandContext, db: Db, { newJournal }: Options): Promise<Journal> {
  const { journalFile: file } = config();
  const isPresent = existsSync(file);
  if (newJournal && isPresent) throw new CommandRefused(`${file} exists: --new-journal is for a lost one`);
  const of = { installationId: await readInstallationId(db), hasAuthorizations: await hasAuthorizations(db) };
  return openJournalOf(of, {
    ...{ file, waitMs: 0, anew: newJournal === true },
    ...{ leaseRow: signerLease(db), isToBeCompleted: true },
  });
}

/** What is known after the comparison. */
interface Compared {
  readonly missing: Missing;
  /** Executions that nobody here knows. */
  readonly unknown: readonly UnknownExecutionEntry[];
  /** Ids of transactions that the database has decided about and the journal does not know. */
  readonly unjournaled: readonly string[];
  /** Ids of what is open, and not decided any more. */
  readonly cutOff: readonly string[];
  /** How many lines the journal was completed with. */
  readonly added: number;
  /** Ids of transactions whose authorization is in the journal, and whose votes do not say that it is theirs. */
  readonly unvoted: readonly string[];
}

async function complete(context: CommandContext, parts: Parts, isLost: boolean): Promise<Completed> {
  const { networks, proposalLifetimeMs: lifetimeMs } = context.config();
  const endpoints = new Map(networks.map((network) => [network.id, signerEndpoints(network).clients]));
  const endpointsOf = (networkId: number) => endpoints.get(networkId) ?? [];
  const identifyVoter = await identifyVoterOf(context);
  return completeJournal({ ...parts, networks, endpointsOf, identifyVoter, lifetimeMs }, { isLost });
}

/**
 * Whether endpoints of the signer show what accounts have executed, on every network that there are any: a journal that has all
 * of it, and all that the database shows, needs no cutoff where nothing says that lines are missing.
 */
async function showsEveryNonce({ installationConfig }: CommandContext, parts: Parts): Promise<boolean> {
  const { networks } = await installationConfig();
  const shown = networks.filter((network) => signerEndpoints(network).clients.length > 0);
  return [...(await networksOfAccounts(parts))].every((id) => shown.some((network) => network.id === id));
}

/** Compares, and completes the journal where it is to be written. Throws JournalError for one of another history. */
async function compare(
  context: CommandContext,
  parts: Parts,
  { completes, stored, anew }: { completes: boolean; stored: JournalPosition; anew: boolean },
): Promise<Compared> {
  const { db, journal } = parts;
  const before = journal.lines();
  let compared = await compareJournal(journal, db);
  assertNotForked(journal, stored, { ...compared, signed: await signedOutside(parts) });
  let unvoted: readonly string[] = [];
  if (completes) {
    const isLost =
      anew ||
      (isUnknownPosition(stored) ? !(await showsEveryNonce(context, parts)) : isShorter(journal, stored)) ||
      (await isAnyKeeperAhead(context, parts));
    ({ unvoted } = await complete(context, parts, isLost));
    compared = await compareJournal(journal, db);
  }
  const { unknown, upkeep } = await unknownExecutions(context, parts, completes);
  if (upkeep.length > 0) {
    await journal.beginCompleting();
    await journal.append(...upkeep);
    compared = await compareJournal(journal, db);
  }
  const cutOff = await cutOffRequests(db, journal);
  return { ...compared, unknown, unvoted, cutOff, added: journal.lines() - before };
}

/**
 * Puts executions that nobody here knows into the journal. What their organizations had requested is cut off, because one of
 * it may be what was executed; and they are frozen, because no budget counts it.
 */
async function recordUnknown(
  context: CommandContext,
  { db, journal }: Parts,
  unknown: readonly UnknownExecutionEntry[],
): Promise<void> {
  const { proposalLifetimeMs: lifetimeMs } = context.config();
  for (const organizationId of new Set(unknown.map((one) => one.organizationId))) {
    const freeze = { type: 'freeze', organizationId, id: randomUUID() } as const;
    await journal.append(await cutoffOfNow({ db, journal }, { organizationId, lifetimeMs }), freeze);
    await recordFreeze(db, freeze);
  }
  await journal.append(...unknown);
}

/** What is found, in words. */
function foundText(
  { file }: Journal,
  { missing, unknown, unjournaled, unvoted, cutOff, added }: Compared,
  { newJournal, write }: Options,
): string[] {
  const unproved = 'not in the journal, and nothing proves it: it only gets its cancellation';
  const of = count(added, 'line', 'lines');
  const made = newJournal ? [`${file}: made anew, ${of}`] : [];
  const completed =
    !newJournal && added > 0 ? [`${file}: completed with ${of} from database and chains`] : [];
  const lacks = unjournaled.map((id) => `${id}: ${newJournal || write ? unproved : 'not in the journal'}`);
  const labels = unvoted.map(
    (id) =>
      `ALARM: ${id}: signed or executed, and its votes do not say that this is what they are for. It is not signed again, and counts in the budget of every policy. Find out what it paid`,
  );
  const again = cutOff.map(
    (id) => `${id}: requested before the journal was completed: it is not decided any more, create it again`,
  );
  const frozen = [...new Set(write ? unknown.map(({ organizationId }) => organizationId) : [])].map(
    (id) => `${id}: frozen, because no budget counts what was executed: ./orgwallet unfreeze --org ${id}`,
  );
  return [...made, ...completed, ...lacks, ...labels, ...lines(missing, unknown), ...frozen, ...again];
}

/**
 * Compares a restored database with the journal and the chains, and shows what each lacks; with `write`, completes the
 * journal, and writes back what the database lacks. Needs the keystore, and the journal, whose signer is stopped; to write
 * back, the login of RECOVERY_DATABASE_URL.
 */
export async function reconcileRestore(context: CommandContext, options: Options): Promise<void> {
  const db = context.signerDb();
  const keystore = await keystoreOf(context);
  const { position: stored } = await readSignerLease(db);
  const journal = await openJournal(context, db, options);
  const anew = options.newJournal === true;
  const completes = anew || options.write === true;
  const parts = { db, journal, keystore };
  try {
    const compared = await compare(context, parts, { completes, stored, anew });
    const { missing, unknown, unjournaled, unvoted, cutOff, added } = compared;
    const isDone = isComplete(missing) && unknown.length === 0;
    const isWritten = !isDone && options.write === true;
    if (isWritten) {
      const recoveryDb = context.recoveryDb();
      await recordUnknown(context, parts, unknown);
      await writeBack(
        { db: recoveryDb, journal, keystore },
        { ...missing, unknownExecutions: [...missing.unknownExecutions, ...unknown] },
      );
    }
    if (completes) await journal.publish();
    const end = isWritten
      ? 'Written back. Start the service: what was authorized continues by itself.'
      : isDone && (completes || unjournaled.length === 0)
        ? 'The database has all that the journal and the chains have.'
        : 'Nothing was written to the database. To complete the journal and to write back: ./orgwallet signer reconcile-restore --write';
    context.output.result(
      {
        ...shown(missing, unknown),
        ...{ unjournaled, unvoted, cutOff, completedLines: added, written: isWritten },
      },
      [...foundText(journal, compared, options), end].join('\n'),
    );
  } finally {
    await journal.close();
  }
}
