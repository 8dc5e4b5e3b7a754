import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';
import { read, sharedApi } from '../support/api';
import { anAddress } from '../support/builders';
import type { TestOrganization, TestService } from '../support/service';
import { temporaryDir } from '../support/stack';
import { until } from '../support/until';

let api: TestService;
let org: TestOrganization;
let folder: string;

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
  folder = temporaryDir();
  const demo = {
    baseUrl: `https://localhost:${api.config.httpsPort}/api/v1`,
    caFile: api.config.tls.certFile,
    apiKeys: [{ key: org.readKey }],
    admins: { threshold: 2, members: [] },
    members: [],
    networks: [],
  };
  writeFileSync(join(folder, 'demo.json'), JSON.stringify(demo));
});
afterAll(() => api?.stop());

const file = () => join(folder, 'ledger.jsonl');
const lines = () => (existsSync(file()) ? readFileSync(file(), 'utf8').split('\n').filter(Boolean) : []);

/** Runs the example for so many seconds: as it is documented, or what that has compiled. */
function ledger(
  seconds: number,
  program = join('dist', 'examples', 'ledger.mjs'),
): { readonly child: ChildProcess; readonly done: Promise<[status: number | null, printed: string]> } {
  const env = {
    ...{ PATH: process.env.PATH, HOME: process.env.HOME, ORGWALLET_DATA_DIR: folder },
    NODE_EXTRA_CA_CERTS: api.config.tls.certFile,
  };
  const name = program.endsWith('example.mjs') ? ['ledger'] : [];
  const child = spawn(process.execPath, [program, ...name, file(), String(seconds)], {
    cwd: projectRoot(),
    env,
  });
  let printed = '';
  const print = (text: Buffer) => {
    printed += text.toString();
  };
  child.stdout.on('data', print);
  child.stderr.on('data', print);
  return {
    child,
    done: new Promise((resolve) => child.once('close', (status) => resolve([status, printed]))),
  };
}

async function name(): Promise<void> {
  const body = { name: `N ${randomBytes(6).toString('hex')}`, address: anAddress() };
  expect((await api.http.send({ key: org.adminKey, path: '/api/v1/address-book', body })).status).toBe(200);
}

it('the ledger of the documentation misses nothing, killed and begun again, and notices what is missing', async () => {
  await name();
  expect(await ledger(3, join('tools', 'dev', 'example.mjs')).done).toEqual([
    0,
    expect.stringContaining('none missed'),
  ]);
  const before = lines().length;
  const killed = ledger(60);
  await name();
  await until('it has begun', async () => lines().length > before || undefined);
  await name();
  killed.child.kill('SIGKILL');
  await killed.done;
  for (let n = 0; n < 5; n += 1) await name();
  const again = ledger(5);
  const [status, printed] = await again.done;
  const events = await read(api.http, org.readKey, '/api/v1/events?limit=100');
  expect([status, printed]).toEqual([
    0,
    expect.stringContaining(`${events.length} events, none missed; 0 since`),
  ]);
  expect(lines().map((line) => JSON.parse(line).event.id)).toEqual(
    events.map(({ id }: { id: string }) => id),
  );
  writeFileSync(file(), `${lines().toSpliced(2, 1).join('\n')}\n`);
  const [failed, message] = await ledger(2).done;
  expect([failed, message]).toEqual([1, expect.stringContaining('event 3 is missing or changed')]);
}, 120_000);
