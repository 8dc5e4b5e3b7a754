/** @deep */

import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createChainClient } from '../../src/chain/clients';
import { clockFinding, readClock } from '../../src/cli/doctor/clockChecks';
import { checkWork } from '../../src/cli/doctor/databaseChecks';
import { ANSWER_LIMIT_MS, PATIENCE_MS } from '../../src/cli/doctor/finding';
import { checkNetwork, checkRelayers } from '../../src/cli/doctor/networkChecks';
import { targetOfAddress } from '../../src/cli/doctor/target';
import { checkAccountNonces } from '../../src/cli/doctor/transactionChecks';
import type { NetworkConfig } from '../../src/config';
import { createDatabase, type Db, serverOf } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import { projectRoot } from '../../src/projectRoot';
import { makeAccount, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { type AnswerRpc, type RpcProxy, startRpcProxy } from '../support/rpcProxy';
import { startTestService, type TestService } from '../support/service';
import { createTestDatabase, networksFile, sharedStack, temporaryDir } from '../support/stack';
import { storeRequest } from '../support/storedRequests';
import { describeDeep, itDeep } from '../support/suite';
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy';
import { COMPILED, command, spawned } from './command';

const NETWORK_ID = 31_337;
/** Longer than the service waits for an endpoint. */
const LATE_MS = 4_000;

let service: TestService;
let env: NodeJS.ProcessEnv;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  service = await startTestService();
  env = service.env;
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(() => service?.stop());

type Slowness = Parameters<typeof startTcpProxy>[1];

async function slowWay(target: Parameters<typeof startTcpProxy>[0], slowness: Slowness): Promise<TcpProxy> {
  const proxy = await startTcpProxy(target, slowness);
  closing.push(() => proxy.close());
  return proxy;
}

async function rpcProxy(answer: AnswerRpc, url = sharedStack().chains[0]?.rpcUrl ?? ''): Promise<RpcProxy> {
  const proxy = await startRpcProxy(url, answer);
  closing.push(() => proxy.stop());
  return proxy;
}

/** The networks of the service, the first with other endpoints. */
function withEndpoints(...rpcUrls: readonly string[]): string {
  const networks: { id: number }[] = JSON.parse(readFileSync(sharedStack().networksFile, 'utf8'));
  return networksFile(
    networks.map((network) => {
      if (network.id !== NETWORK_ID) return network;
      const { rpcUrl: _, ...own } = network as { id: number; rpcUrl: string };
      return { ...own, rpcUrls };
    }),
  );
}

async function doctor(change: NodeJS.ProcessEnv): Promise<Shown[]> {
  return JSON.parse((await command({ ...env, ...change }, 'doctor', '--json')).stdout);
}

const failures = (findings: readonly Shown[]) => findings.filter(({ status }) => status === 'fail');
const warnings = (findings: readonly Shown[]) =>
  findings
    // A busy machine is slow.
    .filter(
      ({ status, part, found }) => status === 'warn' && part !== 'backup' && !found.startsWith('slow: '),
    )
    .map(({ part, found }) => `${part}: ${found}`);
const about = (findings: readonly Shown[], part: string) => findings.filter((one) => one.part === part);

/** The same login and database, on a slow way. */
async function slowDatabase(url: string | undefined, slowness: Slowness): Promise<string> {
  const { port } = await slowWay(serverOf(url ?? ''), slowness);
  const { username, password, pathname } = new URL(url ?? '');
  return `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`;
}

describe('a part that is slow and healthy', () => {
  it('is said to be slow, and nothing is said to be broken: Postgres', async () => {
    const slowness = { delayMs: 250 };
    const findings = await doctor({
      DATABASE_URL: await slowDatabase(env.DATABASE_URL, slowness),
      SIGNER_DATABASE_URL: await slowDatabase(env.SIGNER_DATABASE_URL, slowness),
    });
    expect(failures(findings)).toEqual([]);
    expect(about(findings, 'database').map(({ status }) => status)).toEqual(['ok', 'warn']);
    expect(about(findings, 'database')[1]).toMatchObject({
      found: expect.stringMatching(/^slow: it answered after \d+ s$/),
      todo: expect.stringMatching(/load/),
    });
    for (const part of ['schema', 'clock', 'login', 'decisions', 'requests', 'keystore', 'journal']) {
      expect([part, ...new Set(about(findings, part).map(({ status }) => status))]).toEqual([part, 'ok']);
    }
  });

  itDeep(
    'is said to be slow, and nothing is said to be broken: Postgres, a few bytes at a time',
    async () => {
      const slowness = { delayMs: 10, bytesAtOnce: 40 };
      const findings = await doctor({ DATABASE_URL: await slowDatabase(env.DATABASE_URL, slowness) });
      expect(failures(findings)).toEqual([]);
      expect(about(findings, 'schema')).toMatchObject([{ status: 'ok' }]);
    },
  );

  itDeep.each([
    ['which takes seconds', { delayMs: 1_000 }],
    ['a few bytes at a time', { delayMs: 50, bytesAtOnce: 20 }],
  ])('is said to be slow, and nothing is said to be broken: Temporal, %s', async (_, slowness) => {
    const { port } = await slowWay(targetOfAddress(env.TEMPORAL_ADDRESS ?? ''), slowness);
    const findings = await doctor({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` });
    expect(failures(findings)).toEqual([]);
    expect(about(findings, 'temporal')).toMatchObject([
      { status: 'ok', found: expect.stringMatching(/server \d/) },
      { status: 'warn', found: expect.stringMatching(/^slow: /), todo: expect.not.stringMatching(/correct/) },
    ]);
    for (const part of ['worker', 'chain worker', 'signer', 'workflows']) {
      expect(about(findings, part)).toMatchObject([{ status: 'ok' }]);
    }
  });

  it('is said to be slow, and unavailable to the service: a network', async () => {
    const { url, host } = await rpcProxy(async (_, pass) => {
      await sleep(LATE_MS);
      return pass();
    });
    const findings = await doctor({ NETWORKS_FILE: withEndpoints(url) });
    expect(failures(findings)).toEqual([]);
    const late = `slow: ${host} answered after 4 s; the service waits 3 s, and takes it for unavailable`;
    for (const part of [`network ${NETWORK_ID}`, `endpoints ${NETWORK_ID}`]) {
      expect(about(findings, part)).toMatchObject([{ status: 'ok' }, { status: 'warn', found: late }]);
    }
    for (const part of ['relayer', 'nonces', 'accounts', 'authorizations']) {
      for (const { status } of about(findings, `${part} ${NETWORK_ID}`))
        expect([part, status]).toEqual([part, 'ok']);
    }
  });

  itDeep('is compared with every account, though it is asked about 20 at once: a network', async () => {
    const org = await service.createOrganization();
    const account = await makeAccount(service.http, org, { networkIds: [NETWORK_ID] });
    const network = { network_id: BigInt(NETWORK_ID) };
    const { count } = (await service.db('account_networks').where(network).count().first()) ?? {};
    const { url } = await rpcProxy(async (_, pass) => {
      await sleep(LATE_MS);
      return pass();
    });
    const findings = await doctor({ NETWORKS_FILE: withEndpoints(url) });
    expect(failures(findings)).toEqual([]);
    expect(about(findings, `accounts ${NETWORK_ID}`)).toMatchObject([
      { status: 'ok', found: expect.stringMatching(`^${count} accounts?: all nonces match the record$`) },
    ]);

    // More at the same address: a deployment of each takes longer than this is about.
    // They are never committed: the service does not work on them.
    const db = await service.db.transaction();
    closing.push(() => db.rollback());
    const [row] = await db('accounts').where({ id: account.id });
    const ids = Array.from({ length: 25 }, () => newId('acc'));
    await db('accounts').insert(ids.map((id) => ({ ...row, id }) as never));
    await db('account_networks').insert(ids.map((id) => ({ account_id: id, ...network })));
    const configured = service.config.networks.find(({ id }) => id === NETWORK_ID);
    const client = createChainClient({ ...configured, rpcUrls: [url], rpcBatchSize: 1 } as NetworkConfig, {
      timeoutMs: PATIENCE_MS,
    });
    const begunAt = performance.now();
    expect(await checkAccountNonces(client, db)).toMatchObject([
      { status: 'ok', found: `${Number(count) + ids.length} accounts: all nonces match the record` },
    ]);
    expect(performance.now() - begunAt).toBeLessThan(ANSWER_LIMIT_MS);
  });

  it('is said to be slow: the ops port and the API', async () => {
    const [ops, api] = await Promise.all(
      [env.OPS_PORT, env.HTTPS_PORT].map((port) =>
        slowWay({ host: '127.0.0.1', port: Number(port) }, { delayMs: 1_200 }),
      ),
    );
    const findings = await doctor({ OPS_PORT: String(ops?.port), HTTPS_PORT: String(api?.port) });
    expect(failures(findings)).toEqual([]);
    for (const part of ['service', 'api']) {
      expect(about(findings, part)).toMatchObject([
        { status: 'ok' },
        { status: 'warn', found: expect.stringMatching(/^slow: /) },
      ]);
    }
  });
});

describe('one endpoint of two', () => {
  const real = () => sharedStack().chains[0]?.rpcUrl ?? '';

  it('is slow: the network is available, and the endpoint is named', async () => {
    const { url, host } = await rpcProxy(async (_, pass) => {
      await sleep(LATE_MS);
      return pass();
    });
    const findings = await doctor({ NETWORKS_FILE: withEndpoints(url, real()) });
    expect(failures(findings)).toEqual([]);
    expect(about(findings, `network ${NETWORK_ID}`)).toMatchObject([
      { status: 'ok' },
      { status: 'warn', found: expect.stringMatching(`^slow: ${host} answered after 4 s`) },
    ]);
  });

  it('does not answer: the network is available, and the endpoint is named', async () => {
    const dead = 'http://127.0.0.1:1/';
    const findings = await doctor({ NETWORKS_FILE: withEndpoints(dead, real()) });
    expect(about(findings, `network ${NETWORK_ID}`)).toMatchObject([
      { status: 'ok' },
      { status: 'warn', found: expect.stringMatching(/ECONNREFUSED.*; the others are asked$/) },
    ]);
    // The signer needs each of its own.
    expect(failures(findings)).toMatchObject([{ part: `endpoints ${NETWORK_ID}` }]);
  });
});

describe('the fees of a network', () => {
  const network = () => {
    const own = service.config.networks.find(({ id }) => id === NETWORK_ID);
    if (!own) throw new Error('no network');
    return own;
  };
  const client = ({ url }: RpcProxy) => createChainClient({ ...network(), rpcUrls: [url] });
  const methodOf = (body: string): string => JSON.parse(body).method;

  itDeep.each([['eth_feeHistory'], ['eth_gasPrice'], ['eth_maxPriorityFeePerGas']])(
    'are read from a node without %s',
    async (method) => {
      const proxy = await rpcProxy(async (body, pass) => {
        if (methodOf(body) !== method) return pass();
        const { id } = JSON.parse(body);
        return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
      });
      expect(await checkNetwork(client(proxy), Date.now)).toMatchObject([{ status: 'ok' }]);
      const relayers = await service.db('relayers').where({ network_id: BigInt(NETWORK_ID) });
      expect(relayers).toHaveLength(1);
      const [{ address = '' } = {}] = relayers;
      const own = [{ networkId: NETWORK_ID, index: 0, address }];
      expect(await checkRelayers(client(proxy), own)).toMatchObject([{ status: 'ok' }]);
    },
  );

  it('that rise are said, and the relayer is not called empty for what is never paid', async () => {
    let baseFee = 0n;
    const proxy = await rpcProxy(async (body, pass) => {
      const text = await pass();
      const answer = JSON.parse(text);
      if (methodOf(body) !== 'eth_getBlockByNumber') return text;
      answer.result.baseFeePerGas = `0x${baseFee.toString(16)}`;
      return JSON.stringify(answer);
    });
    const { maxFeePerGas } = network();
    baseFee = maxFeePerGas;
    expect(await checkNetwork(client(proxy), Date.now)).toMatchObject([{ status: 'ok' }]);
    baseFee = 1_000n * maxFeePerGas;
    expect(await checkNetwork(client(proxy), Date.now)).toMatchObject([
      { status: 'warn', todo: expect.stringMatching(/^the base fee is above the ceiling/) },
    ]);
    const relayers = await service.db('relayers').where({ network_id: BigInt(NETWORK_ID) });
    const own = relayers.map(({ address }) => ({ networkId: NETWORK_ID, index: 0, address }));
    const [relayer] = await checkRelayers(client(proxy), own);
    expect(relayer?.status).not.toBe('fail');
  });
});

describe('requests without an answer', () => {
  const post = (organizationId: string, change: object = {}) => ({
    organizationId,
    credentialId: 'key_1',
    path: '/api/v1/transactions',
    body: {},
    resourceId: 'txn_of_a_process_that_died',
    ...change,
  });
  const requests = async () => {
    const findings = await checkWork(service.db, Date.now());
    return findings.find(({ part }) => part === 'requests');
  };

  it('are those whose process has ended, and not those that take long', async () => {
    const { id } = await service.createOrganization();
    // A slow process renews its lease.
    await storeRequest(service.db, post(id, { leaseUntil: new Date(Date.now() + 5_000) }));
    expect(await requests()).toMatchObject({ status: 'ok', found: 'none stuck' });
    await storeRequest(service.db, post(id));
    expect(await requests()).toMatchObject({
      status: 'warn',
      found: expect.stringMatching(
        `^1 without an answer and without an effect: POST /api/v1/transactions of ${id}, \\d+ s ago$`,
      ),
      todo: expect.stringMatching(/X-Idempotency-Key/),
    });
    await service.db('idempotency_requests').where({ organization_id: id }).delete();
  });

  it('are not a fault where their effect is recorded: a repeat gets its answer', async () => {
    const { id } = await service.createOrganization();
    const key = '9a9a9a9a-0000-4000-8000-000000000001';
    const nonce = 'nonce_of_a_registration';
    const requestId = await storeRequest(service.db, post(id, { key, resourceId: nonce }));
    const [member] = await service.db('members').where({ organization_id: id }).limit(1);
    await service.db('registration_challenges').insert({
      nonce,
      organization_id: id,
      member_id: member?.id ?? '',
      wallet_address: anAddress(),
      wallet_kind: 'key',
      message: 'a message',
      expires_at: new Date(),
      used_at: new Date(),
      used_by: requestId,
    });
    expect(await requests()).toMatchObject({
      status: 'ok',
      found: '1 without an answer had their effect: a repeat gets the answer',
    });
    await service.db('registration_challenges').where({ nonce }).delete();
    await service.db('idempotency_requests').where({ organization_id: id }).delete();
  });
});

describe('the clock of the database', () => {
  const AHEAD_SECONDS = 600;
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  const pools: Db[] = [];
  const open = (url: string) => {
    const db = createDatabase(url, { poolMax: 1, patienceMs: PATIENCE_MS });
    pools.push(db);
    return db;
  };

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await Promise.all(pools.map((db) => db.destroy()));
    await database?.drop();
  });

  itDeep('is not taken for another one because its answer is slow', async () => {
    const db = open(await slowDatabase(database.serviceUrl, { delayMs: 900 }));
    const reading = await readClock(db);
    expect(reading.aheadMs).toBe(0);
    expect(reading.tookMs).toBeGreaterThan(1_700);
    expect(clockFinding(reading)).toMatchObject({ status: 'ok' });
  });

  it('that is wrong is found out also by slow answers', async () => {
    const owner = open(database.url);
    await owner.raw('CREATE SCHEMA skewed');
    await owner.raw('GRANT USAGE ON SCHEMA skewed TO orgwallet_service');
    await owner.raw(
      `CREATE FUNCTION skewed.now() RETURNS timestamptz LANGUAGE sql
         AS $$ SELECT pg_catalog.clock_timestamp() + interval '${AHEAD_SECONDS} s' $$`,
    );
    await owner.raw(`ALTER DATABASE ${database.name} SET search_path = skewed, pg_catalog, public`);
    for (const url of [database.serviceUrl, await slowDatabase(database.serviceUrl, { delayMs: 900 })]) {
      expect(clockFinding(await readClock(open(url)))).toMatchObject({
        status: 'warn',
        found: 'this machine is 10 min behind the database',
      });
    }
  });
});

describe('a clock of this machine that is wrong', () => {
  it('is all that is found: nothing else is judged by it', async () => {
    const file = join(temporaryDir(), 'clock');
    writeFileSync(file, '600000');
    const stepped = join(projectRoot(), 'test', 'support', 'steppedClock.js');
    const settings = { ...env, TEST_CLOCK_FILE: file };
    const { stdout } = await spawned(
      settings,
      process.execPath,
      '--require',
      stepped,
      COMPILED,
      'doctor',
      '--json',
    );
    const findings: Shown[] = JSON.parse(stdout);
    expect(failures(findings)).toEqual([]);
    expect(warnings(findings)).toEqual(['clock: this machine is 10 min ahead of the database']);
  });
});

describe('the keystore', () => {
  it('is not blamed for a database that cannot be read', async () => {
    const owner = createDatabase(env.MIGRATION_DATABASE_URL ?? '', { poolMax: 1 });
    await owner.raw('REVOKE SELECT ON relayers FROM orgwallet_service');
    const findings = await doctor({}).finally(async () => {
      await owner.raw('GRANT SELECT ON relayers TO orgwallet_service');
      await owner.destroy();
    });
    const refused = findings.filter(({ found }) => /denied for table relayers/.test(found));
    expect(refused.map(({ todo }) => todo)).toEqual(refused.map(() => 'see the database above'));
    expect(refused).not.toEqual([]);
  });
});

describeDeep('whatever hangs', () => {
  const LIMIT_MS = 120_000;

  it('doctor ends within two minutes, says where something listens, and doubts no address', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const url = `postgres://nobody:nothing@127.0.0.1:${port}/nowhere`;
    const begunAt = performance.now();
    const findings = await doctor({
      DATABASE_URL: url,
      SIGNER_DATABASE_URL: url,
      TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
      OPS_PORT: String(port),
      HTTPS_PORT: String(port),
      NETWORKS_FILE: withEndpoints(`http://127.0.0.1:${port}/`),
    });
    expect(performance.now() - begunAt).toBeLessThan(LIMIT_MS);
    for (const part of ['database', 'temporal', 'service', 'api']) {
      expect(about(findings, part)).toMatchObject([
        {
          status: 'fail',
          found: `no answer within 20 s, and 127.0.0.1:${port} accepts connections`,
          todo: expect.stringMatching(/^it hangs, or it is very slow/),
        },
      ]);
    }
    expect(about(findings, `network ${NETWORK_ID}`)).toMatchObject([
      { status: 'fail', found: `127.0.0.1:${port} has not answered within 20 s` },
    ]);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});
