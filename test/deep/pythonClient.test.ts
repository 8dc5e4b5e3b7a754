import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations, sessionOperations } from '../support/document';

const GENERATOR = 'openapi-python-client==0.29.1';
const DOCUMENT = join(__dirname, '../../openapi.json');
const ALL = [...operations, ...sessionOperations];
/** Packages are downloaded. */
const LIMIT_MS = 300_000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orgwallet-python-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program. Throws with its output if it fails, and says what is needed if it cannot be found. */
function run(program: string, args: readonly string[], needed: string): string {
  const path = `${join(folder, 'venv/bin')}:${process.env.PATH}`;
  const done = spawnSync(program, args, {
    encoding: 'utf8',
    cwd: folder,
    env: { ...process.env, PATH: path },
  });
  if (done.error) throw new Error(`${needed}: ${done.error.message}`);
  const output = `${done.stdout}${done.stderr}`;
  if (done.status !== 0) throw new Error(`${needed}: ${program} ${args.join(' ')} failed:\n${output}`);
  return output;
}

/** proposeMembersCreate is in propose_members_create.py. */
function moduleOf(operationId: string): string {
  return `${operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}.py`;
}

it(
  'openapi-python-client generates every operation, with a type for its body and each of its responses',
  () => {
    run('python3', ['-m', 'venv', 'venv'], 'python3 with its venv module is needed');
    run('venv/bin/pip', ['install', '--quiet', GENERATOR], 'pip has to reach PyPI');
    const options = ['--path', DOCUMENT, '--meta', 'none', '--output-path', 'client', '--fail-on-warning'];
    run('venv/bin/openapi-python-client', ['generate', ...options], 'the document has to be generated whole');
    const files = readdirSync(join(folder, 'client/api'), { recursive: true, encoding: 'utf8' });
    const modules = new Map(
      files
        .filter((file) => file.endsWith('.py') && !file.endsWith('__init__.py'))
        .map((file) => [file.split('/').at(-1), readFileSync(join(folder, 'client/api', file), 'utf8')]),
    );
    expect([...modules.keys()].sort()).toEqual(ALL.map(({ id }) => moduleOf(id)).sort());
    for (const { id, body } of ALL) {
      const text = modules.get(moduleOf(id)) ?? '';
      const [, response = 'none'] = /^def sync_detailed\([\s\S]*?\) -> Response\[(.*)\]:$/m.exec(text) ?? [];
      expect([id, response]).toEqual([id, expect.stringMatching(/^(Error \| \w+|\w+ \| Error)$/)]);
      const [, request] = /^ {4}body: (.*),$/m.exec(text) ?? [];
      expect([id, request !== undefined]).toEqual([id, body !== undefined]);
      expect([id, request]).not.toEqual([id, 'Any']);
    }
    const imports = 'import client.models; import client.api.members.propose_members_create';
    run('venv/bin/python', ['-c', imports], 'the generated client has to be valid Python');
  },
  LIMIT_MS,
);
