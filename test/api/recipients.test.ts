import { getAddress, type Hex } from 'viem';
import {
  badField,
  expectRefused,
  makeAccount,
  organizationForEachTest,
  read,
  refusal,
  type Shown,
} from '../support/api';
import { anAddress } from '../support/builders';
import { paymentChain } from '../support/payingOrganization';
import { fundRelayers, type TestOrganization, type TestService } from '../support/service';
import { fundOnLocalChain } from '../support/stack';
import {
  aTransactionBody,
  executeTransaction,
  initiate,
  makePaymentPolicies,
  makePolicies,
  settledTransaction,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';

let api: TestService;
let org: TestOrganization;

organizationForEachTest((...own) => {
  [api, org] = own;
});

const about = (address: string, query = ''): Promise<Shown> =>
  read(api.http, org.readKey, `/api/v1/recipients/${address}${query}`);
const UNKNOWN = { known: [], count: 0, firstAt: null, lastAt: null, lastTransactionId: null, lookAlikes: [] };

/** Another address with the same first and last digits, so many of them. */
function lookAlike(address: string, digits = 3): string {
  const lower = address.toLowerCase();
  const middle = lower.slice(2 + digits, -digits);
  const other = [...middle].map((digit) => (digit === '0' ? '1' : '0')).join('');
  return getAddress(`${lower.slice(0, 2 + digits)}${other}${lower.slice(-digits)}`);
}

const nameIt = (name: string, address: string, networkId: number | null = null) =>
  api.http.send({ key: org.adminKey, path: '/api/v1/address-book', body: { name, address, networkId } });

describe('what is known of a recipient', () => {
  it('is nothing of an address that nobody has named or paid, however it is written', async () => {
    const address = anAddress();
    expect(await about(address)).toEqual({ address, ...UNKNOWN });
    expect(await about(address.toLowerCase())).toEqual({ address, ...UNKNOWN });
  });

  it('is refused of what is not an address', async () => {
    const ask = (address: string) => ({ key: org.readKey, path: `/api/v1/recipients/${address}` });
    const wrong = '0x70997970c51812dc3A010C7d01b50e0d17dc79C8';
    await expectRefused(api.http, org, ask(wrong), badField('recipientAddress'));
    await expectRefused(api.http, org, ask('0x12'), refusal(404, 'notFound'));
    await expectRefused(api.http, org, ask(`${anAddress()}?before=now`), badField('before'));
  });

  it('is where it stands: member, account, address book, policies', async () => {
    const address = org.dave.wallet.address;
    const account = await makeAccount(api.http, org, { networkIds: [NETWORK_ID] });
    const common = { type: 'AUTO_APPROVAL', networkId: NETWORK_ID, accountIds: null, initiatorSetting: null };
    const [transfer, call] = await makePolicies(
      api.http,
      org,
      {
        ...{ ...common, name: 'To Dave', transactionType: 'TOKEN_TRANSFER' },
        tokenTransferCondition: {
          tokenAddress: null,
          amountThreshold: null,
          destinationAddresses: [address],
        },
      },
      {
        ...{ ...common, name: 'Calls', transactionType: 'CONTRACT_INTERACTION' },
        contractInteractionCondition: [{ contractAddress: address, allowedFunctions: [], maxValue: '0' }],
      },
    );
    const entry = (await nameIt('Wallet of Dave', address, NETWORK_ID)).body.data;
    const networkId = NETWORK_ID;
    expect((await about(address)).known).toEqual([
      { type: 'member', id: org.dave.id, name: 'Dave' },
      { type: 'addressBookEntry', id: entry.id, name: 'Wallet of Dave', networkId },
      { type: 'policy', id: call.id, name: 'Calls', networkId },
      { type: 'policy', id: transfer.id, name: 'To Dave', networkId },
    ]);
    expect((await about(account.address)).known).toEqual([
      { type: 'account', id: account.id, name: account.name },
    ]);
  });

  it('is nothing of another organization', async () => {
    const address = anAddress();
    await nameIt('ACME', address);
    const other = await api.createOrganization();
    for (const one of [address, lookAlike(address), org.dave.wallet.address]) {
      const shown = await read(api.http, other.readKey, `/api/v1/recipients/${one}`);
      expect(shown).toEqual({ address: one, ...UNKNOWN });
    }
  });

  it('names known addresses with the same first and last three digits, and no others', async () => {
    const { address } = org.dave.wallet;
    const poisoned = lookAlike(address);
    const [found] = (await about(poisoned)).lookAlikes;
    expect(found).toEqual({ address, known: [{ type: 'member', id: org.dave.id, name: 'Dave' }], count: 0 });
    expect((await about(lookAlike(address, 6))).lookAlikes).toHaveLength(1);
    expect((await about(lookAlike(address, 2))).lookAlikes).toEqual([]);
    expect(
      (await about(`${poisoned.slice(0, -1)}${poisoned.endsWith('0') ? '1' : '0'}`.toLowerCase())).lookAlikes,
    ).toEqual([]);
    // The address itself, in another case, is none of its look-alikes.
    expect((await about(address.toLowerCase())).lookAlikes).toEqual([]);
  });

  it('is every payment that was executed, over the whole history', async () => {
    const account = await makeAccount(api.http, org, { networkIds: [NETWORK_ID] });
    await fundRelayers(api.db, api.config);
    await fundOnLocalChain(paymentChain(api).rpcUrl, account.address);
    const { auto, approved } = await makePaymentPolicies(api.http, org, NETWORK_ID);
    const to = anAddress() as Hex;
    const pay = async () => {
      const transaction = await initiate(api.http, org, aTransactionBody(org, { account, policy: auto, to }));
      await executeTransaction(api.http, org, transaction);
      return settledTransaction(api.http, org, transaction);
    };
    const first = await pay();
    expect(first.executionStatus).toBe('completed');
    const second = await pay();
    // What is only asked for, or rejected, makes nobody known.
    await initiate(api.http, org, aTransactionBody(org, { account, policy: approved, to: lookAlike(to) }));
    expect(await about(to)).toEqual({
      address: to,
      known: [],
      count: 2,
      firstAt: first.result.executedAt,
      lastAt: second.result.executedAt,
      lastTransactionId: second.id,
      lookAlikes: [],
    });
    expect(await about(to, `?before=${first.result.executedAt}`)).toMatchObject({ count: 0, firstAt: null });
    expect((await about(lookAlike(to))).lookAlikes).toEqual([{ address: to, known: [], count: 2 }]);
  });
});
