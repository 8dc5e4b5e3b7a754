import { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { signerEndpoints } from '../chain/contractSignatures';
import type { Keystore } from '../chain/keys';
import { createIdentifyVoter, type IdentifyVoter } from '../chain/voter';
import { type Config, loadConfig, refusePostgresUrl, secretSetting } from '../config';
import { ConfigError } from '../configError';
import { createDatabase, type Db } from '../db/database';
import { listOrganizations } from '../db/organizations';
import { once } from '../once';
import { withRememberedProduction } from '../production';
import { signerDatabaseUrl } from '../roleSettings';
import { hasSecret } from '../secrets';
import { openKeystore, readPassphrase } from '../signer/keys/keystore';
import type { WorkflowSender } from '../temporal/client';
import { closeTemporal, connectTemporal } from '../temporal/connection';
import { taskQueues } from '../temporal/ids';
import { conversion } from '../temporal/payloadCodec';
import { closed } from '../timeLimit';
import { CommandRefused, createOutput, type Output, type Terminal } from './output';
import { commandSettings } from './settings';

/** The dependencies of a command, each read or opened on first use. */
export interface CommandContext {
  readonly output: Output;
  /** Every setting, as it is given: whether this is production, only the database knows. Throws ConfigError. */
  config(): Config;
  /** Every setting, without defaults of development where the database is one of production. Throws ConfigError. */
  installationConfig(): Promise<Config>;
  /** Whether this is production: well-known keys are refused. */
  production(): Promise<boolean>;
  /** True where the login of the signer is set and that of the service is not. */
  readonly isSignerHost: boolean;
  /** The settings as they are, for secrets that a single command needs. */
  readonly settings: NodeJS.ProcessEnv;
  /** The login of the service. Throws ConfigError. */
  databaseUrl(): string;
  /** The login that owns the tables. Throws ConfigError. */
  migrationDatabaseUrl(): string;
  /** The database, with the login of the service. Throws ConfigError. */
  db(): Db;
  /** The database, with the login of the signer. Throws ConfigError. */
  signerDb(): Db;
  /** The database, with the login that writes back what was lost, else the one that owns the tables. Throws ConfigError. */
  recoveryDb(): Db;
  /** Sends messages to workflows. Throws ConfigError. */
  sender(): WorkflowSender;
}

/**
 * Runs the work of one command with its context, and closes everything it opened. `patienceMs`: how long Postgres and Temporal
 * may take for each step, in place of the limits of the service.
 */
export type Within = (
  command: Command,
  work: (context: CommandContext) => Promise<void>,
  options?: { readonly patienceMs?: number },
) => Promise<void>;

const WORKFLOW_DEADLINE_MS = 8_000;

/** Throws ConfigError for a URL of Postgres that leads elsewhere than it says. */
function assertUrl(setting: string, url: string): void {
  const refusal = refusePostgresUrl(url);
  if (refusal !== undefined) throw new ConfigError(setting, refusal);
}

/** Creates the function that runs the commands of one terminal. */
export function createWithin(terminal: Terminal): Within {
  return async (command, work, { patienceMs } = {}) => {
    const settings = commandSettings(terminal.env);
    const closers: (() => Promise<void>)[] = [];
    const config = once(() => loadConfig(settings));
    const remembered = once(() => withRememberedProduction(settings, { patienceMs }));
    const openDatabase = (url: string, throughPooler = settings.DATABASE_POOLER === 'transaction') => {
      const db = createDatabase(url, { poolMax: 4, throughPooler, patienceMs });
      closers.push(() => db.destroy());
      return db;
    };
    const databaseUrl = () => {
      const url = secretSetting(settings, 'DATABASE_URL');
      if (url === undefined) {
        throw new ConfigError(
          'DATABASE_URL',
          `is required and not set, and no \`npm start\` has left its settings in ${settings.ORGWALLET_DATA_DIR}`,
        );
      }
      assertUrl('DATABASE_URL', url);
      // Present settings are checked; a command that needs only the database needs no others.
      if (settings.NETWORKS_FILE) config();
      return url;
    };
    const migrationDatabaseUrl = () => {
      const url = secretSetting(settings, 'MIGRATION_DATABASE_URL');
      if (!url) {
        throw new ConfigError(
          'MIGRATION_DATABASE_URL',
          'is required and not set: the login that owns the tables (`npm start` migrates its database itself)',
        );
      }
      assertUrl('MIGRATION_DATABASE_URL', url);
      return url;
    };
    try {
      await work({
        output: createOutput(terminal, command.optsWithGlobals().json === true),
        config,
        installationConfig: async () => loadConfig(await remembered()),
        production: async () => (await remembered()).NODE_ENV === 'production',
        isSignerHost: !hasSecret(settings, 'DATABASE_URL') && hasSecret(settings, 'SIGNER_DATABASE_URL'),
        settings,
        databaseUrl,
        migrationDatabaseUrl,
        db: once(() => openDatabase(databaseUrl())),
        signerDb: once(() => openDatabase(signerDatabaseUrl(config()))),
        recoveryDb: once(() => {
          const url = secretSetting(settings, 'RECOVERY_DATABASE_URL');
          return url === undefined ? openDatabase(migrationDatabaseUrl(), false) : openDatabase(url);
        }),
        sender: once(() => {
          const { temporal } = config();
          const connection = connectTemporal(temporal, { connectTimeoutMs: patienceMs });
          closers.push(() => closeTemporal(connection));
          return {
            client: new Client({
              connection,
              namespace: temporal.namespace,
              ...conversion(temporal),
            }),
            queues: taskQueues(temporal.taskQueue),
            deadlineMs: patienceMs ?? WORKFLOW_DEADLINE_MS,
            isEncrypted: temporal.payloadKeysFile !== undefined,
          };
        }),
      });
    } finally {
      for (const close of closers) await closed(close);
    }
  };
}

/** The organizations that a command is about: the one that is named, or all. Throws CommandRefused for an unknown one. */
export async function organizationsOf(db: Db, id: string | undefined) {
  const all = await listOrganizations(db);
  if (id === undefined) return all;
  const chosen = all.filter((organization) => organization.id === id);
  if (chosen.length === 0) throw new CommandRefused(`organization ${id} not found`);
  return chosen;
}

/** Opens the keystore of this host. Throws KeystoreError. */
export function keystoreOf({ config }: CommandContext): Promise<Keystore> {
  const { keystore } = config();
  return openKeystore({ file: keystore.file, passphrase: readPassphrase(keystore) });
}

/** Verifies signatures; contract wallets are asked about at the endpoints of the signer. */
export async function identifyVoterOf({ installationConfig }: CommandContext): Promise<IdentifyVoter> {
  const { networks, signerNetworkId } = await installationConfig();
  const network = networks.find(({ id }) => id === signerNetworkId);
  if (!network) throw new ConfigError('NETWORKS_FILE', 'names no network');
  return createIdentifyVoter(signerEndpoints(network));
}
