import { randomUUID } from 'node:crypto';
import {
  createOrgwallet,
  NoAnswer,
  NotPermitted,
  type Orgwallet,
  PayloadMismatch,
  type Pin,
  type Signable,
  signWith,
  type Wallet,
} from '@orgwallet/client';
import { encodeFunctionData, erc20Abi, type Hex, keccak256, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { canonicalJson } from '../../src/domain/canonicalJson';
import { ensureDemoToken } from '../../tools/dev/localContracts';
import { makeAccount, reject, type Shown, sharedApi } from '../support/api';
import type { Json } from '../support/document';
import {
  type InterceptingProxy,
  type Interception,
  startInterceptingProxy,
} from '../support/interceptingProxy';
import type { TestMember, TestOrganization, TestService } from '../support/service';
import { endpointOf, fundOnLocalChain, rpc } from '../support/stack';
import { makePolicies } from '../support/transactionApi';

const NETWORK = 31337;
const NATIVE_CURRENCY = `0x${'0'.repeat(40)}`;

let service: TestService;
let proxy: InterceptingProxy;
let org: TestOrganization;
let account: Shown;
let policies: Shown[];
let token: string;
let rpcUrl: string;
let orgwallet: Orgwallet;

beforeAll(async () => {
  service = await sharedApi();
  proxy = await startInterceptingProxy(service);
  org = await service.createOrganization();
  account = await makeAccount(service.http, org);
  const [network] = service.config.networks;
  rpcUrl = network ? endpointOf(network) : '';
  token = (await ensureDemoToken(rpcUrl)).address;
  await fundOnLocalChain(rpcUrl, account.address);
  const transfers = (name: string, tokenAddress: string, amountThreshold: string, more: object = {}) => ({
    name,
    type: 'AUTO_APPROVAL',
    transactionType: 'TOKEN_TRANSFER',
    networkId: NETWORK,
    accountIds: [account.id],
    initiatorSetting: { type: 'user', memberId: org.dave.id },
    tokenTransferCondition: { tokenAddress, amountThreshold, destinationAddresses: [] },
    ...more,
  });
  policies = await makePolicies(
    service.http,
    org,
    transfers('Petty cash', NATIVE_CURRENCY, '1000'),
    transfers('Large', NATIVE_CURRENCY, '100000', {
      type: 'MANUAL_APPROVAL',
      approverSetting: { type: 'user', memberId: org.carol.id },
    }),
    transfers('Tokens', token, '1000'),
    {
      ...transfers('Calls', token, '0'),
      transactionType: 'CONTRACT_INTERACTION',
      tokenTransferCondition: null,
      contractInteractionCondition: [
        { contractAddress: token, allowedFunctions: ['approve(address,uint256)'] },
      ],
    },
  );
  orgwallet = createOrgwallet({ baseUrl: proxy.baseUrl, apiKey: org.adminKey });
});
beforeEach(() => proxy.intercept({}));
afterAll(async () => {
  proxy?.close();
  await service?.stop();
});

const by = (member: TestMember): Wallet => signWith.viem(member.wallet);
const somebody = () => privateKeyToAccount(keccak256(toHex(randomUUID()))).address;
const signaturesSent = () => proxy.requests.filter(({ url }) => url.endsWith('/signatures'));

describe('transfer', () => {
  it('sends native currency: dry run, request, verification, signature, execution, outcome', async () => {
    const to = somebody();
    const sent = await orgwallet.transfer({
      account: account.id,
      networkId: NETWORK,
      to,
      amount: 700n,
      description: 'Lunch',
      wallet: by(org.dave),
    });
    expect(sent).toMatchObject({
      executionStatus: 'completed',
      description: 'Lunch',
      policy: { id: policies[0].id },
    });
    expect(BigInt(await rpc<string>(rpcUrl, 'eth_getBalance', [to, 'latest']))).toBe(700n);
    expect(
      proxy.requests.map(({ method, url }) => `${method} ${url.replace(/\w+_\w{26}/, 'ID')}`).slice(0, 4),
    ).toEqual([
      'GET /api/v1/accounts/ID',
      'POST /api/v1/policies/evaluate',
      'POST /api/v1/transactions',
      'POST /api/v1/transactions/ID/signatures',
    ]);
  });

  it('waits for approvers where the only policy that permits it needs them, who verify it as well', async () => {
    const [to, amount] = [somebody(), 70_000n];
    const asked = await orgwallet.transfer({ account, networkId: NETWORK, to, amount, wallet: by(org.dave) });
    expect(asked).toMatchObject({ signatureStatus: 'pendingReviewSignatures', executionStatus: null });
    const seen: string[] = [];
    const approved = await orgwallet.vote(asked.id, 'approve', {
      wallet: by(org.carol),
      confirm: ({ description }) => seen.push(description) === 1,
      execute: true,
    });
    expect(seen[0]).toMatch(`sends: 0.00000000000007 of the native currency (with 18 decimals)\nto: ${to}\n`);
    expect(await orgwallet.waitFor(approved, 'completed')).toMatchObject({ id: asked.id });
  });

  it('does not sign what its approver does not confirm', async () => {
    const asked = await orgwallet.transfer({
      account,
      networkId: NETWORK,
      to: somebody(),
      amount: 70_000n,
      wallet: by(org.dave),
    });
    proxy.intercept({});
    const options = { wallet: by(org.carol), confirm: () => false };
    await expect(orgwallet.vote(asked, 'approve', options)).rejects.toMatchObject({
      code: 'notSigned',
      message: `${asked.id} was not confirmed`,
    });
    await expect(orgwallet.vote(asked, 'approve', { wallet: by(org.carol) })).rejects.toThrow(TypeError);
    expect(signaturesSent()).toEqual([]);
  });

  it('says what is in the way where no policy permits it', async () => {
    const asked = { account, networkId: NETWORK, to: somebody(), amount: 10n ** 15n, wallet: by(org.dave) };
    const refused: NotPermitted = await orgwallet.transfer(asked).catch((error) => error);
    expect(refused).toBeInstanceOf(NotPermitted);
    expect(refused.message).toMatch(/Petty cash: amount 0\.001 "ETH" \(wanted: at most 0\.\d+ "ETH"\)/);
    await expect(
      orgwallet.transfer({ ...asked, amount: 1n, policyId: policies[1].id }),
    ).resolves.toMatchObject({
      policy: { id: policies[1].id },
    });
    expect(proxy.requests.filter(({ url }) => url === '/api/v1/transactions')).toHaveLength(1);
  });

  it('names the policy under which it would ask, before it does', async () => {
    const planned = { account: account.id, networkId: NETWORK, to: somebody(), initiator: by(org.dave) };
    const small = await orgwallet.policyFor({ ...planned, amount: 1n });
    expect(small).toMatchObject({ policy: { id: policies[0].id }, threshold: 0, allowed: true });
    const large = await orgwallet.policyFor({
      ...planned,
      amount: 70_000n,
      initiator: org.dave.wallet.address,
    });
    expect(large).toMatchObject({ policy: { id: policies[1].id }, approvers: [{ id: org.carol.id }] });
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [somebody(), 1n] });
    const called = await orgwallet.policyFor({ ...planned, to: token, data });
    expect(called.policy.id).toBe(policies[3].id);
    await expect(orgwallet.policyFor({ ...planned, amount: 10n ** 15n })).rejects.toBeInstanceOf(
      NotPermitted,
    );
    expect(proxy.requests.filter(({ url }) => url.endsWith('/transactions'))).toEqual([]);
  });

  it.each([
    ['account', { account: `0x${'1'.repeat(40)}` }],
    ['account', { account: { id: 'acc_1', address: 'acc_1' } }],
    ['networkId', { networkId: '31337' as never }],
    ['to', { to: 'acc_1' }],
  ])('is a TypeError with a mistaken %s, and nothing is requested', async (field, change) => {
    const asked = {
      account,
      networkId: NETWORK,
      to: somebody(),
      amount: 1n,
      wallet: by(org.dave),
      ...change,
    };
    const failed = await orgwallet.transfer(asked).catch((error) => error);
    expect(failed).toBeInstanceOf(TypeError);
    expect(failed.message).toMatch(new RegExp(`^${field}: invalid`));
    expect(proxy.requests).toEqual([]);
  });

  it('is asked for once, whatever connections do', async () => {
    const lost = new Set<string>();
    proxy.intercept({
      after: ({ method, url }) => (lost.has(method + url) || !lost.add(method + url) ? undefined : 'cut'),
    });
    const to = somebody();
    await orgwallet.transfer({ account, networkId: NETWORK, to, amount: 3n, wallet: by(org.dave) });
    expect(BigInt(await rpc<string>(rpcUrl, 'eth_getBalance', [to, 'latest']))).toBe(3n);
    expect(proxy.requests.filter(({ url }) => url === '/api/v1/transactions')).toHaveLength(2);
  });
});

/** Loses every answer to a signature that arrives, and waits until the client gives up. */
async function withoutAnswer(asked: () => Promise<unknown>): Promise<NoAnswer> {
  proxy.intercept({ after: ({ url }) => (url.endsWith('/signatures') ? 'cut' : undefined) });
  const error = await asked().catch((thrown: unknown) => thrown);
  proxy.intercept({});
  if (!(error instanceof NoAnswer)) throw new Error(`no NoAnswer: ${error}`);
  return error;
}

describe('an action of several calls that got no answer', () => {
  it('pays once when it is repeated with the key of its error, also when that was all of its budget', async () => {
    const to = somebody();
    const [policy] = await makePolicies(service.http, org, {
      name: 'Once',
      type: 'AUTO_APPROVAL',
      transactionType: 'TOKEN_TRANSFER',
      networkId: NETWORK,
      accountIds: [account.id],
      initiatorSetting: null,
      limitation: {
        hours: 24,
        initiatorScope: 'ALL_ITEMS',
        sourceAccountScope: 'ALL_ITEMS',
        destinationScope: 'ALL_ITEMS',
      },
      tokenTransferCondition: {
        tokenAddress: NATIVE_CURRENCY,
        amountThreshold: '9',
        destinationAddresses: [to],
      },
    });
    const pay = (more: object) =>
      orgwallet.transfer({
        ...{ account, networkId: NETWORK, to, amount: 9n, policyId: policy.id, wallet: by(org.dave) },
        ...more,
      });
    const { idempotencyKey } = await withoutAnswer(() => pay({ timeoutMs: 2_000 }));
    expect(await pay({ idempotencyKey })).toMatchObject({ executionStatus: 'completed' });
    expect(signaturesSent()).toEqual([]);
    expect(await pay({ idempotencyKey })).toMatchObject({ executionStatus: 'completed' });
    expect(BigInt(await rpc<string>(rpcUrl, 'eth_getBalance', [to, 'latest']))).toBe(9n);
    // Another payment over the budget gets no signature, whatever key it has.
    for (const more of [{}, { idempotencyKey: randomUUID() }]) {
      await expect(pay(more)).rejects.toThrow(NotPermitted);
    }
    expect(signaturesSent()).toEqual([]);
  });

  it('goes on with the request that it has created', async () => {
    const to = somebody();
    const pay = (more: object) =>
      orgwallet.transfer({ account, networkId: NETWORK, to, amount: 2n, wallet: by(org.dave), ...more });
    const idempotencyKey = randomUUID();
    const wallet = signWith.function(org.dave.wallet.address, async () => {
      throw new Error('the process ends here');
    });
    await expect(pay({ idempotencyKey, wallet })).rejects.toThrow('the process ends here');
    const { id } = await pay({ idempotencyKey });
    const all = await orgwallet.page('listTransactions', { accountId: account.id });
    expect(all.data.filter((one) => one.to === to).map((one) => one.id)).toEqual([id]);
  });

  it('proposes and approves once', async () => {
    const intent = { type: 'groups.create' as const, items: [{ name: randomUUID(), memberIds: [] }] };
    const propose = (more: object) => orgwallet.propose(intent, { wallet: by(org.alice), ...more });
    const { idempotencyKey } = await withoutAnswer(() => propose({ timeoutMs: 2_000 }));
    const proposal = await propose({ idempotencyKey });
    expect(proposal.approvals.map(({ id }) => id)).toEqual([org.alice.id]);
    expect(signaturesSent()).toEqual([]);
  });
});

describe('references', () => {
  it('are sent with a transfer, found by, and changed', async () => {
    const references = { externalId: randomUUID(), metadata: { costCenter: '4711' }, tags: ['rent'] };
    const of = { account, networkId: NETWORK, amount: 3n, wallet: by(org.dave) };
    const sent = await orgwallet.transfer({ ...of, to: somebody(), ...references });
    expect(sent).toMatchObject({ ...references, executionStatus: 'completed' });
    const { externalId } = references;
    const found = await orgwallet.listTransactions({ externalId });
    expect(found.map(({ id }) => id)).toEqual([sent.id]);
    const changed = await orgwallet.changeReferences(sent.id, { tags: ['rent', 'paid'] });
    expect(changed).toMatchObject({ externalId, tags: ['rent', 'paid'], metadata: references.metadata });
    const again = orgwallet.transfer({ ...of, to: somebody(), externalId });
    await expect(again).rejects.toMatchObject({ status: 409, details: { transactionId: sent.id } });
  });
});

describe('call', () => {
  it('calls a contract under the policy that permits it', async () => {
    const spender = somebody();
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, 5n] });
    const called = await orgwallet.call({
      account,
      networkId: NETWORK,
      to: token,
      data,
      wallet: by(org.dave),
    });
    expect(called).toMatchObject({ executionStatus: 'completed', policy: { id: policies[3].id } });
  });
});

describe('propose', () => {
  it('proposes a change, verifies and approves it; another admin does the same and executes it', async () => {
    const intent = {
      type: 'groups.create',
      items: [{ name: randomUUID(), memberIds: [org.dave.id] }],
    } as const;
    const asked = {
      ...intent,
      items: intent.items.map((item) => ({ ...item, memberIds: [...item.memberIds] })),
    };
    const proposal = await orgwallet.propose(asked, { wallet: by(org.alice) });
    expect(proposal.approvals.map(({ id }) => id)).toEqual([org.alice.id]);
    const done = await orgwallet.vote(proposal, 'approve', {
      wallet: by(org.bob),
      intent: asked,
      execute: true,
    });
    expect(await orgwallet.waitFor(done, 'completed')).toMatchObject({
      action: 'create',
      resourceType: 'groups',
    });
    await expect(
      orgwallet.vote(proposal.id, 'approve', { wallet: by(org.bob), intent: asked }),
    ).rejects.toMatchObject({
      code: 'notSigned',
      message: `${proposal.id} has no approve payload: it is closed, or waits for another signature`,
    });
  });

  it('refuses to initiate a proposal, before anything is signed', async () => {
    const intent = { type: 'members.remove' as const, ids: [org.otherBot.id] };
    const proposal = await orgwallet.propose(intent);
    let asked = 0;
    const wallet = signWith.function(org.alice.wallet.address, async () => {
      asked += 1;
      return '0x';
    });
    await expect(orgwallet.vote(proposal, 'initiator', { wallet, intent })).rejects.toThrow(
      new TypeError('invalid vote "initiator" for a proposal (expected approve or reject)'),
    );
    expect(asked).toBe(0);
    await reject(service.http, org, proposal);
  });

  it('executes an outcome whose threshold is met', async () => {
    const intent = { type: 'members.remove' as const, ids: [org.otherBot.id] };
    const proposal = await orgwallet.propose(intent, { wallet: by(org.alice) });
    await expect(orgwallet.execute(proposal, 'approve')).rejects.toMatchObject({ code: 'thresholdNotMet' });
    for (const member of [org.alice, org.bob]) {
      const options = { wallet: by(member), intent, reason: 'it stays' };
      await orgwallet.vote(proposal, 'reject', options);
      await expect(orgwallet.vote(proposal, 'reject', options)).rejects.toMatchObject({ code: 'conflict' });
    }
    const { rejections } = await orgwallet.read(proposal);
    expect(rejections.map(({ id }) => id)).toEqual([org.alice.id, org.bob.id]);
    expect(await orgwallet.execute(proposal.id, 'reject')).toMatchObject({ executionStatus: 'rejected' });
  });

  it('needs one request to read or execute what is known by its id alone', async () => {
    const { id } = await orgwallet.propose({ type: 'members.remove', ids: [org.otherBot.id] });
    proxy.intercept({});
    expect(await orgwallet.read(id)).toMatchObject({ id, resourceType: 'members' });
    await expect(orgwallet.execute(id, 'reject')).rejects.toMatchObject({ code: 'thresholdNotMet' });
    await orgwallet.vote(id, 'reject', { wallet: by(org.alice), confirm: () => true });
    expect(proxy.requests.map(({ method, url }) => `${method} ${url.replace(id, 'ID')}`)).toEqual([
      'GET /api/v1/proposals/ID',
      'POST /api/v1/proposals/ID/execute',
      'GET /api/v1/proposals/ID',
      'POST /api/v1/proposals/ID/signatures',
    ]);
  });
});

/** Changes a record in an answer, with its payloads. */
function swapping(change: (typedData: Json, record: Json) => void): Interception {
  return {
    after: ({ method, url }, answer) => {
      const { data } = answer;
      if (method !== 'POST' || !data?.signingPayloads || url.endsWith('/signatures')) return undefined;
      for (const [name, payload] of Object.entries<string>(data.signingPayloads)) {
        const typedData = JSON.parse(payload);
        change(typedData, data);
        data.signingPayloads[name] = canonicalJson(typedData);
      }
      return answer;
    },
  };
}

const evil = '0x00000000000000000000000000000000DeaDBeef';

describe('a server that swaps', () => {
  /** The mismatch with which a call ends; no signature may have been sent. */
  async function mismatch(
    interception: Interception,
    asked: () => Promise<unknown>,
  ): Promise<PayloadMismatch> {
    proxy.intercept(interception);
    const error = await asked().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(signaturesSent()).toEqual([]);
    if (!(error instanceof PayloadMismatch)) throw new Error(`no mismatch: ${error}`);
    return error;
  }
  const pay =
    (of: object = {}) =>
    () =>
      orgwallet.transfer({
        account,
        networkId: NETWORK,
        to: somebody(),
        amount: 5n,
        wallet: by(org.dave),
        ...of,
      });

  it('the recipient is found out, also when the record and the summary say the same', async () => {
    const to = somebody();
    const interception = swapping(({ message }, record) => {
      record.summary = record.summary.replace(to, evil);
      message.summary = record.summary.split('\n');
      for (const texts of [message, record]) texts.to = evil;
      message.recipient = evil;
    });
    expect(await mismatch(interception, pay({ to }))).toMatchObject({
      field: 'message.recipient',
      asked: to,
      got: evil,
    });
  });

  it('the recipient of a token is found out', async () => {
    const to = somebody();
    const interception = swapping(({ message }) => {
      message.data = message.data.replace(to.slice(2).toLowerCase(), evil.slice(2).toLowerCase());
      message.recipient = evil.toLowerCase();
    });
    const { field, asked, got } = await mismatch(interception, pay({ to, token }));
    expect([field, asked, got]).toEqual(['message.recipient', to.toLowerCase(), evil.toLowerCase()]);
  });

  it('the amount is found out', async () => {
    const interception = swapping(({ message }, record) => {
      for (const texts of [message, record]) texts.value = '500';
      message.amount = '500';
    });
    expect(await mismatch(interception, pay())).toMatchObject({
      field: 'message.amount',
      asked: '5',
      got: '500',
    });
  });

  it('the policy is found out', async () => {
    const other = policies[1].id;
    const interception = swapping(({ message }, record) => {
      message.policyId = other;
      record.policy.id = other;
    });
    const found = await mismatch(interception, pay());
    expect(found).toMatchObject({ field: 'message.policyId', asked: policies[0].id, got: other });
  });

  it('the account, or the network, is found out', async () => {
    const account31338 = swapping(({ domain }) => {
      domain.chainId = 31338;
    });
    expect((await mismatch(account31338, pay())).field).toBe('domain.chainId');
    const elsewhere = swapping(({ domain }) => {
      domain.verifyingContract = evil;
    });
    expect((await mismatch(elsewhere, pay())).field).toBe('domain.verifyingContract');
  });

  it('the salt is found out, once it is known', async () => {
    let kept: Pin | undefined;
    const pins = {
      get: () => kept,
      set: (pin: Pin) => {
        kept = pin;
      },
    };
    const pinned = createOrgwallet({ baseUrl: proxy.baseUrl, apiKey: org.adminKey, pins });
    const propose = () =>
      pinned.propose(
        { type: 'accounts.create', items: [{ name: randomUUID(), networkIds: [NETWORK] }] },
        { wallet: by(org.alice) },
      );
    await propose();
    expect(kept?.organization).toBe(org.id);
    const salt = keccak256(toHex('another organization'));
    const interception = swapping(({ domain }) => {
      domain.salt = salt;
    });
    expect(await mismatch(interception, propose)).toMatchObject({
      field: 'domain.salt',
      asked: kept?.salt,
      got: salt,
    });
  });

  it('the wallet of a new member is found out', async () => {
    const walletAddress = somebody();
    const interception = swapping(({ message }, record) => {
      const { items } = JSON.parse(message.data);
      items[0].walletAddress = evil;
      message.data = canonicalJson({ items });
      record.data = { items };
    });
    const propose = () =>
      orgwallet.propose(
        { type: 'members.create', items: [{ name: randomUUID(), walletAddress }] },
        { wallet: by(org.alice) },
      );
    const found = await mismatch(interception, propose);
    expect(found).toMatchObject({
      field: 'message.data.items[0].walletAddress',
      asked: walletAddress,
      got: evil,
    });
  });

  it('an approval for a rejection is found out', async () => {
    const proposal = await orgwallet.propose({
      type: 'accounts.create',
      items: [{ name: randomUUID(), networkIds: [NETWORK] }],
    });
    const { approvePayload = '', rejectPayload = '' } = proposal.signingPayloads ?? {};
    const swapped = {
      ...proposal,
      signingPayloads: { approvePayload: rejectPayload, rejectPayload: approvePayload },
    };
    const vote = () => orgwallet.vote(swapped, 'reject', { wallet: by(org.alice), confirm: () => true });
    expect(await mismatch({}, vote)).toMatchObject({ field: 'vote', asked: 'approve', got: 'reject' });
  });

  it('the initiator’s signature that an approver knows is found out', async () => {
    const asked = await pay({ amount: 70_000n })();
    const known = { wallet: by(org.carol), confirm: () => true, initiatorSignature: '0x1234' as Hex };
    const vote = () => orgwallet.vote(asked.id, 'approve', known);
    expect((await mismatch({}, vote)).field).toBe('message.initiatorSignatureHash');
  });
});

describe('signWith', () => {
  const sign = ({ wallet }: TestMember, typedData: Signable) =>
    wallet.signTypedData(typedData as unknown as Parameters<typeof wallet.signTypedData>[0]);
  /** The four kinds of wallet, over one key. */
  const wallets: [string, (member: TestMember) => Wallet][] = [
    ['an account of viem', by],
    [
      'a provider of the browser (EIP-1193)',
      (member) =>
        signWith.provider(
          {
            request: async ({ method, params: [address, text] }) => {
              expect([method, address]).toEqual(['eth_signTypedData_v4', member.wallet.address]);
              return sign(member, JSON.parse(String(text)));
            },
          },
          member.wallet.address,
        ),
    ],
    [
      'a signer of ethers',
      (member) =>
        signWith.ethers({
          getAddress: async () => member.wallet.address,
          signTypedData: (domain, types, message) => {
            // ethers refuses a type that nothing refers to, and finds the primary one by itself.
            const [primaryType = '', ...others] = Object.keys(types);
            expect(others).toEqual([]);
            return sign(member, { domain, types, primaryType, message } as unknown as Signable);
          },
        }),
    ],
    [
      'a function whose signatures end in 0 or 1',
      (member) =>
        signWith.function(member.wallet.address, async (typedData) => {
          const signature = await sign(member, typedData);
          return `${signature.slice(0, -2)}${signature.endsWith('1b') ? '00' : '01'}`;
        }),
    ],
  ];

  it.each(wallets)('takes %s', async (_, walletOf) => {
    const proposal = await orgwallet.propose(
      { type: 'accounts.create', items: [{ name: randomUUID(), networkIds: [NETWORK] }] },
      { wallet: walletOf(org.alice) },
    );
    expect(proposal.approvals.map(({ id }) => id)).toEqual([org.alice.id]);
    const paid = { account, networkId: NETWORK, to: somebody(), amount: 1n, wallet: walletOf(org.dave) };
    expect(await orgwallet.transfer(paid)).toMatchObject({ executionStatus: 'completed' });
  });
});
