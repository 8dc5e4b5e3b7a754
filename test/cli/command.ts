import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { runProgram } from '../../src/cli/program';
import { projectRoot } from '../../src/projectRoot';

/** What a command did. */
export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in this process with these settings and no others. */
export async function command(env: NodeJS.ProcessEnv, ...argv: string[]): Promise<Outcome> {
  let stdout = '';
  let stderr = '';
  const status = await runProgram(argv, {
    env,
    out: (text) => {
      stdout += text;
    },
    err: (text) => {
      stderr += text;
    },
  });
  return { status, stdout, stderr };
}

/** Runs a command that must succeed with nothing on stderr, and returns what it printed. */
export async function words(settings: NodeJS.ProcessEnv, ...argv: string[]): Promise<string> {
  const { status, stdout, stderr } = await command(settings, ...argv);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

/** Runs a command with `--json` that must succeed, and returns the one document that it printed. */
// biome-ignore lint/suspicious/noExplicitAny: documents of every shape
export async function json(settings: NodeJS.ProcessEnv, ...argv: string[]): Promise<any> {
  return JSON.parse(await words(settings, ...argv, '--json'));
}

/** Runs a command that must be refused, in words and with `--json`: nothing but a message without stack, on stderr. */
export async function refused(settings: NodeJS.ProcessEnv, ...argv: string[]): Promise<string> {
  let message = '';
  for (const more of [[], ['--json']]) {
    const { status, stdout, stderr } = await command(settings, ...argv, ...more);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/\S/);
    expect(stderr).not.toMatch(/^\s+at /m);
    message = stderr;
  }
  return message;
}

/** Runs a program of this project as a process of its own, as a shell does. */
export function spawned(settings: NodeJS.ProcessEnv, file: string, ...args: string[]): Promise<Outcome> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...settings };
  return new Promise((resolve) => {
    execFile(file, args, { cwd: projectRoot(), env }, (error, stdout, stderr) => {
      const status = typeof error?.code === 'number' ? error.code : error ? -1 : 0;
      resolve({ status, stdout, stderr });
    });
  });
}

/** The compiled entry of the commands. */
export const COMPILED = join(projectRoot(), 'dist', 'src', 'cli', 'main.js');
