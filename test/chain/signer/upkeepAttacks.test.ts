/** @deep */
import pino from 'pino';
import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { SENTINEL } from '../../../src/domain/adminsSafe';
import { setBaseFee } from '../../support/baseFee';
import { anAddress } from '../../support/builders';
import { rpc } from '../../support/stack';
import { itDeep } from '../../support/suite';
import { until } from '../../support/until';
import type { TestAccount } from '../transactionWorld';
import { deployAsFunder, sendAsFunder } from '../wallets';
import { keysOf, UpkeepWorld } from './upkeepWorld';

/** A removed quorum may act on a network for so long at most, whatever others do: the promise, in milliseconds. */
const REMOVED_WITHIN_MS = 180_000;

let upkeep: UpkeepWorld;

beforeEach(async () => {
  upkeep = await UpkeepWorld.start(41_312);
});
afterEach(() => upkeep?.end());

const pay = async (account: TestAccount) =>
  upkeep.world.execute(
    await upkeep.world.transaction({ to: anAddress() as Address, value: 5n }, { account }),
  );

describe('a removed quorum', () => {
  itDeep(
    'cannot act once the roll has landed, and it lands though a payment before it is never sent',
    async () => {
      const { world } = upkeep;
      const { alice, bob, dave, bot } = world.org;
      const account = await upkeep.founded([alice, bob, bot], 2);
      // Whoever has the workers asks for envelopes and drops them.
      const held = await world.transaction({ to: anAddress() as Address, value: 5n }, { account });
      await world.sign(held);
      const decidedAt = performance.now();
      await upkeep.decideAdmins([dave, bot], 2);
      await upkeep.untilOwned([dave, bot], 2);
      expect(performance.now() - decidedAt).toBeLessThan(REMOVED_WITHIN_MS);
      const owners = 'addOwnerWithThreshold(address owner, uint256 _threshold)';
      expect(await upkeep.actOnItself(keysOf([alice, bob]), owners, [anAddress(), 1n])).toBe(false);
    },
  );

  itDeep('nor though the rows of that payment are gone, or it pays too little', async () => {
    const { world } = upkeep;
    const { alice, bob, carol, dave, bot } = world.org;
    const account = await upkeep.founded([alice, bob, bot], 2);
    const held = await world.transaction({ to: anAddress() as Address, value: 5n }, { account });
    await world.sign(held);
    const attempts = world.attempts(held).clearOrder().select('id');
    await world.db('chain_envelopes').whereIn('attempt_id', attempts).delete();
    let decidedAt = performance.now();
    await upkeep.decideAdmins([dave, bot], 2);
    await until(
      'it is rolled',
      async () => (await upkeep.stateOf(upkeep.safes.safe.address)).owners.includes(dave.wallet.address),
      REMOVED_WITHIN_MS,
    );
    expect(performance.now() - decidedAt).toBeLessThan(REMOVED_WITHIN_MS);
    // Now one whose fee the network does not take any more.
    const other = await world.account();
    const cheap = await world.transaction({ to: anAddress() as Address, value: 5n }, { account: other });
    await world.sign(cheap);
    await setBaseFee(world.url, 50n * 10n ** 9n);
    decidedAt = performance.now();
    await upkeep.decideAdmins([carol, bot], 1);
    await until(
      'it is rolled',
      async () => (await upkeep.stateOf(upkeep.safes.safe.address)).threshold === 1,
      REMOVED_WITHIN_MS,
    );
  });

  it('cannot hold it back with edited rows of its envelopes and attempts', async () => {
    const { world } = upkeep;
    const { alice, bob, dave, bot } = world.org;
    await upkeep.founded([alice, bob, bot], 2);
    const { transactionHash } = requireMined(
      await sendAsFunder(world.url, { to: anAddress() as Address, data: '0x' }),
    );
    const edit = async () => {
      const attempts = world.db('chain_attempts').where({ kind: 'upkeep' }).select('id');
      const envelopes = () => world.db('chain_envelopes').whereIn('attempt_id', attempts);
      await envelopes()
        .where({ outcome: null })
        .update({ transaction_hash: transactionHash, created_at: new Date(Date.now() + 3_600_000) });
      await world
        .db('chain_attempts')
        .where({ kind: 'upkeep', outcome: null })
        .update({ data: '0x', to_address: anAddress() });
    };
    await world.withoutMining(async () => {
      await upkeep.decideAdmins([dave, bot], 2);
      await world.pending(1);
      await edit();
    });
    await upkeep.untilOwned([dave, bot], 2);
  });

  it('cannot have it rolled back: with older sealed rows nothing is written', async () => {
    const { world } = upkeep;
    const { alice, bob, dave, bot } = world.org;
    await upkeep.founded([alice, bob, bot], 2);
    const older = await world.db('sealed_states').where({ organization_id: world.org.id }).first();
    await upkeep.decideAdmins([dave, bot], 2);
    await upkeep.untilOwned([dave, bot], 2);
    const hashes = upkeep.hashes();
    const { sequence, state, signature } = older as NonNullable<typeof older>;
    await world
      .db('sealed_states')
      .where({ organization_id: world.org.id })
      .update({ sequence, state, signature });
    // Decisions of these tests are not sealed: the journal has a newer one, as of a seal that the tables have lost.
    const seal = { type: 'seal', organizationId: world.org.id, sequence: Number(sequence) + 1 } as const;
    await world.journal.append({ ...seal, hash: `0x${'ab'.repeat(32)}`, body: '{}', signature: '0x' });
    await upkeep.wake();
    expect((await upkeep.untilStatus('unknown')).reason).toMatch(/the journal has decision/);
    expect(upkeep.hashes()).toEqual(hashes);
    await upkeep.untilOwned([dave, bot], 2);
  });

  it('cannot make it fill the nonce of the roll', async () => {
    const { world } = upkeep;
    const { alice, bob, dave, bot } = world.org;
    await upkeep.founded([alice, bob, bot], 2);
    await world.withoutMining(async () => {
      await upkeep.decideAdmins([dave, bot], 2);
      await world.pending(1);
      const row = await world.db('chain_envelopes').where({ outcome: null }).orderBy('id', 'desc').first();
      const { relayer_nonce: nonce, id, max_fee_per_gas: fee } = row as NonNullable<typeof row>;
      const wei = String(BigInt(fee) * 2n);
      const terms = {
        ...{ gas: '21000', maxFeePerGas: wei, maxPriorityFeePerGas: wei, head: '0' },
        ...{ relayerAddress: world.relayer, chainNonce: Number(nonce), replaces: String(id) },
      };
      expect(
        await world.signer.fillNonce({ networkId: world.network.id, nonce: Number(nonce), terms }),
      ).toMatchObject({ refused: { code: 'stale' } });
    });
    await upkeep.untilOwned([dave, bot], 2);
  });
});

function requireMined(receipt: object): { readonly transactionHash: Hex } {
  return receipt as { transactionHash: Hex };
}

describe('nothing is made', () => {
  it('of a switch that only the tables have', async () => {
    const { world } = upkeep;
    await world.account();
    await world.db('admin_sets').where({ organization_id: world.org.id }).update({ on_chain: true });
    upkeep.keep();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(upkeep.entries()).toEqual([]);
    const sealed = await world.db('sealed_states').where({ organization_id: world.org.id }).first();
    const state = JSON.parse(sealed?.state ?? '{}');
    await world
      .db('sealed_states')
      .where({ organization_id: world.org.id })
      .update({ state: JSON.stringify({ ...state, admins: { ...state.admins, onChain: true } }) });
    await upkeep.wake();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(upkeep.entries()).toEqual([]);
  });

  it('by endpoints that disagree, until they agree', async () => {
    const { world } = upkeep;
    const { alice, bot } = world.org;
    await world.account();
    await upkeep.decideAdmins([alice, bot], 1);
    const dead = { ...world.network, signerRpcUrls: [world.url, 'http://127.0.0.1:1'] };
    upkeep.keep({ networks: [dead] });
    await upkeep.untilStatus('unknown');
    expect(upkeep.entries()).toEqual([]);
    await upkeep.restart();
    await upkeep.untilStatus('current');
  });

  it('of a payment to the Safe or its keeper', async () => {
    const { world } = upkeep;
    const { alice, bot } = world.org;
    const account = await upkeep.founded([alice, bot], 1);
    for (const { address } of [upkeep.safes.safe, upkeep.safes.keeper]) {
      const asked = await world.transaction({ to: address as Address, value: 1n }, { account });
      const signed = await world.signer.signTransaction({ ...asked, terms: await world.terms(asked) });
      expect(signed).toMatchObject({ refused: { code: 'stale' } });
    }
  });
});

it('strangers who deploy keeper, Safe and account first change nothing', async () => {
  const { world } = upkeep;
  const { alice, bob, bot } = world.org;
  await deployAsFunder(world.url, upkeep.safes.keeper);
  await deployAsFunder(world.url, upkeep.safes.safe);
  await upkeep.founded([alice, bob, bot], 2);
  await upkeep.untilOwned([alice, bob, bot], 2);
});

it('a roll whose block is lost lands again, with the same content', async () => {
  const { world } = upkeep;
  const { alice, bob, dave, bot } = world.org;
  const account = await upkeep.founded([alice, bob, bot], 2);
  const snapshot = await rpc<Hex>(world.url, 'evm_snapshot', []);
  await upkeep.decideAdmins([dave, bot], 2);
  await upkeep.untilStatus('current');
  await upkeep.untilOwned([dave, bot], 2);
  const hashes = upkeep.hashes();
  await upkeep.stop();
  await rpc(world.url, 'evm_revert', [snapshot]);
  expect((await upkeep.stateOf(upkeep.safes.safe.address)).owners).toContain(alice.wallet.address);
  upkeep.keep();
  await upkeep.untilOwned([dave, bot], 2);
  expect(upkeep.hashes()).toEqual(hashes);
  expect(await pay(account)).toMatchObject({ kind: 'decided' });
});

it.each([false, true])(
  'two rolls whose blocks are lost land again, in order; their rows are lost as well: %s',
  async (isRowLost) => {
    const { world } = upkeep;
    const { alice, bob, carol, dave, bot } = world.org;
    const account = await upkeep.founded([alice, bob, bot], 2);
    await upkeep.untilDecided();
    const snapshot = await rpc<Hex>(world.url, 'evm_snapshot', []);
    await upkeep.decideAdmins([dave, bot], 2);
    await upkeep.untilOwned([dave, bot], 2);
    await upkeep.decideAdmins([carol, dave, bot], 3);
    await upkeep.untilOwned([carol, dave, bot], 3);
    await upkeep.untilStatus('current');
    await upkeep.untilDecided();
    const hashes = upkeep.hashes();
    await upkeep.stop();
    await rpc(world.url, 'evm_revert', [snapshot]);
    if (isRowLost) await upkeep.loseRows();
    upkeep.keep();
    await upkeep.untilOwned([carol, dave, bot], 3);
    await upkeep.untilStatus('current');
    expect(upkeep.hashes()).toEqual(hashes);
    expect(await pay(account)).toMatchObject({ kind: 'decided' });
  },
);

describe('what the admins do on chain stays', () => {
  itDeep('where they change its owners, until the next decision about admins', async () => {
    const { world } = upkeep;
    const { alice, bob, dave, bot } = world.org;
    const account = await upkeep.founded([alice, bob, bot], 2);
    const stranger = anAddress();
    const owners = 'addOwnerWithThreshold(address owner, uint256 _threshold)';
    expect(await upkeep.actOnItself(keysOf([alice, bob]), owners, [stranger, 2n])).toBe(true);
    await upkeep.wake();
    await upkeep.untilStatus('diverged');
    const hashes = upkeep.hashes();
    expect(await pay(account)).toMatchObject({ kind: 'decided' });
    await upkeep.wake();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(upkeep.hashes()).toEqual(hashes);
    await upkeep.decideAdmins([alice, dave, bot], 2);
    await upkeep.untilOwned([alice, dave, bot], 2);
  });

  it('where they drop its keeper: it is independent, and payments go on', async () => {
    const { world } = upkeep;
    const { alice, bob, dave, bot } = world.org;
    const account = await upkeep.founded([alice, bob, bot], 2);
    const drop = 'disableModule(address prevModule, address module)';
    const keeper = upkeep.safes.keeper.address;
    expect(await upkeep.actOnItself(keysOf([alice, bob]), drop, [SENTINEL, keeper])).toBe(true);
    await upkeep.wake();
    await upkeep.untilStatus('independent');
    const hashes = upkeep.hashes();
    await upkeep.decideAdmins([dave, bot], 2);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(upkeep.hashes()).toEqual(hashes);
    expect(await pay(account)).toMatchObject({ kind: 'decided' });
  });

  itDeep(
    'where they remove it from an account: payments go on, with an alarm, until the next decision about admins',
    async () => {
      const { world } = upkeep;
      const { alice, bob, dave, bot } = world.org;
      const account = await upkeep.founded([alice, bob, bot], 2);
      const other = await world.account();
      await upkeep.wake();
      await upkeep.untilRescue(other, 'ready');
      const abi = parseAbi([
        'function execTransactionFromModule(address to, uint256 value, bytes data, uint8 operation) returns (bool)',
        'function disableModule(address prevModule, address module)',
      ]);
      const own = upkeep.safes.safe.address as Address;
      const args = [SENTINEL as Address, own] as const;
      const disable = encodeFunctionData({ abi, functionName: 'disableModule', args });
      const data = encodeFunctionData({
        ...{ abi, functionName: 'execTransactionFromModule' },
        args: [account.address, 0n, disable, 0],
      });
      expect(await upkeep.act(keysOf([alice, bob]), { to: account.address, data })).toBe(true);
      const lines: string[] = [];
      const logger = pino({ level: 'error' }, { write: (line) => lines.push(line) });
      await upkeep.restart({ logger });
      await upkeep.untilRescue(account, 'none');
      await upkeep.untilRescue(other, 'ready');
      expect(lines.map((line) => JSON.parse(line))).toContainEqual(
        expect.objectContaining({ level: 50, accountId: account.id, rescue: 'none' }),
      );
      const hashes = upkeep.hashes();
      expect(await pay(account)).toMatchObject({ kind: 'decided' });
      await upkeep.untilStatus('current');
      expect(upkeep.hashes()).toEqual(hashes);
      await upkeep.stop();
      await upkeep.decideAdmins([alice, dave, bot], 2);
      await upkeep.restart();
      await upkeep.untilOwned([alice, dave, bot], 2);
      await upkeep.untilRescue(account, 'ready');
      expect((await upkeep.stateOf(account.address)).modules).toEqual([own]);
      expect(await pay(account)).toMatchObject({ kind: 'decided' });
    },
  );

  it('where they take one account over: nothing of it is signed, the other one goes on', async () => {
    const { world } = upkeep;
    const { alice, bob, bot } = world.org;
    const taken = await upkeep.founded([alice, bob, bot], 2);
    const other = await world.account();
    await upkeep.wake();
    await upkeep.untilRescue(other, 'ready');
    const byModule = parseAbi([
      'function execTransactionFromModule(address to, uint256 value, bytes data, uint8 operation) returns (bool)',
      'function swapOwner(address prevOwner, address oldOwner, address newOwner)',
    ]);
    const key = world.keystore.organizationKey(world.org.id).address;
    const swap = encodeFunctionData({
      ...{ abi: byModule, functionName: 'swapOwner' },
      args: [SENTINEL as Address, key as Address, upkeep.safes.safe.address as Address],
    });
    const data = encodeFunctionData({
      ...{ abi: byModule, functionName: 'execTransactionFromModule' },
      args: [taken.address, 0n, swap, 0],
    });
    expect(await upkeep.act(keysOf([alice, bob]), { to: taken.address, data })).toBe(true);
    await upkeep.restart();
    await upkeep.untilRescue(taken, 'takenOver');
    await upkeep.untilRescue(other, 'ready');
    const asked = await world.transaction({ to: anAddress() as Address, value: 5n }, { account: taken });
    world.signer = upkeep.activities();
    const signed = await world.signer.signTransaction({ ...asked, terms: await world.terms(asked) });
    expect(signed).toEqual({ held: expect.stringContaining('taken it over on chain') });
    expect(await pay(other)).toMatchObject({ kind: 'decided' });
  });
});
