import { everyFault } from '../chaos/storm/faults';
import { drawStrikes, Storm } from '../chaos/storm/storm';
import { StormWorld } from '../chaos/storm/world';

/** How long it blows; a shorter one with STORM_SECONDS. */
const SECONDS = Number(process.env.STORM_SECONDS ?? 900);

let world: StormWorld;

beforeAll(async () => {
  world = await StormWorld.start({
    roles: ['signer', 'chain', 'chain', 'worker', 'worker', 'api', 'api'],
    networkIds: [31_337, 31_338],
    organizations: 3,
    lanes: 1,
    budget: 20n,
    ownParts: true,
    env: { RECONCILE_EVERY: '20s' },
  });
}, 300_000);
afterAll(() => world?.stop());

test(
  'whatever fails under load: nothing is lost, repeated or stuck for a minute',
  async () => {
    const storm = new Storm(world);
    const strikes = drawStrikes(everyFault(world), { rounds: 10, pairs: 5 });
    await storm.run(() => storm.strikeInTurn(strikes, SECONDS * 1_000));
  },
  (SECONDS + 600) * 1_000,
);
