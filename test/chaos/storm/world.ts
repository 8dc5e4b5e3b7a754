import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { zeroAddress } from 'viem';
import type { Role } from '../../../src/config';
import { makeAccount, type Shown } from '../../support/api';
import { startServiceProcess } from '../../support/process';
import {
  connectTo,
  databaseSettings,
  serviceSettings,
  type TestOrganization,
  type TestService,
} from '../../support/service';
import {
  fundOnLocalChain,
  networksFile,
  sharedStack,
  startOwnChain,
  startOwnPostgres,
  startOwnTemporal,
  temporaryDir,
} from '../../support/stack';
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy';
import { makePolicies } from '../../support/transactionApi';
import { until } from '../../support/until';
import { sending } from '../../workflows/transactionWorld';
import { MoodyReceiver } from './moodyReceiver';
import { Supervised } from './supervised';

/** What a storm falls on. */
interface StormOptions {
  /** One process of the service each. */
  readonly roles: readonly Role[];
  readonly networkIds: readonly number[];
  readonly organizations: number;
  /** How many clients each of them has on each network. */
  readonly lanes: number;
  /** What the narrow policy of an organization lets out within an hour, in wei. */
  readonly budget: bigint;
  /** Whether Postgres and Temporal are its own, and are struck as well. */
  readonly ownParts: boolean;
  readonly env?: NodeJS.ProcessEnv;
}

/** An organization under load. */
export interface Payer {
  readonly org: TestOrganization;
  /** On every network. */
  readonly account: Shown;
  /** Lets anybody send as much as they want, by network. */
  readonly wide: ReadonlyMap<number, Shown>;
  /** Lets anybody send up to the budget, on the first network. */
  readonly narrow: Shown;
  /** Where its events are sent to, and the id of the webhook. */
  readonly receiver: MoodyReceiver;
  readonly webhookId: string;
}

export type OwnChain = Awaited<ReturnType<typeof startOwnChain>>;
type OwnPostgres = Awaited<ReturnType<typeof startOwnPostgres>>;
type OwnTemporal = Awaited<ReturnType<typeof startOwnTemporal>>;

/** Postgres and Temporal of one storm, which the service reaches through a proxy. */
export interface OwnParts {
  readonly postgres: OwnPostgres;
  readonly proxy: TcpProxy;
  readonly temporal: OwnTemporal;
  readonly temporalFile: string;
}

/** The same connection on another port. */
function onPort(url: string, port: number): string {
  return Object.assign(new URL(url), { port: String(port) }).toString();
}

async function startOwnParts(stops: Stops): Promise<OwnParts> {
  const temporalFile = join(temporaryDir(), 'temporal.db');
  const postgres = await startOwnPostgres();
  stops.push(() => postgres.stop());
  const temporal = await startOwnTemporal({ databaseFile: temporalFile });
  stops.push(() => temporal.stop());
  const proxy = await startTcpProxy({
    host: '127.0.0.1',
    port: Number(new URL(postgres.database.url).port),
  });
  stops.push(async () => proxy.close());
  return { postgres, proxy, temporal, temporalFile };
}

/** The settings of a service that reaches those parts. */
function settingsFor({ postgres, proxy, temporal }: OwnParts) {
  const { url, serviceUrl, signerUrl } = postgres.database;
  const [throughProxy, signerThroughProxy] = [serviceUrl, signerUrl].map((one) => onPort(one, proxy.port));
  return {
    database: databaseSettings({
      url,
      serviceUrl: throughProxy ?? '',
      signerUrl: signerThroughProxy ?? '',
    }),
    env: { TEMPORAL_ADDRESS: temporal.current.address },
  };
}

async function makePayer(api: TestService, chains: ReadonlyMap<number, OwnChain>, budget: bigint) {
  const networkIds = [...chains.keys()];
  const org = await api.createOrganization();
  const account = await makeAccount(api.http, org, { networkIds });
  const anyAmount = { tokenAddress: zeroAddress, destinationAddresses: [] };
  const [narrow, ...wide] = await makePolicies(
    api.http,
    org,
    sending(networkIds[0] ?? 0, {
      name: 'Narrow',
      tokenTransferCondition: { ...anyAmount, amountThreshold: String(budget) },
    }),
    ...networkIds.map((id) =>
      sending(id, {
        name: `Wide ${id}`,
        tokenTransferCondition: { ...anyAmount, amountThreshold: '1000000' },
      }),
    ),
  );
  for (const { current } of chains.values()) await fundOnLocalChain(current.rpcUrl, account.address);
  const receiver = await MoodyReceiver.start();
  const body = { url: receiver.url };
  const hook = await api.http.send({ key: org.adminKey, path: '/api/v1/webhooks', body });
  return {
    ...{ org, account, narrow, receiver, webhookId: hook.body.data.id },
    wide: new Map(networkIds.map((id, index) => [id, wide[index]])),
  };
}

/** The file with the state of a chain, from which it starts again. */
export function stateFile({ current: { part, chainId } }: OwnChain): string {
  return join(dirname(part.logFile), `chain-${chainId}.json`);
}

/** Waits until a chain has written its state as it is now. */
async function untilWritten(chain: OwnChain): Promise<void> {
  const since = Date.now();
  await until('the chain has written its state', async () => {
    return existsSync(stateFile(chain)) && statSync(stateFile(chain)).mtimeMs > since + 1_000;
  });
}

type Stops = (() => Promise<unknown>)[];

/** A service in several processes on chains of its own, each of which may fail, with organizations that use it. */
export class StormWorld {
  private constructor(
    readonly options: StormOptions,
    readonly services: readonly Supervised[],
    readonly apis: readonly TestService[],
    readonly chains: ReadonlyMap<number, OwnChain>,
    readonly own: OwnParts | undefined,
    readonly payers: readonly Payer[],
    private readonly clockFile: string,
    private readonly stops: Stops,
  ) {}

  static async start(options: StormOptions): Promise<StormWorld> {
    const stops: Stops = [];
    try {
      return await StormWorld.make(options, stops);
    } catch (error) {
      for (const stop of stops.toReversed()) await stop();
      throw error;
    }
  }

  private static async make(options: StormOptions, stops: Stops): Promise<StormWorld> {
    const own = options.ownParts ? await startOwnParts(stops) : undefined;
    const chains = new Map<number, OwnChain>();
    for (const id of options.networkIds) {
      const chain = await startOwnChain(id);
      stops.push(() => chain.stop());
      chains.set(id, chain);
    }
    const networks: { id: number }[] = JSON.parse(readFileSync(sharedStack().networksFile, 'utf8'));
    const file = networksFile(
      [...chains].map(([id, { current }]) => ({
        ...networks.find((network) => network.id === id),
        rpcUrl: current.rpcUrl,
      })),
    );
    const clockFile = join(temporaryDir(), 'clock');
    writeFileSync(clockFile, '0');
    const { database, env } = own ? settingsFor(own) : { database: undefined, env: {} };
    const settings = await serviceSettings({
      ...(database ? { database } : {}),
      env: {
        NETWORKS_FILE: file,
        DATABASE_POOL: '10',
        TEST_CLOCK_FILE: clockFile,
        NODE_OPTIONS: `--require ${join(__dirname, '..', '..', 'support', 'steppedClock.js')}`,
        ...env,
        ...options.env,
      },
    });
    // The signer's start creates what the others wait for.
    const services: Supervised[] = [];
    for (const [index, role] of options.roles.entries()) {
      const one = new Supervised(
        `${role} ${index + 1}`,
        await startServiceProcess(settings, { roles: [role] }),
      );
      services.push(one);
      stops.push(() => one.stop());
    }
    const apis = services
      .filter(({ process: { config } }) => config.roles.includes('api'))
      .map(({ process: { env: of } }) => connectTo(of));
    for (const api of apis) stops.push(() => api.stop());
    const [api] = apis as [TestService];
    const payers: Payer[] = [];
    for (let made = 0; made < options.organizations; made += 1) {
      const payer = await makePayer(api, chains, options.budget);
      stops.push(() => payer.receiver.stop());
      payers.push(payer);
    }
    for (const chain of chains.values()) await untilWritten(chain);
    return new StormWorld(options, services, apis, chains, own, payers, clockFile, stops);
  }

  /** One of the API processes. */
  get api(): TestService {
    return this.apis[Math.floor(Math.random() * this.apis.length)] as TestService;
  }

  /** Moves the clock of every process of the service away from that of the machine. */
  stepClock(aheadMs: number): void {
    writeFileSync(this.clockFile, String(aheadMs));
  }

  /** Copies the logs of all parts to a folder that stays after the run. */
  keepLogs(): string {
    const kept = mkdtempSync(join(tmpdir(), 'orgwallet-storm-'));
    const { dir } = sharedStack();
    for (const folder of readdirSync(dir)) {
      if (!folder.startsWith('own-')) continue;
      for (const name of readdirSync(join(dir, folder)).filter((one) => /\.(log|json|journal)$/.test(one))) {
        cpSync(join(dir, folder, name), join(kept, `${folder}-${name}`));
      }
    }
    return kept;
  }

  async stop(): Promise<void> {
    for (const stop of this.stops.toReversed()) await stop();
  }
}
