import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import {
  type AccountCreation,
  askOf,
  beginCreation,
  completeStep,
  finish,
  prepare,
  proposalOf,
  type Step,
  show,
} from '../chaos/accountCreation';
import { expectOneOfEverything } from '../chaos/invariants';
import type { Answer } from '../support/http';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import {
  databaseSettings,
  startTestService,
  type TestOrganization,
  type TestService,
} from '../support/service';
import {
  networksFile,
  sharedStack,
  startOwnChain,
  startOwnPostgres,
  startOwnTemporal,
} from '../support/stack';
import { until } from '../support/until';

/** How long a request may take while a part is unavailable: the API waits 12 s for a workflow. */
const QUICK_MS = 15_000;

const steps: Step[] = ['create', 'sign', 'execute'];

interface Running {
  readonly api: TestService;
  readonly workers: ServiceProcess;
  readonly org: TestOrganization;
  readonly temporal: Client;
  stop(): Promise<void>;
}

/** A service whose API runs here and whose workers are a process of their own. */
async function startApart(
  options: { env?: NodeJS.ProcessEnv; database?: NodeJS.ProcessEnv } = {},
): Promise<Running> {
  const { env, ...rest } = options;
  const api = await startTestService({ ...rest, env: { ...env, ORGWALLET_ROLES: 'api' } });
  const workers = await startServiceProcess(api.env, { roles: ['worker', 'chain', 'signer'] });
  const org = await api.createOrganization();
  const connection = Connection.lazy({ address: api.config.temporal.address });
  return {
    api,
    workers,
    org,
    temporal: new Client({ connection }),
    async stop() {
      await Promise.all([workers.stop(), connection.close()]);
      await api.stop();
    },
  };
}

function worldOf({ api, org, temporal }: Running) {
  return { http: api.http, db: api.db, org, temporal, networks: api.config.networks };
}

function expectUnavailable(answer: Answer): void {
  expect(answer.status).toBe(500);
  expect(answer.body.error.code).toBe('internalError');
  expect(answer.headers['retry-after']).toMatch(/^\d+$/);
}

/**
 * Stops a part during three creations, each before a different step: every request is refused quickly, and the
 * same request has one effect once the part runs again.
 */
async function expectQuickRefusalAndOneEffect(
  running: Running,
  part: { stopPart(): Promise<unknown>; startPart(): Promise<unknown>; readsStill: boolean },
): Promise<void> {
  const world = worldOf(running);
  const creations = steps.map((step) => [beginCreation(), step] as const);
  await Promise.all(creations.map(([creation, step]) => prepare(world, creation, step)));
  const asks = await Promise.all(creations.map(([creation, step]) => askOf(world, creation, step)));
  await part.stopPart();
  try {
    await Promise.all([
      ...asks.map(async (ask) => {
        const sentAt = Date.now();
        expectUnavailable(await world.http.send(ask));
        expect(Date.now() - sentAt).toBeLessThan(QUICK_MS);
      }),
      (async () => {
        const sentAt = Date.now();
        const answer = await world.http.send({ key: world.org.readKey, path: '/api/v1/members' });
        if (part.readsStill) expect(answer.status).toBe(200);
        else expectUnavailable(answer);
        expect(Date.now() - sentAt).toBeLessThan(QUICK_MS);
      })(),
    ]);
  } finally {
    await part.startPart();
  }
  await Promise.all(
    creations.map(async ([creation, step]) => {
      await completeStep(world, creation, step);
      await finish(world, creation);
      await expectOneOfEverything(world, creation);
    }),
  );
}

describe('without Temporal or Postgres', () => {
  let temporal: Awaited<ReturnType<typeof startOwnTemporal>>;
  let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
  let running: Running;
  beforeAll(async () => {
    [temporal, postgres] = await Promise.all([startOwnTemporal(), startOwnPostgres()]);
    running = await startApart({
      env: { TEMPORAL_ADDRESS: temporal.current.address },
      database: databaseSettings(postgres.database),
    });
  });
  afterAll(async () => {
    await running?.stop();
    await Promise.all([temporal?.stop(), postgres?.stop()]);
  });

  interface Scenario {
    readonly how: string;
    readonly stopPart: () => Promise<unknown>;
    readonly startPart: () => Promise<unknown>;
    readonly readsStill: boolean;
  }

  const ways: readonly Scenario[] = [
    {
      how: 'Temporal killed',
      stopPart: () => temporal.kill(),
      startPart: () => temporal.start(),
      readsStill: true,
    },
    {
      how: 'Temporal frozen',
      stopPart: async () => temporal.freeze(),
      startPart: async () => temporal.thaw(),
      readsStill: true,
    },
    {
      how: 'Postgres stopped',
      stopPart: () => postgres.stop(),
      startPart: () => postgres.start(),
      readsStill: false,
    },
  ];

  it.each(ways)(
    '($how) refuses mutations quickly, and executes each once when it is available again',
    async (way) => {
      await expectQuickRefusalAndOneEffect(running, way);
    },
  );
});

describe('without workers', () => {
  let running: Running;
  beforeAll(async () => {
    running = await startApart();
  });
  afterAll(() => running?.stop());

  it('a mutation is refused quickly, and executed once when they run again', async () => {
    await expectQuickRefusalAndOneEffect(running, {
      stopPart: () => running.workers.kill(),
      startPart: () => running.workers.start(),
      readsStill: true,
    });
  });
});

describe('without one of two chains', () => {
  const NETWORK_ID = 31338;
  let own: Awaited<ReturnType<typeof startOwnChain>>;
  let running: Running;
  beforeAll(async () => {
    own = await startOwnChain(NETWORK_ID);
    const networks: { id: number }[] = JSON.parse(readFileSync(sharedStack().networksFile, 'utf8'));
    const { rpcUrl } = own.current;
    const changed = networks.map((network) => (network.id === NETWORK_ID ? { ...network, rpcUrl } : network));
    const file = networksFile(changed);
    running = await startApart({ env: { NETWORKS_FILE: file } });
  });
  afterAll(async () => {
    await running?.stop();
    await own?.stop();
  });

  // biome-ignore lint/suspicious/noExplicitAny: a proposal as it was answered
  function deploymentOn(proposal: any, networkId: number) {
    return proposal.deployments.find((one: { networkId: number }) => one.networkId === networkId);
  }

  it('the other completes, the record names the missing one and why, and a retry does only that', async () => {
    const world = worldOf(running);
    const { http, org } = world;
    const creation: AccountCreation = beginCreation();
    await prepare(world, creation, 'execute');
    await own.stop();
    const sentAt = Date.now();
    const answer = await completeStep(world, creation, 'execute');
    expect(Date.now() - sentAt).toBeLessThan(2 * QUICK_MS);
    expect(answer.body.data.executionStatus).toBe('processing');
    expect(deploymentOn(answer.body.data, 31337)).toMatchObject({ status: 'completed' });
    const waiting = await until('it says what it waits for', async () => {
      const seen = await show(world, creation);
      return deploymentOn(seen, NETWORK_ID).waitingFor !== null && seen;
    });
    expect(deploymentOn(waiting, NETWORK_ID)).toMatchObject({ status: 'pending' });
    expect(JSON.stringify(deploymentOn(waiting, NETWORK_ID))).toContain(String(NETWORK_ID));
    const failed = await until('it failed', async () => {
      const seen = await show(world, creation);
      return seen.executionStatus === 'failed' && seen;
    });
    expect(failed.failure).toMatchObject({
      code: 'rpc',
      message: expect.stringContaining(String(NETWORK_ID)),
    });
    expect(deploymentOn(failed, NETWORK_ID)).toMatchObject({ status: 'failed', failure: { code: 'rpc' } });

    await own.start();
    const path = `/api/v1/accounts/proposals/${proposalOf(creation).id}/execute`;
    const retried = await http.send({ key: org.adminKey, path, body: { type: 'approve' } });
    expect(retried.status).toBe(200);
    await finish(world, creation);
    await expectOneOfEverything(world, creation, { executions: 2, failedDeployments: 1 });
  });
});
