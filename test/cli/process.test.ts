import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../src/projectRoot';
import { versionText } from '../../src/version';
import { serviceSettings } from '../support/service';
import { COMPILED, spawned } from './command';

let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  env = await serviceSettings();
  await promisify(execFile)(process.execPath, [join(projectRoot(), 'tools', 'dev', 'bootstrap.mjs')]);
}, 120_000);

const node = (settings: NodeJS.ProcessEnv, ...argv: string[]) =>
  spawned(settings, process.execPath, COMPILED, ...argv);

describe('as a process', () => {
  it('0 and one JSON document on stdout', async () => {
    const { status, stdout, stderr } = await node(env, 'org', 'list', '--json');
    expect({ status, stderr, result: JSON.parse(stdout) }).toEqual({ status: 0, stderr: '', result: [] });
  });

  it('--json is accepted before the command', async () => {
    const { status, stdout } = await node(env, '--json', 'audit', 'verify');
    expect({ status, result: JSON.parse(stdout) }).toEqual({
      status: 0,
      result: [],
    });
  });

  it('1 for a refusal, 2 for wrong usage, with the reason only on stderr', async () => {
    expect(await node(env, 'keys', 'revoke', 'key_none', '--json')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'API key key_none not found\n',
    });
    const wrong = await node(env, 'keys', 'revoke');
    expect(wrong).toMatchObject({ status: 2, stdout: '' });
    expect(wrong.stderr).toMatch(/missing required argument/);
  });

  it('uses the settings that a running npm start wrote to its data folder', async () => {
    const dir = env.ORGWALLET_DATA_DIR ?? '';
    const { ORGWALLET_DATA_DIR, ...rest } = env;
    writeFileSync(join(dir, 'stack.json'), JSON.stringify(rest));
    const { status, stdout } = await node({ ORGWALLET_DATA_DIR: dir }, 'org', 'list', '--json');
    expect({ status, result: JSON.parse(stdout) }).toEqual({ status: 0, result: [] });
  });

  it('./orgwallet is the same program', async () => {
    const orgwallet = (...argv: string[]) => spawned(env, join(projectRoot(), 'orgwallet'), ...argv);
    expect(await orgwallet('--version')).toMatchObject({ status: 0, stdout: `${versionText()}\n` });
    expect(await orgwallet('no-such-command')).toMatchObject({ status: 2, stdout: '' });
  });
});
