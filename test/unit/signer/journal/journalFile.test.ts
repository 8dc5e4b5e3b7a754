import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Journal, leaseFile, openJournal } from '../../../../src/signer/journal/journal';
import { JournalReader } from '../../../../src/signer/journal/journalReader';
import { until } from '../../../support/until';

let folder: string;
let file: string;
let journal: Journal | undefined;
let lost: Error[];
const mounted: string[] = [];

const aLine = (id: string) => ({ type: 'freeze' as const, organizationId: 'org_1', id });

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'journal-')), 'signer');
  mkdirSync(folder);
  file = join(folder, 'journal');
  lost = [];
});
afterEach(async () => {
  await journal?.close().catch(() => undefined);
  for (const at of mounted.splice(0)) execFileSync('umount', ['--lazy', at]);
});

async function opened(): Promise<Journal> {
  journal = await openJournal({ file, waitMs: 0, onLost: (error) => lost.push(error) });
  await journal.append(aLine('a'), aLine('b'));
  return journal;
}

function mount(at: string, ...options: string[]): void {
  execFileSync('mount', ['-t', 'tmpfs', ...options, 'tmpfs', at]);
  mounted.push(at);
}

test('a journal that takes long to read is not taken for one that something else writes to', async () => {
  await (await opened()).close();
  const load = JournalReader.prototype.load;
  jest.spyOn(JournalReader.prototype, 'load').mockImplementation(async function (this: JournalReader) {
    // Longer than until it is looked at.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    return load.call(this);
  });
  journal = await openJournal({ file, waitMs: 0, onLost: (error) => lost.push(error) }).finally(() =>
    jest.restoreAllMocks(),
  );
  expect(lost).toEqual([]);
  await journal.append(aLine('c'));
  expect(journal.lines()).toBe(3);
});

test.each<[string, () => void, RegExp]>([
  ['was deleted', () => rmSync(file), /is not there any more: it was deleted or moved, or its disk/],
  ['was moved', () => renameSync(file, `${file}.old`), /is not there any more/],
  ['went with its folder', () => renameSync(folder, `${folder}.old`), /is not there any more/],
  [
    'was made anew',
    () => {
      renameSync(file, `${file}.old`);
      writeFileSync(file, '');
    },
    /another file is in its place/,
  ],
  [
    'was replaced by its own copy',
    () => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
    /another file is in its place/,
  ],
  ['is below another mounted disk', () => mount(folder), /is not there any more/],
  ['was truncated', () => truncateSync(file, 100), /has 100 bytes, and \d+ were written: it was truncated/],
  ['was emptied', () => truncateSync(file, 0), /has 0 bytes/],
  ['was written to', () => writeSync(openSync(file, 'a'), 'x'), /something else has written to it/],
  [
    'has another last line',
    () => writeFileSync(file, readFileSync(file, 'utf8').replace('"id":"b"', '"id":"c"')),
    /its last line was changed/,
  ],
])('a journal that %s stops its signer, by itself and at the next signature', async (_, change, message) => {
  const one = await opened();
  one.assertCurrent();
  change();
  expect(() => one.assertCurrent()).toThrow(message);
  await until('the signer is told', async () => lost.length === 1, 10_000);
  expect(lost[0]?.message).toMatch(message);
  await expect(one.append(aLine('c'))).rejects.toThrow(message);
  await expect(one.assertSignable()).rejects.toThrow(message);
});

test('without a signature it is noticed when the leases are renewed', async () => {
  await opened();
  rmSync(file);
  await until('the signer is told', async () => lost.length === 1, 10_000);
  expect(lost[0]?.message).toMatch(/^.*journal: the journal is not there any more/);
});

test('while it is being written it is as it should be', async () => {
  const one = await opened();
  const writing = Array.from({ length: 200 }, (_, i) => one.append(aLine(`line ${i}`)));
  for (let i = 0; i < 200; i += 1) {
    one.assertCurrent();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(writing);
  one.assertCurrent();
  expect(lost).toEqual([]);
});

/** The files that this process has open. */
const openFiles = () =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // The one of the folder itself, which is closed.
      return [];
    }
  });

test('a full disk stops the signer, says so, and leaves a journal that can be opened again', async () => {
  mount(folder, '-o', 'size=16k');
  const one = await opened();
  const large = 'x'.repeat(3_000);
  const all = Array.from({ length: 10 }, (_, i) => one.append(aLine(`${i}${large}`)));
  expect((await Promise.allSettled(all)).some(({ status }) => status === 'rejected')).toBe(true);
  await until('the signer is told', async () => lost.length === 1, 10_000);
  expect(lost[0]?.message).toMatch(
    /the journal cannot be written, so this process must end: its disk is full/,
  );
  await one.close();
  journal = await openJournal({ file, waitMs: 0 });
  expect(journal.isRequestDone('a')).toBe(true);
});

test('a disk that is read-only stops the signer without a signature, and keeps it from starting', async () => {
  await opened();
  const beneath = `${folder}.beneath`;
  mkdirSync(beneath);
  execFileSync('mount', ['--bind', folder, beneath]);
  mounted.push(beneath);
  execFileSync('mount', ['--bind', folder, folder]);
  mounted.push(folder);
  execFileSync('mount', ['-o', 'remount,bind,ro', folder]);
  await until('the signer is told', async () => lost.length === 1, 10_000);
  expect(lost[0]?.message).toMatch(/read-only/);
  await journal?.close().catch(() => undefined);
  expect(openFiles().filter((one) => one.startsWith(file))).toEqual([]);
  // Its lease has ended, as it does by itself.
  rmSync(leaseFile(join(beneath, 'journal')));
  await expect(openJournal({ file, waitMs: 0 })).rejects.toThrow(/cannot be written.*read-only/);
});
