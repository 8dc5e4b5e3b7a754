import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { zeroAddress } from 'viem';
import { sampleOf } from '../bench/figures';
import { type Loaded, SteadyLoad } from '../chaos/steadyLoad';
import { change, proposeChange, read, reject, type Shown } from '../support/api';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { connectTo, serviceSettings, type TestService } from '../support/service';
import { makePayer } from '../workflows/transactionWorld';

const NETWORK_ID = 31_337;
/** For how long; a shorter load with STEADY_SECONDS. */
const SECONDS = Number(process.env.STEADY_SECONDS ?? 3_600);
/** A lane begins a payment, or a round of everything else, so often at most. */
const EVERY_MS = 1_000;
const SAMPLES = 200;
/** How much more memory the last quarter may take than the second one; the first one fills caches. */
const LEVEL = 1.1;
/** Connections and timers come and go. */
const HANDLES = 3;

/** What the signer keeps of each payment: the index of its journal. */
const INDEXED_BYTES = 2_000;

const middle = (values: readonly number[]) => sampleOf(values).p50;
/** Requests being answered have timers: the minimum is what stays open. */
const least = (values: readonly number[]) => Math.min(...values);

/**
 * The metrics of every process, the statistic of a quarter that is compared, and what it may come to after payments that
 * the signer keeps.
 */
const METRICS = [
  { name: 'process_resident_memory_bytes', statistic: middle, most: (before: number) => before * LEVEL },
  {
    name: 'nodejs_heap_size_used_bytes',
    statistic: middle,
    most: (before: number, kept: number) => before * LEVEL + kept * INDEXED_BYTES,
  },
  { name: 'process_open_fds', statistic: least, most: (before: number) => before + HANDLES },
  { name: 'nodejs_active_resources_total', statistic: least, most: (before: number) => before + HANDLES },
] as const;

type Sample = ReadonlyMap<string, number>;

const processes: ServiceProcess[] = [];
const samples = new Map<ServiceProcess, Sample[]>();
let api: TestService;
let loaded: Loaded;

beforeAll(async () => {
  const settings = await serviceSettings({
    env: {
      GAS_BUDGET_PER_HOUR: '10000',
      RECONCILE_EVERY: '1m',
      NODE_OPTIONS: `--require ${join(__dirname, '..', 'support', 'collectGarbage.js')}`,
    },
  });
  for (const role of ['signer', 'chain', 'worker', 'api'] as const)
    processes.push(await startServiceProcess(settings, { roles: [role] }));
  api = connectTo((processes.at(-1) as ServiceProcess).env);
  const org = await api.createOrganization();
  const tokenTransferCondition = {
    tokenAddress: zeroAddress,
    amountThreshold: '1000000',
    destinationAddresses: [],
  };
  const payer = await makePayer(api, org, NETWORK_ID, { tokenTransferCondition });
  loaded = { apis: [api], org, payer, networkId: NETWORK_ID };
}, 300_000);
afterAll(async () => {
  await Promise.all(processes.map((one) => one.stop()));
  await api?.stop();
});

/** The values of a process now. */
async function takeSample({ config }: ServiceProcess): Promise<Sample> {
  const response = await fetch(`http://127.0.0.1:${config.ops.port}/metrics`);
  const lines = (await response.text()).split('\n').map((line) => line.split(' '));
  const values = new Map(lines.map(([name = '', value]) => [name, Number(value)]));
  return new Map(METRICS.map(({ name }) => [name, values.get(name) ?? Number.NaN]));
}

/** What organizations do beside paying: they change a group, refuse to change it, and read. */
async function administrate(group: Shown, round: number): Promise<void> {
  const { http } = api;
  const { org } = loaded;
  const items = [{ id: group.id, name: `Group ${round}` }];
  await change(http, org, '/groups/proposals/update', { items });
  const refused = [{ id: group.id, name: `Not group ${round}` }];
  await reject(http, org, await proposeChange(http, org, '/groups/proposals/update', { items: refused }));
  for (const path of ['/proposals?limit=100', '/transactions?limit=100', '/audit-logs?limit=100', '/groups'])
    await read(http, org.readKey, `/api/v1${path}`);
}

/** A metric in the second quarter of the samples and in the last one. */
function quarters(
  of: readonly Sample[],
  { name, statistic }: (typeof METRICS)[number],
): { readonly before: number; readonly after: number } {
  const values = of.map((sample) => sample.get(name) ?? Number.NaN);
  const quarter = Math.floor(values.length / 4);
  return { before: statistic(values.slice(quarter, 2 * quarter)), after: statistic(values.slice(-quarter)) };
}

/** Pays, changes and reads for so long, and looks at every process meanwhile. */
async function run(load: SteadyLoad, group: Shown): Promise<void> {
  const end = performance.now() + SECONDS * 1_000;
  const goOn = () => performance.now() < end;
  const others = async () => {
    for (let round = 0; goOn(); round += 1) await Promise.all([administrate(group, round), sleep(EVERY_MS)]);
  };
  const sampling = async () => {
    while (goOn()) {
      for (const one of processes) samples.set(one, [...(samples.get(one) ?? []), await takeSample(one)]);
      await sleep((SECONDS * 1_000) / SAMPLES);
    }
  };
  load.start();
  try {
    await Promise.all([others(), sampling()]);
  } finally {
    await load.stop();
  }
}

test(
  'under a steady load memory stays level, and nothing stays open',
  async () => {
    const load = new SteadyLoad(loaded, EVERY_MS);
    const items = [{ name: 'Group', memberIds: [] }];
    const { result } = await change(api.http, loaded.org, '/groups/proposals/create', { items });
    await run(load, result.resources[0]);
    const rows = processes.flatMap((one) => {
      const process = one.config.roles.join();
      const kept = process === 'signer' ? load.paid.length : 0;
      return METRICS.map((metric) => {
        const { before, after } = quarters(samples.get(one) ?? [], metric);
        return { process, name: metric.name, before, after, isLevel: after <= metric.most(before, kept) };
      });
    });
    const lines = rows.map(({ process, name, before, after }) => `${process} ${name}: ${before} → ${after}`);
    console.info([`${load.paid.length} payments in ${SECONDS} s`, ...lines].join('\n'));
    expect(rows.filter(({ isLevel }) => !isLevel)).toEqual([]);
    await load.expectPaidOnce();
  },
  (SECONDS + 900) * 1_000,
);
