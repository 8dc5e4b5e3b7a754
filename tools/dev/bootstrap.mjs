// Prepares a clone: the dependencies of the lockfile, the build.
// Plain Node without dependencies, because it runs before anything is installed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectDir = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const OLDEST_NODE = [20, 19];
const SOURCES = ['src', 'tools', 'workflows', 'activities', 'client/src'];
/** With what it needs of what tests have. */
export const BENCH_SOURCES = [
  'test/bench',
  ...['browser/candidates', 'browser/launch', 'document', 'worstBodies'].map(
    (name) => `test/support/${name}.ts`,
  ),
];
const CONTRACT = 'openapi.json';
const INSTALL_STAMP = join(projectDir, 'node_modules', '.orgwallet-installed');
const BUILD_STAMP = join(projectDir, 'dist', '.built-from');
const REVISION = join(projectDir, 'dist', 'revision');
const BENCH = join(projectDir, 'dist', 'test');
const BENCH_STAMP = join(BENCH, '.built-from');
const CLIENT = join(projectDir, 'client');
/** Made from the contract by the build. */
const CLIENT_TYPES = join(CLIENT, 'src', 'openapi.ts');
const CONSOLE_SOURCES = [
  'client/src',
  'console/index.html',
  'console/src',
  // Schemas of requests, and what they import.
  'src/chain',
  'src/contract',
  'src/domain',
  'tools/dev/buildConsole.mjs',
  'tools/dev/buildHash.mjs',
  'tools/dev/consoleModules.mjs',
];
/** What the rescue page is made of, besides the client. */
const RESCUE_SOURCES = [
  'console/rescue',
  'console/src/signing/walletError.ts',
  'console/src/theme',
  'console/src/ui',
];
const CONSOLE = join(projectDir, 'console');
const CONSOLE_STAMP = join(CONSOLE, 'dist', '.built-from');

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new Error(`Node ${OLDEST_NODE.join('.')} or newer is needed; this is ${process.versions.node}.`);
}

function sha256(...parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** The files of some places, without what is made from them. */
function sources(places) {
  const found = [];
  const walk = (dir) => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile()) found.push(path);
    }
  };
  for (const place of places) {
    const path = join(projectDir, place);
    if (!existsSync(path)) continue;
    if (statSync(path).isFile()) found.push(path);
    else walk(path);
  }
  return found.filter((file) => file !== CLIENT_TYPES).sort();
}

function lockfileHash() {
  return sha256(readFileSync(join(projectDir, 'package-lock.json')), process.platform, process.arch);
}

/** True when npm has installed exactly the lockfile, from this program or by hand. */
function isInstalled() {
  if (read(INSTALL_STAMP) === lockfileHash()) return true;
  const wanted = JSON.parse(readFileSync(join(projectDir, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(read(join(projectDir, 'node_modules', '.package-lock.json')) ?? '{}').packages;
  if (!installed) return false;
  const differs = Object.entries(wanted).some(
    ([path, { version, optional }]) =>
      path !== '' && !(optional && !installed[path]) && installed[path]?.version !== version,
  );
  if (differs || Object.keys(installed).some((path) => !wanted[path])) return false;
  try {
    writeFileSync(INSTALL_STAMP, lockfileHash());
  } catch {
    // a folder of another user; it is compared again next time
  }
  return true;
}

function sourceHash(places) {
  const hash = createHash('sha256').update(lockfileHash());
  for (const file of sources(places))
    hash.update(relative(projectDir, file)).update('\0').update(readFileSync(file));
  return hash.digest('hex');
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** A lock is written at once: one that is empty for longer is of a process that was killed, or had a full disk. */
const EMPTY_LOCK_MS = 5_000;

/** Whether the process that has taken a lock has ended. */
function isLeft(lock, holder) {
  if (holder) return !isAlive(holder);
  const { mtimeMs } = statSync(lock, { throwIfNoEntry: false }) ?? {};
  return mtimeMs !== undefined && Date.now() - mtimeMs > EMPTY_LOCK_MS;
}

/** One bootstrap at a time per project folder; a second one waits for the first. */
export async function withLock(say, work) {
  const lock = join(tmpdir(), `orgwallet-bootstrap-${sha256(projectDir).slice(0, 16)}.lock`);
  let told = false;
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const holder = Number(read(lock));
      if (isLeft(lock, holder)) {
        rmSync(lock, { force: true });
        continue;
      }
      if (!told) say(`Waiting for another set-up of this folder (process ${holder || 'unknown'})`);
      told = true;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  const release = () => rmSync(lock, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.removeListener('exit', release);
    release();
  }
}

/** Waits for a child to end; a signal to this process ends both. */
async function untilEnded(child) {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const end = () => {
    child.kill('SIGTERM');
    process.exit(1);
  };
  for (const signal of signals) process.on(signal, end);
  try {
    return await new Promise((resolve) => {
      child.once('error', () => resolve(1));
      child.once('close', resolve);
    });
  } finally {
    for (const signal of signals) process.removeListener(signal, end);
  }
}

async function install(say) {
  say('Installing dependencies with npm ci (about 1 minute the first time)');
  const startedAt = Date.now();
  const progress = setInterval(
    () => say(`  still installing (${Math.round((Date.now() - startedAt) / 1000)} s)`),
    20_000,
  );
  // Settings of the npm that started this process (production mode, a prefix) do not apply to this install.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(?!config_(registry|cache|userconfig|.*proxy|cafile)$)/i.test(name),
    ),
  );
  const npm = process.env.npm_execpath;
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  const child = spawn(
    command,
    [...first, 'ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: projectDir,
      env: { ...env, NODE_ENV: 'development' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = (output + chunk).slice(-20_000);
    });
  }
  child.once('error', (error) => {
    output += error.message;
  });
  const code = await untilEnded(child);
  clearInterval(progress);
  if (code !== 0) throw new Error(`npm ci failed (status ${code}):\n${output.trim()}`);
  writeFileSync(INSTALL_STAMP, lockfileHash());
  say(`  installed in ${Math.round((Date.now() - startedAt) / 1000)} s`);
}

/** Builds in its own process, whose memory is released afterwards. */
async function buildApart(part) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--build-only', part], {
    cwd: projectDir,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = (output + chunk).slice(-20_000);
    });
  }
  const code = await untilEnded(child);
  if (code !== 0) throw new Error(`The build of the ${part} failed:\n${output.trim()}`);
}

/** Translates the sources below a folder to another one, and copies the other files. */
async function translate(swc, options, from, to, files) {
  for (const file of files) {
    const out = join(to, relative(from, file));
    mkdirSync(dirname(out), { recursive: true });
    if (!file.endsWith('.ts')) {
      if (!file.endsWith('.mjs')) cpSync(file, out);
      continue;
    }
    if (file.endsWith('.d.ts')) continue;
    const js = out.replace(/\.ts$/, '.js');
    const { code, map } = await swc.transformFile(file, {
      ...options,
      sourceMaps: true,
      sourceFileName: relative(dirname(js), file),
    });
    const name = js.slice(dirname(js).length + 1);
    writeFileSync(js, `${code}\n//# sourceMappingURL=${name}.map\n`);
    writeFileSync(`${js}.map`, map);
    if (code.startsWith('#!')) chmodSync(js, 0o755);
  }
}

/** Writes the types of the client, for those who compile against it. */
async function declare(require, to) {
  const tsc = join(dirname(require.resolve('@typescript/native/package.json')), 'bin', 'tsc');
  const args = ['-p', CLIENT, '--noCheck', '--incremental', 'false', '--outDir', to];
  const child = spawn(process.execPath, [tsc, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  const code = await new Promise((resolve) => child.once('error', () => resolve(1)).once('close', resolve));
  if (code !== 0) throw new Error(`tsc failed (status ${code})`);
}

/** Puts a built folder in the place of the one before. */
function replaceFolder(built, place) {
  const old = `${place}.${process.pid}.old`;
  if (existsSync(place)) renameSync(place, old);
  renameSync(built, place);
  rmSync(old, { recursive: true, force: true });
}

/** What translates, with its options. */
function translator() {
  const require = createRequire(join(projectDir, 'package.json'));
  return { require, swc: require('@swc/core'), options: require(join(projectDir, 'swc.config.js')) };
}

/** Translates sources to dist/, bundles the workflows and builds the rescue page. Types are checked by `npm run check`, not here. */
async function build(hash) {
  const { require, swc, options } = translator();
  const target = join(projectDir, `dist.${process.pid}`);
  const clientTarget = join(CLIENT, `dist.${process.pid}`);
  for (const dir of [target, clientTarget]) rmSync(dir, { recursive: true, force: true });
  try {
    const { writeClientTypes } = await import('./clientTypes.mjs');
    await writeClientTypes();
    const all = sources(SOURCES);
    const isOfClient = (file) => file.startsWith(join(CLIENT, sep));
    await translate(
      swc,
      options,
      projectDir,
      target,
      all.filter((file) => !isOfClient(file)),
    );
    const declared = declare(require, clientTarget);
    const { buildClient } = await import('./buildClient.mjs');
    await buildClient(clientTarget);
    const { buildRescue } = await import('./buildRescue.mjs');
    await buildRescue(join(target, 'rescue.html'));
    await declared;
    const workflows = join(projectDir, 'workflows', 'index.ts');
    if (existsSync(workflows)) {
      const { bundleWorkflowCode } = require('@temporalio/worker');
      const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error };
      const tracing = join(projectDir, 'workflows', 'tracing.ts');
      // The same options as src/workflowSource.ts.
      const { code } = await bundleWorkflowCode({
        workflowsPath: workflows,
        workflowInterceptorModules: [tracing],
        preloadModules: [workflows, tracing],
        logger: quiet,
      });
      writeFileSync(join(target, 'workflow-bundle.js'), code);
    }
    writeFileSync(join(target, '.built-from'), hash);
    replaceFolder(clientTarget, join(CLIENT, 'dist'));
    replaceFolder(target, join(projectDir, 'dist'));
  } finally {
    for (const dir of [target, clientTarget]) rmSync(dir, { recursive: true, force: true });
  }
}

/** Builds the page that the API serves. */
async function buildPage(hash) {
  const target = join(CONSOLE, `dist.${process.pid}`);
  try {
    const { buildConsole } = await import('./buildConsole.mjs');
    await buildConsole(target, hash);
    replaceFolder(target, join(CONSOLE, 'dist'));
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

/** Translates the bench, which needs the service beside it. */
async function buildBench(hash) {
  const { swc, options } = translator();
  const target = `${BENCH}.${process.pid}`;
  try {
    await translate(swc, options, join(projectDir, 'test'), target, sources(BENCH_SOURCES));
    writeFileSync(join(target, '.built-from'), hash);
    replaceFolder(target, BENCH);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

/** What is built, each when its own sources have changed. */
const PARTS = {
  service: {
    hash: () => sourceHash([...SOURCES, ...RESCUE_SOURCES, CONTRACT]),
    isBuilt: (hash) =>
      read(BUILD_STAMP) === hash && existsSync(join(CLIENT, 'dist')) && existsSync(CLIENT_TYPES),
    build,
  },
  console: {
    hash: () => sourceHash(CONSOLE_SOURCES),
    isBuilt: (hash) => read(CONSOLE_STAMP) === hash,
    build: buildPage,
  },
  // In the folder of the service, which a build of that replaces.
  bench: {
    hash: () => sourceHash(BENCH_SOURCES),
    isBuilt: (hash) => read(BENCH_STAMP) === hash,
    build: buildBench,
  },
};

const isOutdated = (part) => !PARTS[part].isBuilt(PARTS[part].hash());

/** What tells this build apart: its commit, with `-dirty` where files have changed since; without git, its sources. */
export function revision() {
  if (process.env.ORGWALLET_REVISION) return process.env.ORGWALLET_REVISION;
  // Not that of a repository around this folder.
  if (existsSync(join(projectDir, '.git'))) {
    const args = ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'];
    // A hook of git has settings of its own repository, which would be asked instead.
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
    const env = { ...Object.fromEntries(own), GIT_OPTIONAL_LOCKS: '0' };
    const { status, stdout } = spawnSync('git', args, { cwd: projectDir, env, encoding: 'utf8' });
    if (status === 0) return stdout.trim();
  }
  return `sources-${(read(BUILD_STAMP) ?? '').slice(0, 12)}`;
}

/** Records the revision of what is built; a new commit may change nothing else. */
function recordRevision() {
  const now = revision();
  if (read(REVISION) === now) return;
  try {
    writeFileSync(REVISION, now);
  } catch {
    // a folder of another user
  }
}

/**
 * Installs and builds what is missing or out of date.
 * `say` receives one line for each slow step; `withBench`: the bench as well.
 */
export async function bootstrap(say = (line) => console.log(line), { withBench = false } = {}) {
  requireNode();
  // An image is built once, by its Dockerfile, and its folder may be read-only.
  if (process.env.ORGWALLET_PREBUILT === 'true') return;
  const steps = [['service', 'console'], withBench ? ['bench'] : []];
  if (isInstalled() && !steps.flat().some(isOutdated)) return recordRevision();
  await withLock(say, async () => {
    if (!isInstalled()) await install(say);
    if (steps.flat().some(isOutdated)) {
      say('Building (about 10 s)');
      const startedAt = Date.now();
      for (const parts of steps) await Promise.all(parts.filter(isOutdated).map(buildApart));
      say(`  built in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
    }
    recordRevision();
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const part = process.argv[2] === '--build-only' ? PARTS[process.argv[3]] : undefined;
  const work = part ? part.build(part.hash()) : bootstrap();
  work.catch((error) => {
    console.error(error.message);
    process.exit(1);
  });
}
