import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { Client as PostgresClient } from 'pg';
import { type Hex, keccak256, recoverAddress, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { recoverSigner } from '../../src/chain/signatures';
import { BareClient, ServiceClient } from './clients';
import { HttpsConnection, requestBytes } from './connection';
import { type Comparison, compare, type Figure, figureLine, isMet, table } from './figures';
import { AT_ONCE, atOnce, CALLS, inTurn, type Pair, timed, WARM_UP } from './measure';
import { makeOrganization } from './organization';
import { measureProof } from './proof';
import { type BenchStack, startBenchStack } from './stack';
import {
  measureEvaluation,
  measureExecutions,
  measureHandOver,
  measureTransact,
  PaymentsClient,
} from './transactions';

const GET_CONCURRENCY = 16;
const GET_SLICE_MS = 1_000;
const GET_ROUNDS = 8;
const RECOVERIES = { rounds: 10, native: 1_000, viem: 50 };

async function measureCreate(service: ServiceClient, bare: BareClient): Promise<Comparison> {
  const pair = await inTurn(
    { warmUp: WARM_UP, counted: CALLS },
    { product: () => service.create(), bare: () => bare.startWithUpdate() },
  );
  return compare('create, alone / executeUpdateWithStart', 'ms', pair, { aim: { atMost: 1.2 } });
}

async function measureSign(service: ServiceClient, bare: BareClient): Promise<Comparison> {
  const total = WARM_UP + CALLS;
  const requests: Buffer[] = [];
  const workflows: string[] = [];
  // Two signatures on each proposal, two updates on each bare workflow.
  while (requests.length < total) {
    const proposal = await service.create();
    const workflowId = await bare.startWithUpdate();
    for (const wallet of [0, 1]) {
      requests.push(await service.signRequest(proposal, wallet));
      workflows.push(workflowId);
    }
  }
  await sleep(500);
  const pair = await inTurn(
    { warmUp: WARM_UP, counted: CALLS },
    {
      product: (round) => service.sign(requests[round] as Buffer),
      bare: (round) => bare.update(workflows[round] as string),
    },
  );
  return compare('sign, alone / executeUpdate', 'ms', pair, { aim: { atMost: 1.5 } });
}

async function measureAtOnce(service: ServiceClient, bare: BareClient): Promise<Comparison[]> {
  const many = <T>(make: (index: number) => T): T[] => Array.from({ length: AT_ONCE }, (_, i) => make(i));
  const creates = await atOnce(
    async () => {
      await service.connect(AT_ONCE);
      const requests = many(() => service.createRequest());
      return requests.map((request) => (call) => service.create(call, request));
    },
    async () => many(() => () => bare.startWithUpdate()),
  );
  const signs = await atOnce(
    async () => {
      await service.connect(AT_ONCE);
      const proposals = await Promise.all(many((index) => service.create(index)));
      const requests = await Promise.all(proposals.map((proposal) => service.signRequest(proposal, 0)));
      return requests.map((request) => (call) => service.sign(request, call));
    },
    async () => {
      const workflows = await Promise.all(many(() => bare.startWithUpdate()));
      return workflows.map((workflowId) => () => bare.update(workflowId));
    },
  );
  return [
    compare(`create, ${AT_ONCE} at once / executeUpdateWithStart`, 'ms', creates),
    compare(`sign, ${AT_ONCE} at once / executeUpdate`, 'ms', signs),
  ];
}

/** Requests per second over a slice of time, each connection asking again as soon as it is answered. */
async function throughput(connections: readonly HttpsConnection[], request: Buffer): Promise<number> {
  let answered = 0;
  const startedAt = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() - startedAt < GET_SLICE_MS) {
        const { status } = await connection.send(request);
        if (status !== 200) throw new Error(`a GET was answered with ${status}`);
        answered += 1;
      }
    }),
  );
  return (answered * 1_000) / (performance.now() - startedAt);
}

async function measureGet(stack: BenchStack, service: ServiceClient): Promise<Comparison[]> {
  const proposal = await service.create();
  for (const wallet of [0, 1]) await service.sign(await service.signRequest(proposal, wallet));
  const productRequest = service.getRequest(proposal);
  const open = (port: number) =>
    Promise.all(Array.from({ length: GET_CONCURRENCY }, () => HttpsConnection.open(port, stack.ca)));
  const productConnections = await open(stack.httpsPort);
  const first = productConnections[0] as HttpsConnection;
  const document = JSON.parse((await first.send(productRequest)).body);
  const barePort = await stack.startBareServer(document);
  const bareRequest = requestBytes({ path: '/document' });
  const bareConnections = await open(barePort);
  try {
    const measured: Comparison[] = [];
    for (const concurrency of [GET_CONCURRENCY, 1]) {
      const pair: Pair = { product: [], bare: [] };
      for (let round = -2; round < GET_ROUNDS; round += 1) {
        const product = await throughput(productConnections.slice(0, concurrency), productRequest);
        const bare = await throughput(bareConnections.slice(0, concurrency), bareRequest);
        if (round < 0) continue;
        pair.product.push(product);
        pair.bare.push(bare);
      }
      const how = concurrency === 1 ? 'alone' : `${concurrency} at a time`;
      measured.push(compare(`GET a proposal, ${how} / Express`, '/s', pair, { aim: { atLeast: 0.4 } }));
    }
    return measured;
  } finally {
    for (const connection of [...productConnections, ...bareConnections]) connection.close();
  }
}

async function measureRecovery(): Promise<Comparison> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const signed: { hash: Hex; signature: Hex }[] = [];
  for (let index = 0; index < 64; index += 1) {
    const hash = keccak256(toHex(`message ${index}`));
    signed.push({ hash, signature: await wallet.sign({ hash }) });
  }
  const perCall = async (
    count: number,
    recover: (one: { hash: Hex; signature: Hex }) => Promise<unknown>,
  ) => {
    const ms = await timed(async () => {
      for (let call = 0; call < count; call += 1) {
        if ((await recover(signed[call % signed.length] as (typeof signed)[0])) !== wallet.address) {
          throw new Error('a signature was recovered to another address');
        }
      }
    });
    return (ms * 1_000) / count;
  };
  const pair: Pair = { product: [], bare: [] };
  for (let round = -1; round < RECOVERIES.rounds; round += 1) {
    const product = await perCall(RECOVERIES.native, ({ hash, signature }) => recoverSigner(hash, signature));
    const bare = await perCall(RECOVERIES.viem, recoverAddress);
    if (round < 0) continue;
    pair.product.push(product);
    pair.bare.push(bare);
  }
  return compare('signature recovery / viem (times faster)', 'µs', pair, {
    aim: { atLeast: 20 },
    ratio: 'bareOverProduct',
  });
}

async function describeMachine(stack: BenchStack, client: Client): Promise<Record<string, string | number>> {
  const postgres = new PostgresClient({ connectionString: stack.databaseUrl });
  await postgres.connect();
  const { rows } = await postgres.query<{ server_version: string }>('SHOW server_version');
  await postgres.end();
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  return {
    cores: cpus().length,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    node: process.versions.node,
    postgres: rows[0]?.server_version ?? 'unknown',
    temporal: serverVersion ?? 'unknown',
    temporalSdk: require('@temporalio/client/package.json').version,
    express: require('express/package.json').version,
    viem: require('viem/package.json').version,
  };
}

/**
 * Measures the service beside what it is built on. Arguments name the measurements, all without any. The figures are
 * shown, never judged by the exit status.
 */
async function main(args: readonly string[]): Promise<void> {
  const json = args.includes('--json');
  const say = (line: string) => process.stderr.write(`${line}\n`);
  say('Starting Postgres, Temporal, two chains and the service (about 20 s)');
  const stack = await startBenchStack(say);
  const stopOn = (signal: NodeJS.Signals) =>
    process.once(signal, () => void stack.stop().then(() => process.exit(1)));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) stopOn(signal);
  try {
    const organization = await makeOrganization(stack);
    const temporal = await Connection.connect({ address: stack.temporalAddress });
    const client = new Client({ connection: temporal });
    const service = new ServiceClient(stack, organization);
    const bare = new BareClient(client, stack.bareQueue);
    const machine = await describeMachine(stack, client);
    const comparisons: Comparison[] = [];
    const missing: string[] = [];
    const figures: Figure[] = [];
    const wanted = args.filter((arg) => !arg.startsWith('--'));
    const step = async (
      what: string,
      measure: () => Promise<Comparison | Figure | readonly (Comparison | Figure)[]>,
    ) => {
      if (wanted.length > 0 && !wanted.includes(what)) return;
      say(`Measuring ${what}`);
      await service.connect(1);
      try {
        for (const one of [await measure()].flat()) {
          if ('sample' in one) figures.push(one);
          else comparisons.push(one);
        }
      } catch (error) {
        say(`It could not be measured: ${(error as Error).message}\n${stack.serviceLog()}`);
        missing.push(what);
      }
    };
    await step('signature recovery', measureRecovery);
    await step('create', () => measureCreate(service, bare));
    await step('sign', () => measureSign(service, bare));
    await step('GET', () => measureGet(stack, service));
    await step(`${AT_ONCE} at once`, () => measureAtOnce(service, bare));
    await step('policies', measureEvaluation);
    await step('proof', measureProof);
    let payments: PaymentsClient | undefined;
    const paying = async () => {
      payments ??= await PaymentsClient.start(stack, organization);
      return payments;
    };
    await step('POST /transactions', async () => measureTransact(await paying(), bare));
    await step('hand over', async () => measureHandOver(stack, await paying()));
    await step('executions', async () => measureExecutions(stack, await paying(), bare));
    service.close();
    payments?.close();
    await temporal.close();
    if (json) {
      const results = comparisons.map((comparison) => ({ ...comparison, met: isMet(comparison) ?? null }));
      process.stdout.write(`${JSON.stringify({ machine, results, figures, missing }, null, 2)}\n`);
      return;
    }
    const aims = comparisons.filter((comparison) => comparison.aim);
    const met = aims.filter(isMet).length;
    const machineLine = Object.entries(machine).map(([name, value]) => `${name} ${value}`);
    process.stdout.write(`\n${machineLine.join(', ')}\n\n${table(comparisons)}\n\n`);
    for (const one of figures) process.stdout.write(`${figureLine(one)}\n`);
    process.stdout.write(`${met} of ${aims.length} aims met.\n`);
    for (const what of missing) process.stdout.write(`Not measured: ${what}\n`);
  } finally {
    await stack.stop();
  }
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`The bench could not measure: ${error.stack}\n`);
    process.exit(1);
  },
);
