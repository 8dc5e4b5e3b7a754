/** @deep */

import {
  execute,
  expectRefused,
  makeAccount,
  proposalPath,
  propose,
  proposeUpdate,
  read,
  refusal,
  type Shown,
} from '../support/api';
import {
  SHORT_LIFETIME_SECONDS,
  shortLivedService,
  sign,
  signPayload,
  type TestOrganization,
  type TestService,
} from '../support/service';
import { itDeep } from '../support/suite';
import { until } from '../support/until';

let api: TestService;
let org: TestOrganization;
/** When the proposals were asked for. */
let askedAtMs: number;
/** Nobody signed it. */
let unsigned: Shown;
/** Two admins approved it, and nobody executed it. */
let approved: Shown;
let rejected: Shown;
/** An account, and a change of it that nobody signed. */
let account: Shown;
let claiming: Shown;

const expired = refusal(422, 'proposalExpired', null);

async function untilExpired({ id }: Shown): Promise<Shown> {
  await until(`the expiry of ${id} is recorded`, async () => {
    const path = `/api/v1/audit-logs?action=proposal.expired&resourceId=${id}`;
    return (await read(api.http, org.readKey, path)).length === 1;
  });
  return read(api.http, org.readKey, proposalPath(id));
}

beforeAll(async () => {
  api = await shortLivedService();
  org = await api.createOrganization();
  account = await makeAccount(api.http, org);
  const vote = async (proposal: Shown, type: 'approve' | 'reject') => {
    const [one, two] = await Promise.all([
      sign(api.http, org.adminKey, proposal, org.alice, type),
      sign(api.http, org.adminKey, proposal, org.bob, type),
    ]);
    expect([one.status, two.status]).toEqual([200, 200]);
  };
  askedAtMs = Date.now();
  [unsigned, approved, rejected, claiming] = await Promise.all([
    propose(api.http, org),
    propose(api.http, org),
    propose(api.http, org),
    proposeUpdate(api.http, org, { id: account.id, name: 'Never' }),
  ]);
  await Promise.all([vote(approved, 'approve'), vote(rejected, 'reject')]);
  for (const proposal of [unsigned, approved, rejected, claiming]) await untilExpired(proposal);
});
afterAll(() => api?.stop());

describe('an expired proposal', () => {
  it('expires after the configured lifetime, signed in whole seconds', async () => {
    const expiresAtMs = Date.parse(unsigned.expiresAt);
    // The time that it is counted from is read before the proposal is stored.
    expect(expiresAtMs - askedAtMs).toBeGreaterThan((SHORT_LIFETIME_SECONDS - 1) * 1_000);
    expect(expiresAtMs - Date.parse(unsigned.createdAt)).toBeLessThanOrEqual(SHORT_LIFETIME_SECONDS * 1_000);
    expect(unsigned.expiresAt).toMatch(/:\d\d\.000Z$/);
    const { message } = JSON.parse(unsigned.signingPayloads.approvePayload);
    expect(message.expiresAt).toBe(String(Date.parse(unsigned.expiresAt) / 1_000));
  });

  it('is reported as expired, keeps its votes, and has no payload to sign', async () => {
    const shown = await read(api.http, org.readKey, proposalPath(approved.id));
    expect(shown).toMatchObject({
      signatureStatus: 'expired',
      executionStatus: null,
      threshold: 2,
      rejections: [],
    });
    expect(shown.approvals).toHaveLength(2);
    expect(shown.signingPayloads).toBeUndefined();
    expect(shown.result).toBeUndefined();
  });

  it('refuses signatures', async () => {
    for (const proposal of [unsigned, approved, rejected]) {
      for (const type of ['approve', 'reject'] as const) {
        const signature = await signPayload(org.carol, proposal.signingPayloads[`${type}Payload`]);
        const path = proposalPath(proposal.id, '/signatures');
        await expectRefused(
          api.http,
          org,
          { key: org.adminKey, path, body: { type, signature, execute: true } },
          expired,
        );
      }
    }
  });

  it('is not executed, whatever the number of votes', async () => {
    for (const proposal of [unsigned, approved, rejected]) {
      for (const type of ['approve', 'reject']) {
        const path = proposalPath(proposal.id, '/execute');
        await expectRefused(api.http, org, { key: org.adminKey, path, body: { type } }, expired);
      }
    }
  });

  it('is closed', async () => {
    const ids = async (status: string) =>
      (await read(api.http, org.readKey, `/api/v1/accounts/proposals?status=${status}`)).map(
        ({ id }: Shown) => id,
      );
    const closed = await ids('closed');
    for (const { id } of [unsigned, approved, rejected, claiming]) expect(closed).toContain(id);
  });

  it('releases its claims', async () => {
    const next = await proposeUpdate(api.http, org, { id: account.id, name: 'Now' });
    await sign(api.http, org.adminKey, next, org.alice);
    await sign(api.http, org.adminKey, next, org.bob);
    expect((await execute(api.http, org.adminKey, next.id)).body.data.executionStatus).toBe('completed');
    expect((await read(api.http, org.readKey, `/api/v1/accounts/${account.id}`)).name).toBe('Now');
  });

  itDeep('does not change when it was executed before', async () => {
    const done = await propose(api.http, org);
    await sign(api.http, org.adminKey, done, org.alice, 'reject');
    const answer = await sign(api.http, org.adminKey, done, org.bob, 'reject', { execute: true });
    const shown = answer.body.data;
    expect(shown.executionStatus).toBe('rejected');
    await until('its time is over', async () => Date.now() > Date.parse(shown.expiresAt) + 100);
    expect(await read(api.http, org.readKey, proposalPath(done.id))).toEqual(shown);
  });
});
