/** @deep */

import { randomUUID } from 'node:crypto';
import { SAFE_CONTRACTS } from '../../src/chain/safeAccount';
import { insertPolicies } from '../../src/db/policies';
import { setPositions } from '../../src/db/positions';
import { sendAsFunder } from '../chain/wallets';
import {
  badField,
  change,
  expectRefused,
  makeAccount,
  read,
  refusal,
  refusalIn,
  type Shown,
  sharedApi,
  UNKNOWN,
} from '../support/api';
import { anAddress, anId, WRONG_CHECKSUM } from '../support/builders';
import { aContractPolicyItem, anAnyPolicyItem, aPolicyItem, aTokenCondition } from '../support/policies';
import type { TestOrganization, TestService } from '../support/service';
import { sharedStack } from '../support/stack';
import { storeTransaction } from '../support/storedTransactions';
import { itDeep } from '../support/suite';
import { aTransferPolicy, transferData } from '../support/transactions';

const EVALUATE = '/api/v1/policies/evaluate';
const NATIVE = `0x${'0'.repeat(40)}`;
const MAX = 2n ** 256n - 1n;
/** Before the digit of a few wei, in whole units. */
const TINY = '0.00000000000000000';
const RECIPIENT = anAddress();
const CONTRACT = anAddress();

let api: TestService;
let ours: TestOrganization;
let theirs: TestOrganization;
let account: Shown;
let theirAccount: Shown;
let token: string;

beforeAll(async () => {
  api = await sharedApi();
  token = sharedStack().chains[0]?.token.address ?? '';
  [ours, theirs] = await Promise.all([api.createOrganization(), api.createOrganization()]);
  [account, theirAccount] = await Promise.all([
    makeAccount(api.http, ours, { name: 'Treasury', networkIds: [31337] }),
    makeAccount(api.http, theirs, { name: 'Theirs', networkIds: [31337] }),
  ]);
});
afterAll(() => api?.stop());

/** A transfer of one native currency by Dave. */
const asked = (more: object = {}) => ({
  accountId: account.id,
  initiatorWalletAddress: ours.dave.wallet.address,
  networkId: 31337,
  description: '',
  to: RECIPIENT,
  value: '1',
  data: '0x',
  ...more,
});
const tokens = (amount: bigint) => ({ to: token, value: '0', data: transferData(RECIPIENT, amount) });

async function evaluate(more: object = {}, key = ours.readKey): Promise<Shown[]> {
  const answer = await api.http.send({ key, path: EVALUATE, body: asked(more) });
  if (answer.status !== 200) throw new Error(`evaluating → ${answer.status} ${answer.text}`);
  return answer.body.data;
}

async function makePolicies(...policies: object[]): Promise<Shown[]> {
  const done = await change(api.http, ours, '/policies/proposals/add', { policies });
  return Promise.all(done.result.resources.map(({ uri }: Shown) => read(api.http, ours.readKey, uri)));
}

/** Adds a policy and asks about it alone. */
async function askAbout(policy: object) {
  const [{ id }] = (await makePolicies(policy)) as [Shown];
  const about = async (more: object = {}) =>
    (await evaluate(more)).find(({ policy: of }: Shown) => of.id === id);
  return { id: id as string, about };
}

const summary = ({ id, name, type, wallet }: TestOrganization['dave']) => ({
  id,
  name,
  type,
  walletAddress: wallet.address,
  walletKind: 'key',
});
const conditions = ({ failures }: Shown) => failures.map(({ condition }: Shown) => condition);
const DAY = {
  hours: 24,
  initiatorScope: 'PER_ITEM',
  sourceAccountScope: 'ALL_ITEMS',
  destinationScope: 'ALL_ITEMS',
};

describe('an organization without policies', () => {
  it('permits nothing', async () => {
    const body = {
      ...asked(),
      accountId: theirAccount.id,
      initiatorWalletAddress: theirs.dave.wallet.address,
    };
    expect((await api.http.send({ key: theirs.readKey, path: EVALUATE, body })).body).toEqual({ data: [] });
  });
});

describe('an evaluated transaction', () => {
  it('has a result per policy, newest first, with every unmet condition and the approvers', async () => {
    const made = await change(api.http, ours, '/groups/proposals/create', {
      items: [{ name: 'Approvers', memberIds: [ours.alice.id, ours.bob.id, ours.dave.id] }],
    });
    const groupId = made.result.resources[0].id;
    const [open, narrow, calls] = await makePolicies(
      aPolicyItem({ name: 'Anything in native currency' }),
      aPolicyItem({
        name: 'Small, to one address',
        type: 'MANUAL_APPROVAL',
        initiatorSetting: { type: 'user', memberId: ours.alice.id },
        approverSetting: { type: 'group', groupId, threshold: 2, excludeInitiator: true },
        tokenTransferCondition: aTokenCondition({ amountThreshold: '5', destinationAddresses: [CONTRACT] }),
        limitation: DAY,
      }),
      aContractPolicyItem(null, { name: 'Calls' }),
    );
    const before = Date.now();
    const answer = (await evaluate({ value: '6' })).slice(0, 3);
    const byId = new Map(answer.map((entry) => [entry.policy.id, entry]));
    expect(answer.map(({ policy }: Shown) => policy.id)).toEqual(
      (await read(api.http, ours.readKey, '/api/v1/policies')).slice(0, 3).map(({ id }: Shown) => id),
    );
    expect(byId.get(open.id)).toEqual({
      policy: { id: open.id, name: 'Anything in native currency' },
      allowed: true,
      failures: [],
      approvers: [],
      threshold: 0,
      remaining: null,
    });
    const { remaining, ...rest } = byId.get(narrow.id);
    expect(rest).toEqual({
      policy: { id: narrow.id, name: 'Small, to one address' },
      allowed: false,
      failures: [
        { condition: 'initiator', found: ours.dave.id, wanted: ours.alice.id },
        { condition: 'amount', found: `${TINY}6 "ETH"`, wanted: `at most ${TINY}5 "ETH"` },
        { condition: 'destination', found: RECIPIENT, wanted: CONTRACT },
        {
          condition: 'budget',
          found: `0 "ETH" before this ${TINY}6 "ETH"`,
          wanted: `at most ${TINY}5 "ETH" within any 24 hours`,
        },
      ],
      approvers: [summary(ours.alice), summary(ours.bob)],
      threshold: 2,
    });
    expect(remaining).toEqual({ amount: '5', until: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(Math.abs(Date.parse(remaining.until) - before - 24 * 3_600_000)).toBeLessThan(60_000);
    expect(byId.get(calls.id)).toMatchObject({
      allowed: false,
      failures: [{ condition: 'transactionType', found: 'TOKEN_TRANSFER', wanted: 'CONTRACT_INTERACTION' }],
    });
  });

  it('may be a transfer of a token of any contract, and of nothing else', async () => {
    const { about } = await askAbout(anAnyPolicyItem({ name: 'All' }));
    expect(await about(tokens(MAX))).toMatchObject({ allowed: true, failures: [] });
    const nobody = anAddress();
    expect((await about({ ...tokens(1n), to: nobody })).failures).toEqual([
      {
        condition: 'token',
        found: expect.stringContaining(`${nobody}: there is no contract at`),
        wanted: 'a token that can be read',
      },
    ]);
    const contract = await sendAsFunder(sharedStack().chains[0]?.rpcUrl ?? '', {
      data: '0x6001600c60003960016000f300',
    });
    const silent = contract.contractAddress ?? '';
    expect(conditions(await about({ ...tokens(1n), to: silent }))).toEqual([]);
  });

  it('may be a call: restricted functions only where they are named', async () => {
    const [any, named] = await Promise.all([
      askAbout(aContractPolicyItem([{ contractAddress: CONTRACT, allowedFunctions: [] }])),
      askAbout(
        aContractPolicyItem([
          { contractAddress: CONTRACT, allowedFunctions: ['approve(address,uint256)'], maxValue: '7' },
        ]),
      ),
    ]);
    const call = (selector: string, value = '0') => ({
      to: CONTRACT,
      value,
      data: `${selector}${'00'.repeat(64)}`,
    });
    expect(conditions(await any.about(call('0x42966c68')))).toEqual([]);
    expect(conditions(await any.about(call('0x095EA7B3')))).toEqual(['function']);
    expect(conditions(await any.about(call('0x42966c68', '1')))).toEqual(['value']);
    expect(conditions(await named.about(call('0x095ea7b3', '7')))).toEqual([]);
    expect(conditions(await named.about(call('0x095ea7b3', '8')))).toEqual(['value']);
    expect(conditions(await named.about(call('0x42966c68')))).toEqual(['function']);
    expect(conditions(await named.about(tokens(1n)))).toEqual(['transactionType']);
  });

  it('finds its initiator by wallet, in any case of the address', async () => {
    const { address } = ours.dave.wallet;
    for (const wallet of [address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`]) {
      expect(await evaluate({ initiatorWalletAddress: wallet })).not.toEqual([]);
    }
  });

  it('gets the remaining budget of each limitation', async () => {
    const { id, about } = await askAbout(
      aPolicyItem({ tokenTransferCondition: aTokenCondition({ amountThreshold: '1000' }), limitation: DAY }),
    );
    const counted = await askAbout(aPolicyItem({ limitation: { ...DAY, hours: 1 } }));
    const blockAt = new Date(Date.now() - 3_600_000);
    const of = { organizationId: ours.id, accountId: account.id, policyId: id, initiatorId: ours.dave.id };
    const use = async (amount: number, more: object = {}) => ({
      organization_id: ours.id,
      policy_id: id,
      transaction_id: await storeTransaction(api.db, of),
      network_id: 31337,
      token_address: NATIVE,
      amount: String(amount),
      initiator_id: ours.dave.id,
      account_id: account.id,
      destination: RECIPIENT,
      ...more,
    });
    await api.db('policy_usage').insert(
      await Promise.all([
        use(300, { status: 'committed', block_at: blockAt, decided_at: new Date() }),
        use(600),
        // of others: another initiator, another token, one that failed
        use(50, { initiator_id: ours.alice.id }),
        use(50, { token_address: token }),
        use(50, { status: 'released', decided_at: new Date() }),
        use(1, { policy_id: counted.id }),
      ]),
    );
    const until = new Date(blockAt.getTime() + 24 * 3_600_000).toISOString();
    expect(await about({ value: '100' })).toMatchObject({
      allowed: true,
      remaining: { amount: '100', until },
    });
    expect(await about({ value: '101' })).toMatchObject({
      allowed: false,
      failures: [
        {
          condition: 'budget',
          found: '0.0000000000000009 "ETH" before this 0.000000000000000101 "ETH"',
          wanted: 'at most 0.000000000000001 "ETH" within any 24 hours',
        },
      ],
    });
    const byAlice = { initiatorWalletAddress: ours.alice.wallet.address };
    expect((await about(byAlice)).remaining.amount).toBe('950');
    expect(await counted.about()).toMatchObject({ allowed: false, remaining: { count: 0 } });
    expect(await counted.about(byAlice)).toMatchObject({ allowed: true, remaining: { count: 1 } });
  });

  itDeep('is evaluated with the current policies, groups and members', async () => {
    const made = await change(api.http, ours, '/groups/proposals/create', {
      items: [{ name: 'Payers', memberIds: [ours.dave.id] }],
    });
    const groupId = made.result.resources[0].id;
    const { id, about } = await askAbout(aPolicyItem({ initiatorSetting: { type: 'group', groupId } }));
    expect(await about()).toMatchObject({ allowed: true });
    await change(api.http, ours, '/groups/proposals/update', {
      items: [{ id: groupId, memberUpdates: [{ action: 'removeMember', id: ours.dave.id }] }],
    });
    expect(conditions(await about())).toEqual(['initiator']);
    await change(api.http, ours, '/groups/proposals/delete', { items: [{ id: groupId }] });
    expect(conditions(await about())).toEqual(['initiator']);
    await change(api.http, ours, '/policies/proposals/remove', { policyIds: [id] });
    expect(await about()).toBeUndefined();
  });
});

describe('a dry run', () => {
  it('stores nothing, whatever its result', async () => {
    const before = await ours.stored();
    await evaluate();
    await evaluate(tokens(5n));
    await api.http.send({ key: ours.readKey, path: EVALUATE, body: asked({ value: '-1' }) });
    expect(await ours.stored()).toEqual(before);
  });

  it('requires an idempotency key, and does not store it', async () => {
    for (const idempotencyKey of [null, 'x', '00000000-0000-0000-0000-00000000000g']) {
      await expectRefused(
        api.http,
        ours,
        { key: ours.readKey, path: EVALUATE, method: 'POST', body: asked(), idempotencyKey },
        badField('X-Idempotency-Key'),
      );
    }
    const idempotencyKey = randomUUID();
    const send = (body: object) => api.http.send({ key: ours.readKey, path: EVALUATE, body, idempotencyKey });
    const [one, two] = [await send(asked()), await send(asked({ value: '2' }))];
    expect([one.status, two.status]).toEqual([200, 200]);
    expect(two.headers['idempotency-replayed']).toBeUndefined();
    const used = await api.http.send({
      key: ours.adminKey,
      path: '/api/v1/accounts/proposals/create',
      body: { items: [{ name: 'After a dry run', networkIds: [31337] }] },
      idempotencyKey,
    });
    expect(used.status).toBe(201);
    expect((await send(asked())).status).toBe(200);
  });

  it('is available to every key of the organization, and to no other', async () => {
    const allowed = async (key: string) => (await evaluate({}, key)).map((entry) => entry.allowed);
    expect(await allowed(ours.adminKey)).toEqual(await allowed(ours.readKey));
    expect((await api.http.send({ path: EVALUATE, body: asked() })).status).toBe(401);
    const get = await api.http.send({ key: ours.readKey, path: EVALUATE });
    expect(refusalIn(get, refusal(404, 'notFound'))).toEqual(refusal(404, 'notFound'));
  });

  it('sees nothing of another organization', async () => {
    const send = (more: object) => ({ key: ours.readKey, path: EVALUATE, body: asked(more) });
    const unlike: [string, string, string][] = [
      ['accountId', theirAccount.id, UNKNOWN.account],
      ['initiatorWalletAddress', theirs.dave.wallet.address, anAddress()],
    ];
    for (const [field, foreign, unknown] of unlike) {
      const one = await expectRefused(api.http, ours, send({ [field]: foreign }), badField(field));
      const two = await expectRefused(api.http, ours, send({ [field]: unknown }), badField(field));
      expect(one.text).toBe(two.text);
    }
    const body = {
      ...asked(),
      accountId: theirAccount.id,
      initiatorWalletAddress: theirs.dave.wallet.address,
    };
    expect((await api.http.send({ key: theirs.readKey, path: EVALUATE, body })).body).toEqual({ data: [] });
  });
});

describe('an invalid transaction', () => {
  it.each<[string, () => object | string, string]>([
    ['a list', () => '[]', 'body'],
    ['a policy', () => asked({ policyId: anId('pol') }), 'policyId'],
    ['an unknown key', () => asked({ gas: 1 }), 'gas'],
    ['no account', () => asked({ accountId: undefined }), 'accountId'],
    ['an account of another kind', () => asked({ accountId: ours.dave.id }), 'accountId'],
    ['no initiator', () => asked({ initiatorWalletAddress: undefined }), 'initiatorWalletAddress'],
    [
      'the id of an initiator',
      () => asked({ initiatorWalletAddress: ours.dave.id }),
      'initiatorWalletAddress',
    ],
    [
      'an initiator who is an account',
      () => asked({ initiatorWalletAddress: account.address }),
      'initiatorWalletAddress',
    ],
    ['an initiator who is nobody', () => asked({ initiatorWalletAddress: NATIVE }), 'initiatorWalletAddress'],
    ['no network', () => asked({ networkId: undefined }), 'networkId'],
    ['a network as a text', () => asked({ networkId: '31337' }), 'networkId'],
    ['an unknown network', () => asked({ networkId: 5 }), 'networkId'],
    ['a network that the account is not on', () => asked({ networkId: 31338 }), 'networkId'],
    ['a description of 1,001 characters', () => asked({ description: 'x'.repeat(1_001) }), 'description'],
    ['a description that is null', () => asked({ description: null }), 'description'],
    ['no target', () => asked({ to: undefined }), 'to'],
    ['the zero address', () => asked({ to: NATIVE }), 'to'],
    ['a target with a wrong checksum', () => asked({ to: WRONG_CHECKSUM }), 'to'],
    ['the account itself', () => asked({ to: account.address }), 'to'],
    ['the account itself in lower case', () => asked({ to: account.address.toLowerCase() }), 'to'],
    ['the singleton', () => asked({ to: SAFE_CONTRACTS.singleton.address }), 'to'],
    ['the factory', () => asked({ to: SAFE_CONTRACTS.factory.address }), 'to'],
    ['the fallback handler', () => asked({ to: SAFE_CONTRACTS.fallbackHandler.address.toLowerCase() }), 'to'],
    ['no value', () => asked({ value: undefined }), 'value'],
    ['a value as a number', () => asked({ value: 1 }), 'value'],
    ['a negative value', () => asked({ value: '-1' }), 'value'],
    ['a fraction', () => asked({ value: '0.5' }), 'value'],
    ['a value in hex', () => asked({ value: '0x1' }), 'value'],
    ['a value with an exponent', () => asked({ value: '1e18' }), 'value'],
    ['a value with a leading zero', () => asked({ value: '01' }), 'value'],
    ['an empty value', () => asked({ value: '' }), 'value'],
    ['a value of 2^256', () => asked({ value: String(MAX + 1n) }), 'value'],
    ['a value of 1,000 digits', () => asked({ value: '9'.repeat(1_000) }), 'value'],
    ['no data', () => asked({ data: undefined }), 'data'],
    ['empty data', () => asked({ data: '' }), 'data'],
    ['half a byte', () => asked({ data: '0x123' }), 'data'],
    ['no hex', () => asked({ data: '0xzz' }), 'data'],
    ['more than 128 KiB', () => asked({ data: `0x${'00'.repeat(131_073)}` }), 'data'],
    ['a transfer that is cut off', () => asked({ ...tokens(1n), data: '0xa9059cbb' }), 'data'],
    [
      'a transfer with more to it',
      () => asked({ ...tokens(1n), data: `${transferData(RECIPIENT, 1n)}00` }),
      'data',
    ],
    ['a transfer with a value', () => asked({ ...tokens(1n), value: '1' }), 'data'],
  ])('is refused: %s', async (_, body, field) => {
    const answer = await api.http.send({ key: ours.readKey, path: EVALUATE, body: body() });
    expect(refusalIn(answer, badField(field))).toEqual(badField(field));
  });

  it('is refused with every issue, in the order of the fields', async () => {
    const body = asked({
      accountId: theirAccount.id,
      initiatorWalletAddress: anAddress(),
      networkId: 5,
      to: SAFE_CONTRACTS.factory.address,
      data: '0xa9059cbb',
    });
    const answer = await api.http.send({ key: ours.readKey, path: EVALUATE, body });
    expect(answer.body.error.details.issues.map(({ field }: Shown) => field)).toEqual([
      'accountId',
      'initiatorWalletAddress',
      'networkId',
      'to',
      'data',
    ]);
  });

  it('is not one at the limits of each field', async () => {
    await evaluate({ value: String(MAX) });
    await evaluate({ description: undefined });
    await evaluate({ to: CONTRACT, data: `0x${'11'.repeat(131_072)}` });
    await evaluate({ to: theirAccount.address });
  });
});

describe('a hundred policies', () => {
  it('are evaluated together', async () => {
    const policies = Array.from({ length: 100 }, (_, i) => ({
      ...aTransferPolicy(
        { amountThreshold: String(1_000 + i) },
        { limitation: { ...DAY, hours: i + 1 } as never },
      ),
      initiatorSetting: { type: 'user', memberId: theirs.dave.id } as const,
    }));
    await api.db.transaction(async (tx) => {
      await insertPolicies(tx, theirs.id, policies);
      await setPositions(
        tx,
        'policies',
        policies.map(({ id }) => id),
        policies.map((_, i) => BigInt(1_000_000 + i)),
      );
    });
    const body = {
      ...asked(),
      accountId: theirAccount.id,
      initiatorWalletAddress: theirs.dave.wallet.address,
    };
    const { data } = (await api.http.send({ key: theirs.readKey, path: EVALUATE, body })).body;
    expect(data.map(({ allowed }: Shown) => allowed)).toEqual(policies.map(() => true));
  });
});
