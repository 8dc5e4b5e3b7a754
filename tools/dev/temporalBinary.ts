import { execFile, spawn } from 'node:child_process';
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../src/projectRoot';

const run = promisify(execFile);

const CLI_VERSION = 'v1.5.1';
const OLDEST_SERVER = [1, 28] as const;
const OLDEST_GO = [1, 25] as const;
const DOWNLOAD_LIMIT_MS = 15_000;

/** A program that can run the Temporal dev server, and where it was found, as text. */
export interface TemporalBinary {
  readonly path: string;
  readonly source: string;
}

/** The cache of programs, shared by all clones of this user. */
function cacheDir(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'orgwallet');
}

function onPath(program: string, env: NodeJS.ProcessEnv): string | undefined {
  for (const dir of (env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const candidate = resolve(dir, program);
    try {
      accessSync(candidate, constants.X_OK);
      if (statSync(candidate).isFile()) return candidate;
    } catch {
      // not here
    }
  }
  return undefined;
}

/** Why the program cannot be used; undefined when it can. */
async function unfit(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(path, ['--version'], { timeout: 10_000 });
    const server = /Server (\d+)\.(\d+)/.exec(stdout);
    if (!server) return `${path} is not a Temporal CLI with a dev server`;
    const [major, minor] = [Number(server[1]), Number(server[2])];
    return major > OLDEST_SERVER[0] || (major === OLDEST_SERVER[0] && minor >= OLDEST_SERVER[1])
      ? undefined
      : `${path} has server ${major}.${minor}, ${OLDEST_SERVER.join('.')} or newer is needed`;
  } catch (error) {
    return `${path} does not run: ${(error as Error).message.split('\n')[0]}`;
  }
}

async function download(target: string): Promise<string | undefined> {
  mkdirSync(join(target, '..'), { recursive: true });
  const folder = mkdtempSync(`${target}.download-`);
  const child = spawn(
    process.execPath,
    [join(projectRoot(), 'tools', 'dev', 'downloadTemporal.mjs'), folder],
    {
      cwd: projectRoot(),
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const end = () => {
    try {
      if (child.pid) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // already gone
    }
  };
  process.once('exit', end);
  let message = '';
  child.stderr.on('data', (chunk) => {
    message = (message + chunk).slice(-4_000);
  });
  try {
    const code = await new Promise<number | 'late' | null>((done) => {
      const timer = setTimeout(() => done('late'), DOWNLOAD_LIMIT_MS);
      child.once('exit', (status) => {
        clearTimeout(timer);
        done(status);
      });
    });
    end();
    if (code === 'late') return `not finished within ${DOWNLOAD_LIMIT_MS / 1000} s`;
    const file = readdirSync(folder)
      .map((name) => join(folder, name))
      .find((path) => statSync(path).isFile() && (statSync(path).mode & 0o100) !== 0);
    if (!file) {
      const reason = message.split('\n').find((line) => /error/i.test(line));
      return (reason ?? 'no program was downloaded').trim().slice(0, 200);
    }
    const problem = await unfit(file);
    if (problem) return problem;
    renameSync(file, target);
    return undefined;
  } finally {
    process.removeListener('exit', end);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function installWithGo(
  target: string,
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<string | undefined> {
  const go = onPath('go', env);
  if (!go) return '`go` not found on PATH';
  const { stdout } = await run(go, ['env', 'GOVERSION'], { timeout: 10_000 });
  const version = /go(\d+)\.(\d+)/.exec(stdout);
  const [major, minor] = [Number(version?.[1]), Number(version?.[2])];
  if (!(major > OLDEST_GO[0] || (major === OLDEST_GO[0] && minor >= OLDEST_GO[1]))) {
    return `${go} is ${stdout.trim()}, ${OLDEST_GO.join('.')} or newer is needed`;
  }
  say(
    `Temporal: building the CLI ${CLI_VERSION} with ${stdout.trim()}, once per user (about 2.5 minutes on 2 cores)`,
  );
  mkdirSync(join(target, '..'), { recursive: true });
  const folder = mkdtempSync(`${target}.build-`);
  const startedAt = Date.now();
  const progress = setInterval(
    () => say(`Temporal: still building (${Math.round((Date.now() - startedAt) / 1000)} s)`),
    30_000,
  );
  const child = spawn(go, ['install', `github.com/temporalio/cli/cmd/temporal@${CLI_VERSION}`], {
    env: { ...env, GOBIN: folder, GOOS: '', GOARCH: '' },
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const end = () => {
    try {
      if (child.pid) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // already gone
    }
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', end);
  let message = '';
  child.stderr.on('data', (chunk) => {
    message = (message + chunk).slice(-4_000);
  });
  try {
    const code = await new Promise<number | null>((done) => {
      child.once('error', () => done(null));
      child.once('exit', (status) => done(status));
    });
    if (code !== 0)
      return `\`go install\` failed: ${message.trim().split('\n').slice(-2).join(' ').slice(0, 300)}`;
    renameSync(join(folder, 'temporal'), target);
    return await unfit(target);
  } finally {
    clearInterval(progress);
    process.removeListener('exit', end);
    end();
  }
}

/**
 * Finds a Temporal CLI: TEMPORAL_CLI_PATH, PATH, the cached copy, the SDK's download, `go install`.
 * The last two fill the user's cache. Throws one error that names all five when none works.
 */
export async function findTemporalBinary(
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<TemporalBinary> {
  if (env.TEMPORAL_CLI_PATH) {
    const path = resolve(env.TEMPORAL_CLI_PATH);
    const problem = await unfit(path);
    if (problem) throw new Error(`TEMPORAL_CLI_PATH cannot be used: ${problem}`);
    return { path, source: 'from TEMPORAL_CLI_PATH' };
  }
  const tried = ['TEMPORAL_CLI_PATH: not set'];

  const installed = onPath('temporal', env);
  const installedProblem = installed ? await unfit(installed) : 'there is none';
  if (installed && !installedProblem) return { path: installed, source: 'found on PATH' };
  tried.push(`\`temporal\` on PATH: ${installedProblem}`);

  const kept = join(cacheDir(env), `temporal-cli-${CLI_VERSION}-${process.platform}-${process.arch}`);
  const keptProblem = await unfit(kept);
  if (!keptProblem) return { path: kept, source: 'from the cache' };
  tried.push(`the cached copy: none in ${kept}`);

  say(
    `Temporal: asking the SDK to download the official CLI (a few seconds; gives up after ${DOWNLOAD_LIMIT_MS / 1000} s)`,
  );
  const downloadProblem = await download(kept).catch((error: Error) => error.message);
  if (!downloadProblem) return { path: kept, source: 'downloaded by the SDK' };
  tried.push(`the SDK's download: ${downloadProblem}`);
  say(`Temporal: no download (${downloadProblem})`);

  const goProblem = await installWithGo(kept, env, say).catch((error: Error) => error.message);
  if (!goProblem) return { path: kept, source: 'built with `go install`' };
  tried.push(`\`go install\`: ${goProblem}`);

  throw new Error(
    `No Temporal server could be found or made. Tried:\n${tried.map((line, index) => `  ${index + 1}. ${line}`).join('\n')}\n` +
      'Install the Temporal CLI (https://docs.temporal.io/cli) or Go 1.25 and start again, or set TEMPORAL_ADDRESS to a running server.',
  );
}
