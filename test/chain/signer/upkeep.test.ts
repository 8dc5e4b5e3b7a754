import type { Address } from 'viem';
import { requireRow } from '../../../src/db/rows';
import type { Edit } from '../../../src/domain/governance';
import { anAddress } from '../../support/builders';
import { until } from '../../support/until';
import { UpkeepWorld } from './upkeepWorld';

let upkeep: UpkeepWorld;

beforeEach(async () => {
  upkeep = await UpkeepWorld.start(41_311);
});
afterEach(() => upkeep?.end());

test('the Safe is made, becomes the module of each account, and follows the admins; payments go on', async () => {
  const { world } = upkeep;
  const { alice, bob, carol, dave, bot } = world.org;
  const accounts = [await world.account(), await world.account()] as const;
  await upkeep.decideAdmins([alice, bob, carol, bot], 2);
  upkeep.keep();
  await upkeep.untilStatus('current');
  for (const account of accounts) await upkeep.untilRescue(account, 'ready');
  await upkeep.untilOwned([alice, bob, carol, bot], 2);
  for (const { address } of accounts) {
    expect(await upkeep.stateOf(address)).toMatchObject({ modules: [upkeep.safes.safe.address], nonce: 1n });
  }
  const payee = anAddress() as Address;
  const [account] = accounts;
  expect(await world.execute(await world.transaction({ to: payee, value: 5n }, { account }))).toMatchObject({
    kind: 'decided',
  });
  await upkeep.decideAdmins([alice, dave, bot], 3);
  await until('it is rolled', async () => (await upkeep.stateOf(upkeep.safes.safe.address)).threshold === 3);
  await upkeep.untilStatus('current');
  await upkeep.untilOwned([alice, dave, bot], 3);
  const rows = await world.db('chain_attempts').where({ kind: 'upkeep' });
  expect(rows.map((row) => row.safe_tx_hash).sort()).toEqual([...upkeep.hashes()].sort());
  await until(
    'all is decided',
    async () => (await world.db('chain_attempts').where({ kind: 'upkeep', outcome: null })).length === 0,
  );
});

test('after three decisions while the network was unavailable there is one roll, to the last', async () => {
  const { world } = upkeep;
  const { alice, bob, carol, dave, bot } = world.org;
  await world.account();
  await upkeep.decideAdmins([alice, bot], 1);
  upkeep.keep();
  await upkeep.untilStatus('current');
  await upkeep.stop();
  await upkeep.decideAdmins([alice, bob, bot], 2);
  await upkeep.decideAdmins([carol, bob, bot], 1);
  await upkeep.decideAdmins([carol, dave, bot], 3);
  const before = upkeep.hashes().length;
  upkeep.keep();
  await until('it is rolled', async () => (await upkeep.stateOf(upkeep.safes.safe.address)).threshold === 3);
  await upkeep.untilStatus('current');
  await upkeep.untilOwned([carol, dave, bot], 3);
  expect(upkeep.hashes()).toHaveLength(before + 1);
});

test('a database that has lost what was signed gets it back, and nothing is signed for a nonce twice', async () => {
  const { world } = upkeep;
  const { alice, bob, bot } = world.org;
  const account = await world.account();
  await upkeep.decideAdmins([alice, bot], 1);
  upkeep.keep();
  await upkeep.untilStatus('current');
  await upkeep.untilRescue(account, 'ready');
  await upkeep.stop();
  const hashes = upkeep.hashes();
  await upkeep.loseRows();
  await world.restartSigner();
  upkeep.keep();
  await until(
    'the rows are back',
    async () =>
      (await world.db('chain_attempts').where({ kind: 'upkeep', outcome: 'executed' })).length ===
      hashes.length,
  );
  await upkeep.decideAdmins([alice, bob, bot], 2);
  await until('it is rolled', async () => (await upkeep.stateOf(upkeep.safes.safe.address)).threshold === 2);
  expect(upkeep.hashes()).toEqual(expect.arrayContaining(hashes));
  expect(upkeep.hashes()).toHaveLength(hashes.length + 1);
  const to = anAddress() as Address;
  const paid = await world.execute(await world.transaction({ to, value: 5n }, { account }));
  expect(paid).toMatchObject({ kind: 'decided' });
});

test('what the journal has is signed after a crash, and nothing else', async () => {
  const { world } = upkeep;
  const { alice, bob, carol, bot } = world.org;
  await world.account();
  await upkeep.decideAdmins([alice, bob, bot], 2);
  // The process ended between the journal and the signature: the bytes are nowhere.
  const down = { ...world.network, signerRpcUrls: ['http://127.0.0.1:1'] };
  upkeep.keep({ networks: [down] });
  await upkeep.untilStatus('unknown');
  await upkeep.stop();
  expect(upkeep.hashes()).toEqual([]);
  upkeep.keep();
  await until('it is in the journal', async () => upkeep.hashes().length > 0);
  await upkeep.stop();
  const [first] = upkeep.hashes();
  await upkeep.decideAdmins([carol, bot], 1);
  await world.restartSigner();
  upkeep.keep();
  await upkeep.untilStatus('current');
  await upkeep.untilOwned([carol, bot], 1);
  expect(upkeep.hashes()[0]).toBe(first);
});

test('of a network where too few have a key nothing is made, and it says so', async () => {
  const { world } = upkeep;
  const { alice, bob, bot } = world.org;
  const account = await world.account();
  const member = requireRow(
    await world.db('members').where({ id: bob.id }).first('id', 'name', 'type', 'wallet_address'),
  );
  const after = { id: bob.id, name: member.name, type: member.type, walletAddress: member.wallet_address };
  await world.decide([{ type: 'member', id: bob.id, after: { ...after, walletKind: 'contract' } } as Edit]);
  await upkeep.decideAdmins([alice, bob, bot], 3);
  upkeep.keep({ signerNetworkId: 1 });
  expect((await upkeep.untilStatus('impossible')).reason).toMatch(
    /^2 admins have a wallet that is a key, and 3 must sign/,
  );
  await upkeep.untilRescue(account, 'none');
  expect(upkeep.hashes()).toEqual([]);
});
