import { refusePostgresUrl, secretSetting } from './config';
import { createDatabase, type PoolOptions } from './db/database';
import { isUnavailable } from './db/databaseFailure';
import { readProduction } from './db/installation';
import { untilAvailable } from './db/untilAvailable';
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

/**
 * The same for a start, which waits for a database that does not answer, at most 60 s; `onWaiting` is called before. One that
 * refuses to say it is asked again later. Throws where it does not answer in time, and what `onWaiting` throws.
 */
export async function awaitRememberedProduction(
  env: NodeJS.ProcessEnv,
  { onWaiting, signal }: { readonly onWaiting: () => void; readonly signal: AbortSignal },
): Promise<NodeJS.ProcessEnv> {
  try {
    return await withRememberedProduction(env);
  } catch (error) {
    onWaiting();
    if (!isUnavailable(error)) return env;
    return untilAvailable(() => withRememberedProduction(env), { signal });
  }
}
