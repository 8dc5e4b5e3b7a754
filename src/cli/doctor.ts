import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { createChainClients } from '../chain/clients';
import { signerEndpoints } from '../chain/contractSignatures';
import { type Config, ConfigError } from '../config';
import { listRelayers, listRelayersInUse, type Relayer } from '../db/chain';
import type { Db } from '../db/database';
import type { CommandContext, Within } from './context';
import { checkAuthorizations } from './doctor/authorizations';
import { checkBlockTime, checkClock, signerClockFinding } from './doctor/clocks';
import { checkComparison } from './doctor/comparison';
import {
  checkAccountNetworks,
  checkDatabase,
  checkLogin,
  checkNotifications,
  checkWork,
} from './doctor/database';
import { COMPUTING_LIMIT_MS, type Finding, fail, ok, runCheck } from './doctor/finding';
import { checkGasBudgets } from './doctor/gas';
import { checkDecisions } from './doctor/governance';
import { checkFreezes, checkJournal } from './doctor/journal';
import { checkKeystore } from './doctor/keystore';
import { checkEndpoints, checkNetwork, checkRelayers } from './doctor/networks';
import { checkReconciler, checkWorkflows } from './doctor/reconciler';
import { checkApi, checkReadiness } from './doctor/service';
import { checkTemporal } from './doctor/temporal';
import { checkAccountNonces, checkRelayerNonces, checkTransactions } from './doctor/transactions';
import { CommandRefused } from './output';
import { count, table } from './text';

const NODE_TODO = 'see the log of the node at its rpcUrls (NETWORKS_FILE)';

/** The endpoints of the signer, by the networks file of this host; only those of contract wallets are missed. */
async function examineEndpoints({ networks, signerNetworkId }: Config): Promise<Finding[]> {
  const asked = networks.filter(
    ({ id, signerRpcUrls }) => id === signerNetworkId || signerRpcUrls.length > 0,
  );
  return (await Promise.all(asked.map((network) => checkEndpoints(signerEndpoints(network))))).flat();
}

/** What the signer's own endpoints show of what it has authorized. */
async function examineAuthorizations({ networks }: Config, db: Db): Promise<Finding[]> {
  const clients = networks.flatMap((network) => signerEndpoints(network).clients);
  const found = clients.map((client) =>
    runCheck(`authorizations ${client.network.id}`, 'see the login above', () =>
      checkAuthorizations(client, db),
    ),
  );
  return (await Promise.all(found)).flat();
}

/** Opening it takes as long as it takes: a slow machine says nothing about the keystore. */
function examineKeystore(
  { keystore }: Config,
  relayers: () => Promise<readonly Relayer[]>,
): Promise<Finding[]> {
  return runCheck(
    'keystore',
    'correct KEYSTORE_FILE and its passphrase',
    async () => checkKeystore(keystore, await relayers()),
    COMPUTING_LIMIT_MS,
  );
}

/** What a host of the signer has: its login, which reads no more than it needs, and the keystore. */
async function examineSigner({ signerDb }: CommandContext, config: Config): Promise<Finding[]> {
  const login = await runCheck('login', 'start Postgres, or correct SIGNER_DATABASE_URL', () =>
    checkLogin(signerDb(), 'orgwallet_signer'),
  );
  // Without the database there are no relayers to compare with.
  if (login.some(({ status }) => status === 'fail')) return login;
  const keystore = await examineKeystore(config, () => listRelayers(signerDb()));
  const journal = await runCheck('journal', 'see its message', () =>
    checkJournal(config.journalFile, signerDb(), true),
  );
  const clock = await runCheck('clock', 'see the login above', () =>
    checkClock(signerDb(), signerClockFinding),
  );
  const gas = await runCheck('gas', 'see its message', () => checkGasBudgets(config));
  const readiness = await runCheck('signer', 'see its log', () => checkReadiness(config));
  const frozen = await runCheck('frozen', 'see its message', () => checkFreezes(signerDb()));
  const endpoints = await examineEndpoints(config);
  const authorizations = await examineAuthorizations(config, signerDb());
  return [
    ...[...readiness, ...login, ...clock, ...keystore, ...journal, ...gas, ...frozen],
    ...[...endpoints, ...authorizations],
  ];
}

async function examine({ db, signerDb, sender }: CommandContext, config: Config): Promise<Finding[]> {
  const chains = [...createChainClients(config.networks).values()];
  const onNetworks = async (part: string, work: (chain: (typeof chains)[number]) => Promise<Finding[]>) => {
    const perNetwork = chains.map((chain) =>
      runCheck(`${part} ${chain.network.id}`, NODE_TODO, () => work(chain)),
    );
    return (await Promise.all(perNetwork)).flat();
  };

  const fromDatabase = async (): Promise<Finding[]> => {
    const database = await runCheck('database', 'start Postgres, or correct DATABASE_URL', () =>
      checkDatabase(db()),
    );
    // Without the database its contents cannot be checked.
    if (database.some(({ status }) => status === 'fail')) return database;
    const relayers = await listRelayers(db());
    const inUse = await listRelayersInUse(db(), config.networks);
    const more = await Promise.all([
      runCheck('login', 'see the database above', () => checkLogin(db(), 'orgwallet_service')),
      config.signerDatabaseUrl
        ? runCheck('login', 'correct SIGNER_DATABASE_URL', () => checkLogin(signerDb(), 'orgwallet_signer'))
        : [],
      runCheck('clock', 'see the database above', () => checkClock(db())),
      onNetworks('clock', (chain) => checkBlockTime(chain, db())),
      onNetworks('relayer', (chain) => checkRelayers(chain, inUse)),
      onNetworks('nonces', (chain) => checkRelayerNonces(chain, db(), relayers)),
      onNetworks('accounts', (chain) => checkAccountNonces(chain, db())),
      onNetworks('authorizations', (chain) => checkAuthorizations(chain, db())),
      runCheck('comparison', 'see the database above', () => checkComparison(db())),
      runCheck('work', 'see the database above', () => checkWork(db())),
      runCheck('transactions', 'see the database above', () => checkTransactions(db(), config.networks)),
      runCheck('decisions', 'see the database above', () => checkDecisions(db())),
      runCheck('workflows', 'see temporal above', () => checkWorkflows(db(), sender(), config)),
      examineKeystore(config, async () => relayers),
      runCheck('notifications', 'correct DATABASE_LISTEN_URL', () =>
        checkNotifications(db(), config.listenDatabaseUrl),
      ),
      runCheck('journal', 'see its message', () =>
        checkJournal(config.journalFile, db(), existsSync(config.keystore.file)),
      ),
      runCheck('networks', 'see the database above', () => checkAccountNetworks(db(), config.networks)),
      runCheck('gas', 'see its message', () => checkGasBudgets(config)),
      runCheck('frozen', 'see its message', () => checkFreezes(db())),
    ]);
    return [...database, ...more.flat()];
  };

  const groups = await Promise.all([
    runCheck('service', 'start it: npm start', () => checkReadiness(config)),
    runCheck('api', 'start it: npm start', () => checkApi(config)),
    runCheck('temporal', 'start Temporal, or correct TEMPORAL_ADDRESS', () =>
      checkTemporal(sender(), config),
    ),
    runCheck('reconciler', 'see temporal above', () => checkReconciler(sender(), config)),
    onNetworks('network', checkNetwork),
    examineEndpoints(config),
    fromDatabase(),
  ]);
  return groups.flat();
}

/** Examines what this host has; a bad setting is a finding. */
async function examineHost(context: CommandContext): Promise<Finding[]> {
  try {
    // While the database does not answer, the settings are those of this host.
    const config = await context.installationConfig().catch((error) => {
      if (error instanceof ConfigError) throw error;
      return context.config();
    });
    if (context.isSignerHost) return await examineSigner(context, config);
    context.databaseUrl();
    return await examine(context, config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [fail('settings', error.message, 'correct this setting')];
  }
}

function words(findings: readonly Finding[]): string {
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
      within(command, async (context) => {
        const versions = ok('orgwallet', `version ${program.version()}, Node ${process.versions.node}`);
        const findings = [versions, ...(await examineHost(context))];
        const failed = findings.filter(({ status }) => status === 'fail').length;
        const warned = findings.filter(({ status }) => status === 'warn').length;
        context.output.result(findings, words(findings));
        if (failed > 0) throw new CommandRefused(`${count(failed, 'check has', 'checks have')} failed`);
        if (warned > 0) context.output.note(`${count(warned, 'warning', 'warnings')}`);
      }),
    );
}
