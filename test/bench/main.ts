import { cpus } from 'node:os';
import { Client, Connection } from '@temporalio/client';
import { Client as PostgresClient } from 'pg';
import { measureAcceptedAlone } from './accepted';
import { measureBlocking } from './blocking';
import { measureDeliveries, measureManyDeliveries } from './deliveries';
import { measureAlone, measureTogether } from './executions';
import { type Comparison, type Figure, figureLine, isMet, table } from './figures';
import { measureFilters } from './filters';
import { FloorClient } from './floor/client';
import { measureGrowth } from './growth';
import { measureCreate, measureSign } from './messages';
import { makeOrganization } from './organization';
import { measurePages } from './pages';
import { PaymentsClient } from './paymentsClient';
import { measureEvaluation } from './policies';
import { measureProcesses } from './processes';
import { profile } from './profile';
import { measureProof } from './proof';
import { measureReads } from './reads';
import { measureRecovery } from './recovery';
import { ServiceClient } from './serviceClient';
import { type BenchStack, startBenchStack } from './stack';

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

/** What is measured, and its clients. */
interface Bench {
  readonly stack: BenchStack;
  readonly service: ServiceClient;
  readonly floor: FloorClient;
  /** Made when the first measurement needs it. */
  readonly paying: () => Promise<PaymentsClient>;
}

type Measured = Comparison | Figure;

/** What can be measured, by the name that an argument asks for. */
const MEASUREMENTS: Readonly<Record<string, (bench: Bench) => Promise<Measured | readonly Measured[]>>> = {
  recovery: measureRecovery,
  GET: ({ stack, service }) => measureReads(stack, service),
  create: async ({ service, floor, paying }) => measureCreate(service, await paying(), floor),
  sign: ({ service, floor }) => measureSign(service, floor),
  alone: async ({ stack, floor, paying }) => measureAlone(stack, await paying(), floor),
  executions: async ({ stack, floor, paying }) => measureTogether(stack, await paying(), floor),
  growth: ({ stack }) => measureGrowth(stack),
  filters: ({ stack }) => measureFilters(stack),
  pages: ({ stack }) => measurePages(stack),
  policies: measureEvaluation,
  proof: measureProof,
  deliveries: ({ stack }) => measureDeliveries(stack),
  manyDeliveries: ({ stack }) => measureManyDeliveries(stack),
};

/** The measurements that arguments name, or all. Throws when there is none of that name. */
function chosen(args: readonly string[]) {
  const names = Object.keys(MEASUREMENTS);
  const wanted = args.filter((arg) => !arg.startsWith('--'));
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw new Error(`unknown measurement: ${unknown.join(', ')} (available: ${names.join(', ')})`);
  return Object.entries(MEASUREMENTS).filter(([name]) => wanted.length === 0 || wanted.includes(name));
}

/** What was measured, and what could not be. */
class Results {
  readonly comparisons: Comparison[] = [];
  readonly figures: Figure[] = [];
  readonly missing: string[] = [];

  add(measured: readonly Measured[]): void {
    for (const one of measured) {
      if ('sample' in one) this.figures.push(one);
      else this.comparisons.push(one);
    }
  }

  json(machine: object): string {
    const results = this.comparisons.map((comparison) => ({ ...comparison, met: isMet(comparison) ?? null }));
    return `${JSON.stringify({ machine, results, figures: this.figures, missing: this.missing }, null, 2)}\n`;
  }

  text(machine: object): string {
    const aims = this.comparisons.filter((comparison) => comparison.aim);
    const lines = [
      ...[
        '',
        Object.entries(machine)
          .map(([name, value]) => `${name} ${value}`)
          .join(', '),
        '',
      ],
      ...[table(this.comparisons), '', ...this.figures.map(figureLine)],
      `${aims.filter(isMet).length} of ${aims.length} aims met.`,
      ...this.missing.map((what) => `Not measured: ${what}`),
    ];
    return `${lines.join('\n')}\n`;
  }
}

/**
 * Measures the service, beside its floors (test/bench/floor) where there are any. Arguments name the measurements; without
 * any, all run. `profile` shows what processor time is spent on instead, `processes` what a second process of each role
 * adds, `blocking` for how long the worst request to each endpoint blocks the service, `accepted` only the
 * largest that are accepted. The exit status does not judge the figures.
 */
async function main(args: readonly string[]): Promise<void> {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  if (args.includes('profile')) {
    process.stdout.write(await profile(say));
    return;
  }
  if (args.includes('blocking')) {
    process.stdout.write(await measureBlocking(say));
    return;
  }
  if (args.includes('accepted')) {
    process.stdout.write(await measureAcceptedAlone(say));
    return;
  }
  if (args.includes('processes')) {
    process.stdout.write(`${table(await measureProcesses(say))}\n`);
    return;
  }
  const wanted = chosen(args);
  say('Starting Postgres, Temporal, two chains and the service (about 20 s)');
  const stack = await startBenchStack(say);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stack.stop().then(() => process.exit(1)));
  try {
    const organization = await makeOrganization(stack);
    const temporal = await Connection.connect({ address: stack.temporalAddress });
    const client = new Client({ connection: temporal });
    const service = new ServiceClient(stack, organization);
    const floor = new FloorClient({ client, ...stack.floor });
    let payments: Promise<PaymentsClient> | undefined;
    const paying = () => {
      payments ??= PaymentsClient.start(stack, organization);
      return payments;
    };
    const machine = await describeMachine(stack, client);
    const results = new Results();
    for (const [what, measure] of wanted) {
      say(`Measuring ${what}`);
      try {
        results.add([await measure({ stack, service, floor, paying })].flat());
      } catch (error) {
        say(`It could not be measured: ${(error as Error).message}\n${stack.serviceLog()}`);
        results.missing.push(what);
      }
    }
    service.close();
    (await payments)?.close();
    await floor.close();
    await temporal.close();
    process.stdout.write(args.includes('--json') ? results.json(machine) : results.text(machine));
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
