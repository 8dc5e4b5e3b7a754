import { command } from '../cli/command';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { startTestService, type TestOrganization, type TestService } from '../support/service';
import { storeTransactionOf } from '../support/storedTrails';
import { until } from '../support/until';

/** A part that is not up, as each of the tools names it. */
interface Said {
  readonly statusz: readonly string[];
  readonly parts: readonly string[];
  readonly doctor: readonly string[];
  readonly show: readonly string[];
}

let api: TestService;
let workers: ServiceProcess;
let signer: ServiceProcess;
let org: TestOrganization;
let open: string;

beforeAll(async () => {
  api = await startTestService({ env: { ORGWALLET_ROLES: 'api' } });
  signer = await startServiceProcess(api.env, { roles: ['signer'] });
  workers = await startServiceProcess(api.env, { roles: ['worker', 'chain'] });
  org = await api.createOrganization();
  ({ id: open } = await storeTransactionOf(api.db, org, {}, { execution_status: 'processing' }));
});
afterAll(async () => {
  await Promise.all([workers?.stop(), signer?.stop()]);
  await api?.stop();
});

interface Finding {
  readonly part: string;
  readonly status: string;
  readonly found: string;
}

async function json<T>(...args: string[]): Promise<T> {
  const { stdout } = await command(api.env, ...args, '--json');
  return JSON.parse(stdout) as T;
}

interface Status {
  readonly unavailable: readonly string[];
  readonly parts: { readonly [name: string]: { readonly lastSeen: string | null } };
}

async function statusOf(): Promise<Status> {
  const response = await fetch(`http://127.0.0.1:${api.env.OPS_PORT}/statusz`);
  return (await response.json()) as Status;
}

/** What each tool says of the roles: which are not there. */
async function said(): Promise<Said> {
  const roles = /^(worker|chain worker|signer|chainWorker)$/;
  const [statusz, answer, doctor, shown] = await Promise.all([
    statusOf(),
    api.http.send({ key: org.readKey, path: '/api/v1/parts' }),
    json<Finding[]>('doctor'),
    json<{ unavailable: Finding[] }>('transactions', 'show', open),
  ]);
  const listed: { part: string; status: string; reason: string }[] = answer.body.data;
  const down = listed.filter(({ part, status }) => status === 'down' && roles.test(part));
  return {
    statusz: statusz.unavailable.filter((name) => roles.test(name)),
    parts: down.map(({ reason }) => reason),
    doctor: doctor.flatMap(({ part, status, found }) =>
      status === 'fail' && roles.test(part) ? [found.replace(/ \(.*/, '')] : [],
    ),
    show: shown.unavailable.map(({ found }) => found.replace(/ \(.*/, '')),
  };
}

const nobodyPolls = (...queues: string[]) => `no process polls ${queues.join(', ')}`;
const queuesOf = (kind: string) => {
  const prefix = `${api.config.temporal.taskQueue}-${kind}`;
  return api.config.networks.map(({ id }) => `${prefix}-${id}`);
};
const nothing: Said = { statusz: [], parts: [], doctor: [], show: [] };
const saidOf = (name: string, reason: string): Said => ({
  statusz: [name],
  parts: [reason],
  doctor: [reason],
  show: [reason],
});
const untilAllSay = (what: Said, title: string) =>
  until(title, async () => {
    expect(await said()).toEqual(what);
    return true;
  });

describe('statusz, doctor, transactions show and GET /parts', () => {
  it('say nothing of a role while all are there', async () => {
    await untilAllSay(nothing, 'nothing is missing');
  });

  it('say the same of a signer that is silent, within half a minute, and of one that is back', async () => {
    const { taskQueue } = api.config.temporal;
    process.kill(signer.pid, 'SIGSTOP');
    const stoppedAt = Date.now();
    try {
      const reason = nobodyPolls(`${taskQueue}-signer`, ...queuesOf('signer'));
      await untilAllSay(saidOf('signer', reason), 'each names the signer');
      expect(Date.now() - stoppedAt).toBeLessThan(60_000);
    } finally {
      process.kill(signer.pid, 'SIGCONT');
    }
    await untilAllSay(nothing, 'the signer is back');
  });

  it('name the process of workers that was killed, and when each was seen last', async () => {
    await workers.kill();
    const { taskQueue } = api.config.temporal;
    const worker = nobodyPolls(taskQueue, `${taskQueue}-deliveries`);
    const chain = nobodyPolls(...queuesOf('chain'));
    await untilAllSay(
      {
        statusz: ['worker', 'chain worker'],
        parts: [worker, chain],
        doctor: [worker, chain],
        show: [worker, chain],
      },
      'each names both roles',
    );
    const { parts } = await statusOf();
    expect(Date.now() - Date.parse(parts.worker?.lastSeen ?? '')).toBeLessThan(120_000);
    await workers.start();
    await untilAllSay(nothing, 'the workers are back');
  });

  it('know of a role that has stopped in order at once', async () => {
    await workers.stop();
    expect((await said()).statusz).toEqual(['worker', 'chain worker']);
    await workers.start();
  });
});

test('relayers without funds are named by statusz and GET /parts, of the network that they pay on', async () => {
  const [network] = api.config.networks;
  const [relayer] = await api.db('relayers').where({ network_id: BigInt(network?.id ?? 0) });
  const rpc = async (method: string, params: unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(network?.rpcUrls[0] ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return ((await response.json()) as { result: string }).result;
  };
  const before = await rpc('eth_getBalance', [relayer?.address, 'latest']);
  await rpc('anvil_setBalance', [relayer?.address, '0x0']);
  try {
    await until('the relayers are down', async () => {
      const answer = await api.http.send({ key: org.readKey, path: '/api/v1/parts' });
      const found = answer.body.data.find(
        (one: { part: string; networkId: number }) =>
          one.part === 'relayers' && one.networkId === network?.id,
      );
      expect(found).toMatchObject({
        status: 'down',
        reason: expect.stringContaining(`${relayer?.address} has 0 `),
      });
      return true;
    });
    expect(await workers.unavailableParts()).toContain(`relayers:${network?.id}`);
  } finally {
    await rpc('anvil_setBalance', [relayer?.address, before]);
  }
});
