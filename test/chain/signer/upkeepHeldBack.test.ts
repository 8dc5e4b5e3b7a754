/** @deep */
import { type Address, type Hex, parseTransaction, type TransactionSerializedEIP1559 } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { deriveAccount } from '../../../src/chain/safeAccount';
import { newId } from '../../../src/db/ids';
import type { Edit } from '../../../src/domain/governance';
import { armFailpoint } from '../../../src/failpoints';
import { anAddress } from '../../support/builders';
import { type AnswerRpc, type RpcProxy, startRpcProxy } from '../../support/rpcProxy';
import { makeOrganization, type TestMember } from '../../support/service';
import { LOCAL_FUNDER, rpc } from '../../support/stack';
import { itDeep } from '../../support/suite';
import { until } from '../../support/until';
import { deployAsFunder } from '../wallets';
import { keysOf, UpkeepWorld } from './upkeepWorld';

let upkeep: UpkeepWorld;
let proxy: RpcProxy | undefined;

beforeEach(async () => {
  upkeep = await UpkeepWorld.start(41_314);
});
afterEach(async () => {
  jest.restoreAllMocks();
  armFailpoint(undefined);
  await upkeep?.end();
  await proxy?.stop();
  proxy = undefined;
});

/** The admins decide that they own no Safe any more. */
async function decideOff(members: readonly { readonly id: string }[], threshold: number): Promise<void> {
  const { org } = upkeep.world;
  const memberIds = members.map(({ id }) => id).sort();
  await upkeep.world.decide([
    { type: 'admin', id: org.adminsId, after: { id: org.adminsId, memberIds, threshold } } as Edit,
  ]);
  await upkeep.wake();
}

const ownersNow = async () => (await upkeep.stateOf(upkeep.safes.safe.address)).owners;

/** Waits until these are among the owners. */
const untilOwner = ({ wallet }: TestMember) =>
  until(`${wallet.address} owns it`, async () => (await ownersNow()).includes(wallet.address as Address));

const undecided = () =>
  upkeep.world.db('chain_envelopes').where({ outcome: null }).orderBy('id', 'desc').first();

test('whoever has the login of the service and Temporal cannot have the nonce of a roll filled', async () => {
  const { world } = upkeep;
  const { alice, bob, dave, bot } = world.org;
  const account = await upkeep.founded([alice, bob, bot], 2);
  await world.withoutMining(async () => {
    await upkeep.decideAdmins([dave, bot], 2);
    await world.pending(1);
    const {
      relayer_nonce: nonce,
      id,
      max_fee_per_gas: fee,
    } = (await undecided()) as never as {
      relayer_nonce: bigint;
      id: bigint;
      max_fee_per_gas: string;
    };
    // A payment behind it is what a filler would unblock.
    await world.sign(await world.transaction({ to: anAddress() as Address, value: 5n }, { account }));
    const wei = String(BigInt(fee) * 2n);
    const terms = {
      ...{ gas: '21000', maxFeePerGas: wei, maxPriorityFeePerGas: wei, head: '0' },
      ...{ relayerAddress: world.relayer, chainNonce: Number(nonce), replaces: String(id) },
    };
    for (let times = 0; times < 5; times += 1) {
      await world
        .serviceDb('chain_attempts')
        .where({ kind: 'upkeep', outcome: null })
        .update({ outcome: 'executed', decided_at: new Date() });
      const filled = await upkeep
        .activities()
        .fillNonce({ networkId: world.network.id, nonce: Number(nonce), terms });
      expect(filled).toMatchObject({ refused: { code: 'stale' } });
    }
  });
  await upkeep.untilOwned([dave, bot], 2);
});

itDeep('two rolls whose blocks are lost land again, in their order', async () => {
  const { world } = upkeep;
  const { alice, bob, carol, dave, bot } = world.org;
  await upkeep.founded([alice, bob, bot], 2);
  const snapshot = await rpc<Hex>(world.url, 'evm_snapshot', []);
  await upkeep.decideAdmins([dave, bot], 2);
  await upkeep.untilOwned([dave, bot], 2);
  await upkeep.untilStatus('current');
  await upkeep.decideAdmins([carol, bot], 1);
  await upkeep.untilOwned([carol, bot], 1);
  await upkeep.untilStatus('current');
  const hashes = upkeep.hashes();
  await upkeep.stop();
  await rpc(world.url, 'evm_revert', [snapshot]);
  expect(await ownersNow()).toContain(alice.wallet.address);
  upkeep.keep();
  await upkeep.untilOwned([carol, bot], 1);
  await upkeep.untilStatus('current');
  expect(upkeep.hashes()).toEqual(hashes);
});

test('what the keeper has in flight is carried on where the admins turn their Safe off', async () => {
  const { world } = upkeep;
  const { alice, bob, dave, bot } = world.org;
  await upkeep.founded([alice, bob, bot], 2);
  await world.withoutMining(async () => {
    await upkeep.decideAdmins([dave, bot], 2);
    await world.pending(1);
    await decideOff([dave, bot], 2);
    await upkeep.stop();
    await rpc(world.url, 'anvil_dropAllTransactions', []);
  });
  upkeep.keep();
  await untilOwner(dave);
});

test('a nonce of an account that was taken before a crash is used where the Safe is turned off meanwhile', async () => {
  const { world } = upkeep;
  const { alice, bot } = world.org;
  const account = await world.account();
  await upkeep.decideAdmins([alice, bot], 1);
  const kill = jest.spyOn(process, 'kill').mockImplementation(() => {
    throw new Error('killed');
  });
  armFailpoint('signer.securingJournaled');
  upkeep.keep();
  await until('it is killed', async () => kill.mock.calls.length > 0);
  armFailpoint(undefined);
  await upkeep.stop();
  await decideOff([alice, bot], 1);
  await upkeep.restart();
  await until('the nonce is used', async () => (await world.nonceOf(account)) === 1n);
});

test('a stranger who sends the signed roll himself makes the relayer pay for one envelope at most', async () => {
  const { world } = upkeep;
  const { alice, bob, dave, bot } = world.org;
  await upkeep.founded([alice, bob, bot], 2);
  await upkeep.stop();
  await world.mine(12);
  upkeep.keep({ networks: [{ ...world.network, confirmations: 10 }] });
  await world.withoutMining(async () => {
    await upkeep.decideAdmins([dave, bot], 2);
    await world.pending(1);
    const row = await undecided();
    const { to, data } = parseTransaction(row?.raw_transaction as TransactionSerializedEIP1559);
    const gasPrice = `0x${(10n ** 12n).toString(16)}`;
    await rpc(world.url, 'eth_sendTransaction', [
      { from: LOCAL_FUNDER.address, to, data, gas: '0x2dc6c0', gasPrice },
    ]);
    await world.pending(2);
  });
  await untilOwner(dave);
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  const attempt = await world
    .db('chain_attempts')
    .where({ kind: 'upkeep' })
    .orderBy('id', 'desc')
    .first('id');
  const envelopes = await world.db('chain_envelopes').where({ attempt_id: attempt?.id ?? 0n });
  expect(envelopes.map(({ outcome }) => outcome)).toEqual(['reverted']);
});

test('a module that a quorum has added is an alarm, and what is decided is rolled all the same', async () => {
  const { world } = upkeep;
  const { alice, bob, dave, bot } = world.org;
  await upkeep.founded([alice, bob, bot], 2);
  const module = anAddress();
  expect(await upkeep.actOnItself(keysOf([alice, bob]), 'enableModule(address module)', [module])).toBe(true);
  await upkeep.wake();
  expect((await upkeep.untilStatus('diverged')).reason).toContain(module);
  await upkeep.decideAdmins([dave, bot], 2);
  await untilOwner(dave);
  expect(await ownersNow()).not.toContain(alice.wallet.address);
  expect((await upkeep.untilStatus('diverged')).reason).toContain(module);
});

test('a handover to many that is in flight gets its own gas, though few are decided meanwhile', async () => {
  const { world } = upkeep;
  const { bot } = world.org;
  await world.account();
  await deployAsFunder(world.url, upkeep.safes.keeper);
  await deployAsFunder(world.url, upkeep.safes.safe);
  const added = Array.from({ length: 11 }, (_, i) => {
    const walletAddress = privateKeyToAccount(generatePrivateKey()).address;
    const after = { id: newId('mem'), name: `Member ${i}`, type: 'user', walletAddress, walletKind: 'key' };
    return { type: 'member', id: after.id, after } as Edit;
  });
  await world.decide(added);
  await upkeep.decideAdmins([...added, bot], 2);
  const kill = jest.spyOn(process, 'kill').mockImplementation(() => {
    throw new Error('killed');
  });
  armFailpoint('signer.upkeepJournaled');
  upkeep.keep();
  await until('it is killed', async () => kill.mock.calls.length > 0);
  armFailpoint(undefined);
  await upkeep.stop();
  await upkeep.decideAdmins([bot], 1);
  await upkeep.restart();
  await upkeep.untilOwned([bot], 1);
});

describe('an endpoint that is slow, or fails for one account', () => {
  /** An endpoint that does something else with what is about these addresses. */
  async function startAbout(addresses: readonly string[], answer: AnswerRpc) {
    const about = addresses.map((address) => address.slice(2).toLowerCase());
    proxy = await startRpcProxy(upkeep.world.url, (body, pass) =>
      about.some((one) => body.toLowerCase().includes(one)) ? answer(body, pass) : pass(),
    );
    return { ...upkeep.world.network, signerRpcUrls: [proxy.url] };
  }

  const accountsOf = (organizationId: string, count: number) =>
    Array.from({ length: count }, (_, i) => {
      const id = newId('acc');
      const key = upkeep.world.keystore.organizationKey(organizationId).address;
      const { address } = deriveAccount(key, id);
      const after = { id, name: `Far ${i}`, address, networkIds: [upkeep.world.network.id] };
      return { type: 'account', id, after } as const;
    });

  test('holds no roll of another organization back, however many accounts one has', async () => {
    const { world } = upkeep;
    const { alice, dave, bot } = world.org;
    await upkeep.founded([alice, bot], 1);
    await upkeep.stop();
    const other = await makeOrganization(world.db, { keystore: world.keystore });
    const far = accountsOf(other.id, 100);
    const memberIds = [other.alice.id, other.bot.id].sort();
    const admins = { id: other.adminsId, memberIds, threshold: 1, onChain: true };
    await other.decide([...far, { type: 'admin', id: other.adminsId, after: admins }] as Edit[]);
    const slow = await startAbout(
      far.map(({ after }) => after.address),
      async (_, pass) => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        return pass();
      },
    );
    upkeep.keep({ networks: [slow] });
    // Its accounts are being read.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await upkeep.decideAdmins([dave, bot], 1);
    await until(
      'it is rolled',
      async () => (await ownersNow()).includes(dave.wallet.address as Address),
      30_000,
    );
  });

  test('keeps no other account from its module, and the Safe is current', async () => {
    const { world } = upkeep;
    const { alice, bot } = world.org;
    const accounts = [await world.account(), await world.account(), await world.account()] as const;
    const [first] = [...accounts].sort((one, two) => (one.id < two.id ? -1 : 1));
    await upkeep.decideAdmins([alice, bot], 1);
    const failing = await startAbout([first?.address ?? ''], async (body) => {
      const refused = ({ id }: { readonly id: number }) => ({
        ...{ jsonrpc: '2.0', id },
        error: { code: -32_000, message: 'no state there' },
      });
      const asked = JSON.parse(body);
      return JSON.stringify(Array.isArray(asked) ? asked.map(refused) : refused(asked));
    });
    upkeep.keep({ networks: [failing] });
    for (const account of accounts) if (account !== first) await upkeep.untilRescue(account, 'ready');
    await upkeep.untilStatus('current');
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await upkeep.untilStatus('current');
  });
});
