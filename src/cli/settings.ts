import { readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { projectRoot } from '../projectRoot';
import { hasSecret, overriding } from '../secrets';

/** The file in the data folder to which `npm start` writes the settings of its service. */
export function stackFile(dataDir: string): string {
  return join(dataDir, 'stack.json');
}

/** The file in the data folder to which `npm start` writes the login that owns the tables of its own Postgres. */
export function ownerFile(dataDir: string): string {
  return join(dataDir, 'owner.json');
}

function settingsIn(file: string): NodeJS.ProcessEnv {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

/** What `npm start` wrote to the data folder; the owner's login only where no database is set that may be another one. */
function stackSettings(dataDir: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOther = hasSecret(env, 'DATABASE_URL') || hasSecret(env, 'SIGNER_DATABASE_URL');
  return { ...settingsIn(stackFile(dataDir)), ...(isOther ? {} : settingsIn(ownerFile(dataDir))) };
}

/**
 * The settings of a command: those of the environment that are not empty, then those that `npm start` wrote to the
 * data folder, so that commands work next to it. In production there is only the environment. Relative paths are those
 * of the project folder, as they are for the service.
 */
export function commandSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const root = projectRoot();
  const dataDir = resolve(root, env.ORGWALLET_DATA_DIR || '.data');
  const own = Object.entries(env).filter(([, value]) => value !== undefined && value !== '');
  const stack = env.NODE_ENV === 'production' ? {} : stackSettings(dataDir, env);
  const settings = { ...overriding(Object.fromEntries(own), stack), ORGWALLET_DATA_DIR: dataDir };
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) =>
      name.endsWith('_FILE') && value !== undefined && !isAbsolute(value)
        ? [name, join(root, value)]
        : [name, value],
    ),
  );
}
