/** @deep */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { makeAccount, proposalPath, read, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { listen } from '../support/eventStream';
import type { Ask } from '../support/http';
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy';
import { databaseSettings, signingAsk, type TestOrganization } from '../support/service';
import { type Browser, signIn } from '../support/session';
import { createTestDatabase, networksFile, rpc, startOwnChain } from '../support/stack';
import { type LoggedStatement, logStatements, type StatementLog } from '../support/statementLog';
import { itDeep } from '../support/suite';
import {
  aTransactionBody,
  createTransaction,
  initiate,
  settledTransaction,
  signatureBody,
  TRANSACTIONS,
  transactionPath,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { makePayer, workflowOfTransaction } from '../workflows/transactionWorld';
import { startWorld, type World } from '../workflows/world';

/** What an operation may cost at most. Counts, unlike times, are the same on every machine. */
const BUDGETS = {
  'read a transaction': { statements: 1, rpcCalls: 0 },
  'repeat a request': { statements: 1, rpcCalls: 0 },
  'create a transaction': { statements: 8, rpcCalls: 0 },
  'sign a transaction': { statements: 7, rpcCalls: 0 },
  // With one look at the chain.
  'execute a transaction': { statements: 24, rpcCalls: 6 },
  'sign and execute a transaction': { statements: 24, rpcCalls: 6 },
  // The signer has looked for code there within ten minutes.
  'pay the same address again': { statements: 24, rpcCalls: 5 },
  // The signer simulates what depends on gas.
  'pay a contract': { statements: 24, rpcCalls: 8 },
  'create a proposal': { statements: 10, rpcCalls: 0 },
  'sign a proposal': { statements: 7, rpcCalls: 0 },
  'sign and execute a proposal': { statements: 18, rpcCalls: 0 },
} as const;
/** Of one of `TOGETHER` transactions that are executed at once: how they overtake each other differs, and how many blocks come meanwhile. */
const BUDGET_TOGETHER = { statements: 44, rpcCalls: 8 };
/** Of the workflow of a transaction that was created, signed, executed and completed, and that the chain worker has observed. */
const BUDGET_OF_HISTORY = { events: 45, bytes: 20_000 };
/** Of service and signer, two processes in production: one statement and one RPC call each, on the average of a minute. */
const BUDGET_PER_IDLE_SECOND = 2;

/** What a process sends by the clock, whatever it is asked: heartbeats (new connections as well), leases of what runs, credentials and whether the database was compared once a second. */
const BY_THE_CLOCK = [
  /^SHOW transaction_read_only$/,
  /^UPDATE idempotency_requests SET lease_until/,
  /FROM journal_comparison$/,
  /^SELECT l\.\*, l\."dueMs"/,
  /^SELECT k.id, k.organization_id, k.key_hash/,
  /^WITH used AS \( UPDATE sessions s/,
  /^SELECT s.id, s.organization_id, s.token_hash/,
];

/** Renews the lease of the signer: by the clock, and where the journal has got something since a commit. */
const LEASE_RENEWAL = /^UPDATE signer_lease SET held_until/;

/** Of each look at the chain beyond the first: how many there are depends on when the next block comes. */
const BUDGET_PER_LOOK = 2;

type Operation = keyof typeof BUDGETS;

interface RpcCall {
  readonly by: 'worker' | 'signer';
  readonly method: string;
  /** It is one of those who read movements, or lost blocks, whenever there is a new block. */
  readonly isOfReading?: boolean;
}

/** Nobody else of the worker asks for logs, or for blocks by their numbers. */
const isOfReading = (by: RpcCall['by'], { method, params }: { method: string; params?: unknown[] }) =>
  by === 'worker' &&
  (method === 'eth_getLogs' || (method === 'eth_getBlockByNumber' && params?.[0] !== 'latest'));

/** The tables of those who read movements. */
const OF_READING =
  /\b(movement_scans|movement_scan_blocks|account_scans|account_proofs|seen_tokens|movements)\b/;

/** Statements without those of readings of movements: their own, and their transactions, which hold the network that they read. */
function withoutReadings(statements: readonly LoggedStatement[]): LoggedStatement[] {
  const open = new Map<string, LoggedStatement[]>();
  const groups = statements.map((statement) => {
    const { connection, text } = statement;
    const group = open.get(connection) ?? [];
    group.push(statement);
    if (/^BEGIN/.test(text)) open.set(connection, group);
    if (/^(COMMIT|ROLLBACK)/.test(text)) open.delete(connection);
    return group;
  });
  return statements.filter((_, i) => !groups[i]?.some(({ text }) => OF_READING.test(text)));
}

/** What was sent to Postgres and to the network. */
interface Cost {
  readonly statements: readonly LoggedStatement[];
  readonly rpcCalls: readonly RpcCall[];
  readonly rpcRequests: number;
  readonly tookMs: number;
}

const RUNS = 6;
/** As often as this while one is above its budget: on a busy machine what was read is too old sooner. */
const MOST_RUNS = 24;
const TOGETHER = 16;
/** The run with the fewest RPC calls counts: a process that was delayed reads the chain more often. */
const RUNS_TOGETHER = 2;
const IDLE_MS = 6_000;

let log: StatementLog;
/** No other test adds blocks to it: each block is one more look at the chain. */
let chain: Awaited<ReturnType<typeof startOwnChain>>;
let world: World;
let proxies: RpcProxy[] = [];
let org: TestOrganization;
let payer: Awaited<ReturnType<typeof makePayer>>;
let rpcCalls: RpcCall[] = [];
let rpcRequests = 0;

function countingProxy(
  url: string,
  by: RpcCall['by'],
  answered: (text: string) => Promise<void> = async () => undefined,
): Promise<RpcProxy> {
  return startRpcProxy(url, async (body, pass) => {
    rpcRequests += 1;
    for (const request of [JSON.parse(body)].flat()) {
      rpcCalls.push({ by, method: request.method, isOfReading: isOfReading(by, request) });
    }
    const text = await pass();
    await answered(text);
    return text;
  });
}

/**
 * Makes the block that confirms transactions once the worker has read the one with them, and no sooner: how often it looks
 * does not depend on how fast it is.
 */
async function confirmWhatWasRead(text: string): Promise<void> {
  const read = [JSON.parse(text)]
    .flat()
    .flatMap(({ result }) => (result?.transactions?.length > 0 ? [result.hash] : []));
  if (read.length === 0) return;
  const { rpcUrl } = chain.current;
  const newest = await rpc<{ hash: string }>(rpcUrl, 'eth_getBlockByNumber', ['latest', false]);
  if (read.includes(newest.hash)) await rpc(rpcUrl, 'anvil_mine', ['0x1']);
}

beforeAll(async () => {
  chain = await startOwnChain(NETWORK_ID);
  const { rpcUrl } = chain.current;
  chain.current.stopConfirming();
  proxies = [
    await countingProxy(rpcUrl, 'worker', confirmWhatWasRead),
    await countingProxy(rpcUrl, 'signer'),
  ];
  const [workers, signers] = proxies.map(({ url }) => url);
  const database = await createTestDatabase();
  log = await logStatements(database.name);
  const networks = [{ id: NETWORK_ID, name: 'Counted', rpcUrl: workers, signerRpcUrls: [signers] }];
  const env = { NETWORKS_FILE: networksFile(networks) };
  world = await startWorld({ database: databaseSettings(database), env });
  org = await world.createOrganization();
  payer = await makePayer(world, org, NETWORK_ID);
});
afterAll(async () => {
  await world?.stop();
  await Promise.all(proxies.map((proxy) => proxy.stop()));
  await chain?.stop();
});

async function costOf<T>(operation: () => Promise<T>): Promise<{ cost: Cost; result: T }> {
  // The process has just seen the keys, as it has while anybody works with them.
  for (const key of [org.adminKey, org.readKey]) await world.http.send({ key, path: '/api/v1/networks' });
  await log.readQuiet();
  rpcCalls = [];
  rpcRequests = 0;
  const startedAt = performance.now();
  const result = await operation();
  const statements = await log.readQuiet();
  return { cost: { statements, rpcCalls, rpcRequests, tookMs: performance.now() - startedAt }, result };
}

/**
 * What a process asks a network once in 10 s, whoever needs it: its id, its fees (at a block, with the tip), how many
 * transactions a relayer has.
 */
const ONCE_IN_A_WHILE: readonly RpcCall[] = [
  { by: 'worker', method: 'eth_getTransactionCount' },
  ...(['worker', 'signer'] as const).flatMap((by) =>
    ['eth_maxPriorityFeePerGas', 'eth_getBlockByNumber'].map((method) => ({ by, method })),
  ),
];

/** How often those who read movements ask for the newest block, in ms. */
const HEAD_EVERY_MS = 2_000;

function withoutOnce({ rpcCalls: calls, tookMs }: Cost): RpcCall[] {
  const left = calls.filter(({ method, isOfReading: reads }) => method !== 'eth_chainId' && !reads);
  const readFees = (by: RpcCall['by']) =>
    calls.some((call) => call.by === by && call.method === 'eth_maxPriorityFeePerGas');
  for (const once of ONCE_IN_A_WHILE) {
    if (once.method === 'eth_getBlockByNumber' && !readFees(once.by)) continue;
    const place = left.findIndex(({ by, method }) => by === once.by && method === once.method);
    if (place >= 0) left.splice(place, 1);
  }
  // A look at the chain reads the newest block and a receipt.
  const looks = left.filter(({ method }) => method === 'eth_getTransactionReceipt').length;
  const isHead = ({ by, method }: RpcCall) => by === 'worker' && method === 'eth_getBlockByNumber';
  let heads = left.filter(isHead).length;
  for (let polls = Math.floor(tookMs / HEAD_EVERY_MS); polls > 0 && heads > looks; polls -= 1, heads -= 1) {
    left.splice(left.findIndex(isHead), 1);
  }
  return left;
}

/** What an operation has cost without what was sent by the clock meanwhile. */
function ownCost(cost: Cost): Cost {
  const own = withoutReadings(cost.statements);
  const statements = own.filter(({ text, login }, i) => {
    if (!LEASE_RENEWAL.test(text)) return !BY_THE_CLOCK.some((pattern) => pattern.test(text));
    return own.slice(0, i).findLast((before) => before.login === login)?.text === 'COMMIT;';
  });
  return { ...cost, statements, rpcCalls: withoutOnce(cost) };
}

/** The least that each operation has cost: what polls by the clock may come in between. */
const least = new Map<string, Cost>();

async function counted<T>(name: string, operation: () => Promise<T>): Promise<T> {
  const { cost: whole, result } = await costOf(operation);
  const cost = ownCost(whole);
  const before = least.get(name);
  const total = (of: Cost) => of.statements.length + of.rpcCalls.length;
  if (!before || total(cost) < total(before)) least.set(name, cost);
  return result;
}

function leastOf(name: string): Cost {
  const cost = least.get(name);
  if (!cost) throw new Error(`${name} was not counted`);
  return cost;
}

/** Sends a request that must be accepted, and counts it. */
async function send(name: string, ask: Ask, by: Pick<Browser, 'send'> = world.http): Promise<Shown> {
  const { status, body, text } = await counted(name, () => by.send(ask));
  if (status >= 300) throw new Error(`${name} → ${status} ${text}`);
  return body.data;
}

function transfer(to: string = anAddress()): object {
  return aTransactionBody(org, { ...payer, to });
}

/** One transaction from its creation to `completed`. */
async function payOnce(): Promise<Shown> {
  const key = org.readKey;
  const creation = { key, path: TRANSACTIONS, body: transfer(), idempotencyKey: randomUUID() };
  const created = await send('create a transaction', creation);
  const signature = await signatureBody(created, org.dave, 'initiator');
  const path = transactionPath(created.id);
  await send('sign a transaction', { key, path: `${path}/signatures`, body: signature });
  const executed = await send('execute a transaction', {
    ...{ key, path: `${path}/execute`, body: { type: 'approve' } },
  });
  expect(executed.executionStatus).toBe('completed');
  await send('repeat a request', creation);
  return send('read a transaction', { key, path });
}

/** One transaction that its initiator's signature executes. */
async function payAtOnce(
  name: Operation = 'sign and execute a transaction',
  to: string = anAddress(),
): Promise<void> {
  const created = await createTransaction(world.http, org, transfer(to));
  const body = await signatureBody(created, org.dave, 'initiator', { execute: true });
  const path = transactionPath(created.id, '/signatures');
  const executed = await send(name, { key: org.readKey, path, body });
  expect(executed.executionStatus).toBe('completed');
}

let names = 0;

/** One change of a name from its proposal to `completed`: it needs no chain. */
async function renameOnce(): Promise<void> {
  const key = org.adminKey;
  names += 1;
  const items = [{ id: payer.account.id, name: `Name ${names}` }];
  const path = '/api/v1/accounts/proposals/update';
  const proposal = await send('create a proposal', { key, path, body: { items } });
  await send('sign a proposal', await signingAsk(key, proposal, org.alice));
  const last = await signingAsk(key, proposal, org.bob, 'approve', { execute: true });
  await send('sign and execute a proposal', last);
  expect(await read(world.http, key, proposalPath(proposal.id))).toMatchObject({
    executionStatus: 'completed',
  });
}

function list(name: string, cost: Cost): string {
  const numbered = (lines: readonly string[]) =>
    lines.map((line, index) => `${String(index + 1).padStart(4)}  ${line}`);
  const { statements, rpcCalls: calls, rpcRequests: requests } = cost;
  return [
    `${name}: ${statements.length} SQL statements, ${calls.length} RPC calls in ${requests} requests`,
    ...numbered(statements.map(({ login, connection, text }) => `${login} ${connection}  ${text}`)),
    ...numbered(calls.map(({ by, method }) => `${by}  ${method}`)),
  ].join('\n');
}

/** The budget of one that had so many looks at the chain. */
function budgetOf(name: keyof typeof BUDGETS) {
  const looks = leastOf(name).rpcCalls.filter(({ method }) => method === 'eth_getTransactionReceipt').length;
  const more = BUDGET_PER_LOOK * Math.max(0, looks - 1);
  const { statements, rpcCalls } = BUDGETS[name];
  return { statements: statements + more, rpcCalls: rpcCalls + more };
}

interface Budget {
  readonly statements: number;
  readonly rpcCalls: number;
}

function isWithin({ statements, rpcCalls: calls }: Cost, budget: Budget, times = 1): boolean {
  return statements.length <= budget.statements * times && calls.length <= budget.rpcCalls * times;
}

const COUNTED = Object.keys(BUDGETS) as (keyof typeof BUDGETS)[];
/** Whether what was counted so far is within its budget. */
const isAllWithin = () =>
  COUNTED.filter((name) => least.has(name)).every((name) => isWithin(leastOf(name), budgetOf(name)));

/** Writes what an operation has cost to the file that `TEST_COUNTS` names, and fails with it when it is too much. */
function expectWithin(name: string, cost: Cost, budget: Budget, times = 1): void {
  const listed = list(name, cost);
  const { TEST_COUNTS: file } = process.env;
  if (file) writeFileSync(file, `${listed}\n\n`, { flag: 'a' });
  if (!isWithin(cost, budget, times))
    throw new Error(`more than ${JSON.stringify(budget)}, ${times} times:\n${listed}`);
}

describe('what an operation costs', () => {
  let paid: Shown;

  beforeAll(async () => {
    const known = anAddress();
    const contract = (await makeAccount(world.http, org, { networkIds: [NETWORK_ID] })).address as string;
    const operations = [
      async () => {
        paid = await payOnce();
      },
      () => payAtOnce(),
      () => payAtOnce('pay the same address again', known),
      () => payAtOnce('pay a contract', contract),
      () => renameOnce(),
    ];
    // Each several times in a row: what is known of an address is known for seconds only.
    for (const operation of operations) {
      for (let run = 0; run < RUNS || (run < MOST_RUNS && !isAllWithin()); run += 1) await operation();
    }
  });

  it.each(COUNTED)('%s', (name) => {
    expectWithin(name, leastOf(name), budgetOf(name));
  });

  it('keeps the history of a transaction short', async () => {
    const handle = workflowOfTransaction({ temporal: world.temporal, org }, paid);
    const { historyLength, historySize = 0 } = await handle.describe();
    expect(historyLength).toBeLessThanOrEqual(BUDGET_OF_HISTORY.events);
    expect(historySize).toBeLessThanOrEqual(BUDGET_OF_HISTORY.bytes);
    expect(historySize).toBeGreaterThan(0);
  });

  it('shares reads of the network between transactions that are executed at once', async () => {
    const costs: Cost[] = [];
    for (let run = 0; run < RUNS_TOGETHER; run += 1) {
      const transactions = await Promise.all(
        Array.from({ length: TOGETHER }, () => initiate(world.http, org, transfer())),
      );
      const { cost, result } = await costOf(() =>
        Promise.all(
          transactions.map(async (transaction) => {
            const path = transactionPath(transaction.id, '/execute');
            await world.http.send({ key: org.readKey, path, body: { type: 'approve' } });
            return settledTransaction(world.http, org, transaction);
          }),
        ),
      );
      expect(result.map(({ executionStatus }) => executionStatus)).toEqual(
        transactions.map(() => 'completed'),
      );
      costs.push(ownCost(cost));
    }
    const [cost] = costs.sort((a, b) => a.rpcCalls.length - b.rpcCalls.length);
    if (!cost) throw new Error('nothing was counted');
    expectWithin(`execute ${TOGETHER} transactions at once`, cost, BUDGET_TOGETHER, TOGETHER);
  });

  it('is the same in a session', async () => {
    const dave = await signIn(world, org.dave);
    // It has leased requests of its rate limit.
    await dave.send({ path: '/api/v1/networks' });
    const path = transactionPath(paid.id);
    const headers = { 'x-orgwallet-background': '1' };
    const asks: [name: string, as: Operation, ask: () => Ask][] = [
      ['read a transaction in a session', 'read a transaction', () => ({ path })],
      ['read a transaction in the background', 'read a transaction', () => ({ path, headers })],
      [
        'create a transaction in a session',
        'create a transaction',
        () => ({ path: TRANSACTIONS, body: transfer() }),
      ],
    ];
    for (const [name, as, ask] of asks) {
      for (let run = 0; run < RUNS; run += 1) await send(name, ask(), dave);
      expectWithin(name, leastOf(name), BUDGETS[as]);
    }
  });

  it('is a statement a second for all who listen together, and none for nobody', async () => {
    const browsers = [await signIn(world, org.dave), await signIn(world, org.alice)];
    const streams = await Promise.all([...browsers, ...browsers].map((browser) => listen(world, browser)));
    const wait = () => new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const polls = async () => {
      const { cost } = await costOf(wait);
      return cost.statements.filter(({ text }) => text.includes('FROM audit_log a')).length;
    };
    const [seconds, listening] = [IDLE_MS / 1_000, await polls()];
    expect(listening).toBeGreaterThan(seconds / 2);
    expect(listening).toBeLessThanOrEqual(seconds + 1);
    for (const stream of streams) stream.close();
    await log.readQuiet();
    expect(await polls()).toBe(0);
  });

  itDeep('is almost nothing while nobody asks', async () => {
    // What is done once a minute, all of it in one second, does not decide.
    const quietMs = 10 * IDLE_MS;
    const { cost } = await costOf(() => new Promise((resolve) => setTimeout(resolve, quietMs)));
    const budget = { statements: BUDGET_PER_IDLE_SECOND, rpcCalls: BUDGET_PER_IDLE_SECOND };
    expectWithin(`nothing for ${quietMs} ms`, cost, budget, quietMs / 1_000);
  });
});
