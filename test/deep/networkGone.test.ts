import { execute, proposalPath, propose, read, startApi } from '../support/api';
import { sign, type TestOrganization, type TestService } from '../support/service';
import { networksFile, sharedStack } from '../support/stack';
import { until } from '../support/until';

let service: TestService;
afterAll(() => service?.stop());

test('notes on open proposals that their network was removed from the configuration, and leaves nothing half executed', async () => {
  service = await startApi();
  const org: TestOrganization = await service.createOrganization();
  const waiting = await propose(service.http, org, { networkIds: [31337, 31338] });
  const ready = await propose(service.http, org, { networkIds: [31338] });
  for (const member of [org.alice, org.bob]) await sign(service.http, org.adminKey, ready, member);

  await service.stop();
  const [kept] = sharedStack().chains;
  const file = networksFile([{ id: kept?.chainId, name: 'Kept', rpcUrl: kept?.rpcUrl }]);
  service = await startApi({ env: { ...service.env, NETWORKS_FILE: file, RECONCILE_EVERY: '1s' } });
  const { http } = service;

  for (const { id } of [waiting, ready]) {
    const noted = await until('the record says that the network is gone', async () => {
      const found = await read(http, org.readKey, proposalPath(id));
      return found.notes.length > 0 && found;
    });
    expect(noted.notes).toEqual([
      { at: expect.any(String), code: 'networkGone', message: expect.stringContaining('31338') },
    ]);
  }
  for (const member of [org.alice, org.bob]) await sign(http, org.adminKey, waiting, member);
  for (const { id } of [waiting, ready]) {
    const answer = await execute(http, org.adminKey, id);
    expect(answer.body.data).toMatchObject({
      executionStatus: 'blocked',
      failure: {
        code: 'stale',
        message: expect.stringMatching(/^network 31338 is not configured \(available: 31337/),
      },
    });
  }
  expect(await read(http, org.readKey, '/api/v1/accounts')).toEqual([]);
});
