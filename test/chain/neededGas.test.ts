import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { executionGas } from '../../src/chain/gas';
import { requireRow } from '../../src/db/rows';
import type { TransactionTerms } from '../../src/domain/terms';
import type { TransactionRef } from '../../src/domain/transaction';
import type { Journal } from '../../src/signer/journal/journal';
import { anAddress } from '../support/builders';
import { balanceSlot, COUNTER, forwarder, RECORDING_WALLET, TOKENS } from '../support/contracts';
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy';
import { rpc } from '../support/stack';
import { transferData } from '../support/transactions';
import { type Asked, ETHER, envelopeOf, type TestAccount, TransactionWorld } from './transactionWorld';

/** Enough for the outer call, and not for what it calls. */
const TOO_LITTLE = 53_300n;
const PAID = ETHER / 10n;

let world: TransactionWorld;
const proxies: RpcProxy[] = [];

beforeAll(async () => {
  world = await TransactionWorld.start(41_131);
});
afterAll(async () => {
  for (const proxy of proxies) await proxy.stop();
  await world?.stop();
});

let seed = 0;
const put = (code: Hex) => {
  seed += 1;
  return world.contract(`needed gas ${seed}`, code);
};

/** An intermediary and the wallet that it pays. */
async function intermediary(): Promise<{ payee: Address; to: Address }> {
  const payee = await put(RECORDING_WALLET);
  return { payee, to: await put(forwarder(payee)) };
}

/** The terms of a transaction with the gas that somebody would rather have signed. */
async function lowered(
  ref: TransactionRef,
  { data = '0x' }: Asked,
  safeTxGas = TOO_LITTLE,
): Promise<TransactionTerms> {
  const gas = executionGas({ safeTxGas, data });
  return { ...(await world.terms(ref)), safeTxGas: String(safeTxGas), gas: String(gas) };
}

const gasOf = async (ref: TransactionRef) =>
  BigInt(requireRow((await world.attempts(ref))[0]).safe_tx_gas ?? 0n);

/** A proxy of the chain, and the methods that were asked for through it. */
async function counting(): Promise<{ url: string; methods: string[] }> {
  const methods: string[] = [];
  const proxy = await startRpcProxy(world.url, async (body, pass) => {
    methods.push(...[JSON.parse(body)].flat().map(({ method }) => method));
    return pass();
  });
  proxies.push(proxy);
  return { url: proxy.url, methods };
}

const withEndpoints = (...signerRpcUrls: string[]) =>
  world.signerWith({ networks: [{ ...world.network, signerRpcUrls }] });

describe('a call whose terms offer too little gas', () => {
  test.each<[string, Hex]>([
    ['through an intermediary', '0xd0e30db0'],
    ['without data, to an address with code', '0x'],
  ])('%s is signed with what it needs, and the payee is paid', async (_, data) => {
    const { payee, to } = await intermediary();
    const asked = { to, value: PAID, data };
    const ref = await world.transaction(asked);
    const needed = BigInt((await world.terms(ref)).safeTxGas);
    expect(needed).toBeGreaterThan(TOO_LITTLE);
    const terms = await lowered(ref, asked);
    const envelopeId = envelopeOf(await world.signer.signTransaction({ ...ref, terms }));
    expect(await gasOf(ref)).toBeGreaterThanOrEqual(needed);
    expect(await world.followToEnd(ref, envelopeId)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await world.balanceOf(payee)).toBe(PAID);
    expect(await world.balanceOf(to)).toBe(0n);
    const known = world.journal.authorizationOf(ref.transactionId);
    const { safeTxGas } = await world.journal.readAuthorization(requireRow(known));
    expect(BigInt(safeTxGas)).toBe(await gasOf(ref));
  });

  test('because the endpoint of the worker lies about its simulation, pays all the same', async () => {
    const { payee, to } = await intermediary();
    const ref = await world.transaction({ to, value: PAID, data: '0xd0e30db0' });
    const proxy = await startRpcProxy(world.url, async (body, pass) => {
      const text = await pass();
      const answer = JSON.parse(text);
      if (!body.includes('eth_call') || Array.isArray(answer) || (answer.result?.length ?? 0) < 450)
        return text;
      // The second word of what is measured is the gas that was used.
      const used = 20_000n.toString(16).padStart(64, '0');
      return JSON.stringify({
        ...answer,
        result: `${answer.result.slice(0, 66)}${used}${answer.result.slice(130)}`,
      });
    });
    proxies.push(proxy);
    const worker = world.chainWith({ rpcUrls: [proxy.url] });
    const seen = await worker.prepareTransaction({ ...ref, networkId: world.network.id, cancel: false });
    if (seen.kind !== 'needsEnvelope') throw new Error(JSON.stringify(seen));
    expect(BigInt(seen.terms.safeTxGas)).toBeLessThan(TOO_LITTLE + 1n);
    const envelopeId = envelopeOf(await world.signer.signTransaction({ ...ref, terms: seen.terms }));
    expect(await world.followToEnd(ref, envelopeId)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await world.balanceOf(payee)).toBe(PAID);
    expect(await world.balanceOf(to)).toBe(0n);
  });

  test('of a token moves it', async () => {
    const account = await world.account();
    const token = await world.contract('lazy token', TOKENS.lazy, { [account.address]: 100n });
    const payee = anAddress() as Address;
    const asked = { to: token, data: transferData(payee, 40n) as Hex };
    const ref = await world.transaction(asked, { account });
    const terms = await lowered(ref, asked);
    const envelopeId = envelopeOf(await world.signer.signTransaction({ ...ref, terms }));
    expect(await world.followToEnd(ref, envelopeId)).toMatchObject({ outcome: { kind: 'executed' } });
    const held = await rpc<Hex>(world.url, 'eth_getStorageAt', [token, balanceSlot(payee), 'latest']);
    expect(BigInt(held)).toBe(40n);
  });

  test('is signed with what the endpoint needs that needs most', async () => {
    const { payee, to } = await intermediary();
    const asked = { to, value: PAID, data: '0xd0e30db0' as Hex };
    const ref = await world.transaction(asked);
    const needed = BigInt((await world.terms(ref)).safeTxGas);
    const sparing = await startRpcProxy(world.url, async (body, pass) => {
      const text = await pass();
      const answer = JSON.parse(text);
      if (!body.includes('eth_call') || (answer.result?.length ?? 0) < 450) return text;
      const used = 20_000n.toString(16).padStart(64, '0');
      return JSON.stringify({
        ...answer,
        result: `${answer.result.slice(0, 66)}${used}${answer.result.slice(130)}`,
      });
    });
    proxies.push(sparing);
    const terms = await lowered(ref, asked);
    const signer = withEndpoints(sparing.url, world.url);
    const envelopeId = envelopeOf(await signer.signTransaction({ ...ref, terms }));
    expect(await gasOf(ref)).toBeGreaterThanOrEqual(needed);
    expect(await world.followToEnd(ref, envelopeId)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await world.balanceOf(payee)).toBe(PAID);
  });

  test('is signed with it where the signer has no endpoints', async () => {
    const { to } = await intermediary();
    const asked = { to, value: PAID, data: '0xd0e30db0' as Hex };
    const ref = await world.transaction(asked);
    envelopeOf(await withEndpoints().signTransaction({ ...ref, terms: await lowered(ref, asked) }));
    expect(await gasOf(ref)).toBe(TOO_LITTLE);
  });
});

test('more gas than a call needs is signed as it is offered', async () => {
  const { to } = await intermediary();
  const asked = { to, value: PAID, data: '0xd0e30db0' as Hex };
  const ref = await world.transaction(asked);
  const terms = await lowered(ref, asked, 1_000_000n);
  envelopeOf(await world.signer.signTransaction({ ...ref, terms }));
  expect(await gasOf(ref)).toBe(1_000_000n);
});

describe('a plain transfer', () => {
  /** Reading fees is shared among all payments of a network. */
  const FEES = ['eth_getBlockByNumber', 'eth_maxPriorityFeePerGas', 'eth_chainId'];

  test('to an address without code asks once for its code, and is not simulated', async () => {
    const { url, methods } = await counting();
    const signer = withEndpoints(url);
    const account = await world.account();
    const to = anAddress() as Address;
    const beside = async () => {
      methods.length = 0;
      const ref = await world.transaction({ to, value: 5n }, { account });
      const terms = await world.terms(ref);
      envelopeOf(await signer.signTransaction({ ...ref, terms }));
      return methods.filter((method) => !FEES.includes(method));
    };
    const first = await beside();
    expect(first.filter((method) => method !== 'eth_getCode')).toEqual([]);
    expect(first.length).toBeLessThanOrEqual(1);
    expect(await beside()).toEqual([]);
    expect(await beside()).toEqual([]);
  });

  test('to an address that gets code later has what it needs', async () => {
    const payee = await put(RECORDING_WALLET);
    const to = anAddress() as Address;
    const account = await world.account();
    const asked = { to, value: PAID };
    const before = await world.transaction(asked, { account });
    await world.sign(before);
    await world.execute(before);
    await rpc(world.url, 'anvil_setCode', [to, forwarder(payee)]);
    const ref = await world.transaction(asked, { account });
    const needed = BigInt((await world.terms(ref)).safeTxGas);
    const terms = await lowered(ref, asked);
    // One that has just started has not seen it without code.
    const envelopeId = envelopeOf(await withEndpoints(world.url).signTransaction({ ...ref, terms }));
    expect(await gasOf(ref)).toBeGreaterThanOrEqual(needed);
    expect(await world.followToEnd(ref, envelopeId)).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await world.balanceOf(payee)).toBe(PAID);
  });
});

describe('a call that would revert', () => {
  const fail = encodeFunctionData({ abi: parseAbi(['function fail()']), functionName: 'fail' });
  let account: TestAccount;
  let ref: TransactionRef;
  let terms: TransactionTerms;

  beforeEach(async () => {
    account = await world.account();
    ref = await world.transaction({ to: await put(COUNTER), data: fail }, { account });
    const other = { to: anAddress() as Address, value: 1n };
    terms = { ...(await world.terms(await world.transaction(other, { account }))), gas: '400000' };
  });

  async function expectNothing() {
    expect(await world.attempts(ref)).toEqual([]);
    expect(await world.authorization(ref)).toBeUndefined();
    expect(world.journal.authorizationOf(ref.transactionId)).toBeUndefined();
    expect(await world.nonceOf(account)).toBe(0n);
  }

  test('is held, and nothing of it is stored', async () => {
    expect(await world.signer.signTransaction({ ...ref, terms })).toEqual({
      held: expect.stringContaining('it always fails'),
    });
    await expectNothing();
  });

  test('by one of several endpoints is held', async () => {
    const { url } = await counting();
    const lenient = await startRpcProxy(world.url, async (body, pass) => {
      const text = await pass();
      const answer = JSON.parse(text);
      if (!body.includes('eth_call') || (answer.result?.length ?? 0) < 450) return text;
      return JSON.stringify({ ...answer, result: `0x${'1'.padStart(64, '0')}${answer.result.slice(66)}` });
    });
    proxies.push(lenient);
    for (const urls of [
      [lenient.url, url],
      [url, lenient.url],
    ]) {
      expect(await withEndpoints(...urls).signTransaction({ ...ref, terms })).toEqual({
        held: expect.stringContaining('it always fails'),
      });
    }
    await expectNothing();
  });

  test('waits while an endpoint is unavailable', async () => {
    const silent = await startRpcProxy(world.url, async (body, pass) =>
      body.includes('eth_call') ? undefined : pass(),
    );
    proxies.push(silent);
    const signer = withEndpoints(silent.url);
    expect(await signer.signTransaction({ ...ref, terms })).toHaveProperty('unreachable');
    await expectNothing();
  });
});

test('what was stored with too little gas before a crash is not taken over, and can be cancelled', async () => {
  const { payee, to } = await intermediary();
  const asked = { to, value: PAID, data: '0xd0e30db0' as Hex };
  const account = await world.account();
  const ref = await world.transaction(asked, { account });
  const terms = await lowered(ref, asked);
  const append: Journal['append'] = (...entries) =>
    entries.some(({ type }) => type === 'authorization')
      ? Promise.reject(new Error('crash'))
      : world.journal.append(...entries);
  const crashing = world.signerWith({
    journal: Object.assign(Object.create(world.journal), { append }),
    networks: [{ ...world.network, signerRpcUrls: [] }],
  });
  await expect(crashing.signTransaction({ ...ref, terms })).rejects.toThrow('crash');
  expect(await gasOf(ref)).toBe(TOO_LITTLE);
  const enough = { ...terms, gas: '1000000' };
  for (const offered of [terms, enough]) {
    expect(await world.signer.signTransaction({ ...ref, terms: offered })).toEqual({
      held: expect.stringContaining(`${TOO_LITTLE} gas`),
    });
  }
  expect(world.journal.authorizationOf(ref.transactionId)).toBeUndefined();
  expect(await world.envelopes(ref)).toEqual([]);
  await world.requestCancellation(ref);
  // Its envelope is not signed any more: a filler takes its nonce.
  await world.db('relayer_reservations').update({ reserved_at: new Date(Date.now() - 61_000) });
  expect(await world.execute(ref, { cancel: true })).toMatchObject({ outcome: { kind: 'cancelled' } });
  expect(await world.balanceOf(account.address)).toBe(ETHER);
  expect(await world.balanceOf(payee)).toBe(0n);
  // The nonce is used: what comes next is paid.
  const next = await world.transaction(asked, { account });
  expect(await world.execute(next)).toMatchObject({ outcome: { kind: 'executed' } });
  expect(await world.balanceOf(payee)).toBe(PAID);
});
