import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';

const root = projectRoot();

/** Runs a program of the project; answers its exit status and everything it printed. */
function run(program: string, args: readonly string[]): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    execFile(
      join(root, 'node_modules', '.bin', program),
      [...args],
      { cwd: root, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ status: Number(error?.code ?? 0), text: stdout + stderr }),
    );
  });
}

describe('the code base', () => {
  it('has right types', async () => {
    expect(await run('tsc', ['--noEmit', '-p', '.'])).toEqual({ status: 0, text: '' });
  }, 240_000);

  it('has a client of right types, without those of Node', async () => {
    expect(await run('tsc', ['--noEmit', '-p', 'client'])).toEqual({ status: 0, text: '' });
  }, 120_000);

  it('has a console of right types', async () => {
    expect(await run('tsc', ['--noEmit', '-p', 'console'])).toEqual({ status: 0, text: '' });
  }, 120_000);

  it('has examples of right types', async () => {
    expect(await run('tsc', ['--noEmit', '-p', 'docs/examples'])).toEqual({ status: 0, text: '' });
  }, 120_000);

  it('is linted and formatted', async () => {
    const { status, text } = await run('biome', ['check', '--colors=off', '.']);
    expect(status === 0 ? '' : text).toBe('');
  }, 120_000);
});
