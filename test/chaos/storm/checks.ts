import type { Address } from 'viem';
import { verifyAudit } from '../../../src/db/audit';
import type { Db } from '../../../src/db/database';
import { command } from '../../cli/command';
import { read, type Shown } from '../../support/api';
import type { TestService } from '../../support/service';
import { transactionPath } from '../../support/transactionApi';
import { until } from '../../support/until';
import { payoutsOf } from '../spending';
import type { Load, PaymentWork } from './load';
import type { Payer, StormWorld } from './world';

/** What counts against a policy now, in wei: reserved and committed. */
async function countedAgainst(db: Db, policyId: string): Promise<bigint> {
  const amounts: string[] = await db('policy_usage')
    .where({ policy_id: policyId })
    .whereIn('status', ['reserved', 'committed'])
    .pluck('amount');
  return amounts.reduce((sum, amount) => sum + BigInt(amount), 0n);
}

/** The organizations whose narrow policy lets out more than its budget. */
export async function budgetFaults({ payers, api, options }: StormWorld): Promise<string[]> {
  const faults: string[] = [];
  for (const { org, narrow } of payers) {
    const counted = await countedAgainst(api.db, narrow.id);
    if (counted > options.budget) faults.push(`${org.id}: ${counted} wei of ${options.budget}`);
  }
  return faults;
}

function shownPayment({ api }: StormWorld, { payer, id = '' }: PaymentWork): Promise<Shown> {
  return read(api.http, payer.org.readKey, transactionPath(id));
}

/** Every payment is completed, or was refused by the budget; also those that a chain had lost in between. */
async function expectOutcomes(world: StormWorld, load: Load): Promise<void> {
  for (const payment of load.payments) {
    const { executionStatus, failure } = await shownPayment(world, payment);
    payment.outcome = executionStatus;
    if (executionStatus === 'completed') continue;
    if (executionStatus === 'blocked' && payment.narrow && failure.code === 'budget') continue;
    throw new Error(JSON.stringify({ id: payment.id, executionStatus, failure }));
  }
}

/** Each completed payment has one effect, for which there is one authorization; there are no others. */
async function expectOneEffectEach(world: StormWorld, load: Load, payer: Payer): Promise<void> {
  const { networks } = world.api.config;
  for (const network of networks) {
    const completed = load.payments.filter(
      (one) => one.payer === payer && one.networkId === network.id && one.outcome === 'completed',
    );
    const payouts = await payoutsOf(network, payer.account.address as Address);
    expect(payouts.map(({ to }) => to.toLowerCase()).sort()).toEqual(
      completed.map(({ to }) => to.toLowerCase()).sort(),
    );
    expect(payouts.filter(({ value }) => value !== 1n)).toEqual([]);
    const authorized = await world.api
      .db('authorizations')
      .where({ account_id: payer.account.id, network_id: BigInt(network.id) })
      .whereNotNull('safe_tx_hash')
      .pluck('safe_tx_hash');
    expect(payouts.map(({ safeTxHash }) => safeTxHash).sort()).toEqual(authorized.sort());
  }
}

/** The narrow policy has let out its whole budget where enough was asked for, and never more. */
function expectBudget({ options }: StormWorld, load: Load, payer: Payer): void {
  const asked = load.payments.filter((one) => one.payer === payer && one.narrow);
  const paid = BigInt(asked.filter(({ outcome }) => outcome === 'completed').length);
  const all = BigInt(asked.length);
  expect(paid).toBe(all < options.budget ? all : options.budget);
}

async function expectGroups({ api }: StormWorld, load: Load, payer: Payer): Promise<void> {
  const groups = await read(api.http, payer.org.readKey, '/api/v1/groups');
  const names = groups.map(({ name }: Shown) => name);
  const wanted = load.groups.filter((one) => one.payer === payer).map(({ name }) => name);
  expect(names.sort()).toEqual(wanted.sort());
}

/** Each request that was acknowledged gets the same answer again, byte by byte. Returns how many were repeated. */
async function expectSameAnswers({ apis }: StormWorld, load: Load): Promise<number> {
  const asked = [...load.payments, ...load.groups].flatMap((work) => work.asked);
  for (const [index, { ask, answer }] of asked.entries()) {
    const { http } = apis[index % apis.length] as TestService;
    const again = await http.send(ask);
    expect([ask.path, again.status, again.text]).toEqual([ask.path, answer.status, answer.text]);
    expect(again.headers['idempotency-replayed']).toBe('true');
  }
  return asked.length;
}

/** Every event of an organization since its webhook was made was taken by the receiver, in order, each naming the one before it. */
async function expectEveryEvent({ api }: StormWorld, { org, receiver, webhookId }: Payer): Promise<void> {
  const path = `/api/v1/webhooks/${webhookId}`;
  await receiver.heal();
  // What is enabled is tried at once, and not after its pause.
  for (const enabled of [false, true]) {
    await api.http.send({ key: org.adminKey, method: 'PATCH', path, body: { enabled } });
  }
  await until('the webhook has every event', async () => {
    const { position, status } = await read(api.http, org.adminKey, path);
    const ask = { key: org.readKey, path: '/api/v1/events?after=latest' };
    const [head, hash] = (await api.http.send(ask)).body.pagination.cursor.split('-');
    if (position !== head) throw new Error(`it is ${status} at ${position} of ${head}`);
    return receiver.taken.at(-1)?.hash === hash;
  });
  const { taken, seen } = receiver;
  const links = taken.map(({ previousHash }, n) => (n === 0 ? previousHash : taken[n - 1]?.hash));
  expect(taken.map(({ previousHash }) => previousHash)).toEqual(links);
  const first = Number(taken[0]?.position);
  expect(taken.map(({ position }) => Number(position))).toEqual(taken.map((_, n) => first + n));
  expect(seen).toEqual(taken.map(({ position }) => BigInt(position)));
}

/** `doctor` finds nothing wrong. It runs with the settings of a process that has every role. */
async function expectSoundDoctor({ api }: StormWorld): Promise<void> {
  await until('doctor finds nothing wrong', async () => {
    const { stdout } = await command({ ...api.env, ORGWALLET_ROLES: undefined }, 'doctor', '--json');
    const bad = JSON.parse(stdout).filter(({ status }: { status: string }) => status === 'fail');
    if (bad.length > 0) throw new Error(JSON.stringify(bad));
    return true;
  });
}

/** Everything that must hold once all parts run again. */
export async function expectNothingLost(world: StormWorld, load: Load): Promise<number> {
  expect(load.errors).toEqual([]);
  // What a chain has lost is completed until somebody has noticed.
  await until('every payment has its outcome and one effect', async () => {
    await expectOutcomes(world, load);
    for (const payer of world.payers) await expectOneEffectEach(world, load, payer);
    return true;
  });
  for (const payer of world.payers) {
    expectBudget(world, load, payer);
    await expectGroups(world, load, payer);
    await expectEveryEvent(world, payer);
    expect(await verifyAudit(world.api.db, payer.org.id)).toMatchObject({ ok: true });
  }
  expect(await budgetFaults(world)).toEqual([]);
  await expectSoundDoctor(world);
  return expectSameAnswers(world, load);
}
