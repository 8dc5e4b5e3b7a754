import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Hex } from 'viem';
import { json, words } from '../cli/command';
import type { Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { type ReplicatedPostgres, startReplicatedPostgres } from '../support/failover';
import type { Answer, Ask } from '../support/http';
import { makePayingOrganization, paymentChain } from '../support/payingOrganization';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { databaseSettings, serviceSettings, type TestOrganization } from '../support/service';
import { aTransactionBody, signatureBody, TRANSACTIONS, transactionPath } from '../support/transactionApi';
import { until } from '../support/until';

const LIMIT_MS = 600_000;
const CLIENTS = 4;

let postgres: ReplicatedPostgres;
let service: ServiceProcess;
let org: TestOrganization;
let account: Shown;
let policy: Shown;
let isOver: boolean;
let requests: number;

/** A payment of one wei, as the program that asks for it remembers it. */
interface Payment {
  readonly to: Hex;
  /** Every attempt to ask for it has this idempotency key. */
  readonly idempotencyKey: string;
  /** Set by an answer of success. */
  id?: string;
}

let payments: Payment[];

/** Sends a request until it is answered, with one idempotency key, as a program does. */
function sendUntilAnswered(ask: Ask): Promise<Answer> {
  const repeatable = { idempotencyKey: randomUUID(), ...ask };
  return until(
    `${ask.path} is answered`,
    async () => {
      requests += 1;
      const answer = await service.http.send(repeatable).catch(() => undefined);
      return answer !== undefined && answer.status < 500 && answer.status !== 429 && answer;
    },
    LIMIT_MS,
  );
}

/** Asks for a payment, or asks again. Its record may have another id where a failover has lost the first one. */
async function ask(payment: Payment): Promise<void> {
  const { to, idempotencyKey } = payment;
  const body = aTransactionBody(org, { account, policy, to });
  const created = await sendUntilAnswered({ key: org.readKey, path: TRANSACTIONS, body, idempotencyKey });
  if (created.status !== 201 && created.status !== 200) throw new Error(created.text);
  const transaction = created.body.data;
  payment.id = transaction.id;
  if (transaction.executionStatus !== null) return;
  const signed = await sendUntilAnswered({
    key: org.readKey,
    path: transactionPath(transaction.id, '/signatures'),
    body: await signatureBody(transaction, org.dave, 'initiator', { execute: true }),
  });
  // Lost with the old primary: it is asked for again at the end.
  if (![200, 404, 409].includes(signed.status)) throw new Error(signed.text);
}

/** Pays one after the other until the drill is over. */
async function keepPaying(): Promise<void> {
  while (!isOver) {
    const payment: Payment = { to: anAddress() as Hex, idempotencyKey: randomUUID() };
    payments.push(payment);
    await ask(payment);
  }
}

function isKnown({ id }: Payment): Promise<boolean> {
  return service.http
    .send({ key: org.readKey, path: transactionPath(id ?? '') })
    .then(({ status }) => status === 200);
}

async function start(isSynchronous: boolean): Promise<void> {
  postgres = await startReplicatedPostgres({ isSynchronous });
  const settings = await serviceSettings({
    database: databaseSettings(postgres.served),
    env: { RECONCILE_EVERY: '2s' },
  });
  service = await startServiceProcess(settings, { roles: ['api', 'worker', 'chain', 'signer'] });
  const made = await makePayingOrganization(service);
  ({ org, account } = made);
  policy = made.policies.auto;
  payments = [];
  requests = 0;
  isOver = false;
}

/** Waits until so many payments have been accepted. */
function accepted(count: number): Promise<unknown> {
  return until(
    `${count} payments are accepted`,
    async () => payments.filter(({ id }) => id !== undefined).length >= count,
    LIMIT_MS,
  );
}

/** Asks once more for all, and expects each to be paid once. */
async function expectPaidOnce(): Promise<number> {
  for (const payment of payments) await ask(payment);
  const { client } = paymentChain(service);
  const balances = () => Promise.all(payments.map(({ to }) => client.getBalance({ address: to })));
  await until('all are paid', async () => (await balances()).every((wei) => wei > 0n), LIMIT_MS);
  const doubled = (await balances()).filter((wei) => wei > 1n).length;
  expect(doubled).toBe(0);
  return doubled;
}

afterEach(async () => {
  isOver = true;
  await service?.stop();
  await postgres?.stop();
});

test.each(['synchronous', 'asynchronous'])(
  'a failover to a standby that is %s, under load: counted, nothing is paid twice',
  async (mode) => {
    const isSynchronous = mode === 'synchronous';
    await start(isSynchronous);
    const load = Promise.all(Array.from({ length: CLIENTS }, keepPaying));
    await accepted(8);
    if (!isSynchronous) {
      await postgres.fallBehind();
      await accepted(payments.length + 4);
    }
    const before = payments.filter(({ id }) => id !== undefined).map((payment) => ({ ...payment }));
    const failed = performance.now();
    await postgres.failOver();
    if (!isSynchronous) {
      await service.stop();
      await json(service.env, 'signer', 'reconcile-restore', '--write');
      await service.start();
    }
    const known = await until(
      'a payment that was accepted is answered',
      async () => (await service.http.send({ key: org.readKey, path: TRANSACTIONS })).status === 200,
      LIMIT_MS,
    );
    expect(known).toBe(true);
    const seconds = (performance.now() - failed) / 1_000;
    const lost = (await Promise.all(before.map(isKnown))).filter((one) => !one).length;
    if (isSynchronous) expect(lost).toBe(0);
    await accepted(payments.filter(({ id }) => id !== undefined).length + 4);
    isOver = true;
    await load;
    const doubled = await expectPaidOnce();
    await words(service.env, 'audit', 'verify');
    console.info(
      `${mode}: ${requests} requests, ${payments.length} payments, ${lost} lost, ${doubled} paid twice, ${seconds.toFixed(1)} s until it answers`,
    );
  },
  LIMIT_MS,
);
