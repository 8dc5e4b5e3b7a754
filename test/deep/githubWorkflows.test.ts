import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { projectRoot } from '../../src/projectRoot';
import { goProgram } from '../support/goProgram';

const ACTIONLINT = { path: 'github.com/rhysd/actionlint/cmd/actionlint', version: 'v1.7.12' };
const folder = join(projectRoot(), '.github', 'workflows');
const files = readdirSync(folder);
/** It is compiled once. */
const LIMIT_MS = 300_000;

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
}

const commandsOf = (file: string): readonly string[] =>
  Object.values((parse(readFileSync(join(folder, file), 'utf8')) as Workflow).jobs).flatMap(({ steps }) =>
    steps.flatMap(({ run }) => run ?? []),
  );

it(
  'the workflows are what GitHub takes, by actionlint',
  async () => {
    const actionlint = await goProgram(ACTIONLINT);
    const { stdout } = await promisify(execFile)(
      actionlint,
      files.map((file) => join(folder, file)),
      {
        cwd: projectRoot(),
      },
    );
    expect(stdout).toBe('');
  },
  LIMIT_MS,
);

it('run scripts of the package, and the test command of the README', () => {
  const { scripts } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
  const commands = files.flatMap(commandsOf);
  const named = commands.flatMap((text) => /^npm run (\S+)/.exec(text)?.[1] ?? []);
  expect(named).toEqual(['build', 'lint', 'typecheck']);
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  expect(commands.filter((text) => text === 'bash .ci/run')).toHaveLength(files.length);
});
