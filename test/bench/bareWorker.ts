import { NativeConnection, Worker } from '@temporalio/worker';

/** A worker for the bare workflow, with the settings of the service's workers: `node bareWorker.js <address> <queue>`. */
async function main([address = '', taskQueue = '']: string[]): Promise<void> {
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    namespace: 'default',
    taskQueue,
    workflowsPath: require.resolve('./bareWorkflow'),
  });
  await worker.run();
}

main(process.argv.slice(2)).catch((error: Error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
