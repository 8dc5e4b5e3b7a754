import { createPublicClient, http as rpcTransport } from 'viem';
import { sign, startTestService, type TestOrganization, type TestService } from '../support/service';
import { until } from '../support/until';

let service: TestService;
let org: TestOrganization;

beforeAll(async () => {
  service = await startTestService();
  org = await service.createOrganization();
});
afterAll(() => service?.stop());

async function proposal(id: string) {
  const answer = await service.http.send({ key: org.readKey, path: `/api/v1/accounts/proposals/${id}` });
  expect(answer.status).toBe(200);
  return answer.body.data;
}

async function settled(id: string) {
  return until(`proposal ${id} is decided`, async () => {
    const found = await proposal(id);
    return ['completed', 'failed', 'rejected', 'blocked'].includes(found.executionStatus) && found;
  });
}

async function createAccount(name: string, networkIds: number[]) {
  const created = await service.http.send({
    key: org.adminKey,
    path: '/api/v1/accounts/proposals/create',
    body: { items: [{ name, networkIds }] },
  });
  expect(created.status).toBe(201);
  return created.body.data;
}

describe('an account', () => {
  it('is deployed at one address on two networks by the signatures of two admins', async () => {
    const created = await createAccount('Treasury', [31337, 31338]);
    expect(created.signatureStatus).toBe('pendingReviewSignatures');
    expect(created.executionStatus).toBeNull();
    expect(created.signingPayloads.initiatorPayload).toBeDefined();
    const first = await sign(service.http, org.adminKey, created, org.alice);
    expect(first.status).toBe(200);
    expect(first.body.data.approvals.map((m: { id: string }) => m.id)).toEqual([org.alice.id]);
    const second = await sign(service.http, org.adminKey, created, org.bob, 'approve', { execute: true });
    expect(second.status).toBe(200);
    const done = await settled(created.id);
    expect(done).toMatchObject({ executionStatus: 'completed', signatureStatus: 'approvalReady' });
    expect(done.signingPayloads).toBeUndefined();
    expect(done.result.resolution).toBe('approved');
    const [resource] = done.result.resources;
    const account = (await service.http.send({ key: org.readKey, path: resource.uri })).body.data;
    expect(account).toMatchObject({ id: resource.id, name: 'Treasury' });
    expect(account.networks.map((n: { id: number }) => n.id)).toEqual([31337, 31338]);
    for (const network of service.config.networks) {
      const client = createPublicClient({ transport: rpcTransport(network.rpcUrl) });
      expect(await client.getCode({ address: account.address })).toMatch(/^0x.+/);
    }
  });
});
