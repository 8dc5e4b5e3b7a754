import { type ExecFileOptions, execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';
import { temporaryDir } from '../support/stack';
import { ownSettings, start, untilStarted } from '../support/start';

const SHELL = { PATH: process.env.PATH, HOME: process.env.HOME };

function run(file: string, args: readonly string[], options: ExecFileOptions): Promise<string> {
  return new Promise((resolve, reject) =>
    execFile(file, [...args], { maxBuffer: 64 * 1024 * 1024, ...options }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stdout}\n${stderr}`)) : resolve(String(stdout)),
    ),
  );
}

/** The program of a version of Node, from the package `node`. */
async function install(version: string): Promise<string> {
  const dir = temporaryDir();
  writeFileSync(join(dir, 'package.json'), '{}');
  await run('npm', ['install', '--no-audit', '--no-fund', `node@${version}`], { cwd: dir, env: SHELL });
  return join(dir, 'node_modules', 'node', 'bin', 'node');
}

// The oldest that `engines` allows, and the versions that are supported besides.
describe.each(['20.19', '22', '24'])('on Node %s', (version) => {
  let node: string;
  beforeAll(async () => {
    node = await install(version);
    expect(await run(node, ['--version'], {})).toMatch(new RegExp(`^v${version}\\b`));
  }, 180_000);

  it('passes the unit tests', async () => {
    const output = await run(node, ['tools/dev/test.mjs', 'unit'], { cwd: projectRoot(), env: SHELL });
    expect(output).toMatch(/^[1-9]\d+ passed, 0 failed$/m);
  }, 900_000);

  it('starts, runs the demo and stops', async () => {
    const env = await ownSettings();
    const stack = start(env, node);
    await untilStarted(stack);
    await run(node, ['tools/dev/run.mjs', 'dist/tools/demo/main.js'], { cwd: projectRoot(), env });
    stack.child.kill('SIGTERM');
    expect(await stack.exited).toBe(0);
  }, 600_000);
});
