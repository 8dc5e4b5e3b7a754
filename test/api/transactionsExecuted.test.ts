import { createPublicClient, http as httpTransport, zeroAddress } from 'viem';
import { makeAccount, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { startTestService, type TestOrganization, type TestService } from '../support/service';
import { fundOnLocalChain } from '../support/stack';
import { aTransactionBody, createTransaction, makePolicies, signed } from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';

const AUTO = {
  name: 'Coins to anybody',
  type: 'AUTO_APPROVAL',
  transactionType: 'TOKEN_TRANSFER',
  networkId: NETWORK_ID,
  accountIds: null,
  initiatorSetting: null,
  tokenTransferCondition: {
    tokenAddress: zeroAddress,
    amountThreshold: '1000000000000000000',
    destinationAddresses: [],
  },
};

let service: TestService;
let org: TestOrganization;
let account: Shown;

function chain() {
  const network = service.config.networks.find(({ id }) => id === NETWORK_ID);
  if (!network) throw new Error('no network');
  return createPublicClient({ transport: httpTransport(network.rpcUrl) });
}

beforeAll(async () => {
  service = await startTestService();
  org = await service.createOrganization();
  account = await makeAccount(service.http, org, { networkIds: [NETWORK_ID] });
  const network = service.config.networks.find(({ id }) => id === NETWORK_ID);
  await fundOnLocalChain(network?.rpcUrl ?? '', account.address);
});
afterAll(() => service?.stop());

describe('a transaction that is executed', () => {
  it('moves the coin once, under a policy that approves by itself', async () => {
    const { http } = service;
    const [policy] = await makePolicies(http, org, AUTO);
    const to = anAddress();
    const created = await createTransaction(
      http,
      org,
      aTransactionBody(org, { account, policy, to }, { value: '5' }),
    );
    expect(created).toMatchObject({ signatureStatus: 'pendingInitiatorSignature', executionStatus: null });
    const done = await signed(http, org, created, org.dave, 'initiator', { execute: true });
    expect(done).toMatchObject({
      signatureStatus: 'approvalReady',
      executionStatus: 'completed',
      result: {
        resolution: 'approved',
        transactionHash: expect.any(String),
        blockNumber: expect.any(Number),
      },
      chain: { confirmations: expect.any(Number), submittedAt: expect.any(String) },
    });
    expect(await chain().getBalance({ address: to as never })).toBe(5n);
  });
});
