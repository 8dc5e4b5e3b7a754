import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Migration, migrationHash, migrations } from '../../../src/db/migrations';
import { projectRoot } from '../../../src/projectRoot';

/** The hashes of the migrations that each release added, by its version. */
type Released = Readonly<Record<string, Readonly<Record<string, string>>>>;

const read = (file: string) => readFileSync(join(projectRoot(), file), 'utf8');
const released: Released = JSON.parse(read('src/db/migrations/released.json'));
const releases = (changelog: string) =>
  [...changelog.matchAll(/^## \[(\d[^\]]*)\]/gm)].map(([, version = '']) => version);

/** What is wrong with the migrations, by what was released. */
function faults(steps: readonly Migration[], frozen: Released, versions: readonly string[]): string[] {
  const entries = Object.values(frozen).flatMap((added) => Object.entries(added));
  const changed = entries.flatMap(([name, hash], index) => {
    const step = steps[index];
    if (step?.name !== name) return [`migration ${index + 1} was released as ${name}, and is ${step?.name}`];
    if (migrationHash(step) === hash) return [];
    return [`${name} was released as ${hash}, and is ${migrationHash(step)}: add a new migration instead`];
  });
  const unrecorded = versions.filter((version) => !(version in frozen));
  const added = steps.slice(entries.length).map((step) => [step.name, migrationHash(step)]);
  return [
    ...changed,
    ...unrecorded.map(
      (version) =>
        `src/db/migrations/released.json lacks ${version}: ${JSON.stringify(Object.fromEntries(added))}`,
    ),
  ];
}

test('released migrations are as they were released', () => {
  expect(faults(migrations, released, releases(read('CHANGELOG.md')))).toEqual([]);
});

describe('on a sample', () => {
  const steps = [
    { name: '001_first', sql: 'CREATE TABLE a ()' },
    { name: '002_second', sql: 'CREATE TABLE b ()' },
    { name: '003_third', sql: 'CREATE TABLE c ()' },
  ] as const;
  const [first, second, third] = steps;
  const frozen = {
    '1.0.0': { '001_first': migrationHash(first) },
    '1.1.0': { '002_second': migrationHash(second) },
  };
  const versions = ['1.1.0', '1.0.0'];

  it('permits a migration that is not released', () => {
    expect(faults(steps, frozen, versions)).toEqual([]);
  });

  it('refuses a released one that is changed, renamed, moved or deleted', () => {
    const changed = { ...second, sql: 'CREATE TABLE b (id text)' };
    expect(faults([first, changed, third], frozen, versions)).toEqual([
      `002_second was released as ${migrationHash(second)}, and is ${migrationHash(changed)}: add a new migration instead`,
    ]);
    expect(faults([first, { ...second, name: '002_other' }], frozen, versions)).toEqual([
      'migration 2 was released as 002_second, and is 002_other',
    ]);
    expect(faults([first, third, second], frozen, versions)).toHaveLength(1);
    expect(faults([first], frozen, versions)).toEqual([
      'migration 2 was released as 002_second, and is undefined',
    ]);
  });

  it('refuses a release whose migrations are not recorded', () => {
    expect(faults(steps, frozen, ['1.2.0', ...versions])).toEqual([
      `src/db/migrations/released.json lacks 1.2.0: {"003_third":"${migrationHash(third)}"}`,
    ]);
  });
});
