/** @deep */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyWebhook, type WebhookEvent } from '@orgwallet/client';
import { deliveryWorkflowId } from '../../src/temporal/ids';
import { deliveryMessages } from '../../src/temporal/messages';
import { json, refused, words } from '../cli/command';
import { read, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { type Receiver, startReceiver } from '../support/receiver';
import { serviceSettings, startServicePart, type TestOrganization } from '../support/service';
import { startOwnTemporal } from '../support/stack';
import { describeDeep } from '../support/suite';
import { until } from '../support/until';
import { startWorld, type World } from './world';

const HOOKS = '/api/v1/webhooks';

let world: World;
let org: TestOrganization;
let receiver: Receiver;
/** Of a service of its own: the CLI is run with them. */
let settings: NodeJS.ProcessEnv;

beforeAll(async () => {
  world = await startWorld({ env: { RECONCILE_EVERY: '2s' } });
  settings = world.env;
});
beforeEach(async () => {
  org = await world.createOrganization();
  receiver = await startReceiver();
});
afterEach(() => receiver.close());
afterAll(() => world?.stop());

async function create(): Promise<string> {
  const body = { url: receiver.url };
  return (await world.http.send({ key: org.adminKey, path: HOOKS, body })).body.data.id;
}
const show = (id: string): Promise<Shown> => read(world.http, org.adminKey, `${HOOKS}/${id}`);
async function name(count = 1): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const body = { name: `N ${randomBytes(6).toString('hex')}`, address: anAddress() };
    await world.http.send({ key: org.adminKey, path: '/api/v1/address-book', body });
  }
}
const handleOf = (id: string) =>
  world.temporal.workflow.getHandle(deliveryWorkflowId({ organizationId: org.id, id }));
const reached = (id: string, status: string) =>
  until(`the webhook is ${status}`, async () =>
    (await show(id)).status === status ? await show(id) : undefined,
  );
const got = (count: number) =>
  until(`${count} events were received`, async () => receiver.received.length >= count || undefined);
/** The events that a receiver has which deduplicates by id. */
const distinct = (): Shown[] => {
  const seen = new Map<string, Shown>();
  for (const { event } of receiver.received) if (!seen.has(event.id)) seen.set(event.id, event);
  return [...seen.values()];
};
/** The current details of a workflow, as the Temporal UI shows them. */
const detailsOf = async (id: string): Promise<string> =>
  ((await handleOf(id).query<string>('__temporal_workflow_metadata')) as never as { currentDetails: string })
    .currentDetails;

describe('the workflow of a webhook', () => {
  it('says what it waits for, and is paused and resumed by signals', async () => {
    const id = await create();
    await got(1);
    await until(
      'it waits',
      async () => (await detailsOf(id)) === 'It has every event, and waits for the next one.' || undefined,
    );
    await handleOf(id).signal(deliveryMessages.pause);
    await reached(id, 'paused');
    await until(
      'it says so',
      async () => (await detailsOf(id)).startsWith('An operator has paused it.') || undefined,
    );
    const sent = receiver.received.length;
    await name(2);
    await sleep(1_500);
    expect(receiver.received).toHaveLength(sent);
    await handleOf(id).signal(deliveryMessages.resume);
    await got(sent + 4);
    receiver.answer((_, response) => response.writeHead(503).end('secret of the receiver'));
    await name(1);
    await until(
      'it fails',
      async () => (await detailsOf(id)).includes('the receiver answered 503') || undefined,
    );
    const { events } = await handleOf(id).fetchHistory();
    const history = JSON.stringify(events);
    // Neither what the receiver says nor where it is.
    for (const text of [receiver.url, 'secret of the receiver']) {
      expect(
        history.includes(text) || history.includes(Buffer.from(text).toString('base64').slice(2, -4)),
      ).toBe(false);
    }
  });

  it('of a new webhook is woken, and not asked to try before a pause is over', async () => {
    const id = await create();
    await got(1);
    await name(1);
    await got(2);
    const { events } = await handleOf(id).fetchHistory();
    const signals = (events ?? []).flatMap(
      ({ workflowExecutionSignaledEventAttributes: one }) => one?.signalName ?? [],
    );
    expect(new Set(signals)).toEqual(new Set([deliveryMessages.wake.name]));
  });

  it('that was lost is started again: by the next event, or by the reconciler', async () => {
    const id = await create();
    await got(1);
    await handleOf(id).terminate('by mistake');
    await name(1);
    await got(2);
    let failing = true;
    receiver.answer((_, response) => response.writeHead(failing ? 500 : 204).end());
    await name(1);
    await reached(id, 'failing');
    await until(
      'it was started again',
      async () => (await handleOf(id).describe()).status.name === 'RUNNING' || undefined,
    );
    await handleOf(id).terminate('by mistake');
    // It fails until then: an attempt that was on its way would send what another one is to be started for.
    await until(
      'it runs again',
      async () => (await handleOf(id).describe()).status.name === 'RUNNING' || undefined,
    );
    failing = false;
    await reached(id, 'active');
  });

  it('goes on in a new run, and forgets nothing', async () => {
    const id = await create();
    await got(1);
    const { runId } = await handleOf(id).describe();
    for (let n = 0; n < 420; n += 1) await handleOf(id).signal(deliveryMessages.refresh);
    await name(2);
    await got(3);
    expect(runId).toEqual(expect.any(String));
    expect(distinct().map(({ position }) => Number(position))).toEqual(
      distinct().map((_, n) => Number(distinct()[0].position) + n),
    );
  });
});

describeDeep('a webhook that is removed while Temporal is stopped', () => {
  let temporal: Awaited<ReturnType<typeof startOwnTemporal>>;
  let apart: World;

  beforeAll(async () => {
    temporal = await startOwnTemporal();
    apart = await startWorld({
      env: { RECONCILE_EVERY: '2s', TEMPORAL_ADDRESS: temporal.current.address },
    });
  });
  afterAll(async () => {
    await apart?.stop();
    await temporal?.stop();
  });

  it('leaves no workflow behind: the reconciler ends it', async () => {
    const { http, createOrganization } = apart;
    const { id: organizationId, adminKey: key } = await createOrganization();
    const make = async () =>
      (await http.send({ key, path: HOOKS, body: { url: receiver.url } })).body.data.id;
    const removed: string = await make();
    const kept: string = await make();
    const workflowOf = (id: string) =>
      apart.temporal.workflow.getHandle(deliveryWorkflowId({ organizationId, id }));
    const statusOf = async (id: string) => (await workflowOf(id).describe()).status.name;
    await until('both wait', async () => {
      const statuses = await Promise.all([removed, kept].map((id) => statusOf(id).catch(() => undefined)));
      return statuses.every((status) => status === 'RUNNING') || undefined;
    });
    await temporal.stop();
    const { status } = await http.send({ key, method: 'DELETE', path: `${HOOKS}/${removed}` });
    expect(status).toBe(200);
    // The API tries for 12 s to notify the workflow.
    await sleep(13_000);
    await temporal.start();
    await until(
      'the workflow has ended',
      async () => (await statusOf(removed).catch(() => undefined)) === 'COMPLETED' || undefined,
    );
    expect(await statusOf(kept)).toBe('RUNNING');
  });
});

describe('the commands of webhooks', () => {
  it('list, pause, resume and resend', async () => {
    const id = await create();
    await name(2);
    await got(3);
    await reached(id, 'active');
    const [listed] = await json(settings, 'webhooks', 'list', '--org', org.id);
    expect(listed).toMatchObject({
      id,
      organizationId: org.id,
      host: new URL(receiver.url).host,
      state: 'active',
    });
    expect(await words(settings, 'webhooks', 'pause', id)).toBe(`${id} is paused\n`);
    expect(await reached(id, 'paused')).toMatchObject({ reason: 'operator' });
    expect(await words(settings, 'webhooks', 'resume', id)).toBe(`${id} goes on\n`);
    await got(5);
    const { position } = await show(id);
    const first = distinct()[0].position;
    expect(await words(settings, 'webhooks', 'resend', id, '--from', first, '--to', first)).toBe(
      `${id}: 1 event is sent once more\n`,
    );
    await until(
      'it was sent again',
      async () => receiver.received.filter(({ event }) => event.position === first).length === 2 || undefined,
    );
    expect(await words(settings, 'webhooks', 'resend', id)).toBe(`${id}: 0 events are sent once more\n`);
    expect(Number(position)).toBeGreaterThan(Number(first));
    expect(await refused(settings, 'webhooks', 'pause', 'whk_01jz8k3v5fe5ht0n2m6w9r4xyz')).toContain(
      'not found',
    );
    expect(await refused(settings, 'webhooks', 'resend', id, '--from', 'x', '--to', '2')).toContain(
      'invalid position "x"',
    );
  });
});

/** Another worker beside that of the world, which is killed at a failpoint. */
async function anotherWorker(failpoint: string): Promise<{ isKilled: () => boolean }> {
  const { OPS_PORT, HTTPS_PORT, HTTP_PORT } = await serviceSettings();
  const ports = { OPS_PORT, HTTPS_PORT, HTTP_PORT };
  const env = { ...world.env, ...ports, ORGWALLET_ROLES: 'worker', TEST_FAILPOINT: failpoint };
  const part = await startServicePart(env);
  let isKilled = false;
  void part.exited.then(() => {
    isKilled = true;
  });
  return { isKilled: () => isKilled };
}

describeDeep('a receiver that verifies', () => {
  /** Sends through failures and the kill of a worker, and looks whether it has every event. */
  async function expectEveryEvent(failpoint: string): Promise<void> {
    const id = await create();
    const { secrets, publicKey } = await read(world.http, org.adminKey, `${HOOKS}/${id}/secrets`);
    const keys = {
      secrets: secrets.map(({ secret }: Shown) => secret),
      ...{ publicKey, organizationId: org.id },
    };
    // It answers late, breaks off, fails, and takes.
    let requests = 0;
    receiver.answer((_, response, { socket }) => {
      requests += 1;
      if (requests % 7 === 3) response.writeHead(500).end();
      else if (requests % 7 === 5) socket.destroy();
      else setTimeout(() => response.writeHead(200).end(), requests % 3);
    });
    const part = await anotherWorker(failpoint);
    for (let n = 0; n < 200 && !part.isKilled(); n += 1) {
      await name(1);
      // Its worker gets every other activity.
      await sleep(600);
    }
    expect(part.isKilled()).toBe(true);
    await name(20);
    const { pagination } = (await world.http.send({ key: org.readKey, path: '/api/v1/events?after=latest' }))
      .body;
    const [end] = pagination.cursor.split('-');
    await until('it has all', async () => (await show(id)).position === end || undefined);
    let previous: WebhookEvent | undefined;
    for (const { headers, body } of receiver.received) {
      const event = await verifyWebhook({ headers, body }, keys, { previous }).catch((error) => {
        if (error.reason === 'repeated') return undefined;
        throw error;
      });
      if (event) previous = event;
    }
    expect(previous?.position).toBe(end);
  }

  it('proves with verifyWebhook that it has every event, through failures and the kill of a worker', async () => {
    await expectEveryEvent('worker.delivery:sent#3');
  }, 240_000);

  it('also where the worker is killed once it has recorded what it sent', async () => {
    await expectEveryEvent('worker.delivery:moved#3');
  }, 240_000);
});
