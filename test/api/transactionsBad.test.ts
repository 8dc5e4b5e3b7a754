import { adminsSafeAddresses } from '../../src/chain/adminsSafe';
import { ACCOUNT_CONTRACTS, SAFE_CONTRACTS } from '../../src/chain/safeAccount';
import {
  badField,
  change,
  expectRefused,
  makeAccount,
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
import { aTransactionBody, makePolicies, TRANSACTIONS } from '../support/transactionApi';
import { transferData } from '../support/transactions';

const NATIVE = `0x${'0'.repeat(40)}`;
const MAX = 2n ** 256n - 1n;
const RECIPIENT = anAddress();
const CONTRACT = anAddress();

let api: TestService;
let ours: TestOrganization;
let theirs: TestOrganization;
let account: Shown;
let theirAccount: Shown;
let anything: Shown;
let theirPolicy: Shown;
let token: string;

beforeAll(async () => {
  api = await sharedApi();
  token = sharedStack().chains[0]?.token.address ?? '';
  [ours, theirs] = await Promise.all([api.createOrganization(), api.createOrganization()]);
  [account, theirAccount] = await Promise.all([
    makeAccount(api.http, ours, { name: 'Treasury', networkIds: [31337] }),
    makeAccount(api.http, theirs, { name: 'Theirs', networkIds: [31337] }),
  ]);
  [anything, theirPolicy] = (
    await Promise.all([
      makePolicies(api.http, ours, anAnyPolicyItem({ name: 'Everything' })),
      makePolicies(api.http, theirs, anAnyPolicyItem()),
    ])
  ).map(([policy]) => policy);
});
afterAll(() => api?.stop());

const asked = (more: object = {}) =>
  aTransactionBody(ours, { account, policy: anything, to: RECIPIENT }, more);
const tokens = (amount: bigint, to = RECIPIENT) => ({
  to: token,
  value: '0',
  data: transferData(to, amount),
});

const approval = transferData(RECIPIENT, 1n).replace('a9059cbb', '095ea7b3');

describe('an invalid transaction', () => {
  it.each<[string, () => object | string, string]>([
    ['a list', () => '[]', 'body'],
    ['an unknown key', () => asked({ gas: 1 }), 'gas'],
    ['a delegatecall', () => asked({ operation: 1 }), 'operation'],
    ['no policy', () => asked({ policyId: undefined }), 'policyId'],
    ['a policy that is null', () => asked({ policyId: null }), 'policyId'],
    ['a policy of another kind', () => asked({ policyId: account.id }), 'policyId'],
    ['an unknown policy', () => asked({ policyId: UNKNOWN.policy }), 'policyId'],
    ['a policy of others', () => asked({ policyId: theirPolicy.id }), 'policyId'],
    ['no account', () => asked({ accountId: undefined }), 'accountId'],
    ['an unknown account', () => asked({ accountId: UNKNOWN.account }), 'accountId'],
    ['an account of others', () => asked({ accountId: theirAccount.id }), 'accountId'],
    ['no initiator', () => asked({ initiatorWalletAddress: undefined }), 'initiatorWalletAddress'],
    [
      'an initiator who is nobody',
      () => asked({ initiatorWalletAddress: anAddress() }),
      'initiatorWalletAddress',
    ],
    [
      'an initiator of others',
      () => asked({ initiatorWalletAddress: theirs.dave.wallet.address }),
      'initiatorWalletAddress',
    ],
    ['no network', () => asked({ networkId: undefined }), 'networkId'],
    ['a network as a text', () => asked({ networkId: '31337' }), 'networkId'],
    ['an unknown network', () => asked({ networkId: 5 }), 'networkId'],
    ['a network that the account is not on', () => asked({ networkId: 31338 }), 'networkId'],
    ['a description of 1,001 characters', () => asked({ description: 'x'.repeat(1_001) }), 'description'],
    ['a description that turns text round', () => asked({ description: 'a\u202eb' }), 'description'],
    ['no target', () => asked({ to: undefined }), 'to'],
    ['the zero address', () => asked({ to: NATIVE }), 'to'],
    ['a target with a wrong checksum', () => asked({ to: WRONG_CHECKSUM }), 'to'],
    ['the account itself', () => asked({ to: account.address }), 'to'],
    ['the account itself in lower case', () => asked({ to: account.address.toLowerCase() }), 'to'],
    ['a token that is the account itself', () => asked({ ...tokens(1n), to: account.address }), 'to'],
    ['the singleton', () => asked({ to: SAFE_CONTRACTS.singleton.address }), 'to'],
    ['the factory', () => asked({ to: SAFE_CONTRACTS.factory.address }), 'to'],
    ['the fallback handler', () => asked({ to: SAFE_CONTRACTS.fallbackHandler.address.toLowerCase() }), 'to'],
    ['no value', () => asked({ value: undefined }), 'value'],
    ['a value as a number', () => asked({ value: 1 }), 'value'],
    ['a negative value', () => asked({ value: '-1' }), 'value'],
    ['a fraction', () => asked({ value: '0.5' }), 'value'],
    ['a value in hex', () => asked({ value: '0x1' }), 'value'],
    ['a value with an exponent', () => asked({ value: '1e18' }), 'value'],
    ['a value of 2^256', () => asked({ value: String(MAX + 1n) }), 'value'],
    ['no data', () => asked({ data: undefined }), 'data'],
    ['half a byte', () => asked({ data: '0x123' }), 'data'],
    ['no hex', () => asked({ data: '0xzz' }), 'data'],
    ['more than 128 KiB', () => asked({ data: `0x${'00'.repeat(131_073)}` }), 'data'],
    ['a transfer that is cut off', () => asked({ ...tokens(1n), data: '0xa9059cbb' }), 'data'],
    [
      'a transfer with more to it',
      () => asked({ ...tokens(1n), data: `${transferData(RECIPIENT, 1n)}00` }),
      'data',
    ],
    [
      'a transfer to a dirty address',
      () => asked({ ...tokens(1n), data: transferData(RECIPIENT, 1n).replace('cbb00', 'cbb01') }),
      'data',
    ],
    ['a transfer with a value', () => asked({ ...tokens(1n), value: '1' }), 'data'],
    ['a transfer to the zero address', () => asked(tokens(1n, NATIVE)), 'data'],
    ['a transfer to the token itself', () => asked(tokens(1n, token)), 'data'],
    ['a transfer to the account itself', () => asked(tokens(1n, account.address)), 'data'],
    ['an approval with a byte behind it', () => asked({ ...tokens(1n), data: `${approval}00` }), 'data'],
    [
      'an approval of a dirty address',
      () => asked({ ...tokens(1n), data: approval.replace('7b300', '7b301') }),
      'data',
    ],
  ])('is refused without a record: %s', async (_, body, field) => {
    const before = await ours.stored();
    const asked = body();
    const answer = await api.http.send({ key: ours.readKey, path: TRANSACTIONS, body: asked });
    expect(refusalIn(answer, badField(field))).toEqual(badField(field));
    expect(await ours.stored()).toEqual(before);
    if (field === 'policyId') return;
    // The dry run refuses the same, with the same words.
    const dry = typeof asked === 'string' ? asked : { ...asked, policyId: undefined };
    const evaluated = await api.http.send({
      key: ours.readKey,
      path: '/api/v1/policies/evaluate',
      body: dry,
    });
    expect(evaluated.body).toEqual(answer.body);
  });

  it('is refused alike for unknown and foreign records', async () => {
    const unlike: [string, string, string][] = [
      ['accountId', theirAccount.id, UNKNOWN.account],
      ['policyId', theirPolicy.id, UNKNOWN.policy],
      ['initiatorWalletAddress', theirs.dave.wallet.address, anAddress()],
    ];
    for (const [field, foreign, unknown] of unlike) {
      const send = (value: string) => ({
        key: ours.readKey,
        path: TRANSACTIONS,
        body: asked({ [field]: value }),
      });
      const one = await expectRefused(api.http, ours, send(foreign), badField(field));
      const two = await expectRefused(api.http, ours, send(unknown), badField(field));
      expect(one.text).toBe(two.text);
    }
  });

  it('is refused with every issue, in the order of the fields', async () => {
    const body = asked({
      accountId: theirAccount.id,
      initiatorWalletAddress: anAddress(),
      networkId: 5,
      to: SAFE_CONTRACTS.factory.address,
      data: '0xa9059cbb',
      policyId: UNKNOWN.policy,
    });
    const answer = await api.http.send({ key: ours.readKey, path: TRANSACTIONS, body });
    expect(answer.body.error.details.issues.map(({ field }: Shown) => field)).toEqual([
      'accountId',
      'initiatorWalletAddress',
      'networkId',
      'to',
      'data',
      'policyId',
    ]);
  });

  it('is refused to every contract of the Safe', () => {
    expect(ACCOUNT_CONTRACTS.length).toBeGreaterThanOrEqual(3);
  });

  it("is refused to the admins' Safe and its keeper, and so is a token for them", async () => {
    const keystore = await api.keystore();
    const signingKey = keystore.organizationKey(ours.id).address;
    for (const address of adminsSafeAddresses({ signingKey, admins: { id: ours.adminsId } })) {
      const send = (body: object) => ({ key: ours.readKey, path: TRANSACTIONS, body: asked(body) });
      await expectRefused(api.http, ours, send({ to: address }), badField('to'));
      const token = { to: CONTRACT, value: '0', data: transferData(address, 1n) };
      await expectRefused(api.http, ours, send(token), badField('data'));
    }
  });
});

describe('a transaction that its policy does not permit', () => {
  /** What speaks against a transaction under a policy of its own, as the refusal says it. */
  async function failuresUnder(policy: object, more: object = {}) {
    const [{ id: policyId }] = (await makePolicies(api.http, ours, policy)) as [Shown];
    const before = await ours.stored();
    const body = asked({ policyId, ...more });
    const answer = await api.http.send({ key: ours.readKey, path: TRANSACTIONS, body });
    expect(refusalIn(answer, refusal(403, 'forbidden', null))).toEqual(refusal(403, 'forbidden', null));
    expect(await ours.stored()).toEqual(before);
    const { failures, message } = answer.body.error.details;
    expect(message).toBe(answer.body.message);
    const evaluated = await api.http.send({
      key: ours.readKey,
      path: '/api/v1/policies/evaluate',
      body: { ...body, policyId: undefined },
    });
    const same = evaluated.body.data.find(({ policy: of }: Shown) => of.id === policyId);
    // Only an execution spends a budget.
    expect(failures).toEqual(same.failures.filter(({ condition }: Shown) => condition !== 'budget'));
    for (const { found, wanted } of failures) {
      expect(message).toContain(found);
      expect(message).toContain(wanted);
    }
    return failures.map(({ condition }: Shown) => condition);
  }
  const call = (data: string, value = '0') => ({ to: CONTRACT, data, value });
  const rule = (allowedFunctions: string[], maxValue = '0') => [
    { contractAddress: CONTRACT, allowedFunctions, maxValue },
  ];

  it.each<[string, () => object, () => object, string[]]>([
    [
      'by another initiator',
      () => aPolicyItem({ initiatorSetting: { type: 'user', memberId: ours.alice.id } }),
      () => ({}),
      ['initiator'],
    ],
    ['of another type', () => aContractPolicyItem(null), () => ({}), ['transactionType']],
    ['of a call under transfers', () => aPolicyItem(), () => call('0x12345678'), ['transactionType']],
    ['of another token', () => aPolicyItem(), () => tokens(1n), ['token']],
    [
      'of more than the maximum',
      () => aPolicyItem({ tokenTransferCondition: aTokenCondition({ amountThreshold: '5' }) }),
      () => ({ value: '6' }),
      ['amount'],
    ],
    [
      'to another destination',
      () => aPolicyItem({ tokenTransferCondition: aTokenCondition({ destinationAddresses: [CONTRACT] }) }),
      () => ({}),
      ['destination'],
    ],
    [
      'of another contract',
      () => aContractPolicyItem([{ contractAddress: anAddress(), allowedFunctions: [] }]),
      () => call('0x12345678'),
      ['contract'],
    ],
    [
      'of another function',
      () => aContractPolicyItem(rule(['mint(address,uint256)'])),
      () => call('0x12345678'),
      ['function'],
    ],
    [
      'of a function that grants an allowance',
      () => aContractPolicyItem(rule([])),
      () => call(`0x095ea7b3${'0'.repeat(128)}`),
      ['function'],
    ],
    [
      'of no function where only some are named',
      () => aContractPolicyItem(rule(['0x12345678'])),
      () => call('0x'),
      ['function'],
    ],
    [
      'with too much native currency',
      () => aContractPolicyItem(rule([])),
      () => call('0x12345678', '1'),
      ['value'],
    ],
    [
      'for several reasons at once',
      () =>
        aPolicyItem({
          initiatorSetting: { type: 'user', memberId: ours.alice.id },
          tokenTransferCondition: aTokenCondition({ amountThreshold: '5', destinationAddresses: [CONTRACT] }),
        }),
      () => ({ value: '6' }),
      ['initiator', 'amount', 'destination'],
    ],
    [
      'of a token that is none',
      () => anAnyPolicyItem(),
      () => ({ ...tokens(1n), to: anAddress() }),
      ['token'],
    ],
  ])('%s', async (_, policy, more, conditions) => {
    expect(await failuresUnder(policy(), more())).toEqual(conditions);
  });

  it('on another network', async () => {
    const two = await makeAccount(api.http, ours, { networkIds: [31337, 31338] });
    const more = { accountId: two.id, networkId: 31338 };
    expect(await failuresUnder(aPolicyItem(), more)).toEqual(['network']);
  });

  it('from another account', async () => {
    const other = await makeAccount(api.http, ours, { networkIds: [31337] });
    expect(await failuresUnder(aPolicyItem({ accountIds: [other.id] }))).toEqual(['account']);
  });

  it('by somebody who has left the group', async () => {
    const made = await change(api.http, ours, '/groups/proposals/create', {
      items: [{ name: 'Payers', memberIds: [ours.alice.id] }],
    });
    const groupId = made.result.resources[0].id;
    expect(await failuresUnder(aPolicyItem({ initiatorSetting: { type: 'group', groupId } }))).toEqual([
      'initiator',
    ]);
  });

  it('is refused without the budget among its failures', async () => {
    const DAY = {
      hours: 24,
      initiatorScope: 'ALL_ITEMS',
      sourceAccountScope: 'ALL_ITEMS',
      destinationScope: 'ALL_ITEMS',
    };
    const limited = aPolicyItem({
      tokenTransferCondition: aTokenCondition({ amountThreshold: '5' }),
      limitation: DAY,
    });
    expect(await failuresUnder(limited, { value: '6' })).toEqual(['amount']);
  });

  it('does not use up its idempotency key', async () => {
    const [policy] = await makePolicies(api.http, ours, aContractPolicyItem(null));
    const idempotencyKey = '6f4e6b0a-8d0a-4a38-9f3e-1d5b2c3a4e5f';
    const send = (body: object) =>
      api.http.send({ key: ours.readKey, path: TRANSACTIONS, body, idempotencyKey });
    expect((await send(asked({ policyId: policy?.id }))).status).toBe(403);
    expect((await send(asked({ value: '-1' }))).status).toBe(400);
  });
});

describe('an unknown transaction', () => {
  const paths = (id: string): [string, object | undefined][] => [
    [`${TRANSACTIONS}/${id}`, undefined],
    [`${TRANSACTIONS}/${id}/signatures`, { type: 'initiator', signature: '0x' }],
    [`${TRANSACTIONS}/${id}/execute`, { type: 'approve' }],
  ];

  it.each([anId('txn'), anId('prop'), 'x', 'TXN_01jz8k3v5fe5ht0n2m6w9r4xyz'])(
    'is not found: %s',
    async (id) => {
      for (const [path, body] of paths(id)) {
        const answer = await api.http.send({ key: ours.readKey, path, ...(body ? { body } : {}) });
        expect(refusalIn(answer, refusal(404, 'notFound', null))).toEqual(refusal(404, 'notFound', null));
        expect(answer.body.message).toBe('transaction not found in this organization');
      }
    },
  );

  it('has its body validated first', async () => {
    const path = `${TRANSACTIONS}/${anId('txn')}`;
    const bodies: [string, object, string][] = [
      ['/signatures', { type: 'veto', signature: '0x' }, 'type'],
      ['/signatures', { type: 'approve' }, 'signature'],
      ['/signatures', { type: 'approve', signature: '0x', reason: 'x'.repeat(501) }, 'reason'],
      ['/signatures', { type: 'approve', signature: '0x', execute: 'true' }, 'execute'],
      ['/signatures', { type: 'approve', signature: '0x', policyId: 'x' }, 'policyId'],
      ['/execute', {}, 'type'],
      ['/execute', { type: 'initiator' }, 'type'],
      ['/execute', { type: 'approve', force: true }, 'force'],
    ];
    for (const [below, body, field] of bodies) {
      await expectRefused(
        api.http,
        ours,
        { key: ours.readKey, path: `${path}${below}`, body },
        badField(field),
      );
    }
  });
});

describe('the list of transactions', () => {
  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['status=open', 'status'],
    ['accountId=x', 'accountId'],
    [`accountId=${UNKNOWN.account}`, 'accountId'],
    ['cursor=x', 'cursor'],
    ['status=queued&status=queued', 'status'],
    ['network=1', 'network'],
  ])('is refused for %s', async (query, field) => {
    const ask = { key: ours.readKey, path: `${TRANSACTIONS}?${query}` };
    await expectRefused(api.http, ours, ask, badField(field));
  });

  it('does not find accounts of other organizations', async () => {
    const ask = { key: ours.readKey, path: `${TRANSACTIONS}?accountId=${theirAccount.id}` };
    await expectRefused(api.http, ours, ask, badField('accountId'));
  });

  it('is empty at first', async () => {
    const answer = await api.http.send({ key: theirs.readKey, path: TRANSACTIONS });
    expect(answer.body).toEqual({ data: [], pagination: { cursor: '', hasMore: false } });
  });
});
