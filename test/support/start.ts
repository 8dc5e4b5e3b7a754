import { type ChildProcess, spawn } from 'node:child_process';
import { projectRoot } from '../../src/projectRoot';
import { freePorts, temporaryDir } from './stack';

/** A run of `npm start`. */
interface Started {
  readonly child: ChildProcess;
  output(): string;
  readonly exited: Promise<number | null>;
}

/** Settings of a stack with its own data folder and ports. */
export async function ownSettings(): Promise<NodeJS.ProcessEnv & { ORGWALLET_DATA_DIR: string }> {
  const [https, http, ops, postgres, temporal, ui, anvil] = await freePorts(7);
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME,
    TEMPORAL_CLI_PATH: process.env.TEMPORAL_CLI_PATH,
    ORGWALLET_DATA_DIR: temporaryDir(),
    HTTPS_PORT: String(https),
    HTTP_PORT: String(http),
    OPS_PORT: String(ops),
    POSTGRES_PORT: String(postgres),
    TEMPORAL_PORT: String(temporal),
    TEMPORAL_UI_PORT: String(ui),
    ANVIL_PORT: String(anvil),
  };
}

/** Runs what `npm start` runs, with the Node of this process or another one. */
export function start(env: NodeJS.ProcessEnv, node = process.execPath): Started {
  const child = spawn(node, ['tools/dev/start.mjs'], { cwd: projectRoot(), env, stdio: 'pipe' });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      text += chunk;
    });
  }
  return { child, output: () => text, exited: new Promise((resolve) => child.once('exit', resolve)) };
}

/** Waits for the board; throws with everything that was printed when the start fails. */
export async function untilStarted({ child, output }: Started): Promise<void> {
  while (!output().includes('\norgwallet is ready\n')) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(output());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
