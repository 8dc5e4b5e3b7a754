import { type Hex, numberToHex, parseTransaction } from 'viem';
import { sumFees } from '../../../src/db/relayerFees';
import { requireRow } from '../../../src/db/rows';
import { rpc } from '../../support/stack';
import { GWEI } from '../transactionWorld';
import { sendAsFunder } from '../wallets';
import { UpkeepWorld } from './upkeepWorld';

let upkeep: UpkeepWorld;

beforeEach(async () => {
  upkeep = await UpkeepWorld.start(41_314);
});
afterEach(() => upkeep?.end());

const fees = () => sumFees(upkeep.world.db, { organizationId: upkeep.world.org.id, limit: 100 });

async function paid(): Promise<bigint> {
  const rows = await fees();
  expect(rows.map(({ unknown }) => unknown)).toEqual(rows.map(() => 0));
  return rows.reduce((sum, row) => sum + BigInt(row.paid), 0n);
}

const balance = () => upkeep.world.balanceOf(upkeep.world.relayer);

test('what the Safe and its accounts cost is recorded, equal to what the relayer has paid', async () => {
  const { world } = upkeep;
  const { alice, bob, carol, dave, bot } = world.org;
  const accounts = [await world.account(), await world.account()];
  await upkeep.decideAdmins([alice, bob, bot], 2);
  const before = await balance();
  upkeep.keep();
  await upkeep.untilStatus('current');
  for (const account of accounts) await upkeep.untilRescue(account, 'ready');
  await upkeep.decideAdmins([alice, carol, dave, bot], 3);
  await upkeep.untilOwned([alice, carol, dave, bot], 3);
  await upkeep.untilStatus('current');
  await upkeep.untilDecided();
  expect(await paid()).toBe(before - (await balance()));
  const rows = await fees();
  expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(['upkeep']));
  const ofAccounts = accounts.map(({ id }) => ({ accountId: id, chainTransactions: 1 }));
  expect(rows).toEqual(
    expect.arrayContaining(
      [...ofAccounts, { accountId: null, chainTransactions: 2 }].map((of) =>
        expect.objectContaining({ ...of, policyId: null, networkId: world.network.id }),
      ),
    ),
  );
  expect(rows).toHaveLength(3);
});

test('what reverted because a stranger was faster is recorded as well', async () => {
  const { world } = upkeep;
  const { alice, bob, dave, bot } = world.org;
  await world.account();
  await upkeep.decideAdmins([alice, bot], 1);
  const before = await balance();
  upkeep.keep();
  await upkeep.untilStatus('current');
  await upkeep.untilDecided();
  await world.withoutMining(async () => {
    await upkeep.decideAdmins([bob, dave, bot], 2);
    await world.pending(1);
    const newest = (await upkeep.envelopes()).at(-1);
    const { to, data } = parseTransaction(newest?.raw_transaction as Hex);
    const fee = numberToHex(900n * GWEI);
    const call = { to: to as Hex, data: data as Hex, maxFeePerGas: fee, maxPriorityFeePerGas: fee };
    const sent = sendAsFunder(world.url, call);
    await world.pending(2);
    await world.mine(2);
    expect(await sent).toMatchObject({ status: '0x1' });
  });
  await upkeep.untilOwned([bob, dave, bot], 2);
  await upkeep.untilDecided();
  expect((await upkeep.envelopes()).map(({ outcome }) => outcome)).toContain('reverted');
  expect(await paid()).toBe(before - (await balance()));
});

test('a lost block takes what it cost with it; what lands again is recorded with its own block', async () => {
  const { world } = upkeep;
  const { alice, bob, dave, bot } = world.org;
  await world.account();
  await upkeep.decideAdmins([alice, bob, bot], 2);
  const before = await balance();
  upkeep.keep();
  await upkeep.untilStatus('current');
  await upkeep.untilDecided();
  const snapshot = await rpc<Hex>(world.url, 'evm_snapshot', []);
  await upkeep.decideAdmins([dave, bot], 2);
  await upkeep.untilOwned([dave, bot], 2);
  await upkeep.untilDecided();
  await upkeep.stop();
  await rpc(world.url, 'evm_revert', [snapshot]);
  // It lands in a later block, whose base fee is lower.
  await world.mine(5);
  upkeep.keep();
  await upkeep.untilOwned([dave, bot], 2);
  await upkeep.untilStatus('current');
  await upkeep.untilDecided();
  expect(await paid()).toBe(before - (await balance()));
  const last = requireRow((await upkeep.envelopes()).filter(({ outcome }) => outcome === 'mined').at(-1));
  const row = await world.db('relayer_fees').where({ envelope_id: last.id }).first();
  const receipt = await world.client.rpc.getTransactionReceipt({ hash: last.transaction_hash as Hex });
  expect(row?.block_number).toBe(receipt.blockNumber);
});
