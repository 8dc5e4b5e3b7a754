import { signerEndpoints } from '../chain/contractSignatures';
import { type Keystore, KeystoreError } from '../chain/keys';
import { createIdentifyVoter } from '../chain/voter';
import type { Clients } from '../clients';
import type { Config } from '../config';
import type { Db } from '../db/database';
import { readInstallationId } from '../db/installation';
import { untilAvailable } from '../db/untilAvailable';
import { withFailpoints } from '../failpoints';
import { keepPolling } from '../keepPolling';
import { failuresOfNetworks } from '../lastingFailure';
import type { Lifetime } from '../lifetime';
import type { Logger } from '../logging';
import { networkWorkers, type WorkerSpec } from '../workers';
import { createSignerActivities } from './activities';
import { type KeptComparison, keepCompared } from './comparison/keepCompared';
import { assertNewest } from './comparison/signedOutside';
import { JournalError } from './journal/entries';
import { takeRequests } from './journal/freezeRequests';
import { openJournalOf } from './journal/installationJournal';
import type { Journal } from './journal/journal';
import { createSteadyTime, type SteadyTime } from './journal/steadyTime';
import { createOrOpenKeystore, lastBackup, readPassphrase } from './keys/keystore';
import { registerRelayers } from './registerRelayers';
import { createSignerContext, type SignerContext } from './signerContext';
import { recordFreeze } from './store/freezeRecords';
import { hasAuthorizations } from './store/signedAuthorizations';
import { recordSignerSettings, signerLease } from './store/signerLease';
import { readOutcomes } from './transaction/readOutcomes';
import { keepAdminsSafes } from './upkeep/keep';

const OUTCOMES_POLL_MS = 15_000;

/** Reads what became of what is authorized, soon after it is in a block. Returns the function that stops it. */
function keepReadingOutcomes(signing: SignerContext): () => Promise<void> {
  const { logger, networks } = signing;
  const failure = failuresOfNetworks(logger, networks, 'outcomes cannot be read');
  return keepPolling(networks, OUTCOMES_POLL_MS, (network) =>
    readOutcomes(signing, network).then(failure(network.id).succeeded, failure(network.id).failed),
  );
}

async function openKeystore({ keystore, production }: Config, logger: Logger): Promise<Keystore> {
  const opened = await createOrOpenKeystore({ file: keystore.file, passphrase: readPassphrase(keystore) });
  if (production && lastBackup(keystore.file) === null) {
    logger.warn(
      'the keystore has no backup: a lost keystore is lost money. Run `./orgwallet keystore backup`',
    );
  }
  return opened;
}

/** How long a start waits for the signer before it to end: it may be replaced by this one just now. */
const JOURNAL_WAIT_MS = 60_000;
const REQUESTS_POLL_MS = 250;

/** A step of the start that reads or writes Postgres. */
function patiently<T>({ ending: signal }: Lifetime, step: () => Promise<T>): Promise<T> {
  const isFinal = (error: unknown) => error instanceof JournalError || error instanceof KeystoreError;
  return untilAvailable(step, { signal, isFinal });
}

/** The journal of this signer, which no other one writes meanwhile: without its lease the process ends. */
async function openSignerJournal(
  { config: { journalFile: file }, logger }: Clients,
  db: Db,
  { lifetime, steady, onBehind }: { lifetime: Lifetime; steady: SteadyTime; onBehind: () => void },
): Promise<Journal> {
  const of = await patiently(lifetime, async () => ({
    installationId: await readInstallationId(db),
    hasAuthorizations: await hasAuthorizations(db),
  }));
  return openJournalOf(of, {
    file,
    leaseRow: signerLease(db),
    ownTime: steady.now,
    waitMs: JOURNAL_WAIT_MS,
    onWaiting: (holder) => logger.warn({ file }, `waiting for the journal: ${holder} holds it`),
    onLost: lifetime.fail,
    signal: lifetime.ending,
    // After a crash, of lines that nothing was signed for; or the database was rolled back: what it lacks shows which.
    onDatabaseBehind: ({ lines }) => {
      logger.warn({ file, lines }, 'the database knows fewer lines of the journal than there are');
      onBehind();
    },
    onTorn: (bytes) =>
      logger.warn({ file, bytes }, 'the last line of the journal was torn by a crash and is cut off'),
  });
}

/** Takes up requests to freeze as they come. Returns the function that stops it. */
function keepTakingRequests(journal: Journal, db: Db, logger: Logger): () => Promise<void> {
  const take = async () => {
    try {
      await takeRequests(journal, async (entry) => {
        logger.warn({ organizationId: entry.organizationId }, `${entry.type}: recorded in the journal`);
        await recordFreeze(db, entry);
      });
    } catch (error) {
      logger.error({ err: error }, 'a request to freeze could not be recorded; retrying');
    }
  };
  let taking = take();
  const timer = setInterval(() => {
    taking = taking.then(take);
  }, REQUESTS_POLL_MS);
  return async () => {
    clearInterval(timer);
    await taking;
  };
}

/** The workers that hold the keys, with a database login of their own. */
export async function signerWorkers(clients: Clients, lifetime: Lifetime): Promise<WorkerSpec[]> {
  const { config, settings, logger, metrics, signerChain, sender, signerDb: db } = clients;
  if (!db) throw new Error('the signer has no login to Postgres');
  const keystore = await openKeystore(config, logger);
  const steady = createSteadyTime();
  let isBehind = false;
  let comparison: KeptComparison | undefined;
  const onBehind = () => {
    isBehind = true;
    comparison?.again();
  };
  const journal = await openSignerJournal(clients, db, { lifetime, steady, onBehind });
  lifetime.onStop('the journal', () => journal.close());
  await patiently(lifetime, () => assertNewest({ db, journal, keystore }));
  metrics.watchJournal(config.journalFile);
  metrics.watchKeystoreBackup(() => Date.parse(lastBackup(config.keystore.file) ?? '') || null);
  const kept = keepCompared({ db, journal, logger });
  comparison = kept;
  if (isBehind) kept.again();
  lifetime.onStop('the comparison with the journal', () => kept.stop());
  lifetime.onStop('requests to freeze', keepTakingRequests(journal, db, logger));
  const { production, networks, maxGas, gasBudgetPerHour, proposalLifetimeMs, signerNetworkId } = config;
  const { countRefusal, countUnknownExecution } = metrics;
  const identifyVoter = createIdentifyVoter(signerEndpoints(signerChain.network));
  const signing = createSignerContext({
    ...{ db, production, keystore, journal, networks, identifyVoter, maxGas },
    ...{ gasBudgetPerHour, proposalLifetimeMs, signerNetworkId },
    ...{ logger, countRefusal, countUnknownExecution, steady },
  });
  await patiently(lifetime, () => registerRelayers(signing));
  const hold = journal.hold();
  if (hold) await patiently(lifetime, () => recordSignerSettings(db, hold, settings));
  lifetime.onStop('the reading of outcomes', keepReadingOutcomes(signing));
  metrics.watchUpkeep(signing.upkeep);
  lifetime.onStop("the admins' Safes", keepAdminsSafes(signing));
  const activities = withFailpoints('signer', createSignerActivities(signing));
  return [
    { role: 'signer', taskQueue: sender.queues.signer, activities },
    ...networkWorkers(clients, 'signer', activities),
  ];
}
