import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../../src/projectRoot';

const root = projectRoot();
const LIMIT_MS = 120_000;

test.each([
  ['is empty, because its process was killed or had a full disk', ''],
  ['is of a process that has ended', '4194305'],
])(
  'a lock that %s keeps no set-up waiting',
  async (_, content) => {
    const dir = mkdtempSync(join(tmpdir(), 'orgwallet-lock-'));
    const place = createHash('sha256').update(root).digest('hex').slice(0, 16);
    const lock = join(dir, `orgwallet-bootstrap-${place}.lock`);
    writeFileSync(lock, content);
    utimesSync(lock, new Date(0), new Date(0));
    const program = `const { withLock } = await import('./tools/dev/bootstrap.mjs');
      await withLock(console.log, async () => console.log('set up')); process.exit()`;
    const options = { cwd: root, env: { ...process.env, TMPDIR: dir }, timeout: LIMIT_MS / 2 };
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], options);
    expect((await run).stdout).toBe('set up\n');
    expect(existsSync(lock)).toBe(false);
  },
  LIMIT_MS,
);
