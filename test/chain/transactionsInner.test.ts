/** @deep */
import { type Address, type Hex, numberToHex } from 'viem';
import { type ChainClient, createChainClient } from '../../src/chain/clients';
import { executionAtNonce, executionInTransaction } from '../../src/chain/executions';
import { executionGas, mostSafeTxGas } from '../../src/chain/gas';
import {
  cancellation,
  executionCall,
  type SafeTransaction,
  safeTransactionHash,
} from '../../src/chain/safeTransaction';
import { simulateInner } from '../../src/chain/simulation';
import { hasTransferFrom } from '../../src/chain/transferLogs';
import {
  balanceSlot,
  COUNTER,
  contract,
  MULTICALL,
  multicallData,
  RETURN_TRUE,
  reenteringToken,
  TOKENS,
} from '../support/contracts';
import { signSafeTransaction } from '../support/safeSignature';
import { LOCAL_FUNDER, rpc, startOwnChain } from '../support/stack';
import { itDeep } from '../support/suite';
import { transferData } from '../support/transactions';
import { deployAsFunder, newSafe, putCode, type SafeWallet, sendAsFunder } from './wallets';

const CHAIN_ID = 41_021;
const MAX_GAS = 5_000_000n;
const RECIPIENT: Address = '0x00000000000000000000000000000000000a11ce';
const sender = LOCAL_FUNDER.address;

let own: Awaited<ReturnType<typeof startOwnChain>>;
let url: string;
let chain: ChainClient;
let safe: SafeWallet;
let nonce = 0n;

beforeAll(async () => {
  own = await startOwnChain(CHAIN_ID, { durable: false });
  url = own.current.rpcUrl;
  chain = createChainClient({
    id: CHAIN_ID,
    name: 'Own Chain',
    rpcUrls: [url],
    signerRpcUrls: [],
    relayers: 1,
    nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
    confirmations: 1,
    maxFeePerGas: 10n ** 12n,
  });
  safe = newSafe();
  await deployAsFunder(url, safe.account);
  await rpc(url, 'anvil_setBalance', [safe.address, numberToHex(10n ** 18n)]);
});

afterAll(() => own?.stop());

let seed = 0;
async function put(code: Hex, balance = 0n): Promise<Address> {
  seed += 1;
  const address = await putCode(url, `inner ${seed}`, code);
  if (balance > 0n) {
    await rpc(url, 'anvil_setStorageAt', [
      address,
      balanceSlot(safe.address),
      numberToHex(balance, { size: 32 }),
    ]);
    // A simulation looks at the latest block, and one may end between the two.
    await rpc(url, 'evm_mine');
  }
  return address;
}

type Call = { to: Address; value?: bigint; data?: Hex };

function simulate({ to, value = 0n, data = '0x' }: Call, ceiling = mostSafeTxGas(MAX_GAS, data)) {
  return simulateInner(chain, { account: safe.address, to, value, data }, { ceiling, sender });
}

async function gasOf(call: Call): Promise<bigint> {
  const seen = await simulate(call);
  if (!seen.ok) throw new Error(JSON.stringify(seen));
  return seen.gas;
}

/** The next transaction of the account, with the gas of its simulation. */
async function next({ to, value = 0n, data = '0x' }: Call, safeTxGas?: bigint): Promise<SafeTransaction> {
  const gas = safeTxGas ?? (await gasOf({ to, value, data }));
  const tx = { networkId: CHAIN_ID, account: safe.address, to, value, data, safeTxGas: gas, nonce };
  nonce += 1n;
  return tx;
}

async function callOf(tx: SafeTransaction) {
  return executionCall(tx, await signSafeTransaction(safe.owner, tx));
}

/** Sends a transaction of the account with that gas; answers whether it stands, and the gas that it used. */
async function send(tx: SafeTransaction, gas = executionGas(tx)) {
  const call = { ...(await callOf(tx)), gas: numberToHex(gas) };
  const receipt = (await sendAsFunder(url, call)) as unknown as {
    status: Hex;
    transactionHash: Hex;
    gasUsed: Hex;
  };
  const execution = await executionInTransaction(chain, {
    account: safe.address,
    safeTxHash: safeTransactionHash(tx),
    transactionHash: receipt.transactionHash,
  });
  if (!execution) nonce = tx.nonce;
  return { ...receipt, execution };
}

const transfer = (amount = 1n) => transferData(RECIPIENT, amount) as Hex;

describe('a simulated call', () => {
  test.each<[keyof typeof TOKENS, object]>([
    ['plain', { ok: true, hasCode: true, returnData: numberToHex(1n, { size: 32 }) }],
    ['returningNothing', { ok: true, hasCode: true, returnData: '0x' }],
    ['returningFalse', { ok: true, returnData: numberToHex(0n, { size: 32 }) }],
    ['returningTwo', { ok: true, returnData: numberToHex(2n, { size: 32 }) }],
    ['returningOneByte', { ok: true, returnData: '0x01' }],
    ['takingFee', { ok: true }],
    ['withoutEvent', { ok: true }],
    ['revertingWithReason', { ok: false, kind: 'revert', reason: '"paused by its owner"' }],
    ['revertingWithError', { ok: false, reason: expect.stringContaining('a custom error: 0x') }],
    ['revertingWithPanic', { ok: false, reason: 'panic 0x11 (arithmetic overflow or underflow)' }],
    ['revertingWithNothing', { ok: false, reason: 'no reason' }],
    ['revertingWithNonsense', { ok: false, reason: 'malformed revert data: 0xdead' }],
    ['returning32Megabytes', { ok: false, reason: expect.stringContaining('using all of') }],
    ['burningGas', { ok: false, reason: expect.stringContaining('using all of') }],
    ['looping', { ok: false, reason: expect.stringContaining('using all of') }],
  ])('of a token %s', async (name, expected) => {
    const to = await put(TOKENS[name], 100n);
    expect(await simulate({ to, data: transfer() })).toMatchObject(expected);
  });

  test('has huge return data truncated', async () => {
    const seen = await simulate({ to: await put(TOKENS.returningMegabyte, 100n), data: transfer() });
    expect(seen).toMatchObject({ ok: true, returnData: expect.stringMatching(/^0x[0-9a-f]{2048}$/) });
  });

  test('reports a balance of the account that is too low, native and token', async () => {
    expect(await simulate({ to: RECIPIENT, value: 2n * 10n ** 18n })).toMatchObject({
      ok: false,
      kind: 'accountFunds',
      reason: 'insufficient funds: the account has 1 ETH and sends 2 ETH',
    });
    expect(await simulate({ to: await put(TOKENS.plain, 9n), data: transfer(10n) })).toMatchObject({
      kind: 'revert',
      reason: '"transfer amount exceeds balance"',
    });
  });

  test('has the account as its sender, and the relayer as its origin', async () => {
    const asked = await put(
      contract({ 'transfer(address,uint256)': 'CALLER 0x0 MSTORE ORIGIN 0x20 MSTORE 0x40 0x0 RETURN' }),
    );
    const seen = await simulate({ to: asked, data: transfer() });
    const word = (address: string) => address.slice(2).toLowerCase().padStart(64, '0');
    expect(seen).toMatchObject({ returnData: `0x${word(safe.address)}${word(sender)}` });
  });

  test('can call the account back', async () => {
    // getThreshold(); what comes back is of the account's own code and storage
    const asking = contract({
      'transfer(address,uint256)':
        '0xe75235b8 0xe0 SHL 0x0 MSTORE 0x20 0x0 0x4 0x0 0x0 CALLER GAS CALL POP 0x20 0x0 RETURN',
    });
    expect(await simulate({ to: await put(asking), data: transfer() })).toMatchObject({
      returnData: numberToHex(1n, { size: 32 }),
    });
  });

  test('reports an address without code', async () => {
    expect(await simulate({ to: RECIPIENT, data: transfer() })).toMatchObject({ ok: true, hasCode: false });
  });

  test('whose gas has no room below the ceiling fails', async () => {
    expect(await simulate({ to: await put(TOKENS.plain, 1n), data: transfer() }, 20_000n)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('using all of'),
    });
  });
});

describe('the gas of an execution', () => {
  test.each<keyof typeof TOKENS>(['plain', 'returningNothing', 'takingFee', 'returningMegabyte', 'lazy'])(
    'lets a token %s move what it moves',
    async (name) => {
      const to = await put(TOKENS[name], 100n);
      const tx = await next({ to, data: transfer(10n) });
      const { execution } = await send(tx);
      expect(execution?.kind).toBe('success');
      expect(execution && hasTransferFrom(execution.logs, to, safe.address)).toBe(true);
    },
  );

  test('is right for a call that succeeds with less gas and then does nothing', async () => {
    const to = await put(TOKENS.lazy, 100n);
    const estimate = await chain.rpc.estimateGas({ account: safe.address, to, data: transfer(10n) });
    expect(await gasOf({ to, data: transfer(10n) })).toBeGreaterThan(200_000n);
    expect(estimate).toBeLessThan(200_000n);
  });

  test('is enough when a third party sends it with the least that the account takes', async () => {
    for (const name of ['plain', 'lazy'] as const) {
      const to = await put(TOKENS[name], 100n);
      const tx = await next({ to, data: transfer(10n) });
      let low = 21_000n;
      let high = executionGas(tx);
      const call = await callOf(tx);
      const works = async (gas: bigint) => {
        try {
          await chain.rpc.call({ account: sender, ...call, gas });
          return true;
        } catch {
          return false;
        }
      };
      while (high - low > 100n) {
        const middle = (low + high) / 2n;
        if (await works(middle)) high = middle;
        else low = middle;
      }
      const { execution } = await send(tx, high);
      expect(execution?.kind).toBe('success');
      expect(execution && hasTransferFrom(execution.logs, to, safe.address)).toBe(true);
    }
  });

  test.each([0, 1_000, 40_000, 100_000])('is enough for %s bytes of calldata', async (length) => {
    const to = await put('0x00');
    for (const byte of ['00', 'ab']) {
      const data: Hex = `0x${byte.repeat(length)}`;
      if (mostSafeTxGas(MAX_GAS, data) < 100_000n) continue;
      const tx = await next({ to, data });
      const gas = executionGas(tx);
      const { execution, gasUsed } = await send(tx, gas);
      expect(execution?.kind).toBe('success');
      expect(BigInt(gasUsed)).toBeLessThan(gas);
    }
  });

  test.each([500_000n, 2_000_000n, 4_000_000n])('is enough for a safeTxGas of %s', async (safeTxGas) => {
    const tx = await next({ to: await put(COUNTER), data: '0xd09de08a' }, safeTxGas);
    expect((await send(tx)).execution?.kind).toBe('success');
  });

  test('is enough for native currency to a new address, and for a cancellation', async () => {
    const to = numberToHex(BigInt(RECIPIENT) + 77n, { size: 20 });
    expect((await send(await next({ to, value: 5n }))).execution?.kind).toBe('success');
    expect(await chain.rpc.getBalance({ address: to })).toBe(5n);
    const empty = cancellation({ networkId: CHAIN_ID, account: safe.address, nonce });
    nonce += 1n;
    expect((await send(empty)).execution?.kind).toBe('success');
  });

  test('reverts completely and does not use the nonce when it is too low', async () => {
    const to = await put(COUNTER);
    const tx = await next({ to, data: '0xd09de08a' });
    const { status, execution } = await send(tx, executionGas(tx) - 90_000n);
    expect({ status, execution }).toEqual({ status: '0x0', execution: null });
    expect((await send(tx)).execution?.kind).toBe('success');
    nonce += 1n;
  });
});

describe('an execution on chain', () => {
  test('uses its nonce and is found as a failure when its inner call fails', async () => {
    const tx = await next({ to: await put(TOKENS.revertingWithReason), data: transfer() }, 60_000n);
    expect((await send(tx)).execution?.kind).toBe('failure');
  });

  test('is found in a third party’s transaction, among others, each with its own logs', async () => {
    const fromBlock = await chain.rpc.getBlockNumber();
    const plain = await put(TOKENS.plain, 100n);
    const silent = await put(TOKENS.withoutEvent, 100n);
    const failing = await put(TOKENS.revertingWithReason);
    const txs = [
      await next({ to: silent, data: transfer() }),
      await next({ to: plain, data: transfer() }),
      await next({ to: failing, data: transfer() }, 60_000n),
    ];
    const calls = await Promise.all(txs.map(callOf));
    await sendAsFunder(url, { to: await put(MULTICALL), data: multicallData(calls) });
    const toBlock = await chain.rpc.getBlockNumber();
    const found = await Promise.all(
      txs.map((tx) =>
        executionAtNonce(chain, { account: safe.address, nonce: tx.nonce, fromBlock, toBlock }),
      ),
    );
    expect(found.map((one) => one?.safeTxHash)).toEqual(txs.map(safeTransactionHash));
    expect(found.map((one) => one?.kind)).toEqual(['success', 'success', 'failure']);
    const transfers = (token: Address) =>
      found.map((one) => hasTransferFrom(one?.logs ?? [], token, safe.address));
    expect(transfers(plain)).toEqual([false, true, false]);
    expect(transfers(silent)).toEqual([false, false, false]);
  });

  itDeep('is found beyond the blocks of one request, and not before it is mined', async () => {
    const fromBlock = await chain.rpc.getBlockNumber();
    for (let mined = 0; mined < 1_100; mined += 100) await rpc(url, 'anvil_mine', [numberToHex(100)]);
    const tx = await next({ to: await put(COUNTER), data: '0xd09de08a' });
    const look = async () =>
      executionAtNonce(chain, {
        account: safe.address,
        nonce: tx.nonce,
        fromBlock,
        toBlock: await chain.rpc.getBlockNumber(),
      });
    expect(await look()).toBeNull();
    await send(tx);
    for (let mined = 0; mined < 1_100; mined += 100) await rpc(url, 'anvil_mine', [numberToHex(100)]);
    expect(await look()).toMatchObject({ kind: 'success', safeTxHash: safeTransactionHash(tx) });
  });

  test('inside another one keeps the other’s transfer apart', async () => {
    const plain = await put(TOKENS.plain, 100n);
    const outerNonce = nonce;
    const inner = await next({ to: plain, data: transfer() });
    const innerCall = await callOf({ ...inner, nonce: outerNonce + 1n });
    const reentering = await put(reenteringToken(innerCall.data), 100n);
    const outer = { ...inner, to: reentering, data: transfer(), safeTxGas: 600_000n, nonce: outerNonce };
    nonce += 1n;
    const { execution, transactionHash } = await send(outer);
    expect(execution && hasTransferFrom(execution.logs, reentering, safe.address)).toBe(true);
    expect(execution && hasTransferFrom(execution.logs, plain, safe.address)).toBe(false);
    const found = await executionInTransaction(chain, {
      account: safe.address,
      safeTxHash: safeTransactionHash({ ...inner, nonce: outerNonce + 1n }),
      transactionHash,
    });
    expect(found && hasTransferFrom(found.logs, plain, safe.address)).toBe(true);
  });

  test('of a token that returns true and moves nothing has no Transfer', async () => {
    const quiet = await put(contract({ 'transfer(address,uint256)': RETURN_TRUE }));
    const { execution } = await send(await next({ to: quiet, data: transfer() }));
    expect(execution?.kind).toBe('success');
    expect(execution && hasTransferFrom(execution.logs, quiet, safe.address)).toBe(false);
  });
});
