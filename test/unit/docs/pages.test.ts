import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import type { Command } from 'commander';
import { createProgram } from '../../../src/cli/program';
import { STATUS_BY_CODE } from '../../../src/contract/errors';

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

/** The name that a heading has in a link, as code hosts make it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

function headings(file: string): string[] {
  return [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

const silent = { out: () => undefined, err: () => undefined, env: {} };

/** Full names of all commands that do something: `keys issue`. */
function commandNames(command: Command, before: readonly string[] = []): string[] {
  return command.commands.flatMap((child) => {
    const path = [...before, child.name()];
    return child.commands.length === 0 ? [path.join(' ')] : commandNames(child, path);
  });
}

describe('the documentation', () => {
  it.each(pages)('has no link in %s that leads nowhere', (page) => {
    for (const [, target = ''] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : normalize(join(dirname(page), path));
      expect([target, existsSync(join(project, file))]).toEqual([target, true]);
      if (anchor !== undefined) expect(headings(file)).toContain(anchor);
    }
  });

  it('names every setting', () => {
    const config = read('src/config.ts');
    const schema = config.slice(
      config.indexOf('const settings = z.object'),
      config.indexOf('const nativeAssetSchema'),
    );
    const names = [
      ...[...schema.matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name]) => name),
      ...[...read('src/dev/settings.ts').matchAll(/portOf\(env, '([A-Z_]+)'/g)].map(([, name]) => name),
    ];
    expect(names.length).toBeGreaterThan(40);
    const text = read('README.md') + read('CONTRIBUTING.md');
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  it.each(['README.md', 'docs/errors.md'])('has every error code with its status in %s', (page) => {
    const text = read(page);
    for (const [code, status] of Object.entries(STATUS_BY_CODE)) {
      const row = text.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${code}\``));
      expect([code, row?.includes(` ${status} `)]).toEqual([code, true]);
    }
  });

  it('names every operator command', () => {
    const table = read('README.md').replaceAll('… ', 'orgwallet ');
    const missing = commandNames(createProgram(silent)).filter(
      (name) => !table.includes(`orgwallet ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it('shows the heart of the example as the example has it', () => {
    const [, heart = ''] = /Its heart:\n\n```ts\n([\s\S]*?)```/.exec(read('README.md')) ?? [];
    const withoutIndent = (text: string) => text.replace(/^ +/gm, '');
    expect(heart).not.toBe('');
    expect(withoutIndent(read('docs/examples/first-account.mts'))).toContain(withoutIndent(heart));
  });
});
