import { setTimeout as sleep } from 'node:timers/promises';
import { safeTransactionHash } from '../../src/chain/safeTransaction';
import { createDatabase, type Db } from '../../src/db/database';
import type { TransactionRef } from '../../src/domain/transaction';
import type { JournalEntry } from '../../src/signer/journal/entries';
import { insertAttempt, insertSignature } from '../../src/signer/store/signedAttempts';
import { type HostilePostgres, type Interference, startHostilePostgres } from '../support/hostilePostgres';
import { aTransferPolicy } from '../support/transactions';
import { GatedPayments } from './gatedPayments';
import { ETHER, TransactionWorld } from './transactionWorld';

/** What is committed and not in the journal yet, while something else is checked; and links that no signature proves. */

let world: TransactionWorld;
let proxy: HostilePostgres;
let db: Db;

beforeAll(async () => {
  world = await TransactionWorld.start(41_902);
  proxy = await startHostilePostgres(world.database.signerUrl);
  db = createDatabase(proxy.url, { poolMax: 4 });
  world.signer = world.signerWith({ db });
});
afterAll(async () => {
  proxy?.interfere({});
  await db?.destroy();
  proxy?.close();
  await world?.stop();
});
afterEach(() => proxy.interfere({}));

/** Says that a transaction replaces another one than it does. */
const relinking = ({ transactionId }: TransactionRef, replaces: string | null): Interference => ({
  after(_, { columns, rows }) {
    const at = (name: string) => columns.findIndex((column) => column.name === name);
    for (const row of at('replaces') < 0 ? [] : rows) {
      if (row[at('id')] === transactionId) row[at('replaces')] = replaces;
    }
    return undefined;
  },
});

/** Says that nothing of a budget is used. */
const UNDERSTATING: Interference = {
  after(_, answer) {
    const names = answer.columns.map(({ name }) => name);
    if (!names.includes('amount') || !names.includes('executions')) return undefined;
    answer.rows = answer.rows.map((row) =>
      row.map((value, at) => (['amount', 'executions'].includes(names[at] ?? '') ? '0' : value)),
    );
    return undefined;
  },
};

/**
 * Has the signer commit the authorization of what replaces a transaction that was never authorized, and holds the rows back
 * that it reads then for the journal, while `work` runs.
 */
async function heldBack<T>(
  { transactionId }: TransactionRef,
  sign: () => Promise<T>,
  work: () => Promise<T>,
): Promise<T[]> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld = false;
  let hold = () => {};
  const held = new Promise<void>((resolve) => {
    hold = resolve;
  });
  proxy.interfere({
    async after({ text, parameters }) {
      if (isHeld || !text.includes('jsonb_build_object') || !parameters.includes(transactionId))
        return undefined;
      isHeld = true;
      hold();
      await released;
      return undefined;
    },
  });
  const one = sign();
  await held;
  try {
    // A signer that waits for the first one is right as well.
    const waits = sleep(5_000, undefined);
    const two = await Promise.race([work(), waits]);
    return two === undefined ? [] : [two];
  } finally {
    release();
    await one;
  }
}

test('of two that replace one transaction, one is executed, while the rows for the journal are held back', async () => {
  const payments = await GatedPayments.open(world);
  const first = await payments.askUnsigned();
  const second = await payments.ask({ replaces: first.transactionId });
  const third = await payments.ask({ replaces: first.transactionId });
  const terms = await payments.terms();
  await heldBack(
    first,
    () => world.signer.signTransaction({ ...second, terms }),
    () => {
      // Another beginning of the chain: another lock.
      proxy.interfere(relinking(first, 'txn_00000000000000000000000000'));
      return world.signer.signTransaction({ ...third, terms });
    },
  );
  await payments.sendAll(second, third);
  expect(await payments.paid()).toBe(1);
});

test('a budget is not exceeded while the rows for the journal are held back', async () => {
  const all = 'ALL_ITEMS' as const;
  const { id, ...limited } = aTransferPolicy(
    { amountThreshold: String((ETHER * 15n) / 100n) },
    { limitation: { hours: 24, initiatorScope: all, sourceAccountScope: all, destinationScope: all } },
  );
  const policyId = await world.policy({ ...limited, networkId: world.network.id });
  // 0.1 ETH each, of at most 0.15.
  const payments = await GatedPayments.open(world);
  const first = await payments.askUnsigned({ policyId });
  const second = await payments.ask({ policyId, replaces: first.transactionId });
  const third = await payments.ask({ policyId });
  const terms = await payments.terms();
  await heldBack(
    first,
    () => world.signer.signTransaction({ ...second, terms }),
    () => {
      proxy.interfere(UNDERSTATING);
      return world.signer.signTransaction({ ...third, terms });
    },
  );
  await payments.sendAll(second, third);
  expect(await payments.paid()).toBe(1);
});

test('a payment is executed once, whatever the database says that a replaced one has replaced', async () => {
  const payments = await GatedPayments.open(world);
  const root = await payments.ask();
  expect(await payments.sign(root)).toEqual({ envelopeId: expect.any(String) });
  // Held, and never authorized; then asked for once more.
  const second = await payments.askUnsigned({ replaces: root.transactionId });
  const third = await payments.ask({ replaces: second.transactionId });
  expect(await payments.sign(third)).toEqual({ held: expect.stringContaining('has not read yet') });
  proxy.interfere(relinking(second, null));
  await payments.sign(third);
  await payments.sendAll(root, third);
  expect(await payments.paid()).toBe(1);
});

test('a budget is not exceeded while the disk flushes the journal', async () => {
  const all = 'ALL_ITEMS' as const;
  const { id, ...limited } = aTransferPolicy(
    { amountThreshold: String((ETHER * 15n) / 100n) },
    { limitation: { hours: 24, initiatorScope: all, sourceAccountScope: all, destinationScope: all } },
  );
  const policyId = await world.policy({ ...limited, networkId: world.network.id });
  const payments = await GatedPayments.open(world);
  const both = [await payments.ask({ policyId }), await payments.ask({ policyId })];
  const terms = await payments.terms();
  const slow = new Proxy(world.journal, {
    get(journal, name) {
      const value = Reflect.get(journal, name);
      if (name !== 'append') return typeof value === 'function' ? value.bind(journal) : value;
      return async (...entries: readonly JournalEntry[]) => {
        await sleep(300);
        return journal.append(...entries);
      };
    },
  });
  const signer = world.signerWith({ db, journal: slow });
  proxy.interfere(UNDERSTATING);
  await Promise.all(both.map((ref) => signer.signTransaction({ ...ref, terms })));
  await payments.sendAll(...both, ...both);
  expect(await payments.paid()).toBe(1);
});

test('a signature for another network explains no nonce: the account is not left behind a gap for ever', async () => {
  const payments = await GatedPayments.open(world);
  const { account } = payments;
  const networkId = world.network.id + 1;
  const elsewhere = await payments.askUnsigned();
  const ref = await payments.ask();
  const terms = await payments.terms();
  // What the account has signed at its first nonce on another network, where it is at the same address.
  const content = {
    networkId,
    account: account.address,
    to: payments.payee,
    value: 1n,
    data: '0x',
    safeTxGas: 100_000n,
    nonce: 0n,
  } as const;
  const safeTxHash = safeTransactionHash(content);
  const signature = await world.keystore.organizationKey(world.org.id).sign({ hash: safeTxHash });
  await world.db.transaction(async (tx) => {
    const attemptId = await insertAttempt(tx, {
      kind: 'transaction',
      ...elsewhere,
      accountId: account.id,
      networkId: world.network.id,
      to: content.to,
      value: content.value,
      data: content.data,
      safeNonce: content.nonce,
      safeTxGas: content.safeTxGas,
      safeTxHash,
      fromBlock: 0n,
    });
    await insertSignature(tx, attemptId, signature, undefined);
  });
  proxy.interfere({
    after({ text }, { columns, rows }) {
      const at = (name: string) => columns.findIndex((column) => column.name === name);
      for (const row of rows) {
        if (at('follows_undecided') >= 0) row[at('follows_undecided')] = 'f';
        if (!text.includes('chain_signatures') || at('network_id') < 0) continue;
        if (row[at('transaction_id')] === elsewhere.transactionId) row[at('network_id')] = String(networkId);
      }
      return undefined;
    },
  });
  const answer = await world.signer.signTransaction({ ...ref, terms });
  expect(world.journal.authorizationOf(ref.transactionId)?.safeNonce ?? 'none').toBe('none');
  expect(answer).toEqual({ held: expect.any(String) });
});
