// Cuts a release: node tools/release.mjs 1.4.0 [--repository <url>]
// It changes the changelog and every place that names the version, commits and tags that, and writes the artifacts into
// dist/release: the packages, the chart, openapi.json, the rescue page and their checksums. It pushes and publishes nothing.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (...path) => join(root, ...path);
const run = (command, args) => execFileSync(command, args, { cwd: root, encoding: 'utf8' });

function fail(message) {
  console.error(message);
  process.exit(1);
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { repository: { type: 'string' } },
});
const [version = ''] = positionals;
const before = JSON.parse(readFileSync(at('package.json'), 'utf8')).version;

if (!/^\d+\.\d+\.\d+$/.test(version)) fail(`invalid version "${version}" (expected e.g. 1.4.0)`);
if (run('git', ['status', '--porcelain']) !== '')
  fail('the working tree has changes: commit or remove them first');
if (run('git', ['tag', '--list', `v${version}`]) !== '') fail(`the tag v${version} exists`);

const changelog = readFileSync(at('CHANGELOG.md'), 'utf8');
const [, unreleased = ''] = /^## \[Unreleased\]\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(changelog) ?? [];
if (unreleased.trim() === '') fail('CHANGELOG.md has nothing under Unreleased');

/** Replaces text that a file has to have. */
function edit(file, from, to) {
  const text = readFileSync(at(file), 'utf8');
  const edited = text.replace(from, to);
  if (edited === text && version !== before) fail(`${file} does not name the version ${before}`);
  writeFileSync(at(file), edited);
}

const OWN = ['@orgwallet/client', 'orgwallet', '@orgwallet/console'];

/** Sets the version of a manifest, and of our packages in what it needs. */
function setVersion(manifest) {
  manifest.version = version;
  for (const needs of [manifest.dependencies, manifest.devDependencies])
    for (const name of OWN) if (needs?.[name]) needs[name] = version;
}

function editJson(file, change) {
  const content = JSON.parse(readFileSync(at(file), 'utf8'));
  change(content);
  writeFileSync(at(file), `${JSON.stringify(content, null, 2)}\n`);
}

/** Every `package.json` of the repository and the lockfile. npm is not asked: it would look for our packages in its registry. */
function setPackageVersions() {
  for (const folder of ['', 'client', 'console']) {
    editJson(join(folder, 'package.json'), (manifest) => {
      setVersion(manifest);
      if (!values.repository || folder === 'console') return;
      manifest.repository = { type: 'git', url: values.repository };
      if (folder) manifest.repository.directory = folder;
    });
  }
  editJson('package-lock.json', (lockfile) => {
    lockfile.version = version;
    for (const folder of ['', 'client', 'console']) setVersion(lockfile.packages[folder]);
  });
}

const today = new Date().toISOString().slice(0, 10);
edit('CHANGELOG.md', '## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${today}\n`);
setPackageVersions();
edit(
  'ops/helm/Chart.yaml',
  `version: ${before}\nappVersion: "${before}"`,
  `version: ${version}\nappVersion: "${version}"`,
);
edit('Dockerfile', `image.version="${before}"`, `image.version="${version}"`);
edit('docker-compose.production.yml', `orgwallet:${before}`, `orgwallet:${version}`);
for (const page of ['docs/production.md', 'docs/client.md'])
  edit(page, new RegExp(`(orgwallet[:\\w-]*?[-:])${before}`, 'g'), `$1${version}`);
// Replayed by every later build.
cpSync(at('test/histories/unreleased.json.gz'), at('test/histories', `${version}.json.gz`));
run('git', ['add', '--all']);
run('git', ['commit', '--quiet', '--message', `chore(release): ${version}`]);
run('git', ['tag', '--annotate', `v${version}`, '--message', `orgwallet ${version}`]);

const release = at('dist/release');
rmSync(release, { recursive: true, force: true });
run('npm', ['run', '--silent', 'build']);
mkdirSync(release, { recursive: true });
for (const workspace of [[], ['--workspace', '@orgwallet/client']]) {
  run('npm', ['pack', '--silent', '--pack-destination', release, ...workspace]);
}
cpSync(at('openapi.json'), join(release, 'openapi.json'));
cpSync(at('dist/rescue.html'), join(release, 'rescue.html'));
const staging = mkdtempSync(join(tmpdir(), 'orgwallet-chart-'));
cpSync(at('ops/helm'), join(staging, 'orgwallet'), { recursive: true });
run('tar', ['-czf', join(release, `orgwallet-chart-${version}.tgz`), '-C', staging, 'orgwallet']);
rmSync(staging, { recursive: true });

const sums = readdirSync(release)
  .sort()
  .map(
    (file) =>
      `${createHash('sha256')
        .update(readFileSync(join(release, file)))
        .digest('hex')}  ${file}\n`,
  );
writeFileSync(join(release, 'SHA256SUMS'), sums.join(''));
console.log(`${sums.join('')}
Tagged v${version}. dist/release has what to publish. Then:
  git push origin main v${version}
  npm publish --provenance dist/release/orgwallet-client-${version}.tgz`);
