import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NetworkConfig } from '../../../src/config';
import type { Tx } from '../../../src/db/database';
import { gasCost, gasLimit } from '../../../src/domain/gasBudget';
import { createSignerClock } from '../../../src/signer/clock';
import { createGasBudget, type GasBudget } from '../../../src/signer/gasBudget';
import type { GasEntry } from '../../../src/signer/journal/entries';
import { type Journal, openJournal } from '../../../src/signer/journal/journal';
import { createSteadyTime } from '../../../src/signer/journal/steadyTime';

const START = Date.parse('2026-01-01T00:00:00Z');
const MINUTE = 60_000;
const network: NetworkConfig = {
  id: 7,
  name: 'Nowhere',
  rpcUrls: ['http://127.0.0.1:1'],
  signerRpcUrls: [],
  relayers: 1,
  nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
  confirmations: 1,
  maxFeePerGas: 1n,
};

/** Database transactions, which the budget only tells apart. */
const [tx, other] = [{}, {}] as [Tx, Tx];

let file: string;
let journal: Journal;
let budget: GasBudget;
let time = START;

/** Begins, or begins again, with what the file has. */
async function start(): Promise<void> {
  await journal?.close();
  journal = await openJournal({ file, waitMs: 0, ownTime: () => time });
  budget = createGasBudget({
    journal,
    clock: createSignerClock(
      journal,
      createSteadyTime(
        () => time,
        () => time,
      ),
    ),
    perHour: 1_000n,
  });
}

beforeEach(async () => {
  file = join(await mkdtemp(join(tmpdir(), 'gas-')), 'journal');
  time = START;
  await start();
});
afterAll(() => journal?.close());

function gas(wei: bigint, change: Partial<GasEntry> = {}): GasEntry {
  return {
    type: 'gas',
    organizationId: 'org_1',
    kind: 'transaction',
    networkId: 7,
    relayerAddress: '0xrelayer',
    relayerNonce: 0,
    gas: String(wei),
    maxFeePerGas: '1',
    ...change,
  };
}

async function sign(entry: GasEntry): Promise<void> {
  budget.claim(tx, network, entry);
  await budget.append(entry);
}

test('a budget is used up by what is signed, for its organization and network, and is free again after an hour', async () => {
  await sign(gas(500n));
  time += MINUTE;
  await sign(gas(250n, { relayerNonce: 1 }));
  const next = gas(1n, { relayerNonce: 2 });
  const message =
    'the gas budget of org_1 on Nowhere is used up: 0.00000000000000075 ETH within the last hour, of at most 0.00000000000000075 ETH (GAS_BUDGET_PER_HOUR, a part of which is kept for cancellations); it continues by itself, within an hour';
  expect(() => budget.claim(tx, network, next)).toThrow(
    expect.objectContaining({ name: 'TemporaryRefusal', reason: 'gas', message }),
  );
  budget.claim(tx, network, { ...next, organizationId: 'org_2' });
  budget.claim(tx, network, { ...next, networkId: 8 });
  // The first one leaves the window, the second does not.
  time = START + 60 * MINUTE;
  budget.claim(tx, network, gas(500n, { relayerNonce: 2 }));
  expect(() => budget.claim(tx, network, gas(1n, { relayerNonce: 3 }))).toThrow(/is used up/);
});

test('neither a restart nor a clock that is set back frees a budget', async () => {
  await sign(gas(750n));
  await start();
  expect(() => budget.claim(tx, network, gas(1n, { relayerNonce: 1 }))).toThrow(/is used up/);
  time -= 120 * MINUTE;
  expect(() => budget.claim(tx, network, gas(1n, { relayerNonce: 1 }))).toThrow(/is used up/);
  await journal.append({ type: 'created', installationId: 'here' });
  expect(journal.lastTime()).toBe(START);
});

test('a quarter is kept for cancellations and filled nonces', async () => {
  await sign(gas(750n));
  expect(() => budget.claim(tx, network, gas(1n, { relayerNonce: 1, kind: 'deployment' }))).toThrow(
    /used up/,
  );
  await sign(gas(250n, { relayerNonce: 1, kind: 'cancellation' }));
  expect(() => budget.claim(tx, network, gas(1n, { relayerNonce: 2, kind: 'cancellation' }))).toThrow(
    /used up/,
  );
  const filler = { kind: 'filler', organizationId: null } as const;
  await sign(gas(1_000n, { relayerNonce: 2, ...filler }));
  expect(() => budget.claim(tx, network, gas(1n, { relayerNonce: 3, ...filler }))).toThrow(
    /budget of the signer on Nowhere/,
  );
});

test('a replacement at the nonce counts only what it adds', async () => {
  await sign(gas(600n));
  await sign(gas(750n));
  expect(() => budget.claim(tx, network, gas(751n))).toThrow(/this alone needs more: raise it/);
  const at = { kind: 'transaction', relayerAddress: '0x', at: 0 } as const;
  const signed = [
    { ...at, relayerNonce: 1, wei: 5n },
    { ...at, relayerNonce: 1, wei: 7n },
    { ...at, relayerNonce: 1, wei: 6n },
    { ...at, relayerNonce: 2, wei: 1n },
  ];
  expect(gasCost(signed)).toBe(8n);
  expect(gasCost([])).toBe(0n);
  expect(gasLimit(1_001n, 'filler')).toBe(1_001n);
});

test('what is claimed counts before it is in the journal, unless its database transaction is rolled back', async () => {
  budget.claim(tx, network, gas(750n));
  expect(() => budget.claim(other, network, gas(1n, { relayerNonce: 1 }))).toThrow(/used up/);
  budget.forget(tx);
  budget.claim(other, network, gas(500n, { relayerNonce: 1 }));
  budget.forget(tx);
  expect(() => budget.claim(tx, network, gas(251n, { relayerNonce: 2 }))).toThrow(/used up/);
  await budget.append(gas(500n, { relayerNonce: 1 }));
  await sign(gas(250n, { relayerNonce: 2 }));
});
