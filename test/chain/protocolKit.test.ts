import type { Address, Hex } from 'viem';
import { requireRow } from '../../src/db/rows';
import { LOCAL_SAFE_CONTRACTS } from '../../tools/dev/localContracts';
import { anAddress } from '../support/builders';
import { connectKit } from '../support/protocolKit';
import { type TestAccount, TransactionWorld } from './transactionWorld';

let world: TransactionWorld;
let account: TestAccount;
const payee = anAddress() as Address;

beforeAll(async () => {
  world = await TransactionWorld.start(41_193);
  account = await world.account();
  await world.execute(await world.transaction({ to: payee, value: 5n }, { account }));
});
afterAll(() => world?.stop());

const connect = () => connectKit({ networkId: world.network.id, url: world.url }, account.address);

describe("Safe's protocol-kit on a local chain", () => {
  test('reads owner, threshold, nonce and version of an account', async () => {
    const kit = await connect();
    expect(await kit.getAddress()).toBe(account.address);
    expect(await kit.getOwners()).toEqual([world.keystore.organizationKey(world.org.id).address]);
    expect(await kit.getThreshold()).toBe(1);
    expect(await kit.getNonce()).toBe(1);
    expect(kit.getContractVersion()).toBe('1.4.1');
    expect(kit.getContractManager().isL1SafeSingleton).toBeFalsy();
  });

  test('computes the hash of a transaction as we do, and finds it executed', async () => {
    const ref = await world.transaction({ to: payee, value: 7n }, { account });
    await world.sign(ref);
    const attempt = requireRow((await world.attempts(ref))[0]);
    const kit = await connect();
    const transaction = await kit.createTransaction({
      transactions: [{ to: payee, value: '7', data: '0x' }],
      options: { nonce: Number(attempt.safe_nonce), safeTxGas: String(attempt.safe_tx_gas) },
    });
    expect(await kit.getTransactionHash(transaction)).toBe(attempt.safe_tx_hash);
    await world.execute(ref);
    expect(await kit.getNonce()).toBe(2);
  });

  test('finds the contracts for several calls at once', async () => {
    const kit = await connect();
    const call = { to: payee, value: '1', data: '0x' };
    const { data } = await kit.createTransaction({ transactions: [call, call] });
    const code = await world.client.rpc.getCode({ address: data.to as Address });
    expect((code as Hex).length).toBeGreaterThan(100);
    expect(LOCAL_SAFE_CONTRACTS.map(({ address }) => address)).toContain(data.to);
  });
});
