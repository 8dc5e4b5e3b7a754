import { ConfigError, refusePostgresUrl, secretSetting } from './config';
import { createDatabase, type Db, type PoolOptions } from './db/database';
import { readProduction } from './db/installation';
import { closed } from './timeLimit';

/**
 * The settings, with NODE_ENV=production where the database remembers that it is one of production (`db migrate
 * --production`): nobody has to set it with each command. Throws where the database does not answer.
 */
export async function withRememberedProduction(
  env: NodeJS.ProcessEnv,
  options: Pick<PoolOptions, 'patienceMs'> = {},
): Promise<NodeJS.ProcessEnv> {
  if (env.NODE_ENV === 'production') return env;
  const owner = secretSetting(env, 'MIGRATION_DATABASE_URL');
  const [url] = [secretSetting(env, 'DATABASE_URL'), secretSetting(env, 'SIGNER_DATABASE_URL'), owner].filter(
    (one) => one !== undefined && refusePostgresUrl(one) === undefined,
  );
  if (url === undefined) return env;
  const throughPooler = env.DATABASE_POOLER === 'transaction' && url !== owner;
  const db = createDatabase(url, { ...options, poolMax: 1, throughPooler });
  try {
    return (await readProduction(db)) ? { ...env, NODE_ENV: 'production' } : env;
  } finally {
    await closed(() => db.destroy());
  }
}

/** Throws ConfigError where the settings and the database do not agree on whether this is production. */
export async function assertSameProduction(db: Db, production: boolean): Promise<void> {
  const remembered = await readProduction(db);
  if (remembered === production) return;
  throw new ConfigError(
    'NODE_ENV',
    remembered
      ? 'is not production, and the database is one of production'
      : 'is production, and the database does not know it, so that no command would: run `./orgwallet db migrate --production` once',
  );
}
