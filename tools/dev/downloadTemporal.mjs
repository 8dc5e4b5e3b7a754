// Has the Temporal SDK download the official CLI into a folder: node downloadTemporal.mjs <folder>
// The SDK only downloads as part of starting a server, so one is started on a free port and ended at once.
import { TestWorkflowEnvironment } from '@temporalio/testing';

const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', version: 'default', downloadDir: process.argv[2] } },
});
await environment.teardown();
