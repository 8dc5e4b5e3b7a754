import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../src/projectRoot';
import { installPackages } from '../support/debianPackages';
import { temporaryDir } from '../support/stack';

const run = promisify(execFile);

const IMAGE = 'localhost/orgwallet-tested';
const BASE = 'localhost/orgwallet-tested-node';
/** Without a daemon and without namespaces of its own, as in a container. */
const ISOLATION = ['--isolation', 'chroot', '--network', 'host'];
const MAX_BUFFER = 64 * 1_024 * 1_024;

const buildah = (...args: string[]) => run('buildah', args, { maxBuffer: MAX_BUFFER });

/**
 * Stands for the image of Node, which is in a registry: Debian, this Node with its npm, and the user of that image. Where npm has
 * settings of its own here, it has them there.
 */
async function makeBase(): Promise<void> {
  const root = join(temporaryDir(), 'root');
  await run('debootstrap', ['--variant=minbase', 'bookworm', root], { maxBuffer: MAX_BUFFER });
  const node = process.execPath;
  cpSync(node, join(root, 'usr/local/bin/node'), { dereference: true });
  const { stdout } = await run('npm', ['root', '--global']);
  const npm = join(root, 'usr/local/lib/node_modules/npm');
  mkdirSync(dirname(npm), { recursive: true });
  cpSync(join(stdout.trim(), 'npm'), npm, { recursive: true });
  for (const name of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name));
  }
  const ownSettings = join(homedir(), '.npmrc');
  if (existsSync(ownSettings)) cpSync(ownSettings, join(root, 'root/.npmrc'));
  await run('chroot', [root, 'groupadd', '--gid', '1000', 'node']);
  await run('chroot', [root, 'useradd', '--uid', '1000', '--gid', 'node', '--create-home', 'node']);
  // Where connections are inspected here, the authority of that is known there too.
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  if (authorities) cpSync(authorities, join(root, 'etc/authorities.pem'), { dereference: true });
  const file = join(dirname(root), 'Dockerfile');
  writeFileSync(
    file,
    `FROM scratch\nCOPY root /\n${authorities ? 'ENV NODE_EXTRA_CA_CERTS=/etc/authorities.pem\n' : ''}`,
  );
  await buildah('build', ...ISOLATION, '--tag', BASE, '--file', file, dirname(root));
}

let container: string;

/** Runs a program in the image for production. */
async function inImage(...args: string[]) {
  const { stdout, stderr } = await buildah('run', '--isolation', 'chroot', container, '--', ...args);
  return { stdout, stderr };
}

beforeAll(async () => {
  installPackages('buildah', 'debootstrap');
  await makeBase();
  await buildah(
    ...['build', ...ISOLATION, '--build-arg', `NODE_IMAGE=${BASE}`, '--build-arg', 'REVISION=4e5302c763eb'],
    ...['--build-arg', 'BUILD_ID=1.4.0', '--format', 'docker', '--tag', IMAGE, projectRoot()],
  );
  container = (await buildah('from', IMAGE)).stdout.trim();
}, 1_800_000);
afterAll(async () => {
  if (container) await buildah('rm', container);
  await buildah('rmi', IMAGE, BASE);
});

const version = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8')).version;

it('is built by the Dockerfile, and says what it is', async () => {
  const { stdout } = await buildah('inspect', '--type', 'image', IMAGE);
  const { config } = JSON.parse(stdout).Docker;
  expect(config).toMatchObject({
    User: 'node',
    WorkingDir: '/app',
    Cmd: ['node', 'dist/src/main.js'],
    Labels: {
      'org.opencontainers.image.title': 'orgwallet',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': '4e5302c763eb',
      'org.opencontainers.image.licenses': 'MIT',
    },
  });
  expect(config.Env).toEqual(
    expect.arrayContaining(['NODE_ENV=production', 'TEMPORAL_BUILD_ID=1.4.0', 'HOME=/nonexistent']),
  );
});

it('runs commands as a user without a home, and has no npm', async () => {
  expect((await inImage('orgwallet', '--version')).stdout).toBe(`${version}+4e5302c763eb\n`);
  expect((await inImage('id', '-un')).stdout).toBe('node\n');
  const script =
    'for name in npm npx yarn corepack; do command -v $name && exit 1; done; test ! -e /home/node';
  await inImage('sh', '-c', script);
});

it('loads the whole service, which names the settings that are missing', async () => {
  const started = await inImage('node', 'dist/src/main.js').catch((error) => error);
  expect(started.code).toBe(1);
  expect(JSON.parse(started.stdout)).toMatchObject({
    level: 'fatal',
    version: `${version}+4e5302c763eb`,
    msg: 'cannot start: settings are missing',
  });
});
