/** @deep */
import { type Address, type Hex, numberToHex, parseTransaction } from 'viem';
import { executionGas } from '../../../src/chain/gas';
import type { NetworkConfig } from '../../../src/config';
import { requireRow } from '../../../src/db/rows';
import { contentOf } from '../../../src/signer/upkeep/pursue';
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy';
import { rpc } from '../../support/stack';
import { itDeep } from '../../support/suite';
import { until } from '../../support/until';
import { ETHER } from '../transactionWorld';
import { UpkeepWorld } from './upkeepWorld';

let upkeep: UpkeepWorld;
let proxy: RpcProxy | undefined;

afterEach(async () => {
  await upkeep?.end();
  await proxy?.stop();
  proxy = undefined;
});

const word = (value: bigint) => numberToHex(value, { size: 32 });
const setStorage = (address: Address, slot: bigint, value: bigint) =>
  rpc(upkeep.world.url, 'anvil_setStorageAt', [address, word(slot), word(value)]);

/** The gas of the last roll beside its data, as it was counted. */
const counted = () => {
  const { world, safes } = upkeep;
  const of = { networkId: world.network.id, safe: safes.keeper.address };
  return executionGas(contentOf(requireRow(world.journal.upkeepsOf(of).at(-1))));
};

describe('on a chain of the OP Stack, which charges for data beside the gas', () => {
  /** Source: OP Stack specification, L1 attributes (Ecotone): fees of L1 and of its blobs, and their scalars. */
  const L1_BLOCK = '0x4200000000000000000000000000000000000015';
  const chargeForData = async () => {
    await setStorage(L1_BLOCK, 1n, 30n * 10n ** 9n);
    await setStorage(L1_BLOCK, 3n, (0x8ddn << 128n) | (0x10_1c12n << 96n));
    await setStorage(L1_BLOCK, 7n, 10n ** 9n);
  };

  beforeEach(async () => {
    upkeep = await UpkeepWorld.start(41_315, { dataFee: 'opStack' });
    await chargeForData();
  });

  it('all of it lands, with the gas that was counted', async () => {
    const { world } = upkeep;
    const { alice, bob, carol, dave, bot } = world.org;
    const account = await world.account();
    await upkeep.decideAdmins([alice, bob, bot], 2);
    const before = await world.balanceOf(world.relayer);
    upkeep.keep();
    await upkeep.untilStatus('current');
    await upkeep.untilRescue(account, 'ready');
    await upkeep.decideAdmins([alice, carol, dave, bot], 3);
    await upkeep.untilOwned([alice, carol, dave, bot], 3);
    await upkeep.untilDecided();
    const envelopes = await upkeep.envelopes();
    expect(envelopes.map(({ outcome }) => outcome)).toEqual(envelopes.map(() => 'mined'));
    expect(envelopes.at(-1)?.gas).toBe(String(counted()));
    // Data is counted, though receipts lack its price; of two transactions in one block it is not known which has cost what.
    const rows = await world.db('relayer_fees').where({ organization_id: world.org.id });
    const paid = rows.reduce((sum, { fee }) => sum + BigInt(fee ?? 0), 0n);
    const lost = before - (await world.balanceOf(world.relayer));
    const isKnown = rows.every(({ fee }) => fee !== null);
    expect(isKnown ? lost === paid : lost > paid).toBe(true);
  });

  it('a relayer that has enough for the gas and not for the data delays a roll, which lands once it is funded', async () => {
    const { world } = upkeep;
    const { alice, bob, dave, bot } = world.org;
    await world.account();
    await upkeep.decideAdmins([alice, bob, bot], 2);
    upkeep.keep();
    await upkeep.untilStatus('current');
    await upkeep.untilDecided();
    const made = (await upkeep.envelopes()).length;
    await world.setBalance(world.relayer, 1n);
    await upkeep.decideAdmins([dave, bot], 1);
    const [roll] = await until('it is signed', async () => {
      const envelopes = (await upkeep.envelopes()).slice(made);
      return envelopes.length > 0 && envelopes;
    });
    const ofGas = BigInt(roll?.gas ?? 0) * BigInt(roll?.max_fee_per_gas ?? 0);
    await world.setBalance(world.relayer, ofGas);
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    await upkeep.untilStatus('behind');
    await world.setBalance(world.relayer, ETHER);
    await upkeep.untilOwned([dave, bot], 1);
    expect((await upkeep.envelopes()).length).toBe(made + 1);
  });
});

describe('on Arbitrum, where the gas has to suffice for the data as well', () => {
  const NODE_INTERFACE = '0x00000000000000000000000000000000000000C8';
  /** Code that returns the bytes of its calldata times the first word of its storage, plus the second. */
  const PRICED: Hex = '0x36600054026001540160005260606000f3';
  /** Gas for the data of a call, as that code says. */
  let perByte = 0n;
  let fixed = 0n;
  const dataGas = ({ data = '0x' }: { readonly data?: Hex | undefined }) => {
    // Selector, three words, the length, and the data in whole words.
    const bytes = BigInt(data.length / 2 - 1);
    return (4n + 4n * 32n + ((bytes + 31n) / 32n) * 32n) * perByte + fixed;
  };
  const price = async (of: { readonly perByte: bigint; readonly fixed?: bigint }) => {
    ({ perByte, fixed = 0n } = of);
    await setStorage(NODE_INTERFACE, 0n, perByte);
    await setStorage(NODE_INTERFACE, 1n, fixed);
  };
  const methods = new Set<string>();
  const refused: string[] = [];

  /** What an endpoint of Arbitrum refuses: gas that does not suffice for the data. Its estimates are of no use. */
  async function answer(body: string, pass: () => Promise<string>): Promise<string> {
    const { id, method, params } = JSON.parse(body);
    methods.add(method);
    const error = (message: string) =>
      JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message } });
    if (method === 'eth_estimateGas') return JSON.stringify({ jsonrpc: '2.0', id, result: '0x5208' });
    if (method === 'eth_sendRawTransaction') {
      const { gas = 0n, data } = parseTransaction(params[0] as Hex);
      if (gas < 21_000n + dataGas({ data })) {
        refused.push(params[0]);
        return error('intrinsic gas too low');
      }
    }
    return pass();
  }

  let network: NetworkConfig;

  beforeEach(async () => {
    methods.clear();
    refused.length = 0;
    upkeep = await UpkeepWorld.start(41_316, { dataFee: 'arbitrum' });
    const { world } = upkeep;
    await rpc(world.url, 'anvil_setCode', [NODE_INTERFACE, PRICED]);
    proxy = await startRpcProxy(world.url, answer);
    network = { ...world.network, signerRpcUrls: [proxy.url] };
  });

  it('all of it lands with what was counted and what the data uses, and takes each nonce once', async () => {
    const { world } = upkeep;
    const { alice, bob, carol, dave, bot } = world.org;
    const account = await world.account();
    await price({ perByte: 900n });
    await upkeep.decideAdmins([alice, bob, bot], 2);
    upkeep.keep({ networks: [network] });
    await upkeep.untilStatus('current');
    await upkeep.untilRescue(account, 'ready');
    await upkeep.decideAdmins([alice, carol, dave, bot], 3);
    await upkeep.untilOwned([alice, carol, dave, bot], 3);
    await upkeep.untilDecided();
    const envelopes = await upkeep.envelopes();
    const roll = envelopes.at(-1);
    const { data } = parseTransaction(roll?.raw_transaction as Hex);
    expect(roll?.gas).toBe(String(counted() + dataGas({ data })));
    expect(refused).toEqual([]);
    expect(methods).not.toContain('eth_estimateGas');
    const reserved = await world.db('relayer_reservations').orderBy('relayer_nonce');
    expect(reserved.map(({ relayer_nonce }) => Number(relayer_nonce))).toEqual(envelopes.map((_, i) => i));
  });

  itDeep(
    'what is refused because data costs more by now lands with more gas',
    async () => {
      const { world } = upkeep;
      const { alice, bob, dave, bot } = world.org;
      await world.account();
      await price({ perByte: 100n });
      await upkeep.decideAdmins([alice, bob, bot], 2);
      upkeep.keep({ networks: [network] });
      await upkeep.untilStatus('current');
      await upkeep.untilDecided();
      await world.withoutMining(async () => {
        const made = (await upkeep.envelopes()).length;
        await upkeep.decideAdmins([dave, bot], 1);
        await until('it is signed', async () => (await upkeep.envelopes()).length > made);
        await rpc(world.url, 'anvil_dropAllTransactions', []);
        await price({ perByte: 2_000n });
      });
      await upkeep.untilOwned([dave, bot], 1);
      expect(refused.length).toBeGreaterThan(0);
    },
    120_000,
  );

  it('more than the signer ever signs is not asked for: it is sent with the most, and not held back', async () => {
    const { world } = upkeep;
    const { alice, bob, bot } = world.org;
    await world.account();
    await price({ perByte: 0n, fixed: 4_800_000n });
    await upkeep.decideAdmins([alice, bob, bot], 2);
    upkeep.keep({ networks: [network] });
    await upkeep.untilStatus('current');
    await upkeep.untilOwned([alice, bob, bot], 2);
    expect((await upkeep.envelopes())[0]?.gas).toBe('5000000');
  });
});
