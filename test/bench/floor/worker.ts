import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { Pool } from 'pg';
import { rpc } from '../../../tools/dev/rpc';
import { bytesOf, floorPool, storeRecord, storeStep } from './database';

const RECEIPT_POLL_MS = 10;

function floorActivities(pool: Pool, rpcUrl: string) {
  return {
    create: (id: string) => storeRecord(pool, id),
    sign: (id: string, signature: number) => storeStep(pool, id, `signature ${signature}`),
    begin: (id: string) => storeStep(pool, id, 'begin'),
    authorize: (id: string) => storeStep(pool, id, 'authorize'),
    /** Sends the bytes that were signed beforehand, and waits for their receipt. */
    async send(id: string): Promise<void> {
      const hash = await rpc(rpcUrl, 'eth_sendRawTransaction', [await bytesOf(pool, id)]);
      await storeStep(pool, id, 'sent');
      while ((await rpc(rpcUrl, 'eth_getTransactionReceipt', [hash])) === null) await sleep(RECEIPT_POLL_MS);
    },
    finish: (id: string) => storeStep(pool, id, 'finish'),
  };
}

export type FloorActivities = ReturnType<typeof floorActivities>;

/** The workers of the floors, in one process: `node worker.js <address> <queue> <database> <rpc>`. */
async function main([address = '', taskQueue = '', databaseUrl = '', rpcUrl = '']: string[]): Promise<void> {
  const connection = await NativeConnection.connect({ address });
  const activities = floorActivities(floorPool(databaseUrl), rpcUrl);
  const common = { connection, namespace: 'default', activities };
  const workers = await Promise.all([
    Worker.create({ ...common, taskQueue, workflowsPath: require.resolve('./workflows') }),
    Worker.create({ ...common, taskQueue: `${taskQueue}-signer` }),
    Worker.create({ ...common, taskQueue: `${taskQueue}-chain` }),
  ]);
  await Promise.all(workers.map((worker) => worker.run()));
}

if (require.main === module) {
  main(process.argv.slice(2)).catch((error: Error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  });
}
