/** @deep */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  type Address,
  bytesToHex,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  numberToHex,
} from 'viem';
import { checksumAddress } from '../../src/chain/address';
import { createChainClients } from '../../src/chain/clients';
import { verifyAudit } from '../../src/db/audit';
import { newId } from '../../src/db/ids';
import { requireRow } from '../../src/db/rows';
import type { MovementRow } from '../../src/db/tables';
import { MovementScanner } from '../../src/movements/scanner';
import { answer, loggingToken, logTransfer } from '../support/contracts';
import { loseBlocksSince } from '../support/lostBlocks';
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy';
import { LOCAL_FUNDER, rpc } from '../support/stack';
import { DEEP } from '../support/suite';
import { until } from '../support/until';
import { ETHER, type TestAccount, TransactionWorld } from './transactionWorld';
import { putCode, sendAsFunder, sendSigned, signedPayment } from './wallets';

let world: TransactionWorld;

beforeAll(async () => {
  world = await TransactionWorld.start(41_170);
});
afterAll(() => world?.stop());

/** More than two transactions and the blocks that the chain mines by itself, behind each, sooner or later. */
const CONFIRMATIONS = 5;
const FUNDER = LOCAL_FUNDER.address;
const STRANGER = checksumAddress(`0x${'b1'.repeat(20)}`);

const listed = () => {
  const { token } = world.own.current;
  return { ...token, networkId: world.network.id, logoUrl: null };
};

function scanner(url = world.url): MovementScanner {
  const chain = createChainClients([{ ...world.network, rpcUrls: [url], confirmations: CONFIRMATIONS }]).get(
    world.network.id,
  );
  if (!chain) throw new Error('no client');
  return new MovementScanner({ db: world.serviceDb, tokens: [listed()], owner: randomUUID() }, chain);
}

/** Reads until the newest block is read, and the past of all accounts. */
async function readAll(of: MovementScanner): Promise<void> {
  let unread = 0;
  for (let rests = 0; rests < 2; ) {
    const result = await of.pass();
    if (result === 'behind') rests = 0;
    else if (result !== 'unread') rests += 1;
    // Once in a while a pass only asks which chain it is.
    else if (++unread > 3) throw new Error('nothing is read: does another scanner have the lease?');
  }
  while (await of.readPast());
}

async function inTurn<T>(work: (of: MovementScanner) => Promise<T>, of = scanner()): Promise<T> {
  try {
    return await work(of);
  } finally {
    await of.stop();
  }
}

const movementsOf = ({ id }: TestAccount): Promise<MovementRow[]> =>
  world.db('movements').where({ account_id: id }).orderBy(['block_at', 'sequence']);

async function shown(account: TestAccount) {
  return (await movementsOf(account)).map((row) => [
    row.direction,
    row.kind,
    BigInt(row.amount),
    row.counterparty,
    row.status,
    row.verified ? 'verified' : 'unverified',
  ]);
}

const pay = (account: TestAccount, value: bigint) =>
  sendAsFunder(world.url, { to: account.address, value: numberToHex(value), data: '0x' });
const payToken = (account: TestAccount, amount: bigint) =>
  sendAsFunder(world.url, {
    to: listed().address as Address,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [account.address, amount] }),
  });

/** The movement events of an account: the verb, and how many movements it names. */
async function events({ id }: TestAccount): Promise<unknown[][]> {
  const rows = await world
    .db('audit_log')
    .where({ resource_id: id })
    .whereLike('action', 'movement.%')
    .orderBy('position');
  return rows.map(({ action, details }) => {
    const { count, movementIds } = details as { count: number; movementIds: string[] };
    return [action, count, movementIds.length];
  });
}

test('deposits are pending, then confirmed, and each is an event', async () => {
  const account = await world.account();
  await inTurn(async (of) => {
    await readAll(of);
    await pay(account, 5n);
    await readAll(of);
    expect(await shown(account)).toEqual([['in', 'native', 5n, FUNDER, 'pending', 'verified']]);
    await payToken(account, 7n);
    await readAll(of);
    expect(await shown(account)).toEqual([
      ['in', 'native', 5n, FUNDER, 'pending', 'verified'],
      ['in', 'erc20', 7n, FUNDER, 'pending', 'verified'],
    ]);
    await world.mine(CONFIRMATIONS);
    await readAll(of);
  });
  expect((await shown(account)).map(([, , , , status]) => status)).toEqual(['confirmed', 'confirmed']);
  expect(await events(account)).toEqual([
    ['movement.pending', 1, 1],
    ['movement.pending', 1, 1],
    ['movement.confirmed', 2, 2],
  ]);
});

test('what our transactions pay is theirs', async () => {
  const account = await world.account();
  const other = await world.account();
  await inTurn(readAll);
  const ref = await world.transaction({ to: other.address, value: 11n }, { account });
  await world.execute(ref);
  await world.mine(CONFIRMATIONS);
  await inTurn(readAll);
  const [out] = await movementsOf(account);
  const [into] = await movementsOf(other);
  expect(out).toMatchObject({ direction: 'out', amount: '11', transaction_id: ref.transactionId });
  expect(into).toMatchObject({
    direction: 'in',
    counterparty: account.address,
    transaction_id: ref.transactionId,
  });
});

test('a lost block reverses its movements, and another one has them again', async () => {
  const account = await world.account();
  await inTurn(async (of) => {
    await world.mine();
    await readAll(of);
    const payment = await signedPayment(world.url, account.address, 13n);
    const snapshot = await rpc<Hex>(world.url, 'evm_snapshot', []);
    await sendSigned(world.url, payment);
    await readAll(of);
    const [before] = await movementsOf(account);
    await loseBlocksSince(world.url, snapshot);
    await readAll(of);
    expect(await shown(account)).toEqual([['in', 'native', 13n, FUNDER, 'reversed', 'verified']]);
    await sendSigned(world.url, payment);
    await world.mine(CONFIRMATIONS);
    await readAll(of);
    const [after] = await movementsOf(account);
    expect(await movementsOf(account)).toHaveLength(1);
    expect(after).toMatchObject({ id: before?.id, status: 'confirmed' });
    expect(after?.block_hash).not.toBe(before?.block_hash);
  });
  expect((await events(account)).map(([action]) => action)).toEqual([
    'movement.pending',
    'movement.reversed',
    'movement.confirmed',
  ]);
});

test('blocks that are lost while nobody reads are found, however deep', async () => {
  const account = await world.account();
  await inTurn(readAll);
  const snapshot = await rpc<Hex>(world.url, 'evm_snapshot', []);
  await pay(account, 17n);
  await world.mine(40);
  await inTurn(readAll);
  await pay(account, 18n);
  await world.mine(40);
  await inTurn(readAll);
  expect((await shown(account)).map(([, , , , status]) => status)).toEqual(['confirmed', 'confirmed']);
  await loseBlocksSince(world.url, snapshot);
  await pay(account, 19n);
  await world.mine(CONFIRMATIONS);
  await inTurn(readAll);
  // The clock of the chain went back with its blocks.
  const inOrder = (await movementsOf(account)).sort((one, two) => Number(one.sequence - two.sequence));
  expect(inOrder.map(({ amount, status }) => [amount, status])).toEqual([
    ['17', 'reversed'],
    ['18', 'reversed'],
    ['19', 'confirmed'],
  ]);
});

test('an account is read from its first block, whenever it was deployed', async () => {
  const account = await world.account();
  await pay(account, 3n);
  await world.mine(60);
  const at = { account_id: account.id };
  const [row] = await world.db('account_networks').where(at).delete().returning('*');
  await inTurn(readAll);
  await world.db('account_networks').insert(row as never);
  const of = scanner();
  await inTurn(async () => {
    while ((await of.pass()) === 'behind');
    expect((await of.progress()).accounts).toBe(1);
    expect(await shown(account)).toEqual([]);
    while (await of.readPast());
    expect(await of.progress()).toMatchObject({ accounts: 0, blocksLeft: '0' });
  }, of);
  expect(await shown(account)).toEqual([['in', 'native', 3n, FUNDER, 'confirmed', 'verified']]);
  expect(await events(account)).toEqual([['movement.confirmed', 1, 1]]);
});

test('an account that comes while many blocks are not read has all of its payments', async () => {
  await inTurn(readAll);
  const account = await world.account();
  await world.mine(2);
  await pay(account, 6n);
  await payToken(account, 8n);
  await world.mine(40);
  await inTurn(readAll);
  expect((await shown(account)).map(([, , amount, , status]) => [amount, status])).toEqual([
    [6n, 'confirmed'],
    [8n, 'confirmed'],
  ]);
});

test('a token that logs what it likes is unverified, no event, and stops nothing', async () => {
  const account = await world.account();
  await inTurn(readAll);
  const hostile = await putCode(world.url, 'hostile token', loggingToken());
  const most = 2n ** 256n - 1n;
  for (const amount of [most, most, 0n]) {
    await sendAsFunder(world.url, { to: hostile, data: logTransfer(STRANGER, account.address, amount) });
  }
  await sendAsFunder(world.url, { to: hostile, data: logTransfer(account.address, STRANGER, most) });
  await pay(account, 1n);
  await world.mine(CONFIRMATIONS);
  await inTurn(async (of) => {
    await readAll(of);
    await of.pass();
  });
  const unverified = 'unverified';
  expect(await shown(account)).toEqual([
    ['in', 'erc20', most, STRANGER, 'confirmed', unverified],
    ['in', 'erc20', most, STRANGER, 'confirmed', unverified],
    ['in', 'erc20', 0n, STRANGER, 'confirmed', unverified],
    ['out', 'erc20', most, STRANGER, 'confirmed', unverified],
    ['in', 'native', 1n, FUNDER, 'confirmed', 'verified'],
  ]);
  expect(await events(account)).toEqual([['movement.confirmed', 1, 1]]);
  expect(
    await world
      .db('seen_tokens')
      .where({ address: checksumAddress(hostile) })
      .first(),
  ).toMatchObject({
    symbol: '',
    name: null,
  });
});

test('a token that a policy names later is verified from then on', async () => {
  const account = await world.account();
  const token = await putCode(world.url, 'named later', loggingToken());
  await sendAsFunder(world.url, { to: token, data: logTransfer(STRANGER, account.address, 4n) });
  await world.mine(CONFIRMATIONS);
  await inTurn(readAll);
  expect(await shown(account)).toEqual([['in', 'erc20', 4n, STRANGER, 'confirmed', 'unverified']]);
  await world.policy({
    transactionType: 'TOKEN_TRANSFER',
    tokenTransferCondition: {
      tokenAddress: checksumAddress(token),
      tokenSymbol: 'TST',
      tokenName: 'A Token',
      tokenDecimals: 18,
      amountThreshold: null,
      destinationAddresses: [],
    },
  } as never);
  await inTurn(async (of) => {
    await of.pass();
    await of.pass();
  });
  expect(await shown(account)).toEqual([['in', 'erc20', 4n, STRANGER, 'confirmed', 'verified']]);
});

test('tokens are read, and become verified, where every reading finds a new block', async () => {
  const account = await world.account();
  await inTurn(readAll);
  const token = await putCode(
    world.url,
    'on a fast network',
    loggingToken({ 'symbol()': answer(encodeAbiParameters([{ type: 'string' }], ['FAST'])) }),
  );
  const address = checksumAddress(token);
  await sendAsFunder(world.url, { to: token, data: logTransfer(STRANGER, account.address, 4n) });
  const readBusily = (of: MovementScanner) =>
    until('the newest block is read', async () => {
      await world.mine(1);
      return (await of.pass()) === 'read';
    });
  await inTurn(readBusily);
  expect(await world.db('seen_tokens').where({ address }).first()).toMatchObject({ symbol: 'FAST' });
  await world.policy({
    transactionType: 'TOKEN_TRANSFER',
    tokenTransferCondition: {
      ...{ tokenAddress: address, tokenSymbol: 'FAST', tokenName: 'Fast', tokenDecimals: 18 },
      ...{ amountThreshold: null, destinationAddresses: [] },
    },
  } as never);
  await inTurn(readBusily);
  expect((await shown(account)).map(([, , , , , verified]) => verified)).toEqual(['verified']);
});

describe('an endpoint', () => {
  let proxy: RpcProxy;
  let asked: string[] = [];
  let lie: (logs: unknown[]) => unknown[] = (logs) => logs;
  let isDown = false;
  /** Why it refuses logs; undefined where it does not. */
  let refuse: (blocks: number, logs: number, method: string) => string | undefined = () => undefined;

  beforeAll(async () => {
    proxy = await startRpcProxy(world.url, async (body, pass) => {
      const { id, method, params } = JSON.parse(body);
      asked.push(method);
      if (isDown) return undefined;
      const answer = await pass();
      if (method !== 'eth_getLogs' && method !== 'eth_getBlockReceipts') return answer;
      const { result, ...rest } = JSON.parse(answer);
      const [{ fromBlock = 0, toBlock = 0 }] = params;
      const message = refuse(Number(toBlock) - Number(fromBlock) + 1, result.length, method);
      if (message !== undefined)
        return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_005, message } });
      if (method === 'eth_getBlockReceipts') return answer;
      return JSON.stringify({ ...rest, result: lie(result) });
    });
  });
  afterEach(() => {
    refuse = () => undefined;
  });
  afterAll(() => proxy?.stop());

  it('is asked once at rest', async () => {
    await inTurn(async (of) => {
      await readAll(of);
      await of.pass();
      asked = [];
      for (let pass = 0; pass < 5; pass += 1) expect(await of.pass()).toBe('rest');
      expect(asked).toEqual(Array(5).fill('eth_getBlockByNumber'));
    }, scanner(proxy.url));
  });

  it.each<[string, (logs: unknown[]) => unknown[]]>([
    ['with none of the logs', () => []],
    ['with half of the logs', (logs) => logs.filter((_, index) => index % 2 === 0)],
    ['with logs twice and backwards', (logs) => [...logs, ...logs].reverse()],
    [
      'with logs of another branch',
      (logs) => logs.map((log) => ({ ...(log as object), blockHash: numberToHex(1, { size: 32 }) })),
    ],
  ])('that answers %s for a while changes nothing in the end', async (_, lying) => {
    const account = await world.account();
    await inTurn(async (of) => {
      await readAll(of);
      await pay(account, 1n);
      await payToken(account, 2n);
      lie = lying;
      await readAll(of);
      await pay(account, 3n);
      await readAll(of);
      lie = (logs) => logs;
      await world.mine(CONFIRMATIONS);
      await readAll(of);
    }, scanner(proxy.url));
    // What was answered late is found late.
    const found = (await movementsOf(account)).map(({ amount, status }) => `${amount} ${status}`);
    expect(found.sort()).toEqual(['1 confirmed', '2 confirmed', '3 confirmed']);
  });

  it('whose nodes lag behind for many blocks is read again', async () => {
    const account = await world.account();
    await inTurn(async (of) => {
      await readAll(of);
      await pay(account, 4n);
      lie = () => [];
      await world.mine(40);
      await readAll(of);
      expect(await shown(account)).toEqual([]);
      lie = (logs) => logs;
      await world.mine();
      await readAll(of);
    }, scanner(proxy.url));
    expect((await shown(account)).map(([, , amount, , status]) => [amount, status])).toEqual([
      [4n, 'confirmed'],
    ]);
  });

  const withoutReceipts: [string, typeof refuse] = [
    'any logs, and receipts of blocks',
    () => 'the method is not supported',
  ];

  // Messages that providers are reported to answer with; none of them is read.
  it.each<[string, typeof refuse]>([
    ['more than 10 blocks', (blocks) => (blocks > 10 ? 'up to a 10 block range' : undefined)],
    [
      'more than 3 logs, even of one block',
      (_, logs, method) =>
        method === 'eth_getLogs' && logs > 3 ? 'query returned more than 10000 results' : undefined,
    ],
    ['any logs', (_, __, method) => (method === 'eth_getLogs' ? 'the method is not supported' : undefined)],
    ...(DEEP ? [withoutReceipts] : []),
  ])('that refuses %s is read in other ways', async (_, refusing) => {
    const account = await world.account();
    const token = await putCode(world.url, 'flooding', loggingToken());
    refuse = refusing;
    await inTurn(async (of) => {
      await readAll(of);
      await sendAsFunder(world.url, { to: token, data: logTransfer(STRANGER, account.address, 1n, 5n) });
      await pay(account, 2n);
      await world.mine(CONFIRMATIONS);
      await readAll(of);
    }, scanner(proxy.url));
    expect((await shown(account)).map(([, , amount, , status]) => [amount, status])).toEqual([
      ...Array(5).fill([1n, 'confirmed']),
      [2n, 'confirmed'],
    ]);
  });

  it('that is down reads on when it is back', async () => {
    const account = await world.account();
    const of = scanner(proxy.url);
    await inTurn(async () => {
      await readAll(of);
      isDown = true;
      await pay(account, 21n);
      await expect(of.pass()).rejects.toThrow('is unavailable');
      isDown = false;
      await world.mine(CONFIRMATIONS);
      // The endpoint rests after a failure.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await readAll(of);
    }, of);
    expect((await shown(account)).map(([, , amount, , status]) => [amount, status])).toEqual([
      [21n, 'confirmed'],
    ]);
  });
});

/** Adds accounts that somebody else has deployed just now: rows without an organization's own history. */
async function addAccounts(like: TestAccount, count: number): Promise<Address[]> {
  const row = requireRow(await world.db('accounts').where({ id: like.id }).first());
  const rows = Array.from({ length: count }, () => ({
    ...row,
    id: newId('acc'),
    address: checksumAddress(bytesToHex(randomBytes(20))),
  }));
  const newest = BigInt(await rpc<Hex>(world.url, 'eth_blockNumber', []));
  const networks = rows.map(({ id }) => ({
    account_id: id,
    network_id: BigInt(world.network.id),
    block_number: newest,
  }));
  for (let at = 0; at < count; at += 500) {
    await world.db('accounts').insert(rows.slice(at, at + 500));
    await world.db('account_networks').insert(networks.slice(at, at + 500));
  }
  return rows.map(({ address }) => address as Address);
}

describe('many accounts', () => {
  const [BLOCKS, LOGS, TRANSACTIONS] = [1_000, 100, 20];
  /** Accounts that one request names, and requests that find all movements of these. */
  const [NAMED, FILTERS] = [500, 4];
  let proxy: RpcProxy;
  let asked: string[] = [];

  beforeAll(async () => {
    proxy = await startRpcProxy(world.url, async (body, pass) => {
      asked.push(JSON.parse(body).method);
      return pass();
    });
  });
  afterAll(() => proxy?.stop());

  it.each(DEEP ? [10, 1_000, 10_000] : [600])(
    'of which %i more are read with few requests',
    async (count) => {
      const account = await world.account();
      const token = await putCode(world.url, `for ${count}`, loggingToken());
      await inTurn(readAll);
      const [to] = await addAccounts(account, count);
      const of = scanner(proxy.url);
      await inTurn(async () => {
        await readAll(of);
        for (let sent = 0; sent < TRANSACTIONS; sent += 1) {
          const data = logTransfer(STRANGER, requireRow(to), 1n, BigInt(LOGS));
          await sendAsFunder(world.url, { to: token, data });
          await world.mine(BLOCKS / TRANSACTIONS - 1);
        }
        const newest = BigInt(await rpc<Hex>(world.url, 'eth_blockNumber', []));
        asked = [];
        const startedAt = performance.now();
        await readAll(of);
        const seconds = (performance.now() - startedAt) / 1_000;
        const scans = await world.db('account_scans').where({ network_id: BigInt(world.network.id) });
        const accounts = scans.length;
        const logs = asked.filter((method) => method === 'eth_getLogs').length;
        console.info(
          `${accounts} accounts: ${asked.length} requests (${logs} for logs) for ${BLOCKS} blocks up to ${newest}, ` +
            `${(BLOCKS / seconds).toFixed(0)} blocks and ${((LOGS * TRANSACTIONS) / seconds).toFixed(0)} logs a second`,
        );
        const chunks = Math.ceil(accounts / NAMED);
        // In two readings at most, each with a header of each block that has some.
        expect(logs).toBeLessThanOrEqual(2 * FILTERS * chunks);
        expect(asked.length - logs).toBeLessThanOrEqual(3 * TRANSACTIONS);
      }, of);
      const found = await world.db('movements').where({ token_address: checksumAddress(token) });
      expect(found).toHaveLength(LOGS * TRANSACTIONS);
    },
  );
});

test('one process reads a network at a time', async () => {
  const account = await world.account();
  const [one, other] = [scanner(), scanner()];
  await readAll(one);
  await pay(account, 2n);
  expect(await other.pass()).toBe('unread');
  await one.stop();
  await world.mine(CONFIRMATIONS);
  await readAll(other);
  await other.stop();
  expect(await shown(account)).toEqual([['in', 'native', 2n, FUNDER, 'confirmed', 'verified']]);
});

test('a process that has lost its lease has read nothing, and reads on when it has it again', async () => {
  const account = await world.account();
  const of = scanner();
  const lease = world.db('movement_scans').where({ network_id: BigInt(world.network.id) });
  await inTurn(async () => {
    await readAll(of);
    const { lease_owner: owner } = requireRow(await lease.clone().first('lease_owner'));
    await pay(account, 6n);
    await world.mine(CONFIRMATIONS);
    // It does not know yet, and reads; what it has read is not stored.
    await lease.clone().update({ lease_owner: randomUUID() });
    expect(await of.pass()).toBe('unread');
    expect(of.isReading).toBe(false);
    expect(await of.pass()).toBe('unread');
    expect(await shown(account)).toEqual([]);
    await lease.clone().update({ lease_owner: owner });
    // No block is new since.
    await readAll(of);
  }, of);
  expect(await shown(account)).toEqual([['in', 'native', 6n, FUNDER, 'confirmed', 'verified']]);
});

test('the balances of an account are what its movements add up to, and the audit log verifies', async () => {
  const account = await world.account();
  const before = await rpc<Hex>(world.url, 'eth_getBalance', [account.address, 'latest']);
  await inTurn(readAll);
  await pay(account, ETHER);
  await world.execute(await world.transaction({ to: STRANGER, value: 100n }, { account }));
  await world.mine(CONFIRMATIONS);
  await inTurn(readAll);
  const sum = (await movementsOf(account)).reduce(
    (total, { direction, amount }) => total + (direction === 'in' ? BigInt(amount) : -BigInt(amount)),
    BigInt(before),
  );
  expect(sum).toBe(BigInt(await rpc<Hex>(world.url, 'eth_getBalance', [account.address, 'latest'])));
  expect(await verifyAudit(world.db, world.org.id)).toMatchObject({ ok: true });
});
