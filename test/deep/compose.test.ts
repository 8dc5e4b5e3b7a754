import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../src/projectRoot';
import { type GoProgram, goProgram } from '../support/goProgram';
import { temporaryDir } from '../support/stack';

const run = promisify(execFile);

/**
 * Docker Compose's own reader of these files: their schema, references, merges and variables. Its command has no variable from
 * outside.
 */
const COMPOSE: GoProgram = { path: 'github.com/compose-spec/compose-go/v2/cmd', version: 'v2.16.2' };
const LIMIT_MS = 600_000;

let compose: string;

beforeAll(async () => {
  compose = await goProgram(COMPOSE);
}, LIMIT_MS);

/** What Compose makes of a file of this project, with another text in it in place of each. Throws with what it says. */
async function readBy(name: string, instead: Readonly<Record<string, string>> = {}) {
  const folder = temporaryDir();
  let text = readFileSync(join(projectRoot(), name), 'utf8');
  for (const [from, to] of Object.entries(instead)) {
    expect(text).toContain(from);
    text = text.replaceAll(from, to);
  }
  writeFileSync(join(folder, name), text);
  const { stdout } = await run(compose, ['-format', 'json', name], { cwd: folder });
  return { folder, project: JSON.parse(stdout) };
}

const ADDRESS = `\${TEMPORAL_ADDRESS:?the Temporal frontend, host:port}`;

it('reads the file for production, with each secret where it is used', async () => {
  const { folder, project } = await readBy('docker-compose.production.yml', {
    [ADDRESS]: 'temporal.example:7233',
  });
  const { environment, secrets } = project.services.signer;
  expect(environment).toMatchObject({
    TEMPORAL_ADDRESS: 'temporal.example:7233',
    TEMPORAL_API_KEY_FILE: '',
    SIGNER_DATABASE_URL_FILE: '/run/secrets/signer-database-url',
  });
  const files = secrets.map(({ source }: { source: string }) => project.secrets[source].file);
  expect(files).toEqual([
    join(folder, 'secrets', 'signer-database-url'),
    join(folder, 'secrets', 'keystore-passphrase'),
    '/dev/null',
  ]);
});

it('refuses the file for production without the address of Temporal', async () => {
  await expect(readBy('docker-compose.production.yml')).rejects.toThrow(
    /required variable TEMPORAL_ADDRESS is missing a value: the Temporal frontend, host:port/,
  );
});

it('refuses a file with a key that does not exist', async () => {
  const wrong = readBy('docker-compose.production.yml', { [ADDRESS]: 'x', 'cap_drop:': 'cap_dropped:' });
  await expect(wrong).rejects.toThrow(/cap_dropped/);
});

it('reads the file for trying it out without any settings', async () => {
  const { project } = await readBy('docker-compose.yml');
  expect(project.services.orgwallet.environment.DATABASE_URL).toMatch(/^postgres:\/\/orgwallet_service:/);
});
