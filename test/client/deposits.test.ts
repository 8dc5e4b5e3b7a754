import { createOrgwallet, NoDeposit } from '@orgwallet/client';
import { makeAccount, type Shown, sharedApi } from '../support/api';
import { sendFromFunder } from '../support/funder';
import { startInterceptingProxy } from '../support/interceptingProxy';
import { paymentChain } from '../support/payingOrganization';
import type { TestService } from '../support/service';
import { LOCAL_FUNDER, rpc } from '../support/stack';
import { NETWORK_ID } from '../support/transactions';

let service: TestService;
let proxy: Awaited<ReturnType<typeof startInterceptingProxy>>;

beforeAll(async () => {
  service = await sharedApi();
  proxy = await startInterceptingProxy(service);
});
afterAll(async () => {
  proxy?.close();
  await service?.stop();
});

it('waits for a deposit of so much, from somebody, after a time', async () => {
  const org = await service.createOrganization();
  const account: Shown = await makeAccount(service.http, org, { networkIds: [NETWORK_ID] });
  const client = createOrgwallet({ baseUrl: proxy.baseUrl, apiKey: org.readKey });
  const { rpcUrl } = paymentChain(service);
  const pay = (value: string) => sendFromFunder(rpcUrl, { to: account.address, value });
  const asset = `${NETWORK_ID}:0x${'0'.repeat(40)}`;
  const block = await rpc<{ timestamp: string }>(rpcUrl, 'eth_getBlockByNumber', ['latest', false]);
  const expected = {
    account: account.id,
    asset,
    amount: 5n,
    after: new Date(Number(block.timestamp) * 1_000),
  };
  const found = client.waitForDeposit({ ...expected, from: LOCAL_FUNDER.address }, { everyMs: 200 });
  await pay('0x4');
  await pay('0x5');
  await pay('0x6');
  expect(await found).toMatchObject({
    rawAmount: '5',
    direction: 'in',
    status: 'confirmed',
    accountId: account.id,
  });
  const short = { timeoutMs: 500, everyMs: 200 };
  const none = [
    { ...expected, amount: 7n },
    { ...expected, from: org.dave.wallet.address },
    { ...expected, after: new Date(Date.now() + 86_400_000) },
  ];
  for (const one of none) await expect(client.waitForDeposit(one, short)).rejects.toThrow(NoDeposit);
  const all = [];
  for await (const movement of client.each('listMovements', {
    accountId: account.id,
    limit: 2,
    order: 'oldest',
  })) {
    all.push(movement.rawAmount);
  }
  expect(all).toEqual(['4', '5', '6']);
});
