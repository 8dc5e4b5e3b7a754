import { Client } from '@temporalio/client';
import { encodeAbiParameters, encodeFunctionData, erc20Abi, getAddress, type Hex } from 'viem';
import { connectTemporal } from '../../src/temporal/connection';
import { backfillWorkflowId, taskQueues } from '../../src/temporal/ids';
import { putCode } from '../chain/wallets';
import { command, json, refused, words } from '../cli/command';
import { badField, expectRefused, makeAccount, read, refusal, type Shown, sharedApi } from '../support/api';
import { answer, loggingCollection, logTokenTransfer } from '../support/contracts';
import { sendFromFunder } from '../support/funder';
import type { Answer } from '../support/http';
import { paymentChain } from '../support/payingOrganization';
import { fundRelayers, type TestOrganization, type TestService } from '../support/service';
import { LOCAL_FUNDER, sharedStack } from '../support/stack';
import {
  aTransactionBody,
  executeTransaction,
  initiate,
  makePaymentPolicies,
  settledTransaction,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';

let api: TestService;
let org: TestOrganization;
let account: Shown;

beforeAll(async () => {
  api = await sharedApi();
});
beforeEach(async () => {
  org = await api.createOrganization();
  account = await makeAccount(api.http, org, { networkIds: [NETWORK_ID] });
});
afterAll(() => api?.stop());

const MOVEMENTS = '/api/v1/movements';

const list = (query = ''): Promise<Shown[]> => read(api.http, org.readKey, `${MOVEMENTS}${query}`);
const sent = (path: string, more: object = {}) => api.http.send({ key: org.readKey, path, ...more });

/** The statement of the account: a conflict until its past is read. */
const statement = (): Promise<Answer> =>
  until('the statement can be read', async () => {
    const found = await sent(`/api/v1/accounts/${account.id}/statement`);
    return found.status !== 409 && found;
  });

const send = (to: string, of: { value?: Hex; data?: Hex }) =>
  sendFromFunder(paymentChain(api).rpcUrl, { to, ...of });
const pay = (value: bigint) => send(account.address, { value: `0x${value.toString(16)}` });
const token = () =>
  getAddress(sharedStack().chains.find(({ chainId }) => chainId === NETWORK_ID)?.token.address ?? '');
const payToken = (amount: bigint) =>
  send(token(), {
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [account.address, amount] }),
  });

const listed = (count: number, query = '') =>
  until(`${count} movements are listed`, async () => {
    const found = await list(query);
    return found.length === count && found.every(({ status }) => status === 'confirmed') && found;
  });

describe('movements', () => {
  it('are deposits and payments, with whom they are from and to, and events', async () => {
    await fundRelayers(api.db, api.config);
    const entry = { name: 'The bank', address: LOCAL_FUNDER.address, networkId: null };
    await api.http.send({ key: org.adminKey, path: '/api/v1/address-book', body: entry });
    const hash = await pay(500n);
    await listed(1);
    const { auto } = await makePaymentPolicies(api.http, org, NETWORK_ID);
    const body = aTransactionBody(org, { account, policy: auto, to: org.dave.wallet.address });
    const transaction = await initiate(api.http, org, body);
    await executeTransaction(api.http, org, transaction);
    await settledTransaction(api.http, org, transaction);
    const [out, into] = await listed(2);
    const asset = { symbol: expect.any(String), decimals: 18, tokenAddress: `0x${'0'.repeat(40)}` };
    expect(into).toMatchObject({
      ...{ accountId: account.id, networkId: NETWORK_ID, direction: 'in', kind: 'native', cause: 'transfer' },
      ...{
        rawAmount: '500',
        displayAmount: '0.0000000000000005',
        transactionHash: hash,
        verified: true,
        marks: [],
      },
      asset,
      counterparty: { address: LOCAL_FUNDER.address, kind: 'addressBookEntry', name: 'The bank' },
    });
    expect(out).toMatchObject({
      ...{ direction: 'out', rawAmount: '1', transactionId: transaction.id },
      counterparty: { address: org.dave.wallet.address, kind: 'member', id: org.dave.id, name: 'Dave' },
    });
    const { body: events } = await sent('/api/v1/events?types=movement.confirmed');
    const of = { type: 'account', id: account.id, uri: `/api/v1/accounts/${account.id}` };
    expect(events.data.map(({ resource }: Shown) => resource)).toEqual([of, of]);
    expect(events.data.flatMap(({ data }: Shown) => data.movementIds)).toEqual([into?.id, out?.id]);
  });

  it('are in the feed soon after their block', async () => {
    const delays: number[] = [];
    for (let paid = 1; paid <= 5; paid += 1) {
      const { body } = await sent('/api/v1/events?after=latest');
      await pay(BigInt(paid));
      const minedAt = performance.now();
      const path = `/api/v1/events?types=movement.pending,movement.confirmed&after=${body.pagination.cursor}`;
      await until('it is an event', async () => (await sent(path)).body.data.length > 0);
      delays.push(Math.round(performance.now() - minedAt));
    }
    console.info(`from block to feed: ${delays.join(', ')} ms`);
    expect(Math.min(...delays)).toBeLessThan(10_000);
  });

  it('are those of ERC-721 and ERC-1155 tokens, whatever these call themselves', async () => {
    const text = (value: string) => answer(encodeAbiParameters([{ type: 'string' }], [value]));
    const texts = { 'symbol()': '0x989680 0x0 RETURN', 'name()': text('=Free\u202e\u001b[2J') };
    const collection = await putCode(paymentChain(api).rpcUrl, 'a collection', loggingCollection(texts));
    const { address } = LOCAL_FUNDER;
    const most = 2n ** 256n - 1n;
    await send(collection, { data: logTokenTransfer(address, account.address, most) });
    await send(collection, { data: logTokenTransfer(account.address, address, 7n, 3n) });
    const found = await listed(2, '?verified=false&order=oldest');
    const of = { verified: false, networkId: NETWORK_ID, asset: { symbol: '', name: null, decimals: null } };
    expect(found).toMatchObject([
      { ...of, kind: 'erc721', direction: 'in', tokenId: String(most), rawAmount: '1' },
      { ...of, kind: 'erc1155', direction: 'out', tokenId: '7', rawAmount: '3' },
    ]);
    expect(await list()).toEqual([]);
    const file = await sent(`${MOVEMENTS}?verified=false`, { headers: { accept: 'text/csv' } });
    expect(file.text.split('\r\n')).toHaveLength(4);
    const { body } = await statement();
    expect(body.data.assets).toMatchObject([{ difference: '0', movements: 0 }]);
  });

  it('of the past are read by a workflow, which shows how far it is', async () => {
    await pay(6n);
    await listed(1);
    const own = { account_id: account.id };
    for (const table of ['movements', 'account_proofs', 'account_scans'])
      await api.db(table).where(own).delete();
    await pay(7n);
    expect((await listed(2, '?order=oldest')).map(({ rawAmount }) => rawAmount)).toEqual(['6', '7']);
    const { temporal } = api.config;
    const connection = connectTemporal(temporal);
    const client = new Client({ connection, namespace: temporal.namespace });
    const handle = client.workflow.getHandle(backfillWorkflowId(taskQueues(temporal.taskQueue), NETWORK_ID));
    await until('it says how far it is', async () => {
      const { currentDetails } = await handle.query<{ currentDetails: string }>(
        '__temporal_workflow_metadata',
      );
      return /^(All movements of the past are read|Reading movements of the past on network)/.test(
        currentDetails,
      );
    });
    await connection.close();
  });

  it('are listed by filters, in either order, in pages', async () => {
    for (const value of [1n, 2n, 3n]) await pay(value);
    await payToken(9n);
    const all = await listed(4);
    const amounts = async (query: string) => (await list(query)).map(({ rawAmount }) => rawAmount);
    expect(await amounts('?order=oldest')).toEqual(['1', '2', '3', '9']);
    expect(await amounts('')).toEqual(['9', '3', '2', '1']);
    expect(await amounts('?minimum=3&order=oldest')).toEqual(['3', '9']);
    expect(await amounts(`?assetId=${NETWORK_ID}:${token()}`)).toEqual(['9']);
    expect(await amounts(`?assetId=31338:${token()}`)).toEqual([]);
    expect(await amounts(`?networkId=31338`)).toEqual([]);
    expect(await amounts(`?networkId=31338&assetId=${NETWORK_ID}:${token()}`)).toEqual([]);
    expect(await amounts('?direction=out')).toEqual([]);
    expect(await amounts(`?counterparty=${LOCAL_FUNDER.address.toLowerCase()}&minimum=9`)).toEqual(['9']);
    expect(await amounts('?status=reversed')).toEqual([]);
    expect(await amounts('?verified=false')).toEqual([]);
    expect(await amounts('?verified=any')).toHaveLength(4);
    expect(await amounts(`?accountId=${account.id}`)).toHaveLength(4);
    const { blockAt } = all.at(-1) as Shown;
    expect(await amounts(`?to=${blockAt}`)).toEqual([]);
    expect(await amounts(`?from=${blockAt}`)).toHaveLength(4);
    const path = `/api/v1/accounts/${account.id}/movements`;
    for (const order of ['newest', 'oldest']) {
      const found: string[] = [];
      for (let cursor = ''; ; ) {
        const { body } = await sent(`${path}?limit=3&order=${order}&cursor=${cursor}`);
        found.push(...body.data.map(({ id }: Shown) => id));
        if (!body.pagination.hasMore) break;
        ({ cursor } = body.pagination);
      }
      expect(found).toEqual((await list(`?order=${order}`)).map(({ id }) => id));
    }
  });

  it('are a file of comma-separated values for who accepts one', async () => {
    const name = '=HYPERLINK("x"), of us';
    await api.http.send({
      key: org.adminKey,
      path: '/api/v1/address-book',
      body: { name, address: LOCAL_FUNDER.address, networkId: null },
    });
    await pay(1n);
    await pay(2n);
    await listed(2);
    const answer = await sent(`${MOVEMENTS}?order=oldest&limit=1`, { headers: { accept: 'text/csv' } });
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    const [columns, first, second, end] = answer.text.split('\r\n');
    expect(columns).toMatch(/^id,blockAt,accountId,networkId,direction,status,amount,symbol,/);
    expect(first).toContain(`,in,confirmed,0.000000000000000001,`);
    expect(first).toContain(`"'=HYPERLINK(""x""), of us"`);
    expect([second?.includes(',0.000000000000000002,'), end]).toEqual([true, '']);
    const head = await sent(MOVEMENTS, { method: 'HEAD', headers: { accept: 'text/csv' } });
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it('are refused with what is not a filter, or not of the organization', async () => {
    const ask = (path: string) => ({ key: org.readKey, path });
    for (const field of [
      'minimum=-1',
      'direction=up',
      'networkId=x',
      'assetId=1',
      'order=both',
      'verified=1',
      'from=now',
    ]) {
      await expectRefused(api.http, org, ask(`${MOVEMENTS}?${field}`), badField(field.split('=')[0] ?? ''));
    }
    const other = await api.createOrganization();
    const theirs = await makeAccount(api.http, other, { networkIds: [NETWORK_ID] });
    await expectRefused(api.http, org, ask(`${MOVEMENTS}?accountId=${theirs.id}`), badField('accountId'));
    const path = `/api/v1/accounts/${theirs.id}/movements`;
    await expectRefused(api.http, org, ask(path), refusal(404, 'notFound'));
  });
});

describe('the statement of an account', () => {
  it('adds up to the balances on chain', async () => {
    await pay(70n);
    await payToken(9n);
    await listed(2);
    const { body } = await statement();
    expect(body.data).toMatchObject({ accountId: account.id, from: null, to: null });
    const [native, demo] = body.data.assets;
    const proved = { out: '0', fees: '0', difference: '0', unexplained: [], movements: 1 };
    expect(native).toMatchObject({ ...proved, opening: '0', in: '70', closing: '70', networkId: NETWORK_ID });
    expect(demo).toMatchObject({
      ...proved,
      opening: '0',
      in: '9',
      closing: '9',
      asset: { symbol: 'DEMO', decimals: 18 },
    });
  });

  it('is printed by a command', async () => {
    await pay(70n);
    await payToken(9n);
    await listed(2);
    const { body } = await statement();
    const { accountId, assets } = await json(api.env, 'statement', account.id);
    expect(accountId).toBe(account.id);
    const { asset: _, ...native } = body.data.assets[0];
    expect(assets[0]).toMatchObject({ ...native, toBlock: expect.any(Number) });
    const text = await words(api.env, 'statement', account.id, '--from', '2025-01-01');
    expect(text.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['network', 'blocks', 'token', 'opening', 'in', 'out', 'fees', 'closing', 'difference'],
      [
        String(NETWORK_ID),
        expect.anything(),
        'native currency',
        ...Array(5).fill(expect.any(String)),
        'none',
      ],
      [
        String(NETWORK_ID),
        expect.anything(),
        token(),
        '0 "DEMO"',
        ...Array(4).fill(expect.any(String)),
        'none',
      ],
      [''],
    ]);
    expect(await refused(api.env, 'statement', 'acc_unknown')).toContain('account acc_unknown not found');
    const future = ['--to', '2100-01-01'];
    expect(await refused(api.env, 'statement', account.id, ...future)).toContain('is not read yet');
    const wrong = await command(api.env, 'statement', account.id, '--from', 'yesterday');
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('expected a day or a time')]);
  });

  it('is refused of a period that is not read yet, and of one that ends before it begins', async () => {
    await pay(1n);
    await listed(1);
    const ask = (query: string) => ({
      key: org.readKey,
      path: `/api/v1/accounts/${account.id}/statement${query}`,
    });
    const future = new Date(Date.now() + 86_400_000).toISOString();
    await expectRefused(api.http, org, ask(`?to=${future}`), refusal(409, 'conflict'));
    const period = '?from=2025-06-02T00:00:00Z&to=2025-06-01T00:00:00Z';
    await expectRefused(api.http, org, ask(period), badField('to'));
    const other = await api.createOrganization();
    const theirs = await makeAccount(api.http, other, { networkIds: [NETWORK_ID] });
    const path = `/api/v1/accounts/${theirs.id}/statement`;
    await expectRefused(api.http, org, { key: org.readKey, path }, refusal(404, 'notFound'));
  });
});
