/** @deep */

import { Client } from '@temporalio/client';
import { requireRow } from '../../src/db/rows';
import { connectTemporal } from '../../src/temporal/connection';
import { approvalWorkflowId } from '../../src/temporal/ids';
import { carryOut, execute, propose, read, type Shown, settled } from '../support/api';
import { sign, startTestService, type TestOrganization, type TestService } from '../support/service';
import { freePorts, networksFile, sharedStack } from '../support/stack';
import { itDeep } from '../support/suite';
import { until } from '../support/until';
import { command, json, refused, words } from './command';
import { type Gate, startGate } from './gate';

const AWAY_ID = 31_338;

let gate: Gate;
let service: TestService;
let env: NodeJS.ProcessEnv;
let org: TestOrganization;

beforeAll(async () => {
  const [steady, other] = sharedStack().chains;
  gate = await startGate(other?.rpcUrl ?? '');
  const file = networksFile([
    { id: steady?.chainId, name: 'Steady', rpcUrl: steady?.rpcUrl },
    { id: AWAY_ID, name: 'Shaky', rpcUrl: gate.url },
  ]);
  service = await startTestService({ env: { NETWORKS_FILE: file } });
  env = service.env;
  org = await service.createOrganization();
});
afterAll(async () => {
  await service?.stop();
  await gate?.stop();
});

const answerTo = async (key: string) => (await service.http.send({ key, path: '/api/v1/members' })).status;
const issue = (...more: string[]) => json(env, 'keys', 'issue', '--member', org.bot.id, ...more);
const auditOf = (resource_id: string) =>
  service.db('audit_log').where({ resource_id }).orderBy('position').select('action', 'actor', 'details');

describe('keys issue', () => {
  it('issues a key that is valid at once, stored only as a hash, and audited as the operator', async () => {
    const { id, key, ...rest } = await issue();
    expect([id, key, rest]).toEqual([
      expect.stringMatching(/^key_/),
      expect.stringMatching(/^ow_live_[\w-]{43}$/),
      {},
    ]);
    expect(await answerTo(key)).toBe(200);
    const audit = await auditOf(id);
    expect(audit).toEqual([
      {
        action: 'apiKey.issued',
        actor: expect.objectContaining({ type: 'operator' }),
        details: {
          after: {
            ...{ name: null, memberIds: [org.bot.id], expiresAt: null },
            scopes: ['read', 'request', 'propose', 'webhooks'],
            ...{ networkIds: null, accountIds: null, addressRanges: null },
          },
        },
      },
    ]);
    const stored = JSON.stringify([await service.db('api_keys').where({ id }), audit]);
    expect(stored).not.toContain(key);
    expect(await words(env, 'keys', 'list')).not.toContain(key);
  });

  it('accepts several members, in their order', async () => {
    const { id } = await issue('--member', org.otherBot.id);
    const listed = await json(env, 'keys', 'list', '--org', org.id);
    expect(listed.find((key: Shown) => key.id === id).memberIds).toEqual([org.bot.id, org.otherBot.id]);
  });

  it('prints that the key is shown once', async () => {
    const text = await words(env, 'keys', 'issue', '--member', org.bot.id);
    const [id, key] = text.split('\n');
    expect(text).toMatch(/^key_\w+\now_live_[\w-]{43}\nStore it now: it is shown only once\.\n$/);
    expect(await answerTo(key ?? '')).toBe(200);
    expect(await json(env, 'keys', 'revoke', id ?? '')).toMatchObject({ revoked: true });
  });

  itDeep('--expires sets its expiry', async () => {
    const { id, key } = await issue('--expires', '3s');
    expect(await answerTo(key)).toBe(200);
    const row = requireRow(await service.db('api_keys').where({ id }).first());
    // The two are rounded to milliseconds in different ways.
    expect(
      Math.abs(requireRow(row.expires_at).getTime() - row.created_at.getTime() - 3_000),
    ).toBeLessThanOrEqual(1);
    expect(await words(env, 'keys', 'list')).toMatch(new RegExp(`${id} .* expires \\d{4}-`));
    await until('the key has expired', async () => (await answerTo(key)) === 401);
    expect(await words(env, 'keys', 'list')).toMatch(new RegExp(`${id} .* expired \\d{4}-`));
  });

  it.each<[string, () => string[], RegExp]>([
    ['an unknown member', () => ['mem_none'], /member mem_none not found/],
    ['a person', () => [org.alice.id], /is a person: only members of type api have keys/],
    ['a member named twice', () => [org.bot.id, org.bot.id], /given twice/],
    ['a second member that is unknown', () => [org.bot.id, 'mem_none'], /member mem_none not found/],
    ['a second member that is a person', () => [org.bot.id, org.dave.id], /is a person/],
  ])('is refused for %s, and nothing is issued', async (_, members, message) => {
    const before = await service.db('api_keys').count();
    const argv = members().flatMap((id) => ['--member', id]);
    expect(await refused(env, 'keys', 'issue', ...argv)).toMatch(message);
    expect(await service.db('api_keys').count()).toEqual(before);
  });

  it('is refused for members of two organizations', async () => {
    const other = await service.createOrganization();
    const argv = ['--member', org.bot.id, '--member', other.bot.id];
    expect(await refused(env, 'keys', 'issue', ...argv)).toMatch(/member .* not found in organization/);
    expect(await json(env, 'keys', 'list', '--org', other.id)).toHaveLength(2);
  });
});

describe('keys list', () => {
  it('shows each key with its state and never its secret; --org filters by organization', async () => {
    const own = await service.createOrganization();
    await words(env, 'keys', 'revoke', own.adminKeyId);
    const listed = await json(env, 'keys', 'list', '--org', own.id);
    expect(listed).toEqual([
      {
        id: own.adminKeyId,
        organizationId: own.id,
        name: null,
        prefix: own.adminKey.slice(0, 12),
        memberIds: [own.bot.id],
        rights: {
          scopes: ['read', 'request', 'propose', 'webhooks'],
          networkIds: null,
          accountIds: null,
          addressRanges: null,
        },
        createdAt: expect.stringMatching(/Z$/),
        lastUsedAt: null,
        expiresAt: null,
        revokedAt: expect.stringMatching(/Z$/),
      },
      expect.objectContaining({ memberIds: [own.otherBot.id], revokedAt: null }),
    ]);
    const all = await json(env, 'keys', 'list');
    expect(new Set(all.map((key: Shown) => key.organizationId))).toEqual(
      new Set(await service.db('organizations').pluck('id')),
    );
    const text = await words(env, 'keys', 'list', '--org', own.id);
    expect(text).toMatch(/ revoked \d{4}-/);
    expect(text).toMatch(/ valid$/m);
    expect(text).not.toContain('ow_live_');
  });
});

describe('keys revoke', () => {
  it('revokes a key; a second time reports that it was revoked', async () => {
    const { id, key } = await issue();
    expect(await json(env, 'keys', 'revoke', id)).toMatchObject({ id, revoked: true, closed: [] });
    expect(await answerTo(key)).toBe(401);
    expect(await words(env, 'keys', 'revoke', id)).toBe(`${id} was already revoked\n`);
    expect((await auditOf(id)).map(({ action }) => action)).toEqual(['apiKey.issued', 'apiKey.revoked']);
  });

  it('is refused for a key that does not exist', async () => {
    expect(await refused(env, 'keys', 'revoke', 'key_none')).toBe('API key key_none not found\n');
  });
});

describe('keys rotate', () => {
  it('issues a new key for the same members with the same expiry, and revokes the old one', async () => {
    const old = await issue('--member', org.otherBot.id, '--expires', '90d');
    const fresh = await json(env, 'keys', 'rotate', old.id);
    expect(await answerTo(old.key)).toBe(401);
    expect(await answerTo(fresh.key)).toBe(200);
    const listed = await json(env, 'keys', 'list', '--org', org.id);
    const [before, after] = [old.id, fresh.id].map((id) => listed.find((key: Shown) => key.id === id));
    expect(after.memberIds).toEqual(before.memberIds);
    expect(after.expiresAt).toBe(before.expiresAt);
    expect((await auditOf(old.id)).at(-1)).toMatchObject({
      action: 'apiKey.revoked',
      details: { rotatedTo: fresh.id },
    });
    expect(await refused(env, 'keys', 'rotate', old.id)).toMatch(/is revoked: issue a new one/);
    expect(await refused(env, 'keys', 'rotate', 'key_none')).toMatch(/API key key_none not found/);
  });
});

describe('keys revoke --close-open', () => {
  /** The organization as a client sees it who proposes with a key that was stolen. */
  async function thief(own: TestOrganization) {
    const { id, key } = await json(env, 'keys', 'issue', '--member', own.bot.id);
    return { id, org: { ...own, adminKey: key } };
  }
  const shown = (own: TestOrganization, id: string) =>
    read(service.http, own.readKey, `/api/v1/accounts/proposals/${id}`);

  it('closes its open proposals, releases their claims and ends their workflows, and no others', async () => {
    const own = await service.createOrganization();
    const stolen = await thief(own);
    const account = (await carryOut(service.http, own, await propose(service.http, own))).result.resources[0];
    const mine = await propose(service.http, own);
    const done = await carryOut(service.http, stolen.org, await propose(service.http, stolen.org));
    const fresh = await propose(service.http, stolen.org);
    const claiming = await service.http.send({
      key: stolen.org.adminKey,
      path: '/api/v1/accounts/proposals/update',
      body: { items: [{ id: account.id, name: 'Taken' }] },
    });
    expect(claiming.status).toBe(201);
    await sign(service.http, own.adminKey, fresh, own.alice);
    const rename = () =>
      service.http.send({
        key: own.adminKey,
        path: '/api/v1/accounts/proposals/update',
        body: { items: [{ id: account.id, name: 'Mine' }] },
      });
    expect((await rename()).status).toBe(409);

    const processing = await propose(service.http, stolen.org, { networkIds: [AWAY_ID] });
    await sign(service.http, own.adminKey, processing, own.alice);
    await sign(service.http, own.adminKey, processing, own.bob);
    gate.shut();
    const executing = execute(service.http, own.adminKey, processing.id);
    await until(
      'it is being executed',
      async () => (await shown(own, processing.id)).executionStatus === 'processing',
    );

    const revoked = await json(env, 'keys', 'revoke', stolen.id, '--close-open');
    expect(revoked).toEqual({
      id: stolen.id,
      revoked: true,
      closed: expect.any(Array),
      left: [processing.id],
      workflowsNotified: true,
    });
    expect(new Set(revoked.closed)).toEqual(new Set([fresh.id, claiming.body.data.id]));
    expect(await answerTo(stolen.org.adminKey)).toBe(401);

    for (const { id } of [fresh, claiming.body.data]) {
      const closed = await shown(own, id);
      expect(closed).toMatchObject({ executionStatus: 'failed', failure: { code: 'closedByOperator' } });
      expect(closed.failure.message).toContain(stolen.id);
      expect(closed).not.toHaveProperty('signingPayloads');
      expect((await execute(service.http, own.adminKey, id)).status).toBe(409);
      expect((await auditOf(id)).at(-1)).toMatchObject({
        action: 'proposal.closed',
        actor: { type: 'operator' },
      });
      expect(await refused(env, 'proposals', 'retry', id)).toMatch(/Closed by an operator/);
    }
    // The vote that was given stands in what is shown of it.
    expect((await shown(own, fresh.id)).approvals.map(({ name }: Shown) => name)).toEqual(['Alice']);
    expect((await rename()).status).toBe(201);

    const connection = connectTemporal(service.config.temporal);
    const client = new Client({ connection, namespace: service.config.temporal.namespace });
    const workflow = async (id: string) =>
      (
        await client.workflow
          .getHandle(
            approvalWorkflowId({
              subject: 'proposal',
              resourceType: 'accounts',
              organizationId: own.id,
              id,
            }),
          )
          .describe()
      ).status.name;
    for (const { id } of [fresh, claiming.body.data]) {
      await until('its workflow has ended', async () => (await workflow(id)) === 'COMPLETED', 5_000);
    }
    expect([await workflow(mine.id), await workflow(processing.id)]).toEqual(['RUNNING', 'RUNNING']);
    await connection.close();

    expect(await shown(own, mine.id)).toMatchObject({ executionStatus: null, signingPayloads: {} });
    expect(await shown(own, done.id)).toMatchObject({ executionStatus: 'completed' });
    expect(await shown(own, processing.id)).toMatchObject({ executionStatus: 'processing' });
    gate.open();
    expect((await executing).status).toBe(200);
    expect(await settled(service.http, own, processing.id)).toMatchObject({ executionStatus: 'completed' });

    expect(await words(env, 'keys', 'revoke', stolen.id, '--close-open')).toBe(
      `${stolen.id} was already revoked\n`,
    );
  });

  itDeep('does not close them without the option; a second revoke can', async () => {
    const own = await service.createOrganization();
    const stolen = await thief(own);
    const open = await propose(service.http, stolen.org);
    await words(env, 'keys', 'revoke', stolen.id);
    expect(await shown(own, open.id)).toMatchObject({ executionStatus: null, signingPayloads: {} });
    const text = await words(env, 'keys', 'revoke', stolen.id, '--close-open');
    expect(text).toBe(`${stolen.id} was already revoked\nclosed ${open.id}: ${open.summary}\n`);
  });

  itDeep(
    'closes them while Temporal is unavailable, and reports that the workflows are not notified',
    async () => {
      const own = await service.createOrganization();
      const stolen = await thief(own);
      const opened = [await propose(service.http, stolen.org), await propose(service.http, stolen.org)];
      const [port] = await freePorts(1);
      const unreachable = { ...env, TEMPORAL_ADDRESS: `127.0.0.1:${port}` };
      const { status, stdout } = await command(
        unreachable,
        'keys',
        'revoke',
        stolen.id,
        '--close-open',
        '--json',
      );
      expect(status).toBe(0);
      const revoked = JSON.parse(stdout);
      expect(revoked).toMatchObject({ revoked: true, workflowsNotified: false });
      expect(new Set(revoked.closed)).toEqual(new Set(opened.map(({ id }) => id)));
      expect(await answerTo(stolen.org.adminKey)).toBe(401);
      for (const { id } of opened) {
        expect(await shown(own, id)).toMatchObject({ failure: { code: 'closedByOperator' } });
      }
    },
  );
});
