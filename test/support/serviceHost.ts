import { type ChildProcess, fork } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';
import { lastLogLines } from '../../tools/dev/parts';
import { sharedStack } from './stack';

/** The process of all services that the tests of this worker start for themselves. */
interface Host {
  readonly child: ChildProcess;
  call(call: 'start' | 'stop', args: object): Promise<void>;
}

function startHost(): Host {
  const logFile = join(sharedStack().dir, `services-of-${process.pid}.log`);
  const log = openSync(logFile, 'a', 0o600);
  const child = fork(join(projectRoot(), 'test', 'support', 'serviceHostProcess.js'), {
    stdio: ['ignore', log, log, 'ipc'],
    env: { PATH: process.env.PATH, NODE_ENV: 'test' },
    execArgv: [],
  });
  // It ends with this process and does not keep it alive.
  child.unref();
  child.channel?.unref();
  let calls = 0;
  const call: Host['call'] = (name, args) =>
    new Promise((resolve, reject) => {
      calls += 1;
      const id = calls;
      const done = (error?: string) => {
        child.off('message', onMessage).off('exit', onExit);
        if (error === undefined) resolve();
        else reject(new Error(error));
      };
      const onMessage = (answer: { id: number; error?: string }) => answer.id === id && done(answer.error);
      const onExit = () => done(`the process of the services ended:\n${lastLogLines(logFile)}`);
      child.on('message', onMessage).on('exit', onExit);
      child.send({ call: name, id, ...args });
    });
  return { child, call };
}

let host: Host | undefined;
let started = 0;

/** A service in the process of all services of this worker. */
interface HostedService {
  /** Orderly stop. */
  stop(): Promise<void>;
}

/** Starts a service under these settings, in the process that has loaded the modules already. */
export async function startHosted(env: NodeJS.ProcessEnv, logFile: string): Promise<HostedService> {
  if (!host?.child.connected) host = startHost();
  const { call } = host;
  started += 1;
  const service = started;
  await call('start', { service, env, logFile });
  return { stop: () => call('stop', { service }) };
}
