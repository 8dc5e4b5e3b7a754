/** @deep */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, type Hex, parseTransaction } from 'viem';
import { createDatabase, type Db } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import { requireRow } from '../../src/db/rows';
import type { TransactionRef } from '../../src/domain/transaction';
import { type Journal, openJournal } from '../../src/signer/journal/journal';
import type { SteadyTime } from '../../src/signer/journal/steadyTime';
import type { SignerContext, SignerDeps } from '../../src/signer/signerContext';
import { readOutcomes } from '../../src/signer/transaction/readOutcomes';
import { anAddress } from '../support/builders';
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy';
import { rpc, temporaryDir } from '../support/stack';
import { logStatements, type StatementLog } from '../support/statementLog';
import { itDeep } from '../support/suite';
import { aTransferPolicy } from '../support/transactions';
import { GatedPayments } from './gatedPayments';
import { activitiesOf, envelopeOf, type TestAccount, TransactionWorld } from './transactionWorld';
import { sendAsFunder } from './wallets';

const HOUR_MS = 3_600_000;

let world: TransactionWorld;
let statements: StatementLog;
/** Its connections are opened when their statements are logged already. */
let loggedDb: Db;
const proxies: RpcProxy[] = [];
const journals: Journal[] = [];

beforeAll(async () => {
  world = await TransactionWorld.start(41_171);
  statements = await logStatements(new URL(world.database.url).pathname.slice(1));
  loggedDb = createDatabase(world.database.signerUrl, { poolMax: 3 });
});
afterAll(async () => {
  await loggedDb?.destroy();
  for (const proxy of proxies) await proxy.stop();
  for (const journal of journals) await journal.close();
  await world?.stop();
});

const payee = anAddress() as Address;
const payment = (account: TestAccount, policyId?: string) =>
  world.transaction(
    { to: payee, value: 5n },
    { account, ...(policyId ? { policyId } : {}), expiresInMs: 9 * HOUR_MS },
  );

/** A policy of up to 8 wei an hour. */
async function hourly(amountThreshold = '8'): Promise<string> {
  const id = newId('pol');
  const all = 'ALL_ITEMS' as const;
  const limitation = { hours: 1, initiatorScope: all, sourceAccountScope: all, destinationScope: all };
  const policy = aTransferPolicy({ amountThreshold }, { networkId: world.network.id, limitation });
  await world.storePolicy({ ...policy, id });
  return id;
}

/** A proxy of the chain that answers as the test says, and the methods that were asked for. */
async function proxyOf(
  answer: (request: { method: string; params: never[] }, real: unknown) => unknown = (_, real) => real,
) {
  const methods: string[] = [];
  const proxy = await startRpcProxy(world.url, async (body, pass) => {
    const request = JSON.parse(body);
    methods.push(request.method);
    const real = JSON.parse(await pass());
    return JSON.stringify({ ...real, result: answer(request, real.result) });
  });
  proxies.push(proxy);
  return { url: proxy.url, methods };
}

const asking = (...signerRpcUrls: string[]) => ({ networks: [{ ...world.network, signerRpcUrls }] });

/** The journal as a signer that ends now leaves it. */
async function journalOfNow(): Promise<Journal> {
  const file = join(temporaryDir(), 'journal');
  copyFileSync(world.journal.file, file);
  const journal = await openJournal({ file, waitMs: 0 });
  journals.push(journal);
  return journal;
}

/** The signer's clock, that far ahead: the machine's and that of the database are in step. */
function ahead(ms: number): SteadyTime {
  return { now: () => Date.now() + ms, look: Date.now, adopt: () => undefined };
}

async function sendAll(refs: readonly TransactionRef[]): Promise<void> {
  const ids = refs.map(({ transactionId }) => transactionId);
  const raws = await world
    .db('chain_envelopes as e')
    .join('chain_attempts as a', 'a.id', 'e.attempt_id')
    .whereIn('a.transaction_id', ids)
    .whereNull('e.outcome')
    .orderBy('e.relayer_nonce')
    .select('e.raw_transaction');
  for (const { raw_transaction: raw } of raws as { raw_transaction: Hex }[]) {
    await rpc(world.url, 'eth_sendRawTransaction', [raw]);
  }
}

/** As before the signer had read anything of them. */
async function unread(refs: readonly TransactionRef[]): Promise<void> {
  const ids = refs.map(({ transactionId }) => transactionId);
  await world.db('authorizations').whereIn('transaction_id', ids).update({ outcome: null, block_at: null });
}

const blockOf = async (ref: TransactionRef) => requireRow((await world.attempts(ref))[0]).block_number;
const outcomesOf = (journal: Journal, refs: readonly TransactionRef[]) =>
  refs.map(({ transactionId }) => journal.outcomeOf(transactionId)?.outcome ?? null);
const rowsOf = (refs: readonly TransactionRef[]) =>
  Promise.all(refs.map(async (ref) => requireRow(await world.authorization(ref)).outcome));

/** Executes payments in one block, of which the signer reads nothing. */
async function executedTogether(count: number, accounts: readonly TestAccount[]): Promise<TransactionRef[]> {
  const refs: TransactionRef[] = [];
  for (let i = 0; i < count; i += 1) {
    const ref = await payment(requireRow(accounts[i % accounts.length]));
    await world.sign(ref);
    refs.push(ref);
  }
  await world.withoutMining(async () => {
    await sendAll(refs);
    await world.pending(count);
    await world.mine();
  });
  await world.mine(3);
  for (const ref of refs) expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
  return refs;
}

/** Reads the outcomes, and counts what that asks for. */
async function counted(change: Partial<SignerDeps> = {}) {
  const one = await proxyOf();
  const two = await proxyOf();
  const context = world.signerContext({ ...asking(one.url, two.url), db: loggedDb, ...change });
  await statements.readQuiet();
  await readOutcomes(context, requireRow(context.networks[0]));
  const sent = (await statements.readQuiet()).filter(({ login }) => login === 'orgwallet_signer');
  const begun = sent.findIndex(({ text }) => /^begin/i.test(text));
  return {
    context,
    methods: [one.methods, two.methods],
    before: (begun < 0 ? sent : sent.slice(0, begun)).map(({ text }) => text),
    transactions: sent.filter(({ text }) => /^begin/i.test(text)).length,
    statements: sent.map(({ text }) => text),
  };
}

describe('the outcomes of payments', () => {
  let accounts: TestAccount[];

  beforeAll(async () => {
    accounts = [await world.account(), await world.account(), await world.account()];
  });

  test('of one block are read together, however many they are', async () => {
    const few = await executedTogether(2, accounts);
    expect(outcomesOf(world.journal, few)).toEqual([null, null]);
    const little = await counted();
    expect(outcomesOf(world.journal, few)).toEqual(['executed', 'executed']);
    const many = await executedTogether(12, accounts);
    expect(new Set(await Promise.all(many.map(blockOf))).size).toBe(1);
    const much = await counted();
    expect(outcomesOf(world.journal, many)).toEqual(many.map(() => 'executed'));
    expect(await rowsOf(many)).toEqual(many.map(() => 'executed'));
    for (const methods of much.methods) {
      expect(methods.filter((method) => method === 'eth_getLogs')).toHaveLength(1);
      expect(methods).not.toContain('eth_getTransactionReceipt');
      expect(methods.length).toBeLessThanOrEqual(4);
    }
    expect(much.methods.map(({ length }) => length)).toEqual(little.methods.map(({ length }) => length));
    expect(much.before).toHaveLength(1);
    expect(much.transactions).toBe(1);
    expect(much.statements.length).toBeLessThanOrEqual(little.statements.length);
  });

  test('that are read already cost nothing', async () => {
    await counted();
    const { methods, statements: sent } = await counted();
    expect(methods).toEqual([[], []]);
    expect(sent).toEqual([]);
  });

  test('are counted from the time of their block', async () => {
    const [ref] = await executedTogether(1, accounts);
    await counted();
    const known = world.journal.outcomeOf(requireRow(ref).transactionId);
    const block = await world.client.rpc.getBlock({
      blockNumber: requireRow(await blockOf(requireRow(ref))),
    });
    const blockAt = new Date(Number(block.timestamp) * 1_000);
    expect(known).toMatchObject({ outcome: 'executed', blockAt: blockAt.toISOString() });
    expect(await world.authorization(requireRow(ref))).toMatchObject({ block_at: blockAt });
  });

  test('are read of executed, failed and cancelled ones', async () => {
    const gated = await GatedPayments.open(world);
    const [executed, cancelled] = await Promise.all(accounts.slice(0, 2).map((account) => payment(account)));
    const failed = await gated.ask();
    const all = [requireRow(executed), failed, requireRow(cancelled)];
    for (const ref of all) await world.sign(ref);
    await world.requestCancellation(requireRow(cancelled));
    const seen = await world.prepare(requireRow(cancelled), true);
    if (seen.kind !== 'needsEnvelope') throw new Error(JSON.stringify(seen));
    envelopeOf(await world.signer.signCancellation({ ...requireRow(cancelled), terms: seen.terms }));
    const journal = await journalOfNow();
    await world.execute(requireRow(executed));
    await gated.fail(failed);
    await world.execute(requireRow(cancelled), { cancel: true });
    await unread(all);
    const context = world.signerContext({ journal });
    await readOutcomes(context, world.network);
    expect(outcomesOf(journal, all)).toEqual(['executed', 'reverted', 'cancelled']);
    expect(await rowsOf(all)).toEqual(['executed', 'reverted', 'cancelled']);
    for (const { transactionId } of all.slice(1)) {
      expect(journal.outcomeOf(transactionId)).toEqual(world.journal.outcomeOf(transactionId));
    }
  });

  test.each<[string, (request: { method: string }, real: unknown) => unknown]>([
    [
      'calls a success a failure',
      ({ method }, real) =>
        method === 'eth_getLogs'
          ? (real as { topics: string[] }[]).map((log) => ({
              ...log,
              topics: [
                '0x23428b18acfb3ea64b08dc0c1d296ea9c09702c09083ca5272e64d115b687d23',
                ...log.topics.slice(1),
              ],
            }))
          : real,
    ],
    ['has no logs', ({ method }, real) => (method === 'eth_getLogs' ? [] : real)],
    ['is behind', ({ method }, real) => (method === 'eth_blockNumber' ? '0x1' : real)],
    [
      'has another time of the block',
      ({ method }, real) =>
        method === 'eth_getBlockByNumber' && real ? { ...(real as object), timestamp: '0x5' } : real,
    ],
    [
      'has another block',
      ({ method }, real) =>
        method === 'eth_getBlockByNumber' && real
          ? { ...(real as object), hash: `0x${'5'.repeat(64)}` }
          : real,
    ],
  ])('are not recorded where one of several endpoints %s', async (_, answer) => {
    const refs = await executedTogether(2, accounts);
    const lying = await proxyOf(answer);
    for (const urls of [
      [world.url, lying.url],
      [lying.url, world.url],
    ]) {
      const context = world.signerContext(asking(...urls));
      await readOutcomes(context, requireRow(context.networks[0])).catch((error) =>
        expect(error).toHaveProperty('name', 'ChainUnavailable'),
      );
    }
    expect(outcomesOf(world.journal, refs)).toEqual([null, null]);
    expect(await rowsOf(refs)).toEqual([null, null]);
    await readOutcomes(world.signerContext(), world.network);
    expect(outcomesOf(world.journal, refs)).toEqual(['executed', 'executed']);
  });

  test('are not read before their confirmations', async () => {
    const [ref] = await executedTogether(1, accounts);
    const deep = { ...world.network, confirmations: 1_000 };
    await readOutcomes(world.signerContext({ networks: [deep] }), deep);
    expect(outcomesOf(world.journal, [requireRow(ref)])).toEqual([null]);
    await readOutcomes(world.signerContext(), world.network);
  });

  test.each([
    ['the chain does not have', 1_000_000],
    ['is not the one of the payment', 3],
  ])('are read of others where the database says that one is in a block that %s', async (_, blockNumber) => {
    // The first one is the first that is looked up.
    const [ref, ...others] = await executedTogether(3, accounts);
    const row = world.attempts(requireRow(ref)).clearOrder();
    const block = await blockOf(requireRow(ref));
    await row.clone().update({ block_number: blockNumber });
    const context = world.signerContext();
    for (let pass = 0; pass < 3; pass += 1) {
      await readOutcomes(context, world.network).catch((error) =>
        expect(error).toHaveProperty('name', 'ChainUnavailable'),
      );
    }
    await row.clone().update({ block_number: block });
    expect(outcomesOf(world.journal, others)).toEqual(['executed', 'executed']);
    await readOutcomes(world.signerContext(), world.network);
  });

  test('are not taken from a block that the database makes up', async () => {
    const account = await world.account();
    const ref = await payment(account);
    await world.sign(ref);
    await world
      .attempts(ref)
      .clearOrder()
      .update({ outcome: 'executed', block_number: 3, decided_at: new Date() });
    await readOutcomes(world.signerContext(), world.network);
    expect(outcomesOf(world.journal, [ref])).toEqual([null]);
    await world.attempts(ref).clearOrder().update({ outcome: null, block_number: null, decided_at: null });
    await world.execute(ref);
    await readOutcomes(world.signerContext(), world.network);
    expect(outcomesOf(world.journal, [ref])).toEqual(['executed']);
  });
});

describe('an executed payment whose logs a node has dropped', () => {
  let policyId: string;
  let account: TestAccount;
  let ref: TransactionRef;
  let blind: string;

  beforeEach(async () => {
    policyId = await hourly();
    account = await world.account();
    ref = await payment(account, policyId);
    expect(await world.execute(ref)).toMatchObject({ outcome: { kind: 'executed' } });
    ({ url: blind } = await proxyOf(({ method }, real) => {
      if (method === 'eth_getTransactionReceipt') return null;
      return method === 'eth_getLogs' ? [] : real;
    }));
  });

  const signerAt = (ms: number) => world.signerWith({ ...asking(blind), steady: ahead(ms) });

  test('counts from the look that has found its nonce used, for the window of its budget', async () => {
    const began = Date.now();
    expect(await signerAt(0).confirmOutcome(ref)).toEqual({ outcome: null });
    const known = world.journal.outcomeOf(ref.transactionId);
    const usedAt = known?.outcome === null ? known.usedAt : undefined;
    expect(Date.parse(usedAt ?? '')).toBeGreaterThanOrEqual(began - 1_000);
    expect(await world.authorization(ref)).toMatchObject({ outcome: null, used_at: new Date(usedAt ?? '') });
    const next = await payment(account, policyId);
    const terms = await world.terms(next);
    const budget = { refused: { code: 'budget', message: expect.any(String) } };
    expect(await signerAt(0).signTransaction({ ...next, terms })).toEqual(budget);
    expect(await signerAt(HOUR_MS / 2).signTransaction({ ...next, terms })).toEqual(budget);
    // A later look does not begin the hour again.
    expect(await signerAt(HOUR_MS / 2).confirmOutcome(ref)).toEqual({ outcome: null });
    expect(world.journal.outcomeOf(ref.transactionId)).toMatchObject({ usedAt });
    envelopeOf(await signerAt(HOUR_MS + 60_000).signTransaction({ ...next, terms }));
    expect(await world.execute(next)).toMatchObject({ outcome: { kind: 'executed' } });
  });

  test('counts from a look of the budget itself', async () => {
    const next = await payment(account, policyId);
    const terms = await world.terms(next);
    expect(await signerAt(0).signTransaction({ ...next, terms })).toHaveProperty('refused.code', 'budget');
    envelopeOf(await signerAt(HOUR_MS + 60_000).signTransaction({ ...next, terms }));
    await world.execute(next);
  });

  test('is executed as soon as the logs are shown again', async () => {
    expect(await signerAt(0).confirmOutcome(ref)).toEqual({ outcome: null });
    expect(await world.signer.confirmOutcome(ref)).toEqual({ outcome: 'executed' });
    expect(outcomesOf(world.journal, [ref])).toEqual(['executed']);
    expect(await world.authorization(ref)).toMatchObject({
      outcome: 'executed',
      used_at: null,
      block_at: expect.any(Date),
    });
    expect(await signerAt(0).confirmOutcome(ref)).toEqual({ outcome: 'executed' });
  });

  test('is undecided again where its nonce is not used any more', async () => {
    const other = await payment(account, await hourly());
    await world.sign(other);
    await world.mine();
    const before = await rpc<Hex>(world.url, 'evm_snapshot', []);
    await sendNewest(other);
    expect(await signerAt(0).confirmOutcome(other)).toEqual({ outcome: null });
    expect(world.journal.outcomeOf(other.transactionId)).toHaveProperty('usedAt');
    await rpc(world.url, 'evm_revert', [before]);
    await world.mine(5);
    expect(await signerAt(0).confirmOutcome(other)).toEqual({ outcome: null });
    expect(world.journal.outcomeOf(other.transactionId)).not.toHaveProperty('usedAt');
    expect(await world.authorization(other)).toMatchObject({ used_at: null, counted_from: Infinity });
    expect(await world.execute(other)).toMatchObject({ outcome: { kind: 'executed' } });
  });
});

test('that are asked for of ids that there are not are not remembered', async () => {
  const context = world.signerContext();
  const { confirmOutcome } = activitiesOf(context);
  for (let i = 0; i < 20; i += 1) {
    const asked = { organizationId: world.org.id, transactionId: `txn_none${i}` };
    expect(await confirmOutcome(asked)).toMatchObject({ unreachable: expect.stringContaining('not found') });
  }
  expect(context.lastLooks.size).toBe(0);
});

itDeep(
  'more than a hundred that cannot be read do not keep newer ones from being read for a budget',
  async () => {
    const OLD = 101;
    const policyId = await hourly(String(OLD * 5 + 9));
    const account = await world.account();
    const old: TransactionRef[] = [];
    for (let i = 0; i < OLD; i += 1) {
      const ref = await payment(account, policyId);
      await world.sign(ref);
      old.push(ref);
    }
    // Nothing of them can be read: their rows are not what was authorized.
    await world.db('chain_attempts').where({ account_id: account.id }).update({ data: '0x00' });
    const other = await world.account();
    const newer = await payment(other, policyId);
    await world.sign(newer);
    await world.requestCancellation(newer);
    const context: SignerContext = world.signerContext();
    const signer = activitiesOf(context);
    const seen = await world.prepare(newer, true);
    if (seen.kind !== 'needsEnvelope') throw new Error(JSON.stringify(seen));
    envelopeOf(await signer.signCancellation({ ...newer, terms: seen.terms }));
    await sendNewest(newer);
    const next = await payment(other, policyId);
    const terms = { ...(await world.terms(await payment(await world.account()))), accountNonce: '1' };
    const answers: object[] = [];
    // Those that were looked up longest ago come first: another look reaches it.
    while (answers.length < 2 && !answers.some((answer) => 'envelopeId' in answer)) {
      answers.push(await signer.signTransaction({ ...next, terms }));
    }
    expect(answers.at(-1)).toEqual({ envelopeId: expect.any(String) });
    expect(outcomesOf(world.journal, [newer])).toEqual(['cancelled']);
  },
);

/** Sends the newest of what is signed for a transaction, as anybody can. */
async function sendNewest(ref: TransactionRef): Promise<void> {
  const envelope = requireRow((await world.envelopes(ref)).at(-1));
  const { to, data } = parseTransaction(envelope.raw_transaction as Hex);
  await sendAsFunder(world.url, { to: to as Address, data: data as Hex });
  await world.mine(2);
}
