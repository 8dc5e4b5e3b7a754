import { verifyAuditEntries } from '@orgwallet/client';
import { verifyAudit } from '../../src/db/audit';
import {
  carryOut,
  execute,
  propose,
  proposeUpdate,
  read,
  type Shown,
  sharedApi,
  UPDATE,
} from '../support/api';
import { sign, type TestOrganization, type TestService } from '../support/service';

let api: TestService;
let org: TestOrganization;
let created: Shown;
let accountId: string;
let rejected: Shown;

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
  created = await propose(api.http, org, { name: 'Audited' });
  accountId = (await carryOut(api.http, org, created)).result.resources[0].id;
  await carryOut(api.http, org, await proposeUpdate(api.http, org, { id: accountId, name: 'Renamed' }));
  rejected = await propose(api.http, org);
  await sign(api.http, org.adminKey, rejected, org.carol, 'reject', { reason: 'Not now' });
  await sign(api.http, org.adminKey, rejected, org.alice, 'reject');
  await execute(api.http, org.adminKey, rejected.id, 'reject');
});
afterAll(() => api?.stop());

const log = (query = '') => read(api.http, org.readKey, `/api/v1/audit-logs?limit=100${query}`);
const actions = (entries: Shown) => entries.map(({ action }: Shown) => action);

describe('the audit log', () => {
  it('lists changes, newest first', async () => {
    expect(actions(await log(`&resourceId=${created.id}`))).toEqual([
      'proposal.executed',
      'proposal.executionStarted',
      'proposal.signed',
      'proposal.signed',
      'proposal.created',
    ]);
    expect(actions(await log(`&resourceId=${rejected.id}`))).toEqual([
      'proposal.rejected',
      'proposal.executionStarted',
      'proposal.signed',
      'proposal.signed',
      'proposal.created',
    ]);
    expect(actions(await log(`&resourceId=${accountId}`))).toEqual([
      'account.updated',
      'account.deployed',
      'account.created',
    ]);
    const all = await log();
    expect(actions(all).slice(-9).sort()).toEqual([
      'apiKey.issued',
      'apiKey.issued',
      ...Array(6).fill('member.created'),
      'organization.created',
    ]);
    const times = all.map(({ createdAt }: Shown) => createdAt);
    expect([...times].sort().reverse()).toEqual(times);
    expect(await verifyAudit(api.db, org.id)).toEqual({
      ok: true,
      entries: BigInt(all.length),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('lists what proves each entry: its hash, that of the entry before it, and its position', async () => {
    const all = await log();
    expect(verifyAuditEntries(org.id, all)).toEqual([]);
    expect(all.map(({ position }: Shown) => position)).toEqual(
      all.map((_: Shown, n: number) => String(all.length - n)),
    );
    expect(await verifyAudit(api.db, org.id)).toMatchObject({ ok: true, hash: all[0].hash });
    expect(all.at(-1).previousHash).toBe('0'.repeat(64));
    const signed = await log('&action=proposal.signed');
    expect(verifyAuditEntries(org.id, signed, { isFiltered: true })).toEqual([]);
    expect(verifyAuditEntries(org.id, signed)).not.toEqual([]);
  });

  it('names the actor: the key’s member, the voters, the service, the operator', async () => {
    const actor = ({ id, name, wallet }: TestOrganization['alice']) => ({
      type: 'member',
      id,
      name,
      walletAddress: wallet.address,
    });
    const [proposed] = await log(`&resourceId=${created.id}&action=proposal.created`);
    expect(proposed).toMatchObject({
      actor: actor(org.bot),
      resourceType: 'proposal',
      details: { apiKeyId: org.adminKeyId, data: created.data },
    });
    const signed = await log(`&resourceId=${rejected.id}&action=proposal.signed`);
    expect(signed).toMatchObject([
      { actor: actor(org.alice), details: { type: 'reject' } },
      {
        actor: actor(org.carol),
        details: {
          type: 'reject',
          reason: 'Not now',
          signatureStatus: { before: 'pendingReviewSignatures', after: 'pendingReviewSignatures' },
        },
      },
    ]);
    expect(signed[0].details.signatureStatus.after).toBe('rejectionReady');
    const [deployed] = await log('&action=account.deployed');
    expect(deployed).toMatchObject({ actor: { type: 'system' }, details: { networkId: 31337 } });
    const [member] = await log('&action=member.created');
    expect(member.actor.type).toBe('operator');
    const [renamed] = await log('&action=account.updated');
    expect(renamed.details).toMatchObject({ before: { name: 'Audited' }, after: { name: 'Renamed' } });
  });

  it('has an id on each entry that sorts with it', async () => {
    const ids = (await log()).map(({ id }: Shown) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^log_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  });

  it('is filtered by resource type, resource, action and time, alone and together', async () => {
    const all = await log();
    const expected = (fits: (entry: Shown) => boolean) => all.filter(fits);
    expect(await log('&resourceType=account')).toEqual(expected((e) => e.resourceType === 'account'));
    expect(await log('&action=proposal.signed')).toEqual(expected((e) => e.action === 'proposal.signed'));
    expect(await log(`&resourceType=proposal&resourceId=${created.id}&action=proposal.signed`)).toEqual(
      expected((e) => e.resourceId === created.id && e.action === 'proposal.signed'),
    );
    expect(await log(`&resourceType=account&resourceId=${created.id}`)).toEqual([]);
    expect(await log('&action=nothing.happened')).toEqual([]);
    const { createdAt } = all[Math.floor(all.length / 2)];
    expect(await log(`&from=${createdAt}`)).toEqual(expected((e) => e.createdAt >= createdAt));
    expect(await log(`&to=${createdAt}`)).toEqual(expected((e) => e.createdAt < createdAt));
    expect(await log(`&from=${createdAt}&to=${createdAt}`)).toEqual([]);
    const offset = new Date(Date.parse(createdAt) + 2 * 3_600_000).toISOString().replace('Z', '+02:00');
    expect(await log(`&from=${encodeURIComponent(offset)}&action=proposal.signed`)).toEqual(
      expected((e) => e.createdAt >= createdAt && e.action === 'proposal.signed'),
    );
  });

  it('is read in pages that keep their filters', async () => {
    for (const filter of ['', '&resourceType=proposal', `&from=${created.createdAt}&resourceType=account`]) {
      const whole = await log(filter);
      const pages: Shown[] = [];
      let query = `limit=2${filter}`;
      for (;;) {
        const { body } = await api.http.send({ key: org.readKey, path: `/api/v1/audit-logs?${query}` });
        pages.push(...body.data);
        if (!body.pagination.hasMore) break;
        query = `limit=2&cursor=${body.pagination.cursor}`;
      }
      expect(pages).toEqual(whole);
    }
  });

  it('has 20 entries per page by default', async () => {
    const { body } = await api.http.send({ key: org.readKey, path: '/api/v1/audit-logs' });
    expect(body.data).toHaveLength(20);
    expect(body.pagination.hasMore).toBe(true);
  });

  it('has no entry for refused or repeated requests', async () => {
    const before = await log();
    const idempotencyKey = '2f0c3c3e-4d55-4b6c-9a53-1d1f5d3a9f10';
    const body = { items: [{ id: accountId, name: 'Again' }] };
    const ask = { key: org.adminKey, path: UPDATE, body, idempotencyKey };
    for (let count = 0; count < 3; count += 1) expect((await api.http.send(ask)).status).toBe(201);
    expect((await api.http.send({ ...ask, idempotencyKey: undefined as never })).status).toBe(409);
    expect(await log()).toHaveLength(before.length + 1);
  });

  it('never goes back in time, also while the clock of the database does', async () => {
    const there = await api.createOrganization();
    const ahead = new Date(Date.now() + 3_600_000);
    await api.db('audit_heads').where({ organization_id: there.id }).update({ created_at: ahead });
    const { id } = await propose(api.http, there);
    const [entry] = await read(api.http, there.readKey, `/api/v1/audit-logs?resourceId=${id}`);
    expect(entry.createdAt).toBe(ahead.toISOString());
    expect(await verifyAudit(api.db, there.id)).toMatchObject({ ok: true });
    const head = await api.db('audit_heads').where({ organization_id: there.id }).first();
    expect(head?.created_at).toEqual(ahead);
  });

  it('has the time of its last entry at its head', async () => {
    const head = await api.db('audit_heads').where({ organization_id: org.id }).first();
    const last = await api
      .db('audit_log')
      .where({ hash: head?.hash ?? '' })
      .first();
    expect(head?.created_at).toEqual(last?.created_at);
  });
});
