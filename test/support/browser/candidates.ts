import { execFile } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../../src/projectRoot';
import { cacheDir } from '../../../tools/dev/temporalBinary';

const run = promisify(execFile);

/** A browser that may be there. */
export interface Candidate {
  /** What it is, for messages. */
  readonly name: string;
  /** Finds it: its program and the environment that it needs. Throws Error with the reason when it cannot be had. */
  find(): Promise<{ readonly path: string; readonly env?: NodeJS.ProcessEnv }>;
}

const NAMES = ['google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser', 'chrome'];
const FOLDERS = ['/usr/bin', '/usr/local/bin', '/snap/bin', '/opt/google/chrome'];
const APPLICATIONS = ['Google Chrome', 'Chromium'].map(
  (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
);

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function installed(env: NodeJS.ProcessEnv): string {
  const folders = [...(env.PATH ?? '').split(delimiter).filter(Boolean), ...FOLDERS];
  const paths = folders.flatMap((folder) => NAMES.map((name) => resolve(folder, name)));
  const found = [...paths, ...APPLICATIONS].find(isProgram);
  if (!found) throw new Error(`none of ${NAMES.join(', ')} found on PATH or in the usual places`);
  return found;
}

/** Unpacks the browser of the package `@sparticuz/chromium`, once per user and version: 200 MB. */
async function packaged(env: NodeJS.ProcessEnv) {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`it is for linux-x64 (this is ${process.platform}-${process.arch})`);
  }
  const packageDir = join(projectRoot(), 'node_modules', '@sparticuz', 'chromium');
  const { version } = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'));
  const dir = join(cacheDir(env), `chromium-${version}`);
  if (!existsSync(dir)) await unpack(dir);
  // Its own libraries and fonts: a bare machine has neither.
  const own = { LD_LIBRARY_PATH: join(dir, 'al2023', 'lib'), FONTCONFIG_PATH: join(dir, 'fonts') };
  return { path: join(dir, 'chromium'), env: { ...env, ...own, HOME: env.HOME ?? dir } };
}

async function unpack(dir: string): Promise<void> {
  mkdirSync(resolve(dir, '..'), { recursive: true });
  const unfinished = mkdtempSync(`${dir}.`);
  const script = join(projectRoot(), 'test', 'support', 'browser', 'unpackChromium.mjs');
  try {
    await run(process.execPath, [script], { env: { PATH: process.env.PATH, TMPDIR: unfinished } });
    renameSync(unfinished, dir);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another worker was faster.
    if (!existsSync(dir)) throw error;
  }
}

/** Where a browser can come from, the first choice first: BROWSER_PATH alone if it is set. */
export function browserCandidates(env: NodeJS.ProcessEnv): readonly Candidate[] {
  const { BROWSER_PATH } = env;
  if (BROWSER_PATH)
    return [{ name: `BROWSER_PATH (${BROWSER_PATH})`, find: async () => ({ path: BROWSER_PATH }) }];
  return [
    { name: 'an installed Chrome or Chromium', find: async () => ({ path: installed(env) }) },
    { name: 'the development dependency @sparticuz/chromium', find: () => packaged(env) },
  ];
}
