/** @deep */

import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import fc from 'fast-check';
import { encodeDeployData } from 'viem';
import { verifyAudit } from '../../src/db/audit';
import { putCode, sendAsFunder } from '../chain/wallets';
import {
  approve,
  carryOut,
  change,
  execute,
  expectAllRefused,
  expectRefused,
  makeAccount,
  proposeChange,
  read,
  refusal,
  reject,
  type Shown,
  startApi,
} from '../support/api';
import { anAddress } from '../support/builders';
import {
  aContractPolicyItem,
  anAnyPolicyItem,
  aPolicyItem,
  aTokenCondition,
  policyItems,
  type WrittenPolicy,
} from '../support/policies';
import { sign, type TestOrganization, type TestService } from '../support/service';
import { dataIn } from '../support/signedData';
import { sharedStack, startOwnChain, temporaryDir } from '../support/stack';
import { describeDeep, itDeep } from '../support/suite';

const MIXED = '/policies/proposals';
const ADD = '/policies/proposals/add';
const CHANGE = '/policies/proposals/update';
const REMOVE = '/policies/proposals/remove';
const NATIVE = `0x${'0'.repeat(40)}`;
/** A configured network whose node is stopped. */
const LOST = 41_031;

let api: TestService;
let org: TestOrganization;
let account: Shown;
let group: Shown;
/** The token that both local chains have at one address, and that the token list has with a logo. */
let token: string;

beforeAll(async () => {
  const stack = sharedStack();
  const lost = await startOwnChain(LOST);
  const networks = [...stack.chains, lost.current].map(({ chainId, rpcUrl }) => ({
    id: chainId,
    name: chainId === LOST ? 'Lost' : `Chain ${chainId}`,
    rpcUrl,
  }));
  token = stack.chains[0]?.token.address ?? '';
  const dir = temporaryDir();
  const [networksFile, tokenListFile] = [join(dir, 'networks.json'), join(dir, 'tokens.json')];
  writeFileSync(networksFile, JSON.stringify(networks));
  const listed = { chainId: 31337, address: token, symbol: 'DEMO', name: 'Demo', decimals: 18 };
  writeFileSync(
    tokenListFile,
    JSON.stringify({ tokens: [{ ...listed, logoURI: 'https://logo.example/demo.svg' }] }),
  );
  api = await startApi({
    env: { NETWORKS_FILE: networksFile, TOKEN_LIST_FILE: tokenListFile },
  });
  await lost.kill();
  org = await api.createOrganization();
  account = await makeAccount(api.http, org, { name: 'Treasury', networkIds: [31337] });
  group = await makeGroup('Traders', org.alice, org.bob, org.dave);
});
afterAll(() => api?.stop());

const get = (path: string) => read(api.http, org.readKey, `/api/v1${path}`);
const idsOf = (list: Shown) => list.map(({ id }: Shown) => id);
const auditOf = async (id: string) => (await get(`/audit-logs?resourceId=${id}&limit=100`)).reverse();
const send = (path: string, body: object) =>
  api.http.send({ key: org.adminKey, path: `/api/v1${path}`, body });
const show = (proposal: Shown) => get(`/policies/proposals/${proposal.id}`);

async function makeGroup(name: string, ...members: { id: string }[]): Promise<Shown> {
  const body = { items: [{ name, memberIds: idsOf(members) }] };
  const done = await change(api.http, org, '/groups/proposals/create', body);
  return read(api.http, org.readKey, done.result.resources[0].uri);
}

async function makeMember(name: string): Promise<Shown> {
  const items = [{ name, walletAddress: anAddress(), type: 'user' }];
  const done = await change(api.http, org, '/members/proposals/create', { items });
  return read(api.http, org.readKey, done.result.resources[0].uri);
}

/** Adds policies, and reads them. */
async function makePolicies(...policies: WrittenPolicy[]): Promise<Shown[]> {
  const done = await change(api.http, org, ADD, { policies });
  return Promise.all(done.result.resources.map(({ uri }: Shown) => read(api.http, org.readKey, uri)));
}

async function makePolicy(item: WrittenPolicy = aPolicyItem()): Promise<Shown> {
  const [policy] = await makePolicies(item);
  return policy;
}

/** The name of this one is taken. */
async function expectTaken(path: string, body: object, { id }: Shown): Promise<void> {
  const ask = { key: org.adminKey, path: `/api/v1${path}`, body };
  const { body: answer } = await expectRefused(
    api.http,
    org,
    ask,
    refusal(409, 'conflict', 'policies[0].name'),
  );
  expect(answer.message).toContain(`is the name of policy ${id}`);
}

const ofToken = (tokenAddress: string, conditions: object = {}, more: object = {}) =>
  aPolicyItem({ tokenTransferCondition: aTokenCondition({ tokenAddress, ...conditions }), ...more });
const approvers = (groupId: string, threshold: number, more: object = {}) => ({
  type: 'MANUAL_APPROVAL',
  approverSetting: { type: 'group', groupId, threshold },
  ...more,
});

describe('new policies', () => {
  it('of all three kinds are stored completely by their proposal', async () => {
    const destination = anAddress();
    const contract = anAddress();
    const items = [
      aPolicyItem({
        name: 'Payroll',
        type: 'MANUAL_APPROVAL',
        description: 'Salaries, once a month',
        accountIds: [account.id],
        limitation: {
          hours: 24,
          initiatorScope: 'ALL_ITEMS',
          sourceAccountScope: 'PER_ITEM',
          destinationScope: 'ALL_ITEMS',
        },
        initiatorSetting: { type: 'user', memberId: org.dave.id },
        approverSetting: { type: 'group', groupId: group.id, threshold: 2, excludeInitiator: true },
        tokenTransferCondition: {
          tokenAddress: token.toLowerCase(),
          tokenDecimals: 18,
          amountThreshold: '1500000000000000000',
          destinationAddresses: [destination.toLowerCase()],
        },
      }),
      aContractPolicyItem(
        [
          {
            contractAddress: contract,
            allowedFunctions: ['mint(address,uint256)', '0xDEADBEEF'],
            maxValue: '7',
          },
        ],
        { name: 'Minting', initiatorSetting: { type: 'group', groupId: group.id } },
      ),
      anAnyPolicyItem({
        name: 'Everything',
        networkId: 31338,
        type: 'MANUAL_APPROVAL',
        approverSetting: { type: 'user', userId: org.alice.id },
      }),
    ];
    const shown = [
      {
        name: 'Payroll',
        type: 'MANUAL_APPROVAL',
        transactionType: 'TOKEN_TRANSFER',
        networkId: 31337,
        description: 'Salaries, once a month',
        accountIds: [account.id],
        accounts: [{ id: account.id, name: 'Treasury', address: account.address }],
        limitation: items[0].limitation,
        initiatorSetting: { type: 'user', memberId: org.dave.id, userId: org.dave.id },
        approverSetting: {
          type: 'group',
          groupId: group.id,
          threshold: 2,
          excludeInitiator: true,
        },
        tokenTransferCondition: {
          tokenAddress: token,
          tokenSymbol: 'DEMO',
          tokenName: 'Demo Token',
          tokenLogoUrl: 'https://logo.example/demo.svg',
          tokenDecimals: 18,
          amountThreshold: '1500000000000000000',
          destinationAddresses: [destination],
        },
      },
      {
        name: 'Minting',
        type: 'AUTO_APPROVAL',
        transactionType: 'CONTRACT_INTERACTION',
        networkId: 31337,
        accountIds: null,
        accounts: [],
        initiatorSetting: { type: 'group', groupId: group.id },
        contractInteractionCondition: [
          {
            contractAddress: contract,
            allowedFunctions: ['mint(address,uint256)', '0xDEADBEEF'],
            functions: [{ name: 'mint', selector: '0x40c10f19' }, { selector: '0xdeadbeef' }],
            maxValue: '7',
          },
        ],
      },
      {
        name: 'Everything',
        type: 'MANUAL_APPROVAL',
        transactionType: 'ANY',
        networkId: 31338,
        accountIds: null,
        accounts: [],
        initiatorSetting: null,
        approverSetting: {
          type: 'user',
          memberId: org.alice.id,
          userId: org.alice.id,
          excludeInitiator: false,
        },
      },
    ];
    const before = await get('/policies');
    const proposed = await proposeChange(api.http, org, MIXED, { policies: items });
    expect(proposed).toMatchObject({ resourceType: 'policies', action: 'create' });
    const withIds = shown.map((policy) => ({ ...policy, id: expect.stringMatching(/^pol_/) }));
    expect(proposed.data).toEqual({ policies: withIds });
    expect(proposed.signingPayloads.initiatorPayload).toBeDefined();
    expect(proposed.summary.split('\n')).toEqual([
      '3 policies, 1 WITHOUT LIMIT, 1 approved automatically',
      expect.stringMatching(/^Create policy "Everything", WITHOUT LIMIT$/),
      'Transfers of any token and calls of any contract WITHOUT LIMIT',
      `Approved by "Alice" (${org.alice.id}), the initiator may approve too`,
      'Initiated by any member',
      'From any account of the organization on "Chain 31338" (31338)',
      'Any number of times',
      expect.stringMatching(/^Create policy "Minting", approved automatically$/),
      `Calls of ${contract} with at most 0.000000000000000007 "ETH": mint(address,uint256), 0xDEADBEEF`,
      'Approved automatically',
      `Initiated by any member of the group "Traders" (${group.id})`,
      'From any account of the organization on "Chain 31337" (31337)',
      'Any number of times',
      expect.stringMatching(/^Create policy "Payroll"$/),
      `Transfers of at most 1.5 "DEMO" ("Demo Token", ${token}) each`,
      `To ${destination}`,
      `Approved by 2 of the group "Traders" (${group.id}), never by the initiator`,
      `Initiated by "Dave" (${org.dave.id})`,
      `From the account "Treasury" (${account.address}) on "Chain 31337" (31337)`,
      'At most 1.5 "DEMO" together within any 24 hours for each account, over all initiators and destinations',
    ]);
    const { message } = JSON.parse(proposed.signingPayloads.approvePayload);
    expect(dataIn(message.data)).toEqual(proposed.data);
    expect(await get('/policies')).toEqual(before);

    const done = await carryOut(api.http, org, proposed);
    const { resources } = done.result;
    expect(resources).toEqual(
      proposed.data.policies.map(({ id }: Shown) => ({ type: 'policy', id, uri: `/api/v1/policies/${id}` })),
    );
    const times = { createdAt: expect.any(String), updatedAt: expect.any(String) };
    for (const [i, { id, uri }] of resources.entries()) {
      expect(await read(api.http, org.readKey, uri)).toEqual({ id, ...shown[i], ...times });
    }
    // Newest first: the last of one proposal before its first.
    expect(idsOf(await get('/policies')).slice(0, 3)).toEqual(idsOf(resources).reverse());
    const [created] = await auditOf(resources[0].id);
    expect(created).toMatchObject({
      action: 'policy.created',
      resourceType: 'policy',
      details: {
        proposalId: done.id,
        after: { name: 'Payroll', initiatorSetting: { memberId: org.dave.id } },
      },
    });
    expect(await verifyAudit(api.db, org.id)).toMatchObject({ ok: true });
  });

  itDeep('may equal existing ones but for the name', async () => {
    const [one, two] = [await makePolicy(), await makePolicy()];
    expect(one.id).not.toBe(two.id);
    await expectTaken(ADD, { policies: [aPolicyItem({ name: one.name.toUpperCase() })] }, one);
    await expectTaken(CHANGE, { policies: [{ ...two, name: ` ${one.name}` }] }, one);
  });

  it('omit absent fields, and can be sent back', async () => {
    const policies = await makePolicies(
      aPolicyItem({ name: 'Transfers', contractInteractionCondition: [] }),
      aContractPolicyItem(null, { name: 'Calls', description: '' }),
      anAnyPolicyItem({ name: 'All', contractInteractionCondition: [], limitation: null }),
    );
    for (const policy of policies) {
      for (const absent of ['description', 'limitation', 'approverSetting']) {
        expect(policy).not.toHaveProperty(absent);
      }
      expect(policy).toMatchObject({ accountIds: null, initiatorSetting: null });
    }
    const done = await change(api.http, org, CHANGE, {
      policies: policies.map((policy) => ({ ...policy, name: `${policy.name} again` })),
    });
    for (const [i, { uri }] of done.result.resources.entries()) {
      const { updatedAt: _, ...before } = policies[i];
      expect(await read(api.http, org.readKey, uri)).toMatchObject({
        ...before,
        name: `${policies[i].name} again`,
      });
    }
  });

  it('need one approval of a group when no threshold is given', async () => {
    const policy = await makePolicy(
      aPolicyItem({ type: 'MANUAL_APPROVAL', approverSetting: { type: 'group', groupId: group.id } }),
    );
    expect(policy.approverSetting).toEqual({
      type: 'group',
      groupId: group.id,
      threshold: 1,
      excludeInitiator: false,
    });
  });

  it('of any token have no symbol and no decimals', async () => {
    const policy = await makePolicy(
      aPolicyItem({ tokenTransferCondition: aTokenCondition({ tokenAddress: null }) }),
    );
    expect(policy.tokenTransferCondition).toEqual({
      tokenAddress: null,
      tokenSymbol: '',
      tokenName: '',
      tokenDecimals: 0,
      amountThreshold: null,
      destinationAddresses: [],
    });
  });

  it('are listed whole or in pages', async () => {
    const all = idsOf(await get('/policies'));
    const { body } = await api.http.send({ key: org.readKey, path: '/api/v1/policies' });
    expect(body.pagination).toBeUndefined();
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await api.http.send({
        key: org.readKey,
        path: `/api/v1/policies?limit=2${cursor && `&cursor=${cursor}`}`,
      });
      seen.push(...idsOf(page.body.data));
      cursor = page.body.pagination.cursor;
      if (!page.body.pagination.hasMore) break;
    }
    expect(seen).toEqual(all);
  });
});

describe('the token of a policy', () => {
  let another: string;

  beforeAll(async () => {
    const { abi, bytecode } = createRequire(__filename)(
      '@openzeppelin/contracts/build/contracts/ERC20PresetMinterPauser.json',
    );
    const [chain] = sharedStack().chains;
    const { contractAddress } = await sendAsFunder(chain?.rpcUrl ?? '', {
      data: encodeDeployData({ abi, bytecode, args: ['Another "Token"', 'AN'] }),
    });
    another = contractAddress ?? '';
  });

  it('is shown with its symbol and logo, per network', async () => {
    const [listed, unlisted, unknown] = await makePolicies(
      ofToken(token),
      ofToken(token, {}, { networkId: 31338 }),
      ofToken(another, { tokenDecimals: 18 }),
    );
    const facts = { tokenSymbol: 'DEMO', tokenName: 'Demo Token', tokenDecimals: 18 };
    expect(listed.tokenTransferCondition).toMatchObject({
      ...facts,
      tokenLogoUrl: 'https://logo.example/demo.svg',
    });
    expect(unlisted.tokenTransferCondition).toMatchObject(facts);
    expect(unknown.tokenTransferCondition).toMatchObject({
      tokenSymbol: 'AN',
      tokenName: 'Another "Token"',
    });
    for (const policy of [unlisted, unknown]) {
      expect(policy.tokenTransferCondition).not.toHaveProperty('tokenLogoUrl');
    }
  });

  it('may be the native currency, without a call to the chain', async () => {
    const policy = await makePolicy(ofToken(NATIVE, { tokenDecimals: 18 }, { networkId: LOST }));
    expect(policy.tokenTransferCondition).toMatchObject({
      tokenAddress: NATIVE,
      tokenSymbol: 'ETH',
      tokenName: 'Ether',
      tokenDecimals: 18,
    });
  });

  it('is refused when it cannot be read, or has other decimals', async () => {
    const mute = await putCode(sharedStack().chains[0]?.rpcUrl ?? '', `mute ${process.pid}`, '0x60006000fd');
    const refused: [string, WrittenPolicy, string, RegExp][] = [
      ['wrong decimals', ofToken(token, { tokenDecimals: 6 }), 'tokenDecimals', /18 decimals, not 6/],
      ['decimals of 0', ofToken(token, { tokenDecimals: 0 }), 'tokenDecimals', /18 decimals, not 0/],
      [
        'native, wrong decimals',
        ofToken(NATIVE, { tokenDecimals: 6 }),
        'tokenDecimals',
        /18 decimals, not 6/,
      ],
      ['no contract', ofToken(anAddress()), 'tokenAddress', /there is no contract at 0x/],
      ['a member', ofToken(org.alice.wallet.address), 'tokenAddress', /there is no contract at 0x/],
      [
        'elsewhere',
        ofToken(another, {}, { networkId: 31338 }),
        'tokenAddress',
        /no contract .* on network 31338/,
      ],
      [
        'mute',
        ofToken(mute, { amountThreshold: '1' }),
        'amountThreshold',
        /must be null: the token reports no decimals/,
      ],
      [
        'mute',
        ofToken(mute, { amountThreshold: null, tokenDecimals: 18 }),
        'tokenDecimals',
        /must be absent/,
      ],
      [
        'an unavailable network',
        ofToken(token, {}, { networkId: LOST }),
        'tokenAddress',
        /network Lost \(41031\) is unavailable/,
      ],
    ];
    const answers = await expectAllRefused(
      api.http,
      org,
      refused.map(([name, item, field]) => [
        name,
        ADD,
        { policies: [aPolicyItem({ name: 'Beside it' }), item] },
        `policies[1].tokenTransferCondition.${field}`,
      ]),
    );
    for (const [i, { body }] of answers.entries()) expect(body.message).toMatch(refused[i]?.[3] ?? '');
  });

  itDeep('is among the balances of the accounts that the policy covers, on its network', async () => {
    const other = await makeAccount(api.http, org, { networkIds: [31337, 31338] });
    const { abi, bytecode } = createRequire(__filename)(
      '@openzeppelin/contracts/build/contracts/ERC20PresetFixedSupply.json',
    );
    const [chain] = sharedStack().chains;
    const { contractAddress } = await sendAsFunder(chain?.rpcUrl ?? '', {
      data: encodeDeployData({ abi, bytecode, args: ['Gold', 'AU', 10n ** 20n, account.address] }),
    });
    const gold = contractAddress ?? '';
    const tokensOf = async (id: string) =>
      (await get(`/accounts/${id}/balances`))
        .filter(({ asset }: Shown) => asset.tokenAddress.toLowerCase() === gold.toLowerCase())
        .map(({ networkId, asset, displayAmount }: Shown) => [networkId, asset.symbol, displayAmount]);
    expect(await tokensOf(account.id)).toEqual([]);
    const policy = await makePolicy(ofToken(gold, {}, { accountIds: [account.id] }));
    expect(await tokensOf(account.id)).toEqual([[31337, 'AU', '100']]);
    expect(await tokensOf(other.id)).toEqual([]);
    await change(api.http, org, CHANGE, { policies: [{ ...policy, accountIds: null }] });
    expect(await tokensOf(other.id)).toEqual([[31337, 'AU', '0']]);
    await change(api.http, org, REMOVE, { policyIds: [policy.id] });
    expect(await tokensOf(account.id)).toEqual([]);
  });
});

describe('a change of policies', () => {
  it('replaces each completely and does not change others', async () => {
    const [policy, other] = await makePolicies(
      ofToken(token, { amountThreshold: '5' }, { description: 'Old', accountIds: [account.id] }),
      aPolicyItem({ name: 'Untouched' }),
    );
    const changed = anAnyPolicyItem({ id: policy.id, name: 'After', networkId: 31338 });
    const proposed = await proposeChange(api.http, org, CHANGE, { policies: [changed] });
    expect(proposed).toMatchObject({
      action: 'update',
      data: { policies: [{ id: policy.id, name: 'After' }] },
    });
    expect(proposed.summary).toMatch(
      `Change policy "${policy.name}" (${policy.id}), WITHOUT LIMIT, approved automatically, named "After"\nTransfers of any token`,
    );
    expect(await get(`/policies/${policy.id}`)).toEqual(policy);
    const done = await carryOut(api.http, org, proposed);
    expect(done.result.resources).toEqual([
      { type: 'policy', id: policy.id, uri: `/api/v1/policies/${policy.id}` },
    ]);
    const after = await get(`/policies/${policy.id}`);
    expect(after).toEqual({
      id: policy.id,
      name: 'After',
      type: 'AUTO_APPROVAL',
      transactionType: 'ANY',
      networkId: 31338,
      accountIds: null,
      accounts: [],
      initiatorSetting: null,
      createdAt: policy.createdAt,
      updatedAt: expect.any(String),
    });
    expect(after.updatedAt > policy.updatedAt).toBe(true);
    expect(await get(`/policies/${other.id}`)).toEqual(other);
    expect((await auditOf(policy.id)).at(-1)).toMatchObject({
      action: 'policy.updated',
      details: {
        before: { name: policy.name, description: 'Old', tokenTransferCondition: { amountThreshold: '5' } },
        after: {
          name: 'After',
          transactionType: 'ANY',
          networkId: 31338,
          accountIds: null,
          initiatorSetting: null,
        },
        proposalId: done.id,
      },
    });
  });

  itDeep('and new ones can be proposed together', async () => {
    const policy = await makePolicy(aPolicyItem({ name: 'There' }));
    const policies = [
      aPolicyItem({ name: 'New one' }),
      { ...policy, name: 'There still' },
      aPolicyItem({ name: 'New two' }),
    ];
    const proposed = await proposeChange(api.http, org, MIXED, { policies });
    expect(proposed.action).toBe('update');
    expect(proposed.data.policies.map(({ id, name }: Shown) => [id, name])).toEqual([
      [expect.stringMatching(/^pol_/), 'New one'],
      [policy.id, 'There still'],
      [expect.stringMatching(/^pol_/), 'New two'],
    ]);
    expect(
      proposed.summary.split('\n').filter((line: string) => /^(Create|Change) policy /.test(line)),
    ).toEqual([
      expect.stringMatching(/^Create policy "New one"/),
      expect.stringMatching(/^Change policy "There" \(pol_\w+\).*, named "There still"$/),
      expect.stringMatching(/^Create policy "New two"/),
    ]);
    const done = await carryOut(api.http, org, proposed);
    const [one, two, three] = await Promise.all(
      done.result.resources.map(({ uri }: Shown) => read(api.http, org.readKey, uri)),
    );
    expect([one.name, two.name, three.name]).toEqual(['New one', 'There still', 'New two']);
    expect(two).toEqual({ ...policy, name: 'There still', updatedAt: two.updatedAt });
    const listed = idsOf(await get('/policies'));
    expect(listed.slice(0, 3)).toEqual([three.id, one.id, policy.id]);
  });

  it('is refused when a response is sent back unchanged, and accepted with one field changed', async () => {
    const world = {
      networkIds: [31337, 31338],
      accountIds: [account.id],
      memberIds: [org.alice.id, org.dave.id],
      groups: [{ id: group.id, size: 3 }],
      tokenAddresses: [token],
    };
    const items = fc.sample(policyItems(world), 20).map((item, i) => ({ ...item, name: `Sample ${i}` }));
    const policies = await makePolicies(...items);
    for (const [i, policy] of policies.entries()) {
      expect(policy.name).toBe(`Sample ${i}`);
      const answer = await send(CHANGE, { policies: [policy] });
      expect([answer.status, answer.body.error?.details?.field]).toEqual([400, 'policies[0]']);
      expect(answer.body.message).toBe(`nothing about policy ${policy.id} would change`);
    }
    const renamed = policies.map((policy) => ({ ...policy, name: `${policy.name} again` }));
    const done = await change(api.http, org, MIXED, { policies: renamed });
    const after = await Promise.all(
      done.result.resources.map(({ uri }: Shown) => read(api.http, org.readKey, uri)),
    );
    expect(after).toEqual(renamed.map((policy, i) => ({ ...policy, updatedAt: after[i].updatedAt })));
  });
});

describe('a removal of policies', () => {
  it('shows and removes them; they can be added again', async () => {
    const [policy, other] = await makePolicies(
      ofToken(token, { amountThreshold: '1' }, { accountIds: [account.id] }),
      aPolicyItem({ name: 'Other' }),
    );
    const proposed = await proposeChange(api.http, org, REMOVE, { policyIds: [policy.id, other.id] });
    const { createdAt: _, updatedAt: __, ...shown } = policy;
    const { createdAt: ___, updatedAt: ____, ...otherShown } = other;
    expect(proposed).toMatchObject({ action: 'remove', data: { policies: [shown, otherShown] } });
    expect(proposed.summary).toBe(
      `Remove 2 policies\n"${policy.name}" (${policy.id})\n"Other" (${other.id})`,
    );
    const done = await carryOut(api.http, org, proposed);
    expect(done.result.resources).toEqual([
      { type: 'policy', id: policy.id },
      { type: 'policy', id: other.id },
    ]);
    const gone = await api.http.send({ key: org.readKey, path: `/api/v1/policies/${policy.id}` });
    expect([gone.status, gone.body.code]).toEqual([404, 'notFound']);
    expect(idsOf(await get('/policies'))).not.toContain(policy.id);
    expect((await auditOf(policy.id)).at(-1)).toMatchObject({
      action: 'policy.removed',
      details: { before: { name: policy.name }, proposalId: done.id },
    });
    await expectAllRefused(api.http, org, [
      ['removed again', REMOVE, { policyIds: [policy.id] }, 'policyIds[0]'],
      ['changed', CHANGE, { policies: [policy] }, 'policies[0].id'],
      ['changed beside a new one', MIXED, { policies: [aPolicyItem(), policy] }, 'policies[1].id'],
    ]);
    const { id: _____, ...again } = policy;
    const added = await makePolicy(again);
    expect(added.id).not.toBe(policy.id);
    expect({ ...added, id: policy.id, createdAt: 0, updatedAt: 0 }).toEqual({
      ...policy,
      createdAt: 0,
      updatedAt: 0,
    });
  });
});

describe('a policy that is claimed', () => {
  it('is changed by one open proposal at a time, and released when that is closed', async () => {
    const policy = await makePolicy(aPolicyItem({ name: 'Wanted' }));
    const first = await proposeChange(api.http, org, CHANGE, { policies: [{ ...policy, name: 'First' }] });
    for (const [path, body] of [
      [CHANGE, { policies: [{ ...policy, name: 'Second' }] }],
      [MIXED, { policies: [aPolicyItem({ name: 'New' }), { ...policy, name: 'Second' }] }],
      [REMOVE, { policyIds: [policy.id] }],
    ] as const) {
      const answer = await expectRefused(
        api.http,
        org,
        { key: org.adminKey, path: `/api/v1${path}`, body },
        refusal(409, 'conflict', null),
      );
      expect(answer.body.message).toContain(first.id);
    }
    await reject(api.http, org, first);
    await change(api.http, org, REMOVE, { policyIds: [policy.id] });
  });

  itDeep('is claimed by one of many simultaneous proposals', async () => {
    const policy = await makePolicy();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        i % 2 === 0
          ? send(CHANGE, { policies: [{ ...policy, name: `Name ${i}` }] })
          : send(REMOVE, { policyIds: [policy.id] }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
  });
});

describe('while a proposal is open', () => {
  /** Approves a proposal that must be blocked, and says why it was. */
  async function blocked(proposal: Shown): Promise<string> {
    const done = await approve(api.http, org, proposal);
    expect(done).toMatchObject({ executionStatus: 'blocked', failure: { code: 'stale' } });
    return done.failure.message;
  }

  it('a member that a policy names may be removed', async () => {
    const member = await makeMember('Erin');
    const initiatorSetting = { type: 'user', memberId: member.id };
    const proposed = await proposeChange(api.http, org, ADD, {
      policies: [aPolicyItem({ name: 'Beside' }), aPolicyItem({ name: 'Erin’s', initiatorSetting })],
    });
    const before = await get('/policies');
    await change(api.http, org, '/members/proposals/remove', { ids: [member.id] });
    expect(await blocked(proposed)).toBe(
      `policy "Erin’s" can no longer be as it was signed: member ${member.id} not found in this organization`,
    );
    expect(await get('/policies')).toEqual(before);
    expect((await show(proposed)).notes).toEqual([
      expect.objectContaining({ code: 'memberRemoved', message: expect.stringContaining('Erin') }),
    ]);
  });

  itDeep('a group that a policy names may be deleted', async () => {
    const doomed = await makeGroup('Doomed', org.alice);
    const proposed = await proposeChange(api.http, org, ADD, {
      policies: [aPolicyItem({ name: 'Grouped', initiatorSetting: { type: 'group', groupId: doomed.id } })],
    });
    await change(api.http, org, '/groups/proposals/delete', { items: [{ id: doomed.id }] });
    expect(await blocked(proposed)).toBe(
      `policy "Grouped" can no longer be as it was signed: group ${doomed.id} not found in this organization`,
    );
    expect((await show(proposed)).notes).toEqual([expect.objectContaining({ code: 'groupDeleted' })]);
  });

  itDeep('a group may shrink below a threshold, and grow again', async () => {
    const shrinking = await makeGroup('Shrinking', org.alice, org.bob);
    const update = (action: string) =>
      change(api.http, org, '/groups/proposals/update', {
        items: [{ id: shrinking.id, memberUpdates: [{ action, id: org.bob.id }] }],
      });
    const proposed = await proposeChange(api.http, org, ADD, {
      policies: [aPolicyItem(approvers(shrinking.id, 2, { name: 'Two of two' }))],
    });
    await update('removeMember');
    expect(await blocked(proposed)).toBe(
      'policy "Two of two" can no longer be as it was signed: the group "Shrinking" ' +
        `(${shrinking.id}) has 1 member, fewer than the 2 who must approve`,
    );
    await update('addMember');
    await execute(api.http, org.adminKey, proposed.id, 'approve', 'policies');
    expect(await show(proposed)).toMatchObject({ executionStatus: 'completed' });
  });

  itDeep('a group may change and remain large enough', async () => {
    const growing = await makeGroup('Growing', org.alice);
    const proposed = await proposeChange(api.http, org, ADD, {
      policies: [aPolicyItem(approvers(growing.id, 1))],
    });
    await change(api.http, org, '/groups/proposals/update', {
      items: [{ id: growing.id, memberUpdates: [{ action: 'addMember', id: org.bob.id }] }],
    });
    const done = await carryOut(api.http, org, proposed);
    expect(done.notes).toEqual([expect.objectContaining({ code: 'groupChanged' })]);
  });

  itDeep(
    'a member or group that an existing policy needs may be removed, without a change of the policy',
    async () => {
      const member = await makeMember('Frank');
      const policy = await makePolicy(
        aPolicyItem({ initiatorSetting: { type: 'user', memberId: member.id } }),
      );
      await change(api.http, org, '/members/proposals/remove', { ids: [member.id] });
      expect(await get(`/policies/${policy.id}`)).toEqual(policy);
      await expectAllRefused(api.http, org, [
        [
          'renamed',
          CHANGE,
          { policies: [{ ...policy, name: 'Renamed' }] },
          'policies[0].initiatorSetting.memberId',
        ],
      ]);
      await change(api.http, org, REMOVE, { policyIds: [policy.id] });
    },
  );

  itDeep('an account that a policy names is still named so, or the policy is blocked', async () => {
    const named = await makeAccount(api.http, org, { name: 'Before' });
    const proposed = await proposeChange(api.http, org, ADD, {
      policies: [aPolicyItem({ accountIds: [named.id] })],
    });
    await change(api.http, org, '/accounts/proposals/update', { items: [{ id: named.id, name: 'After' }] });
    const done = await approve(api.http, org, proposed);
    expect(done).toMatchObject({ executionStatus: 'blocked', failure: { code: 'stale' } });
    expect(done.failure.message).toContain(`account ${named.id} is not "Before" (${named.address})`);
  });

  it('a rejected one changes nothing', async () => {
    const before = await get('/policies');
    const proposed = await proposeChange(api.http, org, ADD, {
      policies: [aPolicyItem({ name: 'Unwanted' })],
    });
    await sign(api.http, org.adminKey, proposed, org.carol, 'approve');
    await reject(api.http, org, proposed);
    expect(await get('/policies')).toEqual(before);
  });
});

describeDeep('100 policies', () => {
  it('with long lists are proposed, signed and executed at once', async () => {
    // As many contracts and functions as one request may name.
    const contracts = [
      {
        contractAddress: anAddress(),
        allowedFunctions: Array.from({ length: 4 }, (_, i) => `function${i}(address,uint256)`),
      },
    ];
    const policies = Array.from({ length: 100 }, (_, i) =>
      aContractPolicyItem(contracts, { name: `Policy ${i}` }),
    );
    const proposed = await proposeChange(api.http, org, MIXED, { policies });
    expect(proposed.data.policies).toHaveLength(100);
    const done = await carryOut(api.http, org, proposed);
    expect(done.result.resources).toHaveLength(100);
    expect(idsOf(await get('/policies')).slice(0, 100)).toEqual(idsOf(done.result.resources).reverse());
  });
});
