import { createApi, createOrgwallet, pinInMemory, signWith } from '@orgwallet/client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { anAddress, anId } from '../../support/builders';

const BASE = 'https://wallet.example/api/v1';

/** A service that gives every request the same answer, and what was asked of it. */
function answering(data: unknown) {
  const asked: string[] = [];
  const fetcher: typeof fetch = async (url, init) => {
    asked.push(`${init?.method} ${String(url).replace(BASE, '')}`);
    return new Response(JSON.stringify({ data }));
  };
  return { asked, settings: { baseUrl: BASE, apiKey: 'ow_live_1', fetch: fetcher } };
}

describe('the answer about one record', () => {
  const [own, other] = [anId('acc'), anId('acc')];

  it.each([
    ['another account', 'getAccount', other],
    ['another address', 'getRecipient', anAddress()],
  ] as const)('is refused where it is %s', async (_, method, id) => {
    const { settings } = answering({ id: own, address: anAddress() });
    await expect(createApi(settings)[method](id)).rejects.toMatchObject({ code: 'payloadMismatch' });
  });

  it('is taken where it is of what was asked, whatever the case of an address', async () => {
    const address = `0x${'ab'.repeat(20)}`;
    const { settings } = answering({ id: own, address });
    const api = createApi(settings);
    await expect(api.getAccount(own)).resolves.toMatchObject({ id: own });
    await expect(api.getRecipient(address.toUpperCase().replace('X', 'x'))).resolves.toMatchObject({
      address,
    });
  });

  it('is refused where it is another record after a change of one', async () => {
    const { settings } = answering({ id: anId('txn') });
    const change = createApi(settings).changeReferences(anId('txn'), { tags: [] });
    await expect(change).rejects.toMatchObject({ code: 'payloadMismatch', field: 'id' });
  });

  it('is refused before anything is requested from another account', async () => {
    const { asked, settings } = answering({ id: other, address: anAddress() });
    const wallet = signWith.viem(privateKeyToAccount(generatePrivateKey()));
    const request = { account: own, networkId: 1, to: anAddress(), amount: 1n, wallet };
    await expect(
      createOrgwallet({ ...settings, pins: pinInMemory() }).transfer(request),
    ).rejects.toMatchObject({
      code: 'payloadMismatch',
      field: 'id',
    });
    expect(asked).toEqual([`GET /accounts/${own}`]);
  });
});

describe('the answer to a request', () => {
  const wallet = signWith.viem(privateKeyToAccount(generatePrivateKey()));
  const account = { id: anId('acc'), address: anAddress() };
  const to = anAddress();
  const SIGNED = {
    id: anId('txn'),
    accountId: account.id,
    networkId: 1,
    to: to.toLowerCase(),
    value: '5',
    calldata: '0x',
    signatureStatus: 'approvalReady',
    executionStatus: 'completed',
  };

  /** What a transfer of 5 wei results in, where the service answers the request with a transaction that is signed already. */
  const transferWith = (answer: object) => {
    const fetcher: typeof fetch = async (url) => {
      const evaluations = [{ policy: { id: anId('pol') }, allowed: true, threshold: 0, failures: [] }];
      const data = String(url).endsWith('/policies/evaluate') ? evaluations : answer;
      return new Response(JSON.stringify({ data }));
    };
    const orgwallet = createOrgwallet({ baseUrl: BASE, apiKey: 'ow_live_1', fetch: fetcher });
    return orgwallet.transfer({ account, networkId: 1, to, amount: 5n, wallet });
  };

  it('may be one that is signed already', async () => {
    await expect(transferWith(SIGNED)).resolves.toEqual(SIGNED);
  });

  it.each<[string, object]>([
    ['of another account', { accountId: anId('acc') }],
    ['on another network', { networkId: 5 }],
    ['to somebody else', { to: anAddress() }],
    ['of another amount', { value: '6' }],
    ['of a call', { calldata: '0x12345678' }],
    ['in place of another one', { replaces: anId('txn') }],
  ])('is refused where that is %s', async (_, change) => {
    await expect(transferWith({ ...SIGNED, ...change })).rejects.toMatchObject({ code: 'payloadMismatch' });
  });

  it('is refused where a proposal is of another kind, and approved already', async () => {
    const approvals = [{ walletAddress: await wallet.address() }];
    const proposed = { id: anId('prop'), resourceType: 'members', action: 'create', approvals };
    const propose = (answer: object) =>
      createOrgwallet(answering(answer).settings).propose(
        { type: 'members.create', items: [{ name: 'Alice', walletAddress: anAddress() }] },
        { wallet },
      );
    await expect(propose(proposed)).resolves.toEqual(proposed);
    await expect(propose({ ...proposed, action: 'remove' })).rejects.toMatchObject({ field: 'action' });
    await expect(propose({ ...proposed, resourceType: 'groups' })).rejects.toMatchObject({
      field: 'resourceType',
    });
  });
});

describe('the answer about a deposit', () => {
  const accountId = anId('acc');
  const [asset, from, after] = [`1:${anAddress()}`, anAddress(), new Date('2026-01-01T00:00:00Z')];
  const MOVEMENT = {
    accountId,
    asset: { id: asset },
    rawAmount: '10',
    direction: 'in',
    status: 'confirmed',
    counterparty: { address: from },
    blockAt: '2026-01-01T00:00:01.000Z',
  };
  const waitFor = (movement: object) =>
    createOrgwallet(answering([movement]).settings).waitForDeposit(
      { account: accountId, asset, amount: 10n, from, after },
      { timeoutMs: 1, everyMs: 1 },
    );

  it('is the movement that is waited for', async () => {
    await expect(waitFor(MOVEMENT)).resolves.toEqual(MOVEMENT);
    await expect(waitFor({ ...MOVEMENT, rawAmount: '11' })).resolves.toMatchObject({ rawAmount: '11' });
  });

  it.each<[string, object]>([
    ['of another account', { accountId: anId('acc') }],
    ['of another asset', { asset: { id: `1:${anAddress()}` } }],
    ['of less', { rawAmount: '9' }],
    ['of no amount', { rawAmount: '1e1' }],
    ['that went out', { direction: 'out' }],
    ['that is not confirmed', { status: 'pending' }],
    ['of somebody else', { counterparty: { address: anAddress() } }],
    ['of an earlier time', { blockAt: '2025-12-31T23:59:59.000Z' }],
  ])('is refused where it is a movement %s', async (_, change) => {
    await expect(waitFor({ ...MOVEMENT, ...change })).rejects.toMatchObject({ code: 'payloadMismatch' });
  });
});
