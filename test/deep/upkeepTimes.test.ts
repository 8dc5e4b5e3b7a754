import { sampleOf } from '../bench/figures';
import { change, makeAccount } from '../support/api';
import { sharedService, type TestMember, type TestService } from '../support/service';
import { untilOwned } from '../support/upkeepOnChains';

const DECISIONS = 20;
const LIMIT_MS = 120_000;

let service: TestService;

beforeAll(async () => {
  service = await sharedService();
});
afterAll(() => service?.stop());

test('the owners on each network follow each decision of the admins', async () => {
  const org = await service.createOrganization();
  const withoutCarol = [org.alice, org.bob, org.bot];
  const decided = async (updates: readonly object[], admins: readonly TestMember[], more: object = {}) => {
    await change(service.http, org, '/admins/proposals/update', { updates, threshold: 2, ...more });
    const started = performance.now();
    await untilOwned(service, org, { admins, threshold: 2 }, LIMIT_MS);
    return performance.now() - started;
  };
  // Its admins' Safe is made where it has accounts.
  await makeAccount(service.http, org, { networkIds: service.config.networks.map(({ id }) => id) });
  const { id } = org.carol;
  const withCarol = [...withoutCarol, org.carol];
  const firstMs = await decided([], withCarol, { onChain: { enabled: true } });
  const tookMs: number[] = [];
  for (let i = 0; i < DECISIONS; i += 1) {
    const isIn = i % 2 === 1;
    const updates = [{ action: isIn ? 'addMember' : 'removeMember', id }];
    tookMs.push(await decided(updates, isIn ? withCarol : withoutCarol));
  }
  const { p50, p95 } = sampleOf(tookMs);
  console.info(
    `${DECISIONS} decisions on ${service.config.networks.length} networks: p50 ${Math.round(p50)} ms, p95 ${Math.round(p95)} ms; the first owners ${Math.round(firstMs)} ms`,
  );
}, 900_000);
