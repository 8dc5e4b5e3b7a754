import pino from 'pino';
import { createChainClients } from '../../src/chain/clients';
import { readRelayerBalances } from '../../src/chain/relayerFunds';
import { listRelayers } from '../../src/db/relayers';
import { createMetrics } from '../../src/metrics';
import { watchRelayers } from '../../src/relayerWatch';
import { until } from '../support/until';
import { GWEI, TransactionWorld } from './transactionWorld';

let world: TransactionWorld;

beforeAll(async () => {
  world = await TransactionWorld.start(41_061);
});

afterAll(() => world?.stop());

test('leaves out an unavailable network', async () => {
  const unavailable = createChainClients([{ ...world.network, rpcUrls: ['http://127.0.0.1:1'] }]);
  expect(await readRelayerBalances(unavailable, await listRelayers(world.db))).toEqual([]);
});

test('keeps the balance as a metric for as long as it is used, and warns once when it is low', async () => {
  const metrics = createMetrics(['api']);
  const lines: { msg: string; funds: string }[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const shown = async () => {
    const metric = await metrics.registry.getSingleMetric('orgwallet_relayer_balance_wei')?.get();
    return metric?.values ?? [];
  };
  await world.setBalance(world.relayer, 5_000_000n * GWEI);
  const chains = new Map(createChainClients([world.network]));
  const stop = watchRelayers(
    {
      db: world.serviceDb,
      chains,
      logger,
      metrics,
    },
    20,
  );
  try {
    await until('the metric is there', async () => (await shown()).length === 1);
    expect(await shown()).toEqual([
      {
        value: Number(5_000_000n * GWEI),
        labels: { network: String(world.network.id), address: world.relayer },
      },
    ]);
    const payable = async () =>
      (await metrics.registry.getSingleMetric('orgwallet_relayer_payable_deployments')?.get())?.values[0]
        ?.value;
    expect(await payable()).toBeGreaterThan(1);
    await world.setBalance(world.relayer, 0n);
    await until('it is reported as empty', async () => lines.some(({ funds }) => funds === 'empty'));
    await until('nothing can be paid', async () => (await payable()) === 0);
    await world.fundRelayer();
    await until('the metric has followed', async () => (await shown())[0]?.value === 1e24);
    const unused = createChainClients([{ ...world.network, relayers: 0 }]);
    for (const [id, client] of unused) chains.set(id, client);
    await until('one that is not used any more has no metric', async () => (await shown()).length === 0);
  } finally {
    await stop();
  }
  expect(lines.map(({ funds }) => funds)).toEqual(['low', 'empty']);
  expect(lines[0]?.msg).toContain(world.relayer);
});
