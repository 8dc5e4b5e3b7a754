import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../src/projectRoot';

const run = promisify(execFile);

const CLI_VERSION = 'v1.5.1';
const OLDEST_SERVER = [1, 28] as const;
const OLDEST_GO = [1, 25] as const;
const DOWNLOAD_LIMIT_MS = 15_000;
/** For a program that says its version: a busy machine takes its time, and another program takes minutes to make. */
const VERSION_LIMIT_MS = 60_000;

/** A program that can run the Temporal dev server, and where it was found, as text. */
interface TemporalBinary {
  readonly path: string;
  readonly source: string;
}

/** The cache of programs, shared by all clones of this user. */
export function cacheDir(env: NodeJS.ProcessEnv): string {
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
    const { stdout } = await run(path, ['--version'], { timeout: VERSION_LIMIT_MS });
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

/** How a program ended that makes another one, and the end of what it wrote to stderr. */
interface Ended {
  readonly status: number | 'late' | null;
  readonly message: string;
}

/** Runs a program with all that it starts, and ends them with this process. */
async function runToEnd(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv; readonly limitMs?: number },
): Promise<Ended> {
  const { limitMs, ...rest } = options;
  const child = spawn(program, args, { ...rest, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
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
  let timer: NodeJS.Timeout | undefined;
  try {
    const status = await new Promise<Ended['status']>((done) => {
      if (limitMs !== undefined) timer = setTimeout(() => done('late'), limitMs);
      child.once('error', () => done(null));
      child.once('exit', done);
    });
    return { status, message };
  } finally {
    clearTimeout(timer);
    end();
    process.removeListener('exit', end);
  }
}

/** A way to make the program. */
export interface Maker {
  /** What was tried, for the message when nothing works. */
  readonly name: string;
  readonly source: string;
  /** Makes the program in a folder and returns its path. Throws Error with the reason when it cannot. */
  make(folder: string, env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<string>;
}

const DOWNLOAD: Maker = {
  name: "the SDK's download",
  source: 'downloaded by the SDK',
  async make(folder, _, say) {
    say(
      `Temporal: asking the SDK to download the official CLI (a few seconds; gives up after ${DOWNLOAD_LIMIT_MS / 1000} s)`,
    );
    const script = join(projectRoot(), 'tools', 'dev', 'downloadTemporal.mjs');
    const { status, message } = await runToEnd(process.execPath, [script, folder], {
      cwd: projectRoot(),
      limitMs: DOWNLOAD_LIMIT_MS,
    });
    if (status === 'late') throw new Error(`not finished within ${DOWNLOAD_LIMIT_MS / 1000} s`);
    const file = readdirSync(folder)
      .map((name) => join(folder, name))
      .find((path) => statSync(path).isFile() && (statSync(path).mode & 0o100) !== 0);
    if (file) return file;
    const reason = message.split('\n').find((line) => /error/i.test(line));
    throw new Error((reason ?? 'no program was downloaded').trim().slice(0, 200));
  },
};

const GO_INSTALL: Maker = {
  name: '`go install`',
  source: 'built with `go install`',
  async make(folder, env, say) {
    const go = onPath('go', env);
    if (!go) throw new Error('`go` not found on PATH');
    const { stdout } = await run(go, ['env', 'GOVERSION'], { timeout: VERSION_LIMIT_MS });
    const version = /go(\d+)\.(\d+)/.exec(stdout);
    const [major, minor] = [Number(version?.[1]), Number(version?.[2])];
    if (!(major > OLDEST_GO[0] || (major === OLDEST_GO[0] && minor >= OLDEST_GO[1]))) {
      throw new Error(`${go} is ${stdout.trim()}, ${OLDEST_GO.join('.')} or newer is needed`);
    }
    say(
      `Temporal: building the CLI ${CLI_VERSION} with ${stdout.trim()}, once per user (about 2.5 minutes on 2 cores)`,
    );
    const startedAt = Date.now();
    const progress = setInterval(
      () => say(`Temporal: still building (${Math.round((Date.now() - startedAt) / 1000)} s)`),
      30_000,
    );
    try {
      const { status, message } = await runToEnd(
        go,
        ['install', `github.com/temporalio/cli/cmd/temporal@${CLI_VERSION}`],
        { env: { ...env, GOBIN: folder, GOOS: '', GOARCH: '' }, cwd: folder },
      );
      if (status !== 0) {
        const reason = message.trim().split('\n').slice(-2).join(' ').slice(0, 300);
        throw new Error(`\`go install\` failed: ${reason}`);
      }
      return join(folder, 'temporal');
    } finally {
      clearInterval(progress);
    }
  },
};

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** Where the hash of a program is recorded, as `sha256sum` writes and checks it. */
const hashFile = (path: string) => `${path}.sha256`;

/** Records the hash of a program for the path at which it is kept. */
async function recordHash(path: string, program = path): Promise<void> {
  const written = `${hashFile(path)}.${process.pid}`;
  writeFileSync(written, `${await sha256(program)}  ${basename(path)}\n`);
  renameSync(written, hashFile(path));
}

/** Makes the program, and keeps it with its hash. Throws Error with the reason when it cannot. */
async function keep(
  target: string,
  { make }: Maker,
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<void> {
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(`${target}.new-`);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    const program = await make(folder, env, say);
    const problem = await unfit(program);
    if (problem) throw new Error(problem);
    // The hash first: a crash in between leaves no program without one.
    await recordHash(target, program);
    renameSync(program, target);
  } finally {
    process.removeListener('exit', remove);
    remove();
  }
}

/**
 * Why the cached program cannot be used; undefined when it can. It is not run unless it is what was built or downloaded;
 * otherwise it is removed.
 */
async function keptProblem(path: string, say: (line: string) => void): Promise<string | undefined> {
  if (!existsSync(path)) return `none in ${path}`;
  if (!existsSync(hashFile(path))) {
    await recordHash(path);
    say(`Temporal: recorded the hash of the cached CLI, which an earlier version has made (${path})`);
  }
  const recorded = readFileSync(hashFile(path), 'utf8').split(' ')[0];
  if ((await sha256(path)) === recorded) return unfit(path);
  for (const file of [path, hashFile(path)]) rmSync(file, { force: true });
  const problem = `${path} was not what had been built or downloaded, and was removed`;
  say(`Temporal: ${problem}`);
  return problem;
}

/**
 * Finds a Temporal CLI: TEMPORAL_CLI_PATH, PATH, the cached copy, the SDK's download, `go install`.
 * The last two fill the user's cache. Throws one error that names all five when none works.
 */
export async function findTemporalBinary(
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
  makers: readonly Maker[] = [DOWNLOAD, GO_INSTALL],
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
  const problem = await keptProblem(kept, say);
  if (!problem) return { path: kept, source: 'from the cache' };
  tried.push(`the cached copy: ${problem}`);

  for (const maker of makers) {
    try {
      await keep(kept, maker, env, say);
      return { path: kept, source: maker.source };
    } catch (error) {
      const reason = (error as Error).message;
      tried.push(`${maker.name}: ${reason}`);
      say(`Temporal: ${maker.name} failed: ${reason}`);
    }
  }

  throw new Error(
    `No Temporal server could be found or made. Tried:\n${tried.map((line, index) => `  ${index + 1}. ${line}`).join('\n')}\n` +
      'Install the Temporal CLI (https://docs.temporal.io/cli) or Go 1.25 and start again, or set TEMPORAL_ADDRESS to a running server.',
  );
}
