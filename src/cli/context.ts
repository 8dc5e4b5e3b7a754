import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { type Config, loadConfig } from '../config';
import { createDatabase, type Db } from '../db/database';
import { projectRoot } from '../dev/parts';
import type { WorkflowSender } from '../temporal/client';
import { connectTemporal } from '../temporal/connection';
import { taskQueues } from '../temporal/ids';
import { createOutput, type Output } from './output';

/** What a command works with; what it does not ask for is not opened. */
export interface CommandContext {
  readonly config: Config;
  readonly output: Output;
  /** The database, under the role of the service. */
  db(): Db;
  /** Sends messages to workflows. */
  sender(): WorkflowSender;
}

const WORKFLOW_DEADLINE_MS = 8_000;

/**
 * The settings of a command: the environment, over those that a running `npm start` has left in its data folder, so
 * that commands work beside it.
 */
export function commandSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const dataDir = resolve(projectRoot(), env.ORGWALLET_DATA_DIR || '.data');
  const own = { ...env, ORGWALLET_DATA_DIR: dataDir };
  try {
    return { ...JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8')), ...own };
  } catch {
    return own;
  }
}

/** Runs one command with its context, and lets go of everything it opened. */
export async function withContext(
  command: Command,
  work: (context: CommandContext) => Promise<void>,
): Promise<void> {
  const config = loadConfig(commandSettings(process.env));
  const closers: (() => Promise<void>)[] = [];
  let db: Db | undefined;
  let sender: WorkflowSender | undefined;
  try {
    await work({
      config,
      output: createOutput(command.optsWithGlobals().json === true),
      db() {
        if (!db) {
          const opened = createDatabase(config.databaseUrl, { role: 'orgwallet_service', poolMax: 4 });
          closers.push(() => opened.destroy());
          db = opened;
        }
        return db;
      },
      sender() {
        if (!sender) {
          const connection = connectTemporal(config.temporal);
          closers.push(() => connection.close());
          sender = {
            client: new Client({ connection, namespace: config.temporal.namespace }),
            queues: taskQueues(config.temporal.taskQueue),
            deadlineMs: WORKFLOW_DEADLINE_MS,
          };
        }
        return sender;
      },
    });
  } finally {
    for (const close of closers) await close();
  }
}
