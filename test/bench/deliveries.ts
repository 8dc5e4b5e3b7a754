import { once } from 'node:events';
import { Agent, createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { appendAudit } from '../../src/db/audit';
import { createDatabase } from '../../src/db/database';
import { OPERATOR } from '../../src/domain/actor';
import { HttpsConnection, requestBytes } from './connection';
import { type Figure, figure } from './figures';
import { many } from './measure';
import { type BenchOrganization, makeOrganization } from './organization';
import type { BenchStack } from './stack';

const COUNT = 100;
const RECEIVERS = 20;
/** Of all organizations together. */
const EVENTS_PER_SECOND = 1_000;
const SECONDS = 10;

/** Receives webhooks: calls `take` with the age of each event, in ms by the clock of this machine. */
async function receive(
  { ca, certificateKey }: BenchStack,
  take: (event: { type: string; occurredAt: string }, ageMs: number) => void,
) {
  const server = createServer({ cert: ca, key: certificateKey }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.writeHead(204).end();
    const event = JSON.parse(Buffer.concat(chunks).toString());
    take(event, Date.now() - Date.parse(event.occurredAt));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => server.closeAllConnections(),
  };
}

async function sendAll(stack: BenchStack, requests: readonly Buffer[], everyMs: number): Promise<void> {
  const connection = await HttpsConnection.open(stack.httpsPort, stack.ca);
  try {
    for (const request of requests) {
      const { status, body } = await connection.sendAgain(request);
      if (status >= 300) throw new Error(`answered ${status}: ${body}`);
      await sleep(everyMs);
    }
  } finally {
    connection.close();
  }
}

const proposing = ({ key }: BenchOrganization, count: number) =>
  many(count, (n) =>
    requestBytes({
      key,
      path: '/api/v1/accounts/proposals/create',
      body: { items: [{ name: `T ${n} ${Math.random()}`, networkIds: [31_337] }] },
    }),
  );

const hooking = ({ key }: BenchOrganization, url: string) =>
  requestBytes({ key, path: '/api/v1/webhooks', body: { url } });

/** The ages of events at the end of the feed, as somebody gets them who waits for each. */
async function waitForFeed(
  stack: BenchStack,
  { key }: BenchOrganization,
  isOver: () => boolean,
): Promise<number[]> {
  const connection = await HttpsConnection.open(stack.httpsPort, stack.ca);
  const ages: number[] = [];
  try {
    for (let after = 'latest'; !isOver(); ) {
      const request = requestBytes({ key, path: `/api/v1/events?wait=5&after=${after}` });
      const { data, pagination } = JSON.parse((await connection.sendAgain(request)).body);
      for (const { occurredAt } of data) ages.push(Date.now() - Date.parse(occurredAt));
      after = pagination.cursor;
    }
  } finally {
    connection.close();
  }
  return ages;
}

/** From the commit of a proposal to the feed, and to the first attempt. */
async function measureLatency(
  stack: BenchStack,
  name: string,
  load: (isOver: () => boolean) => Promise<unknown>,
): Promise<Figure[]> {
  const organization = await makeOrganization(stack);
  const ages: number[] = [];
  const receiver = await receive(stack, ({ type }, age) => {
    if (type === 'proposal.created') ages.push(age);
  });
  await sendAll(stack, [hooking(organization, receiver.url)], 2_000);
  let isOver = false;
  const loading = load(() => isOver);
  const followed = waitForFeed(stack, organization, () => isOver);
  await sendAll(stack, proposing(organization, COUNT), 150);
  isOver = true;
  const fed = await followed;
  await loading;
  await sleep(2_000);
  receiver.close();
  if (ages.length < COUNT) throw new Error(`${COUNT - ages.length} events were not sent`);
  return [
    figure(`commit to first attempt, ${name}`, 'ms', ages),
    figure(`commit to feed (wait), ${name}`, 'ms', fed),
  ];
}

/** Requests of another organization, 100 a second. */
async function underLoad(stack: BenchStack, isOver: () => boolean): Promise<void> {
  const other = await makeOrganization(stack);
  const get = requestBytes({ key: other.key, path: '/api/v1/members' });
  await Promise.all(
    many(10, async () => {
      while (!isOver()) await sendAll(stack, [get, get, get, get, get], 100);
    }),
  );
}

/** What comes of one tick: how many events each of the webhooks gets in it. */
const PER_TICK = EVENTS_PER_SECOND / RECEIVERS / 10;

/** Does something ten times a second, for SECONDS; later where it takes longer. */
async function tenTimesASecond(work: () => Promise<unknown>): Promise<void> {
  const beganAt = Date.now();
  for (let tick = 0; tick < SECONDS * 10; tick += 1) {
    const dueAt = beganAt + (tick + 1) * 100;
    await work();
    await sleep(Math.max(0, dueAt - Date.now()));
  }
}

/** The same POSTs without a service: as many senders, each one after the other, to the same receiver. */
async function measurePosts(stack: BenchStack): Promise<Figure> {
  const ages: number[] = [];
  const receiver = await receive(stack, (_, age) => ages.push(age));
  const agent = new Agent({ keepAlive: true, ca: stack.ca });
  const postOnce = (body: string) =>
    new Promise<void>((resolve, reject) => {
      const post = httpsRequest(receiver.url, { method: 'POST', agent }, (response) => {
        response.resume().on('end', resolve);
      });
      post.on('error', reject).end(body);
    });
  const queues = many(RECEIVERS, () => Promise.resolve());
  await tenTimesASecond(async () => {
    const body = JSON.stringify({ type: 'none', occurredAt: new Date(), filler: 'x'.repeat(600) });
    for (const [n, queue] of queues.entries()) {
      queues[n] = queue.then(async () => {
        for (let sent = 0; sent < PER_TICK; sent += 1) await postOnce(body);
      });
    }
  });
  await Promise.all(queues);
  receiver.close();
  agent.destroy();
  return figure('floor: age of the same POSTs, without a service', 'ms', ages);
}

/** Events of 20 organizations, written into their logs, each to a webhook of its own. */
export async function measureManyDeliveries(stack: BenchStack): Promise<Figure[]> {
  const db = createDatabase(stack.databaseUrl, { poolMax: 4 });
  const early: number[] = [];
  const late: number[] = [];
  let received = 0;
  let beganAt = Number.POSITIVE_INFINITY;
  const receiver = await receive(stack, ({ type }, age) => {
    if (type !== 'member.registered') return;
    received += 1;
    const second = (Date.now() - beganAt) / 1_000;
    (second < SECONDS / 2 ? early : late).push(age);
  });
  try {
    const organizations: BenchOrganization[] = [];
    for (let n = 0; n < RECEIVERS; n += 1) organizations.push(await makeOrganization(stack));
    for (const organization of organizations) await sendAll(stack, [hooking(organization, receiver.url)], 0);
    await sleep(3_000);
    const usedBefore = stack.processorMs();
    beganAt = Date.now();
    const entry = {
      action: 'member.registered' as const,
      actor: OPERATOR,
      resourceType: 'member',
      resourceId: 'mem_',
      details: {},
    };
    const entries = many(PER_TICK, () => entry);
    await tenTimesASecond(() =>
      Promise.all(organizations.map(({ id }) => db.transaction((tx) => appendAudit(tx, id, entries)))),
    );
    const wroteMs = Date.now() - beganAt;
    const total = EVENTS_PER_SECOND * SECONDS;
    for (let n = 0; n < 600 && received < total; n += 1) await sleep(100);
    if (received < total) throw new Error(`${total - received} events were not sent`);
    const rate = total / ((Date.now() - beganAt) / 1_000);
    const used = [...stack.processorMs()].map(([part, ms]): [string, number] => [
      part,
      (ms - (usedBefore.get(part) ?? 0)) / total,
    ]);
    return [
      figure(`events a second written, ${RECEIVERS} webhooks`, '/s', [total / (wroteMs / 1_000)]),
      figure(`events a second sent, ${RECEIVERS} webhooks`, '/s', [rate]),
      figure('age at the first attempt, first half', 'ms', early),
      figure('age at the first attempt, second half', 'ms', late),
      // Whatever else the machine does: 1,000 events a second on two cores need less than 2 ms each.
      ...used.map(([part, ms]) => figure(`processor time of ${part} for an event`, 'ms', [ms])),
      await measurePosts(stack),
    ];
  } finally {
    receiver.close();
    await db.destroy();
  }
}

/** How soon events are sent, alone and beside other requests. */
export async function measureDeliveries(stack: BenchStack): Promise<Figure[]> {
  return [
    ...(await measureLatency(stack, 'alone', async () => undefined)),
    ...(await measureLatency(stack, 'beside 100 requests a second', (isOver) => underLoad(stack, isOver))),
  ];
}
