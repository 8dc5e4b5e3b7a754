/** @deep */

import { createPublicClient, encodeFunctionData, erc20Abi, http as rpcTransport, zeroAddress } from 'viem';
import { verifyAudit } from '../../src/db/audit';
import { rpc } from '../../tools/dev/rpc';
import { sendAsFunder } from '../chain/wallets';
import {
  approve,
  carryOut,
  execute,
  expectRefused,
  makeAccount,
  PROPOSE,
  proposalPath,
  propose,
  proposeUpdate,
  read,
  refusal,
  reject,
  type Shown,
  settled,
  sharedApi,
  UPDATE,
} from '../support/api';
import { sign, type TestOrganization, type TestService } from '../support/service';
import { dataIn } from '../support/signedData';
import { endpointOf, sharedStack } from '../support/stack';
import { itDeep } from '../support/suite';

let api: TestService;
let org: TestOrganization;

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
});
afterAll(() => api?.stop());

const get = (path: string) => read(api.http, org.readKey, `/api/v1${path}`);
const idsOf = (list: Shown) => list.map(({ id }: Shown) => id);

/** Whether there is code at an address, network by network. */
async function networksWithCode(address: `0x${string}`): Promise<number[]> {
  const found = await Promise.all(
    api.config.networks.map(async (network) => {
      const code = await createPublicClient({ transport: rpcTransport(endpointOf(network)) }).getCode({
        address,
      });
      return code ? [network.id] : [];
    }),
  );
  return found.flat();
}

describe('an account', () => {
  it('is deployed at one address on two networks by the signatures of two admins', async () => {
    const created = await propose(api.http, org, { name: 'Treasury', networkIds: [31337, 31338] });
    expect(created).toMatchObject({
      resourceType: 'accounts',
      action: 'create',
      signatureStatus: 'pendingReviewSignatures',
      executionStatus: null,
      threshold: 2,
      approvals: [],
      rejections: [],
      notes: [],
      data: { items: [{ name: 'Treasury', networkIds: [31337, 31338] }] },
    });
    expect(created.result).toBeUndefined();
    expect(await get('/accounts')).toEqual([]);

    const first = await sign(api.http, org.adminKey, created, org.alice, 'approve', { execute: true });
    expect(first.body.data).toMatchObject({ executionStatus: null, approvals: [{ id: org.alice.id }] });
    const second = await sign(api.http, org.adminKey, created, org.bob, 'approve', { execute: true });
    expect(second.status).toBe(200);

    const done = await settled(api.http, org, created.id);
    expect(done).toMatchObject({
      executionStatus: 'completed',
      signatureStatus: 'approvalReady',
      approvals: [{ id: org.alice.id }, { id: org.bob.id }],
      result: { resolution: 'approved', resources: [{ type: 'account' }] },
    });
    expect(done.signingPayloads).toBeUndefined();
    expect(done.failure).toBeUndefined();
    expect(done.deployments).toEqual(
      [31337, 31338].map((networkId) => ({
        accountId: done.result.resources[0].id,
        networkId,
        status: 'completed',
        transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      })),
    );
    const account = await read(api.http, org.readKey, done.result.resources[0].uri);
    expect(account).toMatchObject({
      name: 'Treasury',
      networks: api.config.networks.map(({ id, name }) => ({ id, name })),
    });
    expect(await networksWithCode(account.address)).toEqual([31337, 31338]);
  });

  itDeep('has its own address when one proposal creates several', async () => {
    const items = [
      { name: 'Payroll', networkIds: [31338] },
      { name: 'Savings', networkIds: [31337] },
      { name: 'Other savings', networkIds: [31338] },
    ];
    const answer = await api.http.send({ key: org.adminKey, path: PROPOSE, body: { items } });
    const done = await carryOut(api.http, org, answer.body.data);
    const accounts = await Promise.all(
      done.result.resources.map(({ uri }: Shown) => read(api.http, org.readKey, uri)),
    );
    expect(accounts.map(({ name }) => name)).toEqual(['Payroll', 'Savings', 'Other savings']);
    expect(new Set(accounts.map(({ address }) => address)).size).toBe(3);
    expect(accounts.map(({ networks }) => idsOf(networks))).toEqual([[31338], [31337], [31338]]);
  });

  it('gets a new name, and another network at the same address', async () => {
    const before = await makeAccount(api.http, org, { name: 'Before' });
    const change = { id: before.id, name: 'After', networkIds: [31338] };
    const proposed = await proposeUpdate(api.http, org, change);
    expect(proposed).toMatchObject({ action: 'update', data: { items: [change] } });
    expect(proposed.signingPayloads.initiatorPayload).toBeDefined();
    expect(await get(`/accounts/${before.id}`)).toEqual(before);
    const done = await carryOut(api.http, org, proposed);
    expect(done.result).toEqual({
      resolution: 'approved',
      resources: [{ type: 'account', id: before.id, uri: `/api/v1/accounts/${before.id}` }],
    });
    const after = await get(`/accounts/${before.id}`);
    expect(after).toMatchObject({ name: 'After', address: before.address, createdAt: before.createdAt });
    expect(idsOf(after.networks)).toEqual([31337, 31338]);
    expect(after.updatedAt > before.updatedAt).toBe(true);
    expect(await networksWithCode(after.address)).toEqual([31337, 31338]);
  });

  it('is renamed without any chain', async () => {
    const account = await makeAccount(api.http, org);
    const done = await carryOut(
      api.http,
      org,
      await proposeUpdate(api.http, org, { id: account.id, name: 'New' }),
    );
    expect(done.deployments).toBeUndefined();
    expect((await get(`/accounts/${account.id}`)).name).toBe('New');
  });

  itDeep('is changed by one open proposal at a time', async () => {
    const [account, other] = await Promise.all([makeAccount(api.http, org), makeAccount(api.http, org)]);
    const first = await proposeUpdate(api.http, org, { id: account.id, name: 'First' });
    const conflict = refusal(409, 'conflict', null);
    for (const items of [
      [{ id: account.id, name: 'Second' }],
      [{ id: account.id, networkIds: [31338] }],
      [
        { id: other.id, name: 'Other' },
        { id: account.id, name: 'Second' },
      ],
    ]) {
      const answer = await expectRefused(
        api.http,
        org,
        { key: org.adminKey, path: UPDATE, body: { items } },
        conflict,
      );
      expect(answer.body.message).toContain(first.id);
    }
    // What was refused claims nothing.
    await proposeUpdate(api.http, org, { id: other.id, name: 'Other' });
    await sign(api.http, org.adminKey, first, org.alice, 'reject');
    await sign(api.http, org.adminKey, first, org.bob, 'reject', { execute: true });
    const next = await proposeUpdate(api.http, org, { id: account.id, name: 'Second' });
    expect(next.signatureStatus).toBe('pendingReviewSignatures');
  });

  itDeep('is claimed by one of many simultaneous proposals', async () => {
    const account = await makeAccount(api.http, org);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        api.http.send({
          key: org.adminKey,
          path: UPDATE,
          body: { items: [{ id: account.id, name: `Name ${i}` }] },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  itDeep('has a name that no other account has, whichever proposal is carried out first', async () => {
    const [one, two] = [
      await propose(api.http, org, { name: 'Twin' }),
      await propose(api.http, org, { name: 'TWIN' }),
    ];
    expect(one.id).not.toBe(two.id);
    const done = await carryOut(api.http, org, two);
    const taken = `"Twin" would be the name of account ${done.data.items[0].id}`;
    expect(await approve(api.http, org, one)).toMatchObject({
      executionStatus: 'blocked',
      failure: { code: 'stale', message: expect.stringContaining(taken) },
    });
    const body = { items: [{ name: 'Twin', networkIds: [31337] }] };
    const ask = { key: org.adminKey, path: PROPOSE, body };
    const { body: answer } = await expectRefused(
      api.http,
      org,
      ask,
      refusal(409, 'conflict', 'items[0].name'),
    );
    expect(answer.message).toContain(`"Twin" is the name of account ${done.data.items[0].id}`);
    await reject(api.http, org, one);
  });
});

describe('a proposal', () => {
  it('creates no account when it is rejected', async () => {
    const proposal = await propose(api.http, org, { name: 'Unwanted' });
    const before = idsOf(await get('/accounts'));
    await sign(api.http, org.adminKey, proposal, org.carol, 'reject', { reason: 'Too many' });
    await sign(api.http, org.adminKey, proposal, org.bot, 'reject');
    const rejected = await execute(api.http, org.adminKey, proposal.id, 'reject');
    expect(rejected.status).toBe(200);
    expect(rejected.body.data).toMatchObject({
      executionStatus: 'rejected',
      signatureStatus: 'rejectionReady',
      approvals: [],
      rejections: [{ id: org.carol.id }, { id: org.bot.id }],
      result: { resolution: 'rejected', resources: [] },
    });
    expect(rejected.body.data.deployments).toBeUndefined();
    expect(idsOf(await get('/accounts'))).toEqual(before);
  });

  it('shows the payloads while signatures can be collected, and the initiator’s only at its creation', async () => {
    const created = await propose(api.http, org);
    expect(Object.keys(created.signingPayloads).sort()).toEqual([
      'approvePayload',
      'initiatorPayload',
      'rejectPayload',
    ]);
    const shown = await get(`/accounts/proposals/${created.id}`);
    const { initiatorPayload: _, ...others } = created.signingPayloads;
    expect(shown.signingPayloads).toEqual(others);
    expect(shown).toEqual({ ...created, signingPayloads: others });
    const types = ['approvePayload', 'rejectPayload', 'initiatorPayload'].map(
      (name) => JSON.parse(created.signingPayloads[name]).primaryType,
    );
    expect(new Set(types).size).toBe(3);
    const { message } = JSON.parse(created.signingPayloads.approvePayload);
    expect(message).toMatchObject({ organization: org.id, proposalId: created.id, resourceType: 'accounts' });
    expect(dataIn(message.data)).toEqual(created.data);
    expect(message.summary).toEqual(created.summary.split('\n'));
    expect(created.summary).toContain(JSON.stringify(created.data.items[0].name));
  });

  it('is returned at its Location', async () => {
    const items = [{ name: 'Found', networkIds: [31337] }];
    const answer = await api.http.send({ key: org.adminKey, path: PROPOSE, body: { items } });
    expect(answer.headers.location).toBe(`/api/v1/accounts/proposals/${answer.body.data.id}`);
    expect((await read(api.http, org.readKey, answer.headers.location as string)).id).toBe(
      answer.body.data.id,
    );
  });
});

describe('lists', () => {
  let other: TestOrganization;
  let proposals: string[];
  let accounts: string[];

  beforeAll(async () => {
    other = await api.createOrganization();
    proposals = [];
    accounts = [];
    for (let count = 0; count < 3; count += 1) {
      const done = await carryOut(api.http, other, await propose(api.http, other));
      accounts.unshift(done.result.resources[0].id);
      proposals.unshift(done.id);
    }
    for (let count = 0; count < 4; count += 1) proposals.unshift((await propose(api.http, other)).id);
  });

  /** All ids of a list, read page by page; a proposal is made between the pages when `meanwhile` says so. */
  async function walk(path: string, limit: number, meanwhile?: () => Promise<unknown>): Promise<string[]> {
    const ids: string[] = [];
    let query = `${path.includes('?') ? '&' : '?'}limit=${limit}`;
    for (;;) {
      const { body } = await api.http.send({ key: other.readKey, path: `/api/v1${path}${query}` });
      expect(body.data.length).toBeLessThanOrEqual(limit);
      ids.push(...idsOf(body.data));
      expect(body.pagination.hasMore).toBe(body.pagination.cursor !== '');
      if (!body.pagination.hasMore) return ids;
      expect(body.data).toHaveLength(limit);
      await meanwhile?.();
      query = `${path.includes('?') ? '&' : '?'}limit=${limit}&cursor=${body.pagination.cursor}`;
    }
  }

  it('of accounts are newest first, whole or in pages', async () => {
    expect(idsOf(await read(api.http, other.readKey, '/api/v1/accounts'))).toEqual(accounts);
    expect(await walk('/accounts', 1)).toEqual(accounts);
    expect(await walk('/accounts', 2)).toEqual(accounts);
    expect(await walk('/accounts', 100)).toEqual(accounts);
  });

  it('of members are newest first, whole or in pages', async () => {
    const members = other.all.map(({ id }) => id).reverse();
    const whole = await read(api.http, other.readKey, '/api/v1/members');
    expect(idsOf(whole)).toEqual(members);
    expect(await walk('/members', 2)).toEqual(members);
    expect(whole[0]).toMatchObject({
      name: 'Other Bot',
      type: 'api',
      walletAddress: other.otherBot.wallet.address,
      registeredAt: null,
    });
    expect(await read(api.http, other.readKey, `/api/v1/members/${members[0]}`)).toEqual(whole[0]);
  });

  it('of proposals are newest first, by kind and state', async () => {
    for (const path of ['/proposals', '/accounts/proposals', '/proposals?resourceType=accounts']) {
      expect(await walk(path, 3)).toEqual(proposals);
    }
    expect(await walk('/proposals?status=open', 3)).toEqual(proposals.slice(0, 4));
    expect(await walk('/accounts/proposals?status=closed', 2)).toEqual(proposals.slice(4));
    for (const kind of ['members', 'groups', 'policies', 'admins']) {
      expect(await walk(`/proposals?resourceType=${kind}`, 10)).toEqual([]);
    }
    const [first] = await read(api.http, other.readKey, '/api/v1/proposals?limit=1');
    expect(first).toEqual(await read(api.http, other.readKey, proposalPath(proposals[0] ?? '')));
  });

  it('skip and repeat no row while rows are added', async () => {
    const before = await walk('/proposals', 100);
    const seen = await walk('/proposals', 2, () => propose(api.http, other));
    expect(seen).toEqual(before);
  });

  it('have 20 rows per page by default', async () => {
    await Promise.all(Array.from({ length: 12 }, () => propose(api.http, other)));
    const { body } = await api.http.send({ key: other.readKey, path: '/api/v1/proposals' });
    expect(body.data).toHaveLength(20);
    expect(body.pagination.hasMore).toBe(true);
  });
});

describe('the organization', () => {
  it('shows its admins and their threshold', async () => {
    const admins = await get('/admins');
    expect(admins).toEqual({
      id: org.adminsId,
      threshold: 2,
      onChain: { enabled: false, safe: expect.stringMatching(/^0x/), networks: [] },
      members: expect.arrayContaining(
        [org.alice, org.bob, org.carol, org.bot].map(({ id, name, type, wallet }) => ({
          id,
          name,
          type,
          walletAddress: wallet.address,
          walletKind: 'key',
        })),
      ),
    });
    expect(admins.members).toHaveLength(4);
    expect(await get(`/admins/${org.adminsId}`)).toEqual(admins);
  });

  it('lists the configured networks', async () => {
    expect(await get('/networks')).toEqual(
      api.config.networks.map(({ id, name, nativeAsset, walletRpcUrl }) => ({
        id,
        name,
        nativeAsset,
        walletRpcUrl,
      })),
    );
  });
});

describe('balances', () => {
  it('are the native currency and the known token, on every network of the account', async () => {
    const account = await makeAccount(api.http, org, { networkIds: [31337, 31338] });
    const [first, second] = sharedStack().chains;
    if (!first || !second) throw new Error('there are no chains');
    await rpc(first.rpcUrl, 'anvil_setBalance', [
      account.address,
      `0x${(1_500_000_000_000_000_000n).toString(16)}`,
    ]);
    await sendAsFunder(second.rpcUrl, {
      to: second.token.address as `0x${string}`,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transfer',
        args: [account.address, 25n * 10n ** BigInt(second.token.decimals) + 1n],
      }),
    });
    const balances = await get(`/accounts/${account.id}/balances`);
    const amounts = balances.map(({ networkId, asset, rawAmount, displayAmount }: Shown) => [
      networkId,
      asset.tokenAddress,
      rawAmount,
      displayAmount,
    ]);
    const decimals = second.token.decimals;
    expect(amounts).toEqual([
      [31337, zeroAddress, '1500000000000000000', '1.5'],
      [31337, first.token.address, '0', '0'],
      [31338, zeroAddress, '0', '0'],
      [31338, second.token.address, `25${'1'.padStart(decimals, '0')}`, `25.${'1'.padStart(decimals, '0')}`],
    ]);
    expect(balances[3].asset).toMatchObject({
      id: `31338:${second.token.address}`,
      symbol: second.token.symbol,
      name: second.token.name,
      decimals,
    });
  });

  it('of all accounts are added up by asset and network', async () => {
    const other = await api.createOrganization();
    const [one, two] = await Promise.all([
      makeAccount(api.http, other, { networkIds: [31337, 31338] }),
      makeAccount(api.http, other, { networkIds: [31337] }),
    ]);
    const [first] = sharedStack().chains;
    for (const [{ address }, wei] of [
      [one, '0x5'],
      [two, '0x7'],
    ] as const) {
      await rpc(first?.rpcUrl ?? '', 'anvil_setBalance', [address, wei]);
    }
    const { totals, missing } = await read(api.http, other.readKey, '/api/v1/balances');
    expect(missing).toEqual([]);
    const native = totals.filter(({ asset }: Shown) => asset.tokenAddress === zeroAddress);
    expect(
      native.map(({ networkId, rawAmount, accounts }: Shown) => [networkId, rawAmount, accounts]),
    ).toEqual([
      [31337, '12', 2],
      [31338, '0', 0],
    ]);
    expect(totals).toHaveLength(4);
    const empty = await api.createOrganization();
    const nothing = { totals: [], missing: [], prices: null };
    expect(await read(api.http, empty.readKey, '/api/v1/balances')).toEqual(nothing);
  });

  it('are shown for the networks of the account only', async () => {
    const account = await makeAccount(api.http, org, { networkIds: [31338] });
    const balances = await get(`/accounts/${account.id}/balances`);
    expect(new Set(balances.map(({ networkId }: Shown) => networkId))).toEqual(new Set([31338]));
  });
});

describe('reading', () => {
  it('changes nothing', async () => {
    const before = await org.stored();
    for (const path of ['/members', '/accounts', '/admins', '/networks', '/proposals', '/audit-logs'])
      await get(path);
    expect(await org.stored()).toEqual(before);
    expect(await verifyAudit(api.db, org.id)).toMatchObject({ ok: true });
  });
});
