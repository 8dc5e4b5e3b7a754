import { join, resolve } from 'node:path';
import { ownerFile, stackFile } from '../../src/cli/settings';
import { type Role, readRoles } from '../../src/config';
import { ConfigError } from '../../src/configError';
import { projectRoot } from '../../src/projectRoot';
import { hasSecret } from '../../src/secrets';

/** The settings of the embedded stack; it runs the parts whose settings are absent. */
export interface StackSettings {
  readonly dataDir: string;
  /** Roles of the service that this start runs; the signer is a process of its own. */
  readonly roles: readonly Role[];
  readonly httpsHost: string | undefined;
  readonly httpsPort: number;
  readonly httpHost: string | undefined;
  readonly httpPort: number;
  readonly opsHost: string;
  readonly opsPort: number;
  readonly databaseUrl: string | undefined;
  readonly signerDatabaseUrl: string | undefined;
  /** With this login the start migrates a database that is not embedded. */
  readonly migrationDatabaseUrl: string | undefined;
  readonly postgresPort: number;
  readonly temporalAddress: string | undefined;
  readonly temporalNamespace: string;
  readonly temporalPort: number;
  readonly temporalUiPort: number;
  readonly networksFile: string | undefined;
  readonly anvilPort: number;
  readonly tokenListFile: string | undefined;
  readonly tlsCertFile: string | undefined;
  readonly keystoreFile: string | undefined;
  readonly hasPassphrase: boolean;
}

function portOf(env: NodeJS.ProcessEnv, setting: string, byDefault: number): number {
  const text = env[setting];
  if (!text) return byDefault;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ConfigError(setting, `invalid port "${text}" (expected 1 to 65535)`);
  }
  return port;
}

/** Reads the settings of the embedded stack. Throws ConfigError that names the setting. */
export function readStackSettings(env: NodeJS.ProcessEnv): StackSettings {
  const temporalPort = portOf(env, 'TEMPORAL_PORT', 7_233);
  return {
    dataDir: resolve(projectRoot(), env.ORGWALLET_DATA_DIR || '.data'),
    roles: readRoles(env),
    httpsHost: env.HTTPS_HOST || undefined,
    httpsPort: portOf(env, 'HTTPS_PORT', 8_443),
    httpHost: env.HTTP_HOST || undefined,
    httpPort: portOf(env, 'HTTP_PORT', 8_080),
    opsHost: env.OPS_HOST || '127.0.0.1',
    opsPort: portOf(env, 'OPS_PORT', 9_090),
    databaseUrl: env.DATABASE_URL || undefined,
    signerDatabaseUrl: env.SIGNER_DATABASE_URL || undefined,
    migrationDatabaseUrl: env.MIGRATION_DATABASE_URL || undefined,
    postgresPort: portOf(env, 'POSTGRES_PORT', 54_329),
    temporalAddress: env.TEMPORAL_ADDRESS || undefined,
    temporalNamespace: env.TEMPORAL_NAMESPACE || 'default',
    temporalPort,
    temporalUiPort: portOf(env, 'TEMPORAL_UI_PORT', 8_233),
    networksFile: env.NETWORKS_FILE || undefined,
    anvilPort: portOf(env, 'ANVIL_PORT', 8_545),
    tokenListFile: env.TOKEN_LIST_FILE || undefined,
    tlsCertFile: env.TLS_CERT_FILE || undefined,
    keystoreFile: env.KEYSTORE_FILE || undefined,
    hasPassphrase: hasSecret(env, 'KEYSTORE_PASSPHRASE'),
  };
}

/** Paths in the data folder. */
export function dataFiles(dataDir: string) {
  const signer = join(dataDir, 'signer');
  return {
    logs: join(dataDir, 'logs'),
    stack: stackFile(dataDir),
    owner: ownerFile(dataDir),
    demo: join(dataDir, 'demo.json'),
    supervisor: join(dataDir, 'supervisor.json'),
    networks: join(dataDir, 'networks.json'),
    tokenList: join(dataDir, 'token-list.json'),
    certificate: join(dataDir, 'tls', 'cert.pem'),
    certificateKey: join(dataDir, 'tls', 'key.pem'),
    /** The data folder of the signer. */
    signer,
    keystore: join(signer, 'keystore.json'),
    passphrase: join(signer, 'keystore-passphrase'),
  };
}
