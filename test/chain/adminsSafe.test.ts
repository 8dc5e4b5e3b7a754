import { SENTINEL, takeoverCalls, takeoverGas, together } from '@orgwallet/client/rescue';
import {
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  parseAbi,
  zeroAddress,
} from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import {
  type AdminsSafe,
  bootstrapCall,
  type Call,
  deriveAdminsSafe,
  handover,
  roll,
  securedDeploymentCall,
  securing,
  type UpkeepContent,
} from '../../src/chain/adminsSafe';
import { type ChainClient, createChainClient } from '../../src/chain/clients';
import { executionGas } from '../../src/chain/gas';
import { accountNonce } from '../../src/chain/safe';
import { deploymentCall, deriveAccount } from '../../src/chain/safeAccount';
import { readSafe } from '../../src/chain/safeState';
import { executionCall, type SafeTransaction, safeTransactionHash } from '../../src/chain/safeTransaction';
import type { AccountDerivation } from '../../src/domain/account';
import { type Owners, planOwners } from '../../src/domain/adminsSafe';
import { anAddress } from '../support/builders';
import { LOCAL_FUNDER, rpc, startOwnChain } from '../support/stack';
import { until } from '../support/until';

const CHAIN_ID = 41_301;
const signingKey = privateKeyToAccount(generatePrivateKey());
const people = Array.from({ length: 6 }, () => privateKeyToAccount(generatePrivateKey()));

let part: Awaited<ReturnType<typeof startOwnChain>>;
let chain: ChainClient;
let url: string;

beforeAll(async () => {
  part = await startOwnChain(CHAIN_ID);
  url = part.current.rpcUrl;
  const nativeAsset = { symbol: 'ETH', name: 'Ether', decimals: 18 };
  chain = createChainClient({
    ...{ id: CHAIN_ID, name: 'Chain', rpcUrls: [url], signerRpcUrls: [url], relayers: 1, nativeAsset },
    ...{ confirmations: 0, maxFeePerGas: 10n ** 12n },
  });
});
afterAll(() => part?.stop());

interface Receipt {
  readonly status: Hex;
  readonly gasUsed: Hex;
}

/** Sends a call with a gas limit, or with a generous one. */
async function send({ to, data }: Call, gas = 10_000_000n): Promise<{ succeeded: boolean; gasUsed: number }> {
  const hash = await rpc<Hex>(url, 'eth_sendTransaction', [
    { from: LOCAL_FUNDER.address, to, data, gas: `0x${gas.toString(16)}` },
  ]);
  const receipt = await until(`transaction ${hash} is in a block`, () =>
    rpc<Receipt | null>(url, 'eth_getTransactionReceipt', [hash]),
  );
  return { succeeded: receipt.status === '0x1', gasUsed: Number(receipt.gasUsed) };
}

const ownersOf = (...wallets: readonly PrivateKeyAccount[]): Owners => ({
  owners: wallets.map(({ address }) => address),
  threshold: Math.ceil(wallets.length / 2),
});

const newAdminsSafe = () =>
  deriveAdminsSafe({
    signingKey: signingKey.address,
    admins: { id: `adm_${anAddress()}` },
  });

async function signed(content: UpkeepContent) {
  const nonce = (await accountNonce(chain, content.account)) ?? 0n;
  const transaction: SafeTransaction = { ...content, networkId: CHAIN_ID, nonce };
  return { transaction, signature: await signingKey.sign({ hash: safeTransactionHash(transaction) }) };
}

async function stateOf({ address }: AccountDerivation) {
  const found = await readSafe(chain.rpc, address);
  if (found.kind !== 'safe') throw new Error(`${address} is ${found.kind}`);
  return found.state;
}

async function bootstrap(admins: AdminsSafe, wanted: Owners, missing = { keeper: true, safe: true }) {
  return send(bootstrapCall(admins, missing, await signed(handover(admins, wanted))));
}

async function rolled(admins: AdminsSafe, wanted: Owners) {
  const content = roll(admins, planOwners(await stateOf(admins.safe), wanted));
  const { transaction, signature } = await signed(content);
  return send(executionCall(transaction, signature), executionGas(content));
}

const execAbi = parseAbi([
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable returns (bool success)',
]);

/** The admins execute a call of their Safe, as any Safe interface does. */
async function exec(
  safe: AccountDerivation,
  by: readonly PrivateKeyAccount[],
  call: Call & { readonly operation: number; readonly gas: bigint },
) {
  const { to, data, operation, gas } = call;
  const { nonce } = await stateOf(safe);
  const address = safe.address as Address;
  const message = {
    ...{ to, value: 0n, data, operation, safeTxGas: 0n, baseGas: 0n, gasPrice: 0n },
    ...{ gasToken: zeroAddress, refundReceiver: zeroAddress, nonce },
  };
  const types = {
    SafeTx: [
      ...[
        ['to', 'address'],
        ['value', 'uint256'],
        ['data', 'bytes'],
        ['operation', 'uint8'],
        ['safeTxGas', 'uint256'],
        ['baseGas', 'uint256'],
        ['gasPrice', 'uint256'],
        ['gasToken', 'address'],
        ['refundReceiver', 'address'],
        ['nonce', 'uint256'],
      ].map(([name = '', type = '']) => ({ name, type })),
    ],
  };
  const hash = hashTypedData({
    domain: { chainId: CHAIN_ID, verifyingContract: address },
    ...{ types, primaryType: 'SafeTx', message },
  });
  const ascending = [...by].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
  const signatures = concatHex(await Promise.all(ascending.map((one) => one.sign({ hash }))));
  const args = [to, 0n, data, operation, 0n, 0n, 0n, zeroAddress, zeroAddress, signatures] as const;
  return send(
    { to: address, data: encodeFunctionData({ abi: execAbi, functionName: 'execTransaction', args }) },
    gas,
  );
}

async function securedAccounts(admins: AdminsSafe, count: number): Promise<AccountDerivation[]> {
  const accounts = Array.from({ length: count }, () =>
    deriveAccount(signingKey.address, `acc_${anAddress()}`),
  );
  for (const account of accounts) {
    const first = await signed(securing(account.address as Address, admins));
    expect(await send(securedDeploymentCall(account, first))).toMatchObject({ succeeded: true });
  }
  return accounts;
}

describe('a network is set up', () => {
  test('in one transaction, and the keeper is a module and no owner', async () => {
    const admins = newAdminsSafe();
    const [one, two, three] = people as [PrivateKeyAccount, PrivateKeyAccount, PrivateKeyAccount];
    const { succeeded, gasUsed } = await bootstrap(admins, ownersOf(one, two, three));
    expect(succeeded).toBe(true);
    expect(gasUsed).toBeLessThan(701_000);
    const { owners, threshold, modules, guard, nonce } = await stateOf(admins.safe);
    expect([...owners].sort()).toEqual([one, two, three].map(({ address }) => address).sort());
    expect({ threshold, modules, guard, nonce }).toEqual({
      ...{ threshold: 2, modules: [admins.keeper.address], guard: zeroAddress, nonce: 1n },
    });
    expect(await stateOf(admins.keeper)).toMatchObject({
      ...{ owners: [signingKey.address], threshold: 1, modules: [], nonce: 1n },
    });
  });

  test('where a stranger has deployed one of them, or both', async () => {
    for (const [byOthers, missing] of [
      [['keeper'], { keeper: false, safe: true }],
      [['safe'], { keeper: true, safe: false }],
      [['keeper', 'safe'], { keeper: false, safe: false }],
    ] as const) {
      const admins = newAdminsSafe();
      for (const name of byOthers) await send(deploymentCall(admins[name]));
      expect(await bootstrap(admins, ownersOf(...people.slice(0, 2)))).toMatchObject({ succeeded: false });
      expect(await bootstrap(admins, ownersOf(...people.slice(0, 2)), missing)).toMatchObject({
        succeeded: true,
      });
      expect((await stateOf(admins.safe)).owners).toHaveLength(2);
    }
  });

  test('or not at all: one owner too many reverts everything, and uses no nonce', async () => {
    const admins = newAdminsSafe();
    const wanted = { owners: [people[0]?.address as string, admins.safe.address], threshold: 1 };
    expect(await bootstrap(admins, wanted)).toMatchObject({ succeeded: false });
    expect(await readSafe(chain.rpc, admins.keeper.address)).toEqual({ kind: 'missing' });
    expect(await bootstrap(admins, ownersOf(...people.slice(0, 1)))).toMatchObject({ succeeded: true });
  });
});

describe('a change of the admins', () => {
  test('is one transaction with the gas of its plan: any set into any other', async () => {
    const admins = newAdminsSafe();
    await bootstrap(admins, ownersOf(...people.slice(0, 3)));
    const sets = [[0, 1, 3], [0, 1, 3, 4], [0, 3], [4, 5, 1, 2], [0], [0, 1, 2, 3, 4, 5], [5]];
    for (const set of sets) {
      const wanted = ownersOf(...set.flatMap((at) => people[at] ?? []));
      const steps = planOwners(await stateOf(admins.safe), wanted).length;
      const { succeeded, gasUsed } = await rolled(admins, wanted);
      expect(succeeded).toBe(true);
      expect(gasUsed).toBeLessThan(120_000 + 40_000 * (steps - 1));
      const { owners, threshold } = await stateOf(admins.safe);
      expect({ owners: [...owners].sort(), threshold }).toEqual({
        ...wanted,
        owners: [...wanted.owners].sort(),
      });
    }
  });

  test('that fails inside uses the nonce and changes nothing: success is read from the owners', async () => {
    const admins = newAdminsSafe();
    const [one, two] = people as [PrivateKeyAccount, PrivateKeyAccount];
    await bootstrap(admins, ownersOf(one));
    const content = roll(admins, [
      { kind: 'remove', previous: two.address, owner: one.address, threshold: 1 },
    ]);
    const { transaction, signature } = await signed(content);
    expect(await send(executionCall(transaction, signature))).toMatchObject({ succeeded: true });
    expect(await stateOf(admins.keeper)).toMatchObject({ nonce: 2n });
    expect(await stateOf(admins.safe)).toMatchObject({ owners: [one.address] });
  });
});

describe('whoever sends what the key has signed, with the least gas that is taken,', () => {
  /** Gas below which a call is refused as a whole. */
  async function leastGas({ to, data }: Call): Promise<bigint> {
    let [refused, taken] = [21_000n, 5_000_000n];
    while (taken - refused > 1n) {
      const gas = (refused + taken) / 2n;
      const call = { from: LOCAL_FUNDER.address, to, data, gas: `0x${gas.toString(16)}` };
      const isTaken = await rpc(url, 'eth_call', [call, 'latest']).then(
        () => true,
        () => false,
      );
      if (isTaken) taken = gas;
      else refused = gas;
    }
    return taken;
  }

  test('makes the steps all the same: no roll does nothing', async () => {
    const admins = newAdminsSafe();
    await bootstrap(admins, ownersOf(...people.slice(0, 3)));
    for (const set of [[0, 1, 3], [3, 4, 5, 0, 1, 2], [2], [3, 4, 5], [0, 1, 2, 4]]) {
      const wanted = ownersOf(...set.flatMap((at) => people[at] ?? []));
      const { transaction, signature } = await signed(
        roll(admins, planOwners(await stateOf(admins.safe), wanted)),
      );
      const call = executionCall(transaction, signature);
      expect(await send(call, await leastGas(call))).toMatchObject({ succeeded: true });
      const { owners, threshold } = await stateOf(admins.safe);
      expect({ owners: [...owners].sort(), threshold }).toEqual({
        ...wanted,
        owners: [...wanted.owners].sort(),
      });
    }
  });

  test('makes it the module of an account all the same, alone and with its deployment', async () => {
    const admins = newAdminsSafe();
    for (const isAlone of [true, false]) {
      const account = deriveAccount(signingKey.address, `acc_${anAddress()}`);
      const first = await signed(securing(account.address as Address, admins));
      if (isAlone) await send(deploymentCall(account));
      const call = isAlone
        ? executionCall(first.transaction, first.signature)
        : securedDeploymentCall(account, first);
      expect(await send(call, await leastGas(call))).toMatchObject({ succeeded: true });
      expect(await stateOf(account)).toMatchObject({ modules: [admins.safe.address] });
    }
  });
});

describe('an account', () => {
  test('is deployed with the module, for 336k gas', async () => {
    const admins = newAdminsSafe();
    const account = deriveAccount(signingKey.address, 'acc_deployed');
    const first = await signed(securing(account.address as Address, admins));
    const { succeeded, gasUsed } = await send(securedDeploymentCall(account, first));
    expect(succeeded).toBe(true);
    expect(gasUsed).toBeLessThan(336_000);
    expect(await stateOf(account)).toMatchObject({ modules: [admins.safe.address], nonce: 1n });
  });

  test('that a stranger deploys first gets the module with the same signature alone', async () => {
    const admins = newAdminsSafe();
    const account = deriveAccount(signingKey.address, 'acc_stranger');
    const first = await signed(securing(account.address as Address, admins));
    await send(deploymentCall(account));
    expect(await send(securedDeploymentCall(account, first))).toMatchObject({ succeeded: false });
    const alone = await send(
      executionCall(first.transaction, first.signature),
      executionGas(first.transaction),
    );
    expect(alone).toMatchObject({ succeeded: true });
    expect(alone.gasUsed).toBeLessThan(110_000);
    expect(await stateOf(account)).toMatchObject({ modules: [admins.safe.address] });
  });

  test('pays for the same gas to the unit, with the module and without', async () => {
    const admins = newAdminsSafe();
    const payee = anAddress() as Address;
    await rpc(url, 'anvil_setBalance', [payee, '0x1']);
    const pay = async (account: AccountDerivation) => {
      await rpc(url, 'anvil_setBalance', [account.address, '0xde0b6b3a7640000']);
      const content = {
        account: account.address as Address,
        to: payee,
        value: 5n,
        data: '0x' as Hex,
        safeTxGas: 30_000n,
      };
      const { transaction, signature } = await signed(content);
      expect(transaction.nonce).toBe(1n);
      const { succeeded, gasUsed } = await send(executionCall(transaction, signature));
      expect(succeeded).toBe(true);
      // The signature and the address are calldata with more or fewer zeros.
      const zeros =
        executionCall(transaction, signature)
          .data.slice(2)
          .match(/../g)
          ?.filter((byte) => byte === '00').length ?? 0;
      return gasUsed + 12 * zeros;
    };
    const [secured] = (await securedAccounts(admins, 1)) as [AccountDerivation];
    const plain = deriveAccount(signingKey.address, 'acc_plain');
    await send(deploymentCall(plain));
    const empty = {
      account: plain.address as Address,
      to: plain.address as Address,
      value: 0n,
      data: '0x' as Hex,
      safeTxGas: 30_000n,
    };
    const { transaction, signature } = await signed(empty);
    await send(executionCall(transaction, signature));
    expect(await pay(secured)).toBe(await pay(plain));
  });
});

/** A takeover as the admins' client makes it; `before`: the module in front of the keeper. */
function takeover({ keeper, safe }: AdminsSafe, accounts: readonly AccountDerivation[], before = SENTINEL) {
  const taken = accounts.map(({ address, ownerAddress }) => ({
    ...{ address: address as Address, owner: ownerAddress as Address },
  }));
  const dropped = { address: keeper.address as Address, before: before as Address };
  const { to, data, operation } = together(takeoverCalls(safe.address as Address, taken, dropped));
  return { to, data, operation, gas: takeoverGas(accounts.length, people.length) };
}

describe('the admins', () => {
  test('take accounts over, and then decide alone', async () => {
    const admins = newAdminsSafe();
    const quorum = people.slice(0, 2);
    await bootstrap(admins, ownersOf(...people.slice(0, 3)));
    const accounts = await securedAccounts(admins, 3);
    const call = takeover(admins, accounts);
    const { succeeded, gasUsed } = await exec(admins.safe, quorum, call);
    expect(succeeded).toBe(true);
    expect(gasUsed).toBeLessThan(Number(call.gas));
    expect((await stateOf(admins.safe)).modules).toEqual([]);
    for (const account of accounts) expect((await stateOf(account)).owners).toEqual([admins.safe.address]);
    // The old key is nobody to the account any more, and the keeper nobody to the admins' Safe.
    const [account] = accounts as [AccountDerivation];
    const content = {
      account: account.address as Address,
      to: anAddress() as Address,
      value: 0n,
      data: '0x' as Hex,
      safeTxGas: 1n,
    };
    const { transaction, signature } = await signed(content);
    const refused = rpc(url, 'eth_call', [
      { from: LOCAL_FUNDER.address, ...executionCall(transaction, signature) },
      'latest',
    ]);
    await expect(refused).rejects.toThrow(/GS026/);
    await rolled(admins, ownersOf(...people.slice(3, 6)));
    expect((await stateOf(admins.safe)).owners).toHaveLength(3);
    expect((await stateOf(admins.safe)).owners).toContain(people[0]?.address);
  });

  test('of another module below the keeper drop the keeper all the same', async () => {
    const admins = newAdminsSafe();
    const quorum = people.slice(0, 1);
    await bootstrap(admins, ownersOf(...quorum));
    const own = admins.safe.address as Address;
    const enable = encodeFunctionData({
      ...{ abi: parseAbi(['function enableModule(address module)']), functionName: 'enableModule' },
      args: [anAddress() as Address],
    });
    await exec(admins.safe, quorum, { to: own, data: enable, operation: 0, gas: 500_000n });
    const { modules } = await stateOf(admins.safe);
    expect(modules).toHaveLength(2);
    const accounts = await securedAccounts(admins, 1);
    expect(await exec(admins.safe, quorum, takeover(admins, accounts, modules[0] as Address))).toMatchObject({
      succeeded: true,
    });
    expect((await stateOf(admins.safe)).modules).toEqual([modules[0]]);
    expect((await stateOf(accounts[0] as AccountDerivation)).owners).toEqual([own]);
  });

  test('take fifty accounts over with the gas that the call names', async () => {
    const admins = newAdminsSafe();
    await bootstrap(admins, ownersOf(...people.slice(0, 3)));
    const accounts = await securedAccounts(admins, 50);
    const call = takeover(admins, accounts);
    const { gasUsed } = await exec(admins.safe, people.slice(1, 3), call);
    expect(gasUsed).toBeLessThan(2_680_000);
    for (const account of accounts) expect((await stateOf(account)).owners).toEqual([admins.safe.address]);
  });
});
