import { processFaults } from './storm/faults';
import { drawStrikes, Storm } from './storm/storm';
import { StormWorld } from './storm/world';

/** Of the faults that the load test strikes for a quarter of an hour; it also has those of Postgres, Temporal and disks. */
const STRIKES = 4;
const MOST_MS = 1_500;

let world: StormWorld;

beforeAll(async () => {
  world = await StormWorld.start({
    roles: ['signer', 'chain', 'worker', 'api'],
    networkIds: [31_337],
    organizations: 2,
    lanes: 2,
    budget: 3n,
    ownParts: false,
    env: { RECONCILE_EVERY: '2s' },
  });
});
afterAll(() => world?.stop());

test('processes are killed and stopped under load: nothing is lost, repeated or stuck', async () => {
  const storm = new Storm(world);
  const strikes = drawStrikes(processFaults(world), { mostMs: MOST_MS }).slice(0, STRIKES);
  await storm.run(() => storm.strikeAtOnce(strikes));
});
