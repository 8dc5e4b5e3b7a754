import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import type { Command } from 'commander';
import { endpoints, proposals } from '../../../src/api/endpoints';
import { createProgram } from '../../../src/cli/program';
import { STATUS_BY_CODE } from '../../../src/contract/errors';
import { describeIssue, fieldIssues } from '../../../src/contract/issues';
import { operations } from '../../../src/operations';
import { anchorsIn } from '../../support/markdown';

const project = join(__dirname, '..', '..', '..');
const read = (file: string) => readFileSync(join(project, file), 'utf8');

const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(join(project, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
];

function headings(file: string): string[] {
  return anchorsIn(read(file));
}

/** What the examples of new things would add. */
const PROPOSED_FILES = ['src/operations/accountsRemove.ts', 'src/operations/accountsRemove.request.ts'];
const PROPOSED_NAMES = ['archiveAccounts', 'costCenter'];

/** Where the code is that pages name. */
const SOURCES = ['src', 'activities', 'workflows', 'client/src', 'console/src', 'tools'];

/** The files of folders, those below them included. */
const filesIn = (folders: readonly string[]) =>
  folders.flatMap((folder) =>
    readdirSync(join(project, folder), { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
      .map((entry) => join(entry.parentPath, entry.name).slice(project.length + 1)),
  );

/** The steps and paragraphs of the checklists for changes, without their blocks of code. */
function stepsOfChecklists(): string[] {
  const page = read('CONTRIBUTING.md');
  const checklists = page.slice(
    page.indexOf('\n## Adding a kind of operation\n'),
    page.indexOf('\n## Rules that protect money\n'),
  );
  return checklists.replaceAll(/```[\s\S]*?```/g, '').split(/\n(?=\d+\. )|\n\n/);
}

/** The paths, file names and identifiers that are in code font in a step and name nothing there is. */
function unknownIn(step: string, files: readonly string[]): string[] {
  const codes = [...step.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
  const paths = codes.filter((code) => /^[\w./-]+(\/|\.tsx?)$/.test(code) && !PROPOSED_FILES.includes(code));
  const filesOf = (path: string) =>
    files.filter((file) => (path.endsWith('/') ? file.startsWith(path) : `/${file}`.endsWith(`/${path}`)));
  const named = paths.flatMap(filesOf);
  // What a step names is in one of the files that it names; a step without a file can mean any source.
  const searched = named.length > 0 ? named : files.filter((file) => !file.startsWith('test/'));
  const text = searched.map(read).join('\n');
  const names = codes.flatMap((code) => /^([A-Za-z_]\w+)(?:\(.*\))?$/.exec(code)?.[1] ?? []);
  return [
    ...paths.filter((path) => filesOf(path).length === 0),
    ...names.filter((name) => !PROPOSED_NAMES.includes(name) && !new RegExp(`\\b${name}\\b`).test(text)),
  ];
}

/** Settings that src/config.ts does not parse. */
const ELSEWHERE = ['MIGRATION_DATABASE_URL', 'RECOVERY_DATABASE_URL', 'NODE_ENV', 'TEMPORAL_CLI_PATH'];

const silent = { out: () => undefined, err: () => undefined, env: {} };

/** Full names of all commands that do something: `keys issue`. */
function commandNames(command: Command, before: readonly string[] = []): string[] {
  return command.commands.flatMap((child) => {
    const path = [...before, child.name()];
    return child.commands.length === 0 ? [path.join(' ')] : commandNames(child, path);
  });
}

const proposePaths = proposals.byResource.flatMap(({ propose }) => propose.map(({ path }) => path));

interface ExampleBody {
  readonly path: string;
  readonly text: string;
}

/** The bodies that a page shows: JSON right after the words that name its endpoint. */
function exampleBodies(page: string): ExampleBody[] {
  return [...read(page).matchAll(/`POST (\/[a-z/]+)`:\n\n```json\n([\s\S]*?)```/g)].map(
    ([, path = '', text = '']) => ({ path, text }),
  );
}

/** The fields of a body that its endpoint refuses. */
function refusedFields({ path, text }: ExampleBody): string[] {
  const endpoint = endpoints.find((known) => known.method === 'post' && known.path === path);
  if (!endpoint?.body) return [`there is no POST ${path}`];
  const parsed = endpoint.body.safeParse(JSON.parse(text), { error: describeIssue });
  return parsed.success ? [] : fieldIssues(parsed.error).map(({ field, message }) => `${field} ${message}`);
}

describe('the documentation', () => {
  it.each(pages)('has no broken link in %s', (page) => {
    for (const [, target = ''] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : normalize(join(dirname(page), path));
      expect([target, existsSync(join(project, file))]).toEqual([target, true]);
      if (anchor !== undefined) expect(headings(file)).toContain(anchor);
    }
  });

  it.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('names in %s only files that exist', (page) => {
    const named = [
      ...read(page).matchAll(/`((?:src|activities|workflows|client|console|tools|test)\/[\w./-]+)`/g),
    ]
      .map(([, path = '']) => path)
      .filter((path) => !PROPOSED_FILES.includes(path));
    expect(named.length).toBeGreaterThan(10);
    const exists = (path: string) =>
      [path, `${path}.test.ts`].some((file) => existsSync(join(project, file)));
    expect(named.filter((path) => !exists(path))).toEqual([]);
  });

  it('names in the checklists of CONTRIBUTING.md only files and identifiers that exist', () => {
    const steps = stepsOfChecklists();
    const files = filesIn([...SOURCES, 'test']);
    expect(steps.length).toBeGreaterThan(40);
    expect(steps.flatMap((step) => unknownIn(step, files))).toEqual([]);
  });

  it('has a row in CONTRIBUTING.md for every test file, and files for every row', () => {
    const [, table = ''] = /^\| Tests .*\n\| -.*\n((?:\|.*\n)+)/m.exec(read('CONTRIBUTING.md')) ?? [];
    const rows = [...table.matchAll(/^\|([^|]+)\|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([\w/*]+)`/g)].map(([, name = '']) => name),
    );
    const files = readdirSync(join(project, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => file.slice(0, -'.test.ts'.length));
    // A row names a folder or a file, or with `*` the files of one folder.
    const covers = (row: string, file: string) =>
      new RegExp(row.includes('*') ? `^${row.replace('*', '[^/]*')}$` : `^${row}(/|$)`).test(file);
    expect(files.length).toBeGreaterThan(50);
    expect(files.filter((file) => !rows.some((row) => covers(row, file)))).toEqual([]);
    expect(rows.filter((row) => !files.some((file) => covers(row, file)))).toEqual([]);
  });

  it('lists every page in the index', () => {
    const index = read('docs/README.md');
    const listed = pages.filter((page) => /^docs\/[a-z-]+\.md$/.test(page));
    expect(listed.filter((page) => !index.includes(`](${page.slice('docs/'.length)})`))).toEqual([]);
  });

  it.each([
    ['README.md', 100],
    ['ARCHITECTURE.md', 250],
  ])('keeps %s within %d lines', (page, most) => {
    expect(read(page).trimEnd().split('\n').length).toBeLessThanOrEqual(most);
  });

  it('has every setting in docs/settings.md, and no other', () => {
    const config = read('src/config.ts');
    const schema = config.slice(
      config.indexOf('const settings = z.object'),
      config.indexOf('const nativeAssetSchema'),
    );
    const names = [
      ...[...schema.matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name = '']) => name),
      ...[...read('tools/dev/settings.ts').matchAll(/portOf\(env, '([A-Z_]+)'/g)].map(
        ([, name = '']) => name,
      ),
      ...ELSEWHERE,
    ];
    expect(names.length).toBeGreaterThan(40);
    const rows = read('docs/settings.md').matchAll(/^\| (`[A-Z_`, ]+`) +\|/gm);
    const listed = [...rows].flatMap(([, cell = '']) => cell.replaceAll('`', '').split(', '));
    expect(listed.sort()).toEqual([...new Set(names)].filter((name) => !name.startsWith('TEST_')).sort());
    const forTests = names.filter((name) => name.startsWith('TEST_'));
    expect(forTests.filter((name) => !read('CONTRIBUTING.md').includes(`\`${name}\``))).toEqual([]);
  });

  it('has every error code with its status in docs/errors.md', () => {
    const rows = read('docs/errors.md').matchAll(/^\| `(\w+)` +\| (\d{3}) +\|/gm);
    expect(Object.fromEntries([...rows].map(([, code, status]) => [code, Number(status)]))).toEqual(
      STATUS_BY_CODE,
    );
  });

  it('has a row for every operator command in docs/cli.md, and for no other', () => {
    const rows = read('docs/cli.md').matchAll(/^\| `\.\/orgwallet ([a-z][a-z -]*[a-z])(?: [^`]*)?` +\|/gm);
    const listed = [...rows].map(([, name = '']) => name.replace(/ --.*$/, ''));
    expect(listed.sort()).toEqual(commandNames(createProgram(silent)).sort());
  });

  it('has a row for every request that proposes an operation, and for no other', () => {
    const rows = read('docs/operations.md').matchAll(/^\|[^|]+\| `(\/[a-z]+\/proposals[a-z/]*)` +\|/gm);
    expect([...rows].map(([, path]) => path).sort()).toEqual([...proposePaths].sort());
  });

  it('shows bodies that their endpoints take', () => {
    const examples = pages.flatMap(exampleBodies);
    expect(examples.length).toBeGreaterThanOrEqual(5);
    expect(examples.map((example) => [example.text, refusedFields(example)])).toEqual(
      examples.map(({ text }) => [text, []]),
    );
    const policies = examples.filter(({ path }) => path.startsWith('/policies'));
    const variants = policies.flatMap(
      ({ text }) => text.match(/TOKEN_TRANSFER|CONTRACT_INTERACTION|ANY/g) ?? [],
    );
    expect(new Set(variants).size).toBe(3);
  });

  it('says what each note and each failure of a proposal means', () => {
    const text = read('docs/errors.md');
    const notes = [
      'src/domain/externalEvents.ts',
      'src/approvals/changes.ts',
      'src/domain/wallet.ts',
      'src/domain/networkNotes.ts',
      'src/domain/reconciliation.ts',
      ...readdirSync(join(project, 'src/operations')).map((file) => join('src/operations', file)),
    ].flatMap((file) => [...read(file).matchAll(/\bcode: '(\w+)',?\s+message|\bNETWORK_\w+ = '(\w+)'/g)]);
    const codes = new Set(notes.map(([, code, gone]) => code ?? gone ?? ''));
    expect(codes.size).toBeGreaterThanOrEqual(10);
    expect([...codes].filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
  });

  it('says truly that each kind of operation has a rule and a request, and how many there are', () => {
    const files = operations.flatMap(({ resourceType, action }) => {
      const name = `src/operations/${resourceType}${action.slice(0, 1).toUpperCase()}${action.slice(1)}`;
      return [`${name}.ts`, `${name}.request.ts`];
    });
    expect(files.filter((file) => !existsSync(join(project, file)))).toEqual([]);
    const words = ['ten', 'eleven', 'twelve', 'thirteen', 'fourteen', 'fifteen'];
    expect(read('ARCHITECTURE.md')).toContain(`There are ${words[operations.length - 10]}, each whole`);
  });

  it('shows in README.md a whole program of docs/examples', () => {
    expect(read('README.md')).toContain(`\`\`\`ts\n${read('docs/examples/approve.mts')}\`\`\``);
  });

  it('shows in the tutorial how the examples use the client', () => {
    const [, lines = ''] =
      /signs only what was asked for:\n\n```ts\n([\s\S]*?)```/.exec(read('docs/tutorial.md')) ?? [];
    const examples = ['demo', 'approve', 'pay'].map((name) => read(`docs/examples/${name}.mts`)).join('');
    for (const called of [
      'createOrgwallet({ baseUrl: demo.baseUrl,',
      'signWith.viem(privateKeyToAccount(privateKey))',
    ]) {
      expect([lines.includes(called), examples.includes(called)]).toEqual([true, true]);
    }
    const [transfer] = /orgwallet\.transfer\([^;]*/.exec(lines) ?? [];
    expect(examples).toContain(transfer);
  });
});
