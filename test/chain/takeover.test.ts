import {
  type RescueKit,
  takeoverCalls,
  takeoverGas,
  together,
  verifyRescueKit,
} from '@orgwallet/client/rescue';
import type { Address, Hex } from 'viem';
import { requireRow } from '../../src/db/rows';
import { anAddress } from '../support/builders';
import { payByProtocolKit, takeOverByProtocolKit } from '../support/protocolKit';
import { ETHER, type RescueChain, RescueWorld, sendAsFunder } from '../support/rescueWorld';
import { LOCAL_FUNDER, rpc, startOwnChain } from '../support/stack';

const CHAIN_ID = 41_351;

/** Below it a transaction of this size is not taken. */
const LEAST_GAS = 80_000n;

let part: Awaited<ReturnType<typeof startOwnChain>>;
let url: string;
let bare: Hex;

beforeAll(async () => {
  part = await startOwnChain(CHAIN_ID);
  url = part.current.rpcUrl;
});
afterAll(() => part?.stop());
beforeEach(async () => {
  bare = await rpc<Hex>(url, 'evm_snapshot', []);
});
afterEach(() => rpc(url, 'evm_revert', [bare]));

const newWorld = (options: Parameters<typeof RescueWorld.make>[1] = {}) =>
  RescueWorld.make([{ chainId: CHAIN_ID, rpcUrl: url }], options);
const chainOf = ({ chains }: RescueWorld): RescueChain => requireRow(chains[0]);

/** Which accounts belong to the admins' Safe. */
async function taken(world: RescueWorld): Promise<number> {
  const owners = await Promise.all(world.accounts.map((account) => world.ownersOf(chainOf(world), account)));
  return owners.filter((of) => of.length === 1 && of[0] === world.adminsSafe).length;
}

const kitTransaction = ({ networks }: RescueKit, step = 0) => {
  const { to, data, gas } = requireRow(networks[0]?.takeovers[step]);
  return { transaction: { to, data, value: 0n, operation: 1 } as const, gas: BigInt(gas) };
};

describe('the takeover of a kit', () => {
  test.each([1, 3, 50])(
    'makes the admins the owner of %d accounts, and the old key gets GS026',
    async (accounts) => {
      const world = await newWorld({ accounts });
      const chain = chainOf(world);
      await verifyRescueKit(world.kit, {
        signingKey: world.kit.signingKey,
        sealKey: world.kit.sealKey,
      });
      const { transaction, gas } = kitTransaction(world.kit);
      const call = await world.adminsCall(chain, transaction, world.admins.slice(1));
      const { succeeded, gasUsed } = await sendAsFunder(url, call, gas);
      expect(succeeded).toBe(true);
      expect(await taken(world)).toBe(accounts);
      expect(await world.modulesOf(chain, world.adminsSafe)).toEqual([]);
      for (const account of world.accounts.slice(0, 3))
        expect(await world.refusalOfOldKey(chain, account)).toBe('GS026');
      // Well above what it uses, and nothing like a block.
      expect([gasUsed, Number(gas) / gasUsed]).toEqual([gasUsed, expect.any(Number)]);
      expect(Number(gas)).toBeGreaterThan(1.3 * gasUsed);
    },
    120_000,
  );

  test('takes all accounts over or none, with whatever gas it is sent', async () => {
    const world = await newWorld();
    const chain = chainOf(world);
    const { transaction, gas } = kitTransaction(world.kit);
    const call = await world.adminsCall(chain, transaction, world.admins.slice(0, 2));
    const outcomes = new Set<string>();
    const tryWith = async (limit: bigint): Promise<boolean> => {
      const before = await rpc<Hex>(url, 'evm_snapshot', []);
      const { succeeded } = await sendAsFunder(url, call, limit);
      outcomes.add(`${succeeded ? 'succeeded' : 'reverted'}: ${await taken(world)} of 3`);
      await rpc(url, 'evm_revert', [before]);
      return succeeded;
    };
    let least = LEAST_GAS;
    while (!(await tryWith(least))) least += 10_000n;
    for (let limit = least - 10_000n; limit < least + 20_000n; limit += 1_000n) await tryWith(limit);
    expect(least).toBeLessThan(gas);
    expect([...outcomes].sort()).toEqual(['reverted: 0 of 3', 'succeeded: 3 of 3']);
    // So the gas that a node estimates is enough, for any Safe interface.
    const estimate = await rpc<Hex>(url, 'eth_estimateGas', [{ from: LOCAL_FUNDER.address, ...call }]);
    expect(await sendAsFunder(url, call, BigInt(estimate))).toMatchObject({ succeeded: true });
    expect(await taken(world)).toBe(3);
  }, 120_000);

  test('leaves an account that was taken over before as it is, and takes the others', async () => {
    const world = await newWorld();
    const chain = chainOf(world);
    const [first, ...others] = world.accounts.map((address) => ({
      address,
      owner: world.signingKey.address,
    }));
    const calls = takeoverCalls(world.adminsSafe, [requireRow(first)]);
    const call = await world.adminsCall(chain, together(calls), world.admins.slice(0, 2));
    expect(await sendAsFunder(url, call, takeoverGas(1, 3))).toMatchObject({ succeeded: true });
    const { transaction, gas } = kitTransaction(world.kit);
    const all = await world.adminsCall(chain, transaction, world.admins.slice(0, 2));
    expect(await sendAsFunder(url, all, gas)).toMatchObject({ succeeded: true });
    expect(await taken(world)).toBe(1 + others.length);
  });

  test('in several transactions leaves the keeper out of all but the first', async () => {
    const world = await newWorld();
    const chain = chainOf(world);
    const owned = world.accounts.map((address) => ({ address, owner: world.signingKey.address }));
    const before = '0x0000000000000000000000000000000000000001' as const;
    const steps = [
      takeoverCalls(world.adminsSafe, owned.slice(0, 2), { address: world.keeper, before }),
      takeoverCalls(world.adminsSafe, owned.slice(2)),
    ];
    for (const [i, calls] of steps.entries()) {
      const call = await world.adminsCall(chain, together(calls), world.admins.slice(0, 2));
      expect(await sendAsFunder(url, call, takeoverGas(2, 3))).toMatchObject({ succeeded: true });
      expect(await taken(world)).toBe(i === 0 ? 2 : 3);
    }
  });

  test('is refused with too few signatures, and by anybody else', async () => {
    const world = await newWorld();
    const chain = chainOf(world);
    const { transaction, gas } = kitTransaction(world.kit);
    for (const by of [world.admins.slice(0, 1), []]) {
      const call = await world.adminsCall(chain, transaction, by);
      expect(await sendAsFunder(url, call, gas)).toMatchObject({ succeeded: false });
    }
    expect(await taken(world)).toBe(0);
  });
});

describe("the Transaction Builder's file of a kit", () => {
  test("makes of Safe's protocol-kit the same transaction, which takes the accounts over and moves money", async () => {
    const world = await newWorld();
    const chain = chainOf(world);
    await takeOverByProtocolKit(world, chain);
    expect(await taken(world)).toBe(3);
    const payee = anAddress() as Address;
    await payByProtocolKit(world, chain, payee);
    expect(await chain.client.getBalance({ address: payee })).toBe(ETHER);
  }, 60_000);
});
