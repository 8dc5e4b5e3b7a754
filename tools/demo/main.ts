import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createOrgwallet } from '@orgwallet/client';
import { workflowLink } from '../../src/cli/workflowLink';
import type { ResourceType } from '../../src/domain/proposal';
import { approvalWorkflowId } from '../../src/temporal/ids';
import type { DemoFile } from '../dev/prepare';
import { dataFiles, readStackSettings } from '../dev/settings';
import { createPrinter } from './printer';
import { runScenario } from './scenario';
import { NotAsExpected, type Stage } from './stage';

const READY_LIMIT_MS = 5_000;

function readDemoFile(file: string): DemoFile {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new NotAsExpected(
      `There is no demo organization: ${(error as Error).message}\n` +
        'The first `npm start` on local chains creates one. Start the service, then run the demo again.',
    );
  }
}

/** Throws at once if the service does not run or is not ready. */
async function assertServiceReady({ origin, operationsUrl }: DemoFile): Promise<void> {
  let response: Response;
  try {
    response = await fetch(`${operationsUrl}/statusz`, { signal: AbortSignal.timeout(READY_LIMIT_MS) });
  } catch {
    throw new NotAsExpected(`No service answers for ${origin}. Start it in another terminal: npm start`);
  }
  const { unavailable } = (await response.json()) as { unavailable?: string[] };
  if (response.ok && unavailable?.length === 0) return;
  throw new NotAsExpected(`The service is not ready; unavailable: ${unavailable?.join(', ') || 'unknown'}.`);
}

/** Runs this program again in a process that accepts the certificate of the service: Node reads such settings at its start. */
function runTrusting(caFile: string, env: NodeJS.ProcessEnv): Promise<void> {
  const args = [...process.execArgv, ...process.argv.slice(1)];
  const child = spawn(process.execPath, args, {
    env: { ...env, NODE_EXTRA_CA_CERTS: caFile },
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      process.exitCode = code ?? 1;
      resolve();
    });
  });
}

/** Runs the demo against a running service. Throws when anything is not as expected. */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const startedAt = Date.now();
  const settings = readStackSettings(env);
  const demo = readDemoFile(dataFiles(settings.dataDir).demo);
  if (env.NODE_EXTRA_CA_CERTS !== demo.caFile) return runTrusting(demo.caFile, env);
  await assertServiceReady(demo);
  // The first key is that of the admin bot: it authenticates requests, and signs nothing here.
  const apiKey = demo.apiKeys[0]?.key ?? '';
  const client = createOrgwallet({ baseUrl: demo.baseUrl, apiKey });
  const print = createPrinter(process.stdout, env);
  const run = (await client.listAccounts()).length;
  const stage: Stage = {
    client,
    asked: new Map(),
    demo,
    print,
    named: (name) => (run === 0 ? name : `${name} ${run}`),
    linkOf: ({ id, resourceType }) =>
      workflowLink(
        { uiUrl: demo.temporalUiUrl, namespace: settings.temporalNamespace },
        approvalWorkflowId({
          organizationId: demo.organizationId,
          id,
          ...(resourceType === undefined
            ? { subject: 'transaction' }
            : { subject: 'proposal', resourceType: resourceType as ResourceType }),
        }),
      ),
  };
  print.plain(
    `The demo organization at ${demo.origin}: ${demo.admins.members.length} admins, ${demo.admins.threshold} must sign.`,
  );
  await runScenario(stage);
  print.plain(
    `\nEverything is as expected (${((Date.now() - startedAt) / 1_000).toFixed(1)} s). Open a link above for the history of a workflow, or list them: ./orgwallet proposals list, ./orgwallet transactions list`,
  );
}

main(process.env).catch((error: Error) => {
  process.stderr.write(`\nThe demo failed. ${error.message}\n`);
  process.exitCode = 1;
});
