import type { Address, Hex } from 'viem';
import type { TransactionRef } from '../../src/domain/transaction';
import type { SigningResult } from '../../src/signer/refusal';
import { anAddress } from '../support/builders';
import { timeText } from '../support/falsified';
import type { Answer } from '../support/hostilePostgres';
import { BUDGET, HostileWorld, MAX_GAS, type PayingAccount, STOLEN, THIEF } from './hostileWorld';
import { type Approved, cancellationHash, safeTxHash } from './signedOracle';

/** What the shop is to get, in wei. */
const PRICE = BUDGET;

type Payment = Approved & TransactionRef;

let hostile: HostileWorld;
let triggers = 0;

beforeAll(async () => {
  hostile = await HostileWorld.start(41_092);
});
afterAll(() => hostile?.stop());

/** Assigns SQL to columns of rows before they are stored, while `work` runs. */
async function rewriting<T>(
  changes: readonly { table: string; when: string; set: Readonly<Record<string, string>> }[],
  work: () => Promise<T>,
): Promise<T> {
  const { db } = hostile.world;
  const made = changes.map((change) => {
    triggers += 1;
    return { ...change, name: `rewrite_${triggers}` };
  });
  for (const { name, table, when, set } of made) {
    const assignments = Object.entries(set).map(([column, sql]) => `NEW.${column} := ${sql};`);
    await db.raw(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $body$
      BEGIN ${assignments.join(' ')} RETURN NEW; END $body$`);
    await db.raw(`CREATE TRIGGER ${name} BEFORE INSERT ON ${table}
      FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION ${name}()`);
  }
  try {
    return await work();
  } finally {
    for (const { name } of made) await db.raw(`DROP FUNCTION ${name}() CASCADE`);
  }
}

/** What the owner of the tables does to stored rows, past the triggers that keep them. */
async function owning(table: string, work: string, bindings: readonly string[]): Promise<void> {
  await hostile.world.db.transaction(async (tx) => {
    await tx.raw(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
    const { rowCount } = await tx.raw(work, [...bindings]);
    expect(rowCount).toBeGreaterThan(0);
    await tx.raw(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
  });
}

function pay(account: PayingAccount, value = PRICE): Promise<Payment> {
  return hostile.payment(account, { to: anAddress() as Address, value, isApproved: true });
}

/** What the signer answers, whichever way it refuses; undefined where it fails. */
async function answered(asked: Promise<SigningResult>): Promise<SigningResult | undefined> {
  const answer = await asked.catch(() => undefined);
  if (answer) expect(['envelopeId', 'held', 'refused', 'unreachable']).toContain(Object.keys(answer)[0]);
  return answer;
}

function sign({ organizationId, transactionId }: Payment, change = {}) {
  const terms = { ...hostile.terms(), ...change };
  return answered(hostile.signer.signTransaction({ organizationId, transactionId, terms }));
}

/** Carries a payment to its chain, as its workflow does. */
async function execute({ organizationId, transactionId }: Payment): Promise<void> {
  const { world, signer } = hostile;
  const ref = { organizationId, transactionId };
  const seen = await world.prepare(ref);
  if (seen.kind !== 'needsEnvelope') throw new Error(`it is ${JSON.stringify(seen)}`);
  const answer = await answered(signer.signTransaction({ ...ref, terms: seen.terms }));
  if (answer && 'envelopeId' in answer) await world.followToEnd(ref, answer.envelopeId);
}

/** The hash that fits a content that was changed, at the first nonce of an account. */
function hashWith(of: Approved, change: Partial<Approved>, nonce = 0n): Hex {
  const { to, value, data, safeTxGas } = { ...of, ...change };
  return safeTxHash({ ...of, ...change }, { to, value, data, safeTxGas }, nonce);
}

const quoted = (text: string | bigint | number) => `'${text}'`;

function whenOf({ transactionId }: Payment): string {
  return `NEW.transaction_id = '${transactionId}'`;
}

describe('a trigger of the owner', () => {
  const stolen = { to: THIEF, value: STOLEN, safeTxGas: 100_000n };

  it.each([false, true])(
    'that rewrites what is to be signed pays no thief (hidden in authorizations: %s)',
    async (isHidden) => {
      const account = await hostile.account();
      await hostile.deploy(account);
      const of = await pay(account);
      const { terms } = (await hostile.world.prepare(of)) as { terms: { safeTxGas: string } };
      const asked = { ...stolen, safeTxGas: BigInt(terms.safeTxGas) };
      hostile.oracle.approve({ ...of, safeTxGas: asked.safeTxGas });
      const hash = quoted(hashWith(of, asked));
      const set = {
        to_address: quoted(THIEF),
        value: quoted(STOLEN),
        safe_tx_gas: quoted(asked.safeTxGas),
        safe_tx_hash: hash,
      };
      const when = whenOf(of);
      const hiding = { table: 'authorizations', when, set: { safe_tx_hash: hash } };
      const changes = [{ table: 'chain_attempts', when, set }, ...(isHidden ? [hiding] : [])];
      const before = await hostile.world.balanceOf(THIEF);
      await rewriting(changes, () => execute(of));
      expect(await hostile.world.balanceOf(THIEF)).toBe(before);
      expect([0n, PRICE]).toContain(await hostile.world.balanceOf(of.to));
      await hostile.check();
    },
  );

  it.each([
    ['to_address', { to: THIEF }, quoted(THIEF)],
    ['value', { value: STOLEN }, quoted(STOLEN)],
    ['data', { data: '0xa9059cbb' }, quoted('0xa9059cbb')],
    ['safe_tx_gas', { safeTxGas: 1n }, '1'],
    ['network_id', { networkId: 41_093 }, '41093'],
  ] as const)(
    'that rewrites %s alone has nothing signed that was not approved',
    async (column, change, sql) => {
      const of = await pay(await hostile.account());
      const set = { [column]: sql, safe_tx_hash: quoted(hashWith(of, change)) };
      await rewriting([{ table: 'chain_attempts', when: whenOf(of), set }], () => sign(of));
      await hostile.check();
      await sign(of);
      await hostile.check();
    },
  );

  it('that puts it under another account, another transaction or another organization has it not signed so', async () => {
    const [account, other] = [await hostile.account(), await hostile.account()];
    const [of, another] = [await pay(account), await pay(other)];
    for (const set of [
      { account_id: quoted(other.id) },
      { account_id: quoted(other.id), safe_tx_hash: quoted(hashWith(of, { account: other.address })) },
      { transaction_id: quoted(another.transactionId) },
    ]) {
      await rewriting([{ table: 'chain_attempts', when: whenOf(of), set }], () => sign(of));
      await hostile.check();
    }
    for (const one of [of, another, of]) await sign(one);
    await hostile.check();
  });

  it('that lowers amounts, or moves them to another policy, raises no budget', async () => {
    const other = await hostile.account();
    for (const set of [
      { amount: '0' },
      { policy_id: quoted(other.policyId), account_id: quoted(other.id) },
      { destination: quoted(THIEF), initiator_id: quoted(hostile.world.org.alice.id) },
    ]) {
      const account = await hostile.account();
      const payments = [await pay(account, 3n), await pay(account, 3n)];
      for (const one of payments) {
        await rewriting([{ table: 'authorizations', when: whenOf(one), set }], () => sign(one));
        await hostile.check();
      }
    }
  });

  it('that rewrites what a relayer is to send has it not signed', async () => {
    const { network, keystore } = hostile.world;
    const otherId = network.id + 1;
    const otherRelayer = keystore.relayerKey(otherId, 0).address;
    for (const [table, set] of [
      ['relayer_reservations', { gas: quoted(MAX_GAS * 10n) }],
      ['relayer_reservations', { network_id: String(otherId), relayer_address: quoted(otherRelayer) }],
      ['relayer_reservations', { attempt_id: '1' }],
      ['chain_envelopes', { raw_transaction: quoted('0x02'), gas: '1' }],
      ['chain_signatures', { signature: quoted(`0x${'11'.repeat(65)}`) }],
    ] as const) {
      const of = await pay(await hostile.account());
      const sequence = async () => {
        await hostile.crashing('key', () => sign(of));
        await sign(of);
        await sign(of);
      };
      await rewriting([{ table, when: 'true', set }], sequence);
      await hostile.check();
    }
  });

  it('that rewrites a deployment has nothing else sent', async () => {
    const { network, keystore } = hostile.world;
    const otherId = network.id + 1;
    const elsewhere = {
      network_id: String(otherId),
      relayer_address: quoted(keystore.relayerKey(otherId, 0).address),
    };
    for (const [table, set] of [
      ['chain_attempts', { to_address: quoted(THIEF), data: quoted('0x'), value: quoted(STOLEN) }],
      ['relayer_reservations', { gas: quoted(MAX_GAS * 10n) }],
      ['relayer_reservations', elsewhere],
    ] as const) {
      const key = await hostile.deployment(await hostile.account());
      const deploy = () =>
        answered(hostile.signer.signDeployment({ ...key, terms: { ...hostile.terms(), gas: '400000' } }));
      await rewriting([{ table, when: 'true', set }], async () => {
        await hostile.crashing('key', deploy);
        await deploy();
      });
      await hostile.check();
    }
    const honest = await hostile.deployment(await hostile.account());
    const terms = { ...hostile.terms(), gas: '400000' };
    expect(await answered(hostile.signer.signDeployment({ ...honest, terms }))).toEqual({
      envelopeId: expect.any(String),
    });
    await hostile.check();
  });

  it('that moves a cancellation to another nonce cancels nothing else', async () => {
    const account = await hostile.account();
    const [first, second] = [await pay(account, 1n), await pay(account, 2n)];
    for (const one of [first, second]) expect(await sign(one)).toEqual({ envelopeId: expect.any(String) });
    await hostile.world.requestCancellation(first);
    first.isCancelling = true;
    const set = { safe_nonce: '1', safe_tx_hash: quoted(cancellationHash(second, 1n)) };
    const when = `${whenOf(first)} AND NEW.kind = 'cancellation'`;
    const { organizationId, transactionId } = first;
    const cancel = () =>
      answered(
        hostile.signer.signCancellation({ organizationId, transactionId, terms: hostile.terms(0n, 50_000n) }),
      );
    await rewriting([{ table: 'chain_attempts', when, set }], cancel);
    await hostile.check();
    await cancel();
    await hostile.check();
  });
});

describe('a stored row that the owner rewrites before it is signed', () => {
  it.each([
    ['to_address', { to: THIEF }, THIEF],
    ['value', { value: STOLEN }, String(STOLEN)],
    ['data', { data: '0xa9059cbb' }, '0xa9059cbb'],
    ['safe_tx_gas', { safeTxGas: 1n }, '1'],
  ] as const)(
    'has nothing signed that was not approved: %s, after a crash before and after the journal has it',
    async (column, change, stored) => {
      for (const crash of ['journal', 'key'] as const) {
        const of = await pay(await hostile.account());
        await hostile.crashing(crash, () => sign(of));
        await owning(
          'chain_attempts',
          `UPDATE chain_attempts SET ${column} = ?, safe_tx_hash = ? WHERE transaction_id = ?`,
          [stored, hashWith(of, change), of.transactionId],
        );
        await sign(of);
        await hostile.check();
      }
    },
  );

  it('has no relayer send it elsewhere, or for more than the ceilings', async () => {
    const { network, keystore } = hostile.world;
    const otherId = network.id + 1;
    for (const set of [
      `gas = ${MAX_GAS + 1n}`,
      `max_fee_per_gas = ${network.maxFeePerGas + 1n}, max_priority_fee_per_gas = ${network.maxFeePerGas + 1n}`,
      'relayer_nonce = 1000',
      `network_id = ${otherId}`,
      `network_id = ${otherId}, relayer_address = '${keystore.relayerKey(otherId, 0).address}'`,
    ]) {
      const of = await pay(await hostile.account());
      await hostile.crashing('key', () => sign(of));
      await owning(
        'relayer_reservations',
        `UPDATE relayer_reservations SET ${set} WHERE attempt_id IN (SELECT id FROM chain_attempts WHERE transaction_id = ?)`,
        [of.transactionId],
      );
      await sign(of);
      await hostile.check();
    }
  });
});

describe('an authorization that the owner deletes', () => {
  const OF_ATTEMPT = 'attempt_id IN (SELECT id FROM chain_attempts WHERE transaction_id = ?)';
  const TABLES = [
    ['chain_envelopes', OF_ATTEMPT],
    ['relayer_reservations', OF_ATTEMPT],
    ['chain_signatures', OF_ATTEMPT],
    ['chain_attempts', 'transaction_id = ?'],
    ['authorizations', 'transaction_id = ?'],
  ] as const;

  it.each([1, 5])('is not made a second time (with the last %s of its tables)', async (count) => {
    const account = await hostile.account();
    const of = await pay(account, 3n);
    expect(await sign(of)).toEqual({ envelopeId: expect.any(String) });
    for (const [table, where] of TABLES.slice(-count)) {
      await owning(table, `DELETE FROM ${table} WHERE ${where}`, [of.transactionId]);
    }
    await sign(of);
    await sign(of, { safeTxGas: '70000' });
    await sign(await pay(account, 3n));
    await hostile.check();
    hostile.forgetMemory();
    await sign(of);
    await hostile.check();
  });
});

describe('a commit that the server answers, and does not carry out', () => {
  /** Has the first commit, or the first few, be lost while `work` runs. */
  async function losing<T>(times: number, work: () => Promise<T>): Promise<T> {
    let left = times;
    hostile.proxy.interfere({
      before({ text }) {
        if (!/^\s*commit/i.test(text) || left === 0) return undefined;
        left -= 1;
        return 'lost';
      },
    });
    try {
      return await work();
    } finally {
      hostile.proxy.interfere({});
    }
  }

  it.each([1, 2])('has nothing signed twice, or at two nonces (%s lost)', async (times) => {
    const account = await hostile.account();
    const [first, second] = [await pay(account, 1n), await pay(account, 2n)];
    await losing(times, () => sign(first));
    await hostile.check();
    for (const one of [first, second, first]) {
      await sign(one, { safeTxGas: '70000' });
      await hostile.check();
    }
    hostile.forgetMemory();
    for (const one of [second, first]) await sign(one);
    await hostile.check();
  });

  it('leaves what was rejected rejected', async () => {
    const { world } = hostile;
    const { alice } = world.org;
    const account = await hostile.account();
    const of = await hostile.payment(account, {
      to: anAddress() as Address,
      value: PRICE,
      isApproved: 'rejected',
    });
    const { organizationId, transactionId } = of;
    const reject = () => hostile.signer.recordRejection({ organizationId, transactionId });
    const answer = await losing(1, () => reject().catch(() => undefined));
    // Its approver has signed both; who has the tables shows the other vote now.
    await world.db('votes').where({ approval_id: transactionId, type: 'reject' }).delete();
    await world.vote(of, alice, 'approve');
    await world.begin(of);
    of.isApproved = answer?.ok !== true;
    await sign(of);
    await hostile.check();
  });
});

describe('a budget', () => {
  /** Changes the answers that say how much of a budget is used, while `work` runs. */
  async function understating<T>(change: (answer: Answer) => void, work: () => Promise<T>): Promise<T> {
    hostile.proxy.interfere({
      after(_, answer) {
        const names = answer.columns.map(({ name }) => name);
        if (names.includes('amount') && names.includes('executions')) change(answer);
        return undefined;
      },
    });
    try {
      return await work();
    } finally {
      hostile.proxy.interfere({});
    }
  }

  /** Sets columns of every row. */
  function setting(values: Readonly<Record<string, string>>) {
    return (answer: Answer) => {
      answer.rows = answer.rows.map((row) =>
        row.map((value, index) => values[answer.columns[index]?.name ?? ''] ?? value),
      );
    };
  }

  const later = timeText(new Date(Date.now() + 30 * 86_400_000));

  it.each<[string, (answer: Answer) => void]>([
    ['has no row', (answer) => (answer.rows = [])],
    ['is nothing', setting({ amount: '0', executions: '0' })],
    ['is nothing in another month', setting({ amount: '0', executions: '0', at: later })],
  ])('is not exceeded where what is used of it %s', async (_, change) => {
    const account = await hostile.account();
    const [first, second] = [await pay(account, 3n), await pay(account, 3n)];
    expect(await sign(first)).toEqual({ envelopeId: expect.any(String) });
    await hostile.check();
    await understating(change, () => sign(second));
    await hostile.check();
    // What is executed counts for its hours.
    await hostile.deploy(account);
    for (const call of hostile.oracle.callsOf(first)) expect(await hostile.send(call)).toBe(true);
    await hostile.world.mine(2);
    const { organizationId, transactionId } = first;
    expect(await hostile.signer.confirmOutcome({ organizationId, transactionId })).toEqual({
      outcome: 'executed',
    });
    await understating(change, () => sign(second, { accountNonce: '1' }));
    await hostile.check();
  });
});
