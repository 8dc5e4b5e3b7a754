import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTemporalBinary, type Maker } from '../../../tools/dev/temporalBinary';

let cache: string;
let runs: string;
let said: string[];

beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'temporal-cache-'));
  runs = join(cache, 'runs');
  said = [];
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

/** A program that reports a version of the server, and notes each run. */
function programOf(server = '1.29.0'): string {
  return `#!/bin/sh\necho run >> '${runs}'\necho 'temporal version 1.5.1 (Server ${server}, UI 2.42.1)'\n`;
}

/** Makes such a program; `made` counts how often. */
function makerOf(program = programOf()): Maker & { made: number } {
  return {
    name: 'a maker',
    source: 'made',
    made: 0,
    async make(folder) {
      this.made += 1;
      const file = join(folder, 'temporal');
      writeFileSync(file, program);
      chmodSync(file, 0o755);
      return file;
    },
  };
}

const find = (...makers: Maker[]) =>
  findTemporalBinary(
    { XDG_CACHE_HOME: cache, PATH: '/nonexistent' },
    (line) => said.push(line),
    // A maker uses itself.
    makers.map((maker) => ({
      ...maker,
      make: (...input: Parameters<Maker['make']>) => maker.make(...input),
    })),
  );

const runsOf = () => (existsSync(runs) ? readFileSync(runs, 'utf8').split('\n').length - 1 : 0);

describe('a Temporal CLI that is not cached', () => {
  it('is made once, and kept with its hash in the form of sha256sum', async () => {
    const maker = makerOf();
    const { path, source } = await find(maker);
    expect([source, maker.made]).toEqual(['made', 1]);
    expect(await find(maker)).toEqual({ path, source: 'from the cache' });
    expect(maker.made).toBe(1);
    expect(said).toEqual([]);
    const folder = join(cache, 'orgwallet');
    expect(readdirSync(folder).sort()).toEqual(
      [path, `${path}.sha256`].map((file) => file.split('/').at(-1)),
    );
    const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
    expect(readFileSync(`${path}.sha256`, 'utf8')).toBe(`${hash}  ${path.split('/').at(-1)}\n`);
  });

  it('is not kept when it is too old; the next maker is asked, and all reasons are given', async () => {
    const { source } = await find(makerOf(programOf('1.20.0')), { ...makerOf(), source: 'second' });
    expect(source).toBe('second');
    expect(said).toEqual([expect.stringContaining('has server 1.20, 1.28 or newer is needed')]);
    rmSync(join(cache, 'orgwallet'), { recursive: true });
    await expect(find(makerOf(programOf('1.20.0')))).rejects.toThrow(/4\. a maker: .* has server 1\.20/);
    expect(readdirSync(join(cache, 'orgwallet'))).toEqual([]);
  });
});

describe('a cached Temporal CLI', () => {
  it('that was changed is not run, but removed and made again', async () => {
    const maker = makerOf();
    const { path } = await find(maker);
    appendFileSync(path, 'touch changed\n');
    const before = runsOf();
    await expect(find()).rejects.toThrow(
      `the cached copy: ${path} was not what had been built or downloaded`,
    );
    expect(runsOf()).toBe(before);
    expect(readdirSync(join(cache, 'orgwallet'))).toEqual([]);
    expect(said).toEqual([`Temporal: ${path} was not what had been built or downloaded, and was removed`]);
    expect(await find(maker)).toEqual({ path, source: 'made' });
    expect(maker.made).toBe(2);
  });

  it('whose recorded hash is another one is made again', async () => {
    const maker = makerOf();
    const { path } = await find(maker);
    writeFileSync(`${path}.sha256`, '');
    expect((await find(maker)).source).toBe('made');
    expect((await find(maker)).source).toBe('from the cache');
  });

  it('of an earlier version, which recorded no hash, is recorded as it is', async () => {
    const maker = makerOf();
    const { path } = await find(maker);
    rmSync(`${path}.sha256`);
    expect((await find()).source).toBe('from the cache');
    expect(said).toEqual([expect.stringContaining('recorded the hash of the cached CLI')]);
    appendFileSync(path, '#');
    expect((await find(maker)).source).toBe('made');
  });
});
