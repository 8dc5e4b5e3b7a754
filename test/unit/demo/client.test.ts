import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { generate } from 'selfsigned';
import { decodeAbiParameters, recoverTypedDataAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { proposalPayload, transactionPayload } from '../../../src/domain/signing';
import { ApiError, OrgwalletClient, signPayload } from '../../../tools/demo/client';
import { signTransaction, type Transaction } from '../../../tools/demo/transaction';

interface Heard {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly key: string | undefined;
  readonly body: string;
}
type Reply = { status: number; body: object; headers?: Record<string, string> } | 'hang up';

let server: Server;
let client: OrgwalletClient;
let heard: Heard[];
let replies: Reply[];

const refusal = (code: string, message: string, details?: object) => ({
  error: { code, message, ...(details ? { details } : {}) },
});

beforeAll(async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  });
  server = createServer({ cert, key }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    heard.push({
      method: request.method,
      path: request.url,
      key: request.headers['x-idempotency-key'] as string | undefined,
      body: Buffer.concat(chunks).toString(),
    });
    const reply = replies.shift() ?? 'hang up';
    if (reply === 'hang up') {
      request.socket.destroy();
      return;
    }
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    response.end(JSON.stringify(reply.body));
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  client = new OrgwalletClient({
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    apiKey: 'ow_live_x',
    ca: cert,
  });
});
beforeEach(() => {
  heard = [];
  replies = [];
});
afterAll(() => {
  client.close();
  server.close();
  server.closeAllConnections();
});

const path = '/accounts/proposals/create';
const items = [{ name: 'Treasury', networkIds: [1] }];

describe('a client', () => {
  it('sends a mutation that got no answer again under its idempotency key', async () => {
    replies = [
      'hang up',
      { status: 500, body: refusal('internalError', 'unavailable'), headers: { 'retry-after': '0.1' } },
      { status: 201, body: { data: { id: 'prop_1' } } },
    ];
    expect(await client.post(path, { items })).toEqual({ id: 'prop_1' });
    expect(heard).toHaveLength(3);
    expect(new Set(heard.map(({ key, body, path }) => `${key} ${body} ${path}`)).size).toBe(1);
    expect(heard[0]?.key).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(heard[0]?.body ?? '')).toEqual({ items });
  });

  it('uses another key for another request, and none for a GET', async () => {
    replies = [
      { status: 201, body: { data: {} } },
      { status: 201, body: { data: {} } },
      { status: 200, body: { data: [] } },
    ];
    await client.post(path, { items });
    await client.post(path, { items });
    await client.read('/accounts');
    expect(new Set(heard.map(({ key }) => key)).size).toBe(3);
    expect(heard[2]).toMatchObject({ method: 'GET', path: '/api/v1/accounts', key: undefined, body: '' });
  });

  it('throws a refusal with its code and field, and asks once', async () => {
    const details = { field: 'items[0].name' };
    replies = [{ status: 400, body: refusal('validationError', 'must not be blank', details) }];
    const error = await client.post(path, { items }).catch((reason) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 400,
      code: 'validationError',
      field: 'items[0].name',
      failures: [],
    });
    expect(heard).toHaveLength(1);
  });
});

it('a refusal says what a policy has against a transaction', async () => {
  const failures = [{ condition: 'amount', found: '2', wanted: 'at most 1' }];
  replies = [{ status: 403, body: refusal('forbidden', 'the policy …', { failures }) }];
  await expect(client.post('/transactions', {})).rejects.toMatchObject({ status: 403, failures });
});

describe('a signature', () => {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const data = { items };
  const base = {
    id: 'prop_1',
    organizationId: 'org_1',
    resourceType: 'accounts',
    action: 'create',
    summary: 'Create account "Treasury"',
    data,
    expiresAt: new Date('2026-01-01T00:00:00Z'),
  } as const;
  const salt = `0x${'11'.repeat(32)}`;
  const payloadOf = (change: object = {}) => proposalPayload('ApproveProposal', salt, { ...base, ...change });
  const shown = (approvePayload: string) => ({
    ...base,
    signingPayloads: { approvePayload, rejectPayload: '' },
  });

  it('is abi.encode(address, bytes) of the EIP-712 signature', async () => {
    const signature = await signPayload(wallet, shown(payloadOf()), 'approve');
    const [address, bytes] = decodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], signature);
    expect(address).toBe(wallet.address);
    expect(await recoverTypedDataAddress({ ...JSON.parse(payloadOf()), signature: bytes })).toBe(address);
  });

  it.each([
    ['another proposal', { id: 'prop_2' }],
    ['another summary', { summary: 'Create account "Other"' }],
    ['other data', { data: { items: [{ name: 'Treasury', networkIds: [1, 2] }] } }],
  ])('is not given to a payload with %s than was shown', async (_, change) => {
    await expect(signPayload(wallet, shown(payloadOf(change)), 'approve')).rejects.toThrow(
      /nothing was signed/,
    );
  });
});

describe('a signature on a transaction', () => {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const accountAddress = privateKeyToAccount(generatePrivateKey()).address;
  const base = {
    id: 'txn_1',
    accountAddress,
    networkId: 31_337,
    to: wallet.address,
    value: 5n,
    calldata: '0x',
    policyId: 'pol_1',
    summary: 'Send 5',
    expiresAt: new Date('2026-01-01T00:00:00.500Z'),
  };
  const hash = `0x${'11'.repeat(32)}`;
  const shown = (payloads: Transaction['signingPayloads']) =>
    ({
      ...base,
      value: '5',
      policy: { id: 'pol_1' },
      expiresAt: base.expiresAt.toISOString(),
      signingPayloads: payloads,
    }) as unknown as Transaction;

  it.each([
    ['initiator', 'InitiateTransaction', null],
    ['approve', 'ApproveTransaction', hash],
    ['reject', 'RejectTransaction', hash],
  ] as const)('to %s is one of %s', async (type, statement, bound) => {
    const payload = transactionPayload(statement, base, bound);
    const signature = await signTransaction(
      wallet,
      shown({ [`${type}Payload`]: payload }),
      accountAddress,
      type,
    );
    const [address, bytes] = decodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], signature);
    expect(address).toBe(wallet.address);
    expect(await recoverTypedDataAddress({ ...JSON.parse(payload), signature: bytes })).toBe(address);
  });

  it.each([
    ['another transaction', { id: 'txn_2' }],
    ['another account', { accountAddress: wallet.address }],
    ['another network', { networkId: 1 }],
    ['another recipient', { to: accountAddress }],
    ['another value', { value: 6n }],
    ['other calldata', { calldata: '0x00' }],
    ['another policy', { policyId: 'pol_2' }],
    ['another summary', { summary: 'Send 6' }],
    ['another expiry', { expiresAt: new Date('2027-01-01T00:00:00Z') }],
  ])('is not given to a payload with %s than was shown', async (_, change) => {
    const initiatorPayload = transactionPayload('InitiateTransaction', { ...base, ...change }, null);
    await expect(
      signTransaction(wallet, shown({ initiatorPayload }), accountAddress, 'initiator'),
    ).rejects.toThrow(/nothing was signed/);
  });

  it('is not given to an approval where a rejection is wanted, nor to nothing', async () => {
    const rejectPayload = transactionPayload('ApproveTransaction', base, hash);
    await expect(signTransaction(wallet, shown({ rejectPayload }), accountAddress, 'reject')).rejects.toThrow(
      /nothing was signed/,
    );
    await expect(signTransaction(wallet, shown({}), accountAddress, 'initiator')).rejects.toThrow(
      /takes no such signature/,
    );
  });
});
