import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { Config, NetworkConfig } from '../config';
import { ConfigError } from '../configError';
import { type Db, serverOf } from '../db/database';
import { readLastSeen } from '../db/lastSeen';
import { listRelayers, listRelayersInUse, type Relayer } from '../db/relayers';
import { signerDatabaseUrl } from '../roleSettings';
import { withTimeLimit } from '../timeLimit';
import type { CommandContext, Within } from './commandContext';
import { checkAdminsSafes } from './doctor/adminsSafeChecks';
import { checkAuthorizations } from './doctor/authorizationChecks';
import {
  type ClockReading,
  checkBlockTime,
  clockFinding,
  readClock,
  signerClockFinding,
} from './doctor/clockChecks';
import {
  checkAccountNetworks,
  checkDatabase,
  checkLogin,
  checkNotifications,
  checkSchema,
  checkWork,
} from './doctor/databaseChecks';
import { reachEndpoints, reachSignerEndpoints } from './doctor/endpointChecks';
import {
  ANSWER_LIMIT_MS,
  COMPUTING_LIMIT_MS,
  DATABASE_TODO,
  type Finding,
  fail,
  hasFailed,
  ok,
  PATIENCE_MS,
  reach,
  runCheck,
  SLOW,
  warn,
} from './doctor/finding';
import { checkGasBudgets } from './doctor/gasChecks';
import { checkDecisions } from './doctor/governanceChecks';
import { checkComparison, checkFreezes, checkJournal } from './doctor/journalChecks';
import { checkKeystore } from './doctor/keystoreChecks';
import { checkMail } from './doctor/mailChecks';
import { checkNetwork, checkRelayers } from './doctor/networkChecks';
import { checkPrices } from './doctor/priceChecks';
import { checkReconciler, checkWorkflows } from './doctor/reconcilerChecks';
import {
  apiTarget,
  checkApi,
  checkCertificate,
  checkReadiness,
  opsTarget,
  withoutRepeated,
} from './doctor/serviceChecks';
import { checkSignerSettings } from './doctor/settingChecks';
import { targetOfAddress } from './doctor/target';
import { checkQueues, checkTemporal } from './doctor/temporalChecks';
import { checkAccountNonces, checkRelayerNonces, checkTransactions } from './doctor/transactionChecks';
import { checkWebhooks } from './doctor/webhookChecks';
import { CommandRefused } from './output';
import { count, table } from './text';

const NODE_TODO = 'see the log of the node at its rpcUrls (NETWORKS_FILE)';

/** A database that has been reached, or not, and the time by its clock: by this machine's where it is not known. */
interface ReachedDatabase {
  readonly findings: readonly Finding[];
  readonly isReached: boolean;
  readonly nowMs: () => number;
}

/** What is known of the database of the service, as it becomes known. */
interface ServiceDatabase {
  readonly db: () => Db;
  readonly reached: Promise<ReachedDatabase>;
  /** What is found about its schema; nothing where it was not reached. */
  readonly schema: Promise<readonly Finding[]>;
}

/** Whether the tables of a database can be read. */
async function hasTables({ reached, schema }: ServiceDatabase): Promise<boolean> {
  return (await reached).isReached && !hasFailed(await schema);
}

/** Reaches a database with one login, and reads its clock. */
async function reachDatabase(
  open: () => Db,
  {
    url,
    setting,
    findingOf,
  }: { url: string; setting: string; findingOf: (reading: ClockReading) => Finding },
): Promise<ReachedDatabase> {
  let aheadMs = 0;
  const todo = `start Postgres, or correct ${setting}`;
  const findings = await reach({ part: 'database', todo, target: () => serverOf(url) }, async () => {
    const reading = await readClock(open());
    aheadMs = reading.aheadMs;
    return [...(await checkDatabase(open())), findingOf(reading)];
  });
  // A clock that is wrong does not keep anything else from being checked.
  const isReached = !findings.some(({ part, status }) => part === 'database' && status === 'fail');
  return { findings, isReached, nowMs: () => Date.now() - aheadMs };
}

/** Opening it takes as long as it takes: neither a slow machine nor the database says anything about the keystore. */
async function examineKeystore({ keystore }: Config, db: Db): Promise<Finding[]> {
  let relayers: readonly Relayer[] = [];
  const read = await runCheck('keystore', DATABASE_TODO, async () => {
    relayers = await listRelayers(db);
    return [];
  });
  if (read.length > 0) return read;
  const todo = 'correct KEYSTORE_FILE and its passphrase';
  return runCheck('keystore', todo, () => checkKeystore(keystore, relayers), COMPUTING_LIMIT_MS);
}

/** The journal of this host; a long one takes as long as it takes. */
async function examineJournal(
  { journalFile, ...config }: Config,
  db: Db,
  isHostOfSigner: boolean,
): Promise<Finding[]> {
  const found = await Promise.all([
    runCheck(
      'journal',
      'see its message',
      () => checkJournal(journalFile, db, isHostOfSigner),
      COMPUTING_LIMIT_MS,
    ),
    runCheck('gas', 'see its message', () => checkGasBudgets({ journalFile, ...config }), COMPUTING_LIMIT_MS),
  ]);
  return found.flat();
}

/** What the signer's own endpoints show of what it has authorized. */
async function examineSignerEndpoints(network: NetworkConfig, db: Db): Promise<Finding[]> {
  const { clients, findings } = await reachSignerEndpoints(network);
  const found = await Promise.all(
    clients.map((client) =>
      runCheck(`authorizations ${network.id}`, 'see the login above', () => checkAuthorizations(client, db)),
    ),
  );
  return [...findings, ...found.flat()];
}

/** The networks whose endpoints of the signer are looked at: only those of contract wallets are missed. */
function askedBySigner({ networks, signerNetworkId }: Config): readonly NetworkConfig[] {
  return networks.filter(({ id, signerRpcUrls }) => id === signerNetworkId || signerRpcUrls.length > 0);
}

/** What a host of the signer has: its login, which reads no more than it needs, and the keystore. */
async function examineSigner({ signerDb }: CommandContext, config: Config): Promise<Finding[]> {
  const url = signerDatabaseUrl(config);
  const setting = 'SIGNER_DATABASE_URL';
  const database = await reachDatabase(signerDb, { url, setting, findingOf: signerClockFinding });
  const readiness = reach({ part: 'service', todo: 'see its log', target: () => opsTarget(config) }, () =>
    checkReadiness(config),
  );
  // Without the database there is nothing to compare with.
  if (!database.isReached) return withoutRepeated([...(await readiness), ...database.findings]);
  const found = await Promise.all([
    readiness,
    database.findings,
    runCheck('login', DATABASE_TODO, () => checkLogin(signerDb(), 'orgwallet_signer')),
    examineKeystore(config, signerDb()),
    examineJournal(config, signerDb(), true),
    runCheck('frozen', 'see its message', () => checkFreezes(signerDb())),
    ...askedBySigner(config).map((network) => examineSignerEndpoints(network, signerDb())),
  ]);
  return withoutRepeated(found.flat());
}

/** What the database of the service has. */
async function examineDatabase(
  { db, signerDb }: CommandContext,
  config: Config,
  nowMs: () => number,
): Promise<Finding[]> {
  const checked = (part: string, work: () => Promise<Finding[]>) => runCheck(part, DATABASE_TODO, work);
  const found = await Promise.all([
    checked('login', () => checkLogin(db(), 'orgwallet_service')),
    config.signerDatabaseUrl
      ? runCheck('login', 'correct SIGNER_DATABASE_URL', () => checkLogin(signerDb(), 'orgwallet_signer'))
      : [],
    checked('comparison', () => checkComparison(db())),
    checked('work', () => checkWork(db(), nowMs())),
    checked('transactions', () => checkTransactions(db(), config.networks)),
    checked('webhooks', () => checkWebhooks(db())),
    checked('decisions', () => checkDecisions(db())),
    checked("admins' Safes", () => checkAdminsSafes(db(), nowMs())),
    examineKeystore(config, db()),
    examineNotifications(db(), config),
    examineJournal(config, db(), existsSync(config.keystore.file)),
    checked('networks', () => checkAccountNetworks(db(), config.networks)),
    checked('settings', () => checkSignerSettings(db(), config)),
    checked('frozen', () => checkFreezes(db())),
  ]);
  return found.flat();
}

function examineNotifications(db: Db, { listenDatabaseUrl: url }: Config): Promise<Finding[]> {
  const target = url === undefined ? {} : { target: () => serverOf(url) };
  return reach({ part: 'notifications', todo: 'correct DATABASE_LISTEN_URL', ...target }, () =>
    checkNotifications(db, url),
  );
}

/** A network, and what the database says of it, once that was reached. */
async function examineNetwork(
  network: NetworkConfig,
  { networks }: Config,
  database: ServiceDatabase,
): Promise<Finding[]> {
  const { id, rpcUrls } = network;
  const part = `network ${id}`;
  const asked = { part, todo: NODE_TODO, needsAll: false };
  const { clients, findings } = await reachEndpoints(network, rpcUrls, asked);
  const [chain] = clients;
  if (!chain) return [...findings];
  const { db, reached } = database;
  const checked = (name: string, work: () => Promise<Finding[]>) =>
    runCheck(`${name} ${id}`, NODE_TODO, work);
  const compare = async () => {
    if (!(await hasTables(database))) return [];
    return Promise.all([
      checked('clock', () => checkBlockTime(chain, db())),
      checked('relayer', async () => checkRelayers(chain, await listRelayersInUse(db(), networks))),
      checked('nonces', async () => checkRelayerNonces(chain, db(), await listRelayers(db()))),
      checked('accounts', () => checkAccountNonces(chain, db())),
      checked('authorizations', () => checkAuthorizations(chain, db())),
    ]);
  };
  const { nowMs } = await reached;
  const [own, compared] = await Promise.all([
    checked('network', () => checkNetwork(chain, nowMs)),
    compare(),
  ]);
  return [...own, ...findings, ...compared.flat()];
}

/** Temporal, and what the database says of it, once that was reached. */
async function examineTemporal(
  { sender }: CommandContext,
  config: Config,
  database: ServiceDatabase,
): Promise<Finding[]> {
  const todo = 'start Temporal, or correct TEMPORAL_ADDRESS';
  const target = () => targetOfAddress(config.temporal.address);
  const findings = await reach({ part: 'temporal', todo, target }, () => checkTemporal(sender(), config));
  if (hasFailed(findings)) return findings;
  const { nowMs } = await database.reached;
  const seeAbove = 'see temporal above';
  const workflows = async () =>
    (await hasTables(database))
      ? runCheck('workflows', seeAbove, () => checkWorkflows(database.db(), sender(), config))
      : [];
  const found = await Promise.all([
    runCheck('workers', seeAbove, async () => {
      const seen = (await hasTables(database)) ? await readLastSeen(database.db()) : undefined;
      return checkQueues(sender(), config, { seen, nowMs });
    }),
    runCheck('reconciler', seeAbove, () => checkReconciler(sender(), config, nowMs)),
    workflows(),
  ]);
  return [...findings, ...found.flat()];
}

/** The mail server, where there is one. */
async function examineMail({ mail }: Config): Promise<Finding[]> {
  return mail ? runCheck('mail', 'correct SMTP_URL', () => checkMail(mail)) : [];
}

/** What a host of the service has. */
async function examine(context: CommandContext, config: Config): Promise<Finding[]> {
  const { db } = context;
  const url = context.databaseUrl();
  const reached = reachDatabase(db, { url, setting: 'DATABASE_URL', findingOf: clockFinding });
  const schema = reached.then(({ isReached }) =>
    isReached ? runCheck('schema', DATABASE_TODO, () => checkSchema(db())) : [],
  );
  const database: ServiceDatabase = { db, reached, schema };
  const fromDatabase = async (): Promise<Finding[]> => {
    const { findings, nowMs } = await reached;
    const contents = (await hasTables(database)) ? await examineDatabase(context, config, nowMs) : [];
    return [...findings, ...(await schema), ...contents];
  };
  const groups = await Promise.all([
    reach({ part: 'service', todo: 'see its log', target: () => opsTarget(config) }, () =>
      checkReadiness(config),
    ),
    reach({ part: 'api', todo: 'see its log', target: () => apiTarget(config) }, () => checkApi(config)),
    runCheck('certificate', 'correct TLS_CERT_FILE', async () =>
      checkCertificate(config, (await reached).nowMs),
    ),
    examineTemporal(context, config, database),
    examineMail(config),
    runCheck('prices', 'correct PRICES_FILE or PRICES_URL', () => checkPrices(config)),
    ...config.networks.map((network) => examineNetwork(network, config, database)),
    ...askedBySigner(config).map(async (network) => (await reachSignerEndpoints(network)).findings),
    fromDatabase(),
  ]);
  return withoutRepeated(groups.flat());
}

/** The settings of the installation; those of this host, while the database does not answer in time. */
async function settingsOf({ config, installationConfig }: CommandContext): Promise<Config> {
  const read = installationConfig().catch((error) => {
    if (error instanceof ConfigError) throw error;
    return config();
  });
  return withTimeLimit(read, ANSWER_LIMIT_MS, config);
}

/** Examines what this host has; a bad setting is a finding. */
async function examineHost(context: CommandContext): Promise<Finding[]> {
  try {
    const config = await settingsOf(context);
    if (context.isSignerHost) return await examineSigner(context, config);
    return await examine(context, config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [fail('settings', error.message, 'correct this setting')];
  }
}

/** One line for all that is slow: the cause is the same. */
function withSlowTogether(findings: readonly Finding[]): Finding[] {
  const late = findings.filter(({ todo }) => todo === SLOW);
  if (late.length < 2) return [...findings];
  const each = late.map(({ part, found }) => `${part} (${found.replace(/^slow: (it )?/, '')})`);
  return [...findings.filter(({ todo }) => todo !== SLOW), warn('slow', each.join(', '), SLOW)];
}

function words(found: readonly Finding[]): string {
  const findings = withSlowTogether(found);
  const lines = table(
    ['', '', ''],
    findings.map(({ status, part, found }) => [status, part, found]),
    '',
  )
    .split('\n')
    .slice(1);
  return findings
    .flatMap(({ todo }, index) => [lines[index] ?? '', ...(todo ? [`      → ${todo}`] : [])])
    .join('\n');
}

/** `doctor`. */
export function doctorCommand(program: Command, within: Within): void {
  program
    .command('doctor')
    .description('Check every part: what is reachable, versions, chain heads, relayer funds, stuck work')
    .action((_options: object, command: Command) =>
      within(
        command,
        async (context) => {
          const versions = ok('orgwallet', `version ${program.version()}, Node ${process.versions.node}`);
          const findings = [versions, ...(await examineHost(context))];
          const failed = findings.filter(({ status }) => status === 'fail').length;
          const warned = findings.filter(({ status }) => status === 'warn').length;
          context.output.result(findings, words(findings));
          if (failed > 0) throw new CommandRefused(`${count(failed, 'check has', 'checks have')} failed`);
          if (warned > 0) context.output.note(`${count(warned, 'warning', 'warnings')}`);
        },
        { patienceMs: PATIENCE_MS },
      ),
    );
}
