/** @deep */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { type Address, encodeFunctionData, erc20Abi, type Hex, numberToHex } from 'viem';
import { checksumAddress } from '../../src/chain/address';
import { createChainClients } from '../../src/chain/clients';
import { type Account, findAccount } from '../../src/db/accounts';
import { requireRow } from '../../src/db/rows';
import { ZERO_ADDRESS } from '../../src/domain/movement';
import { proveDueAccounts } from '../../src/movements/proofs';
import { MovementScanner } from '../../src/movements/scanner';
import { type AssetStatement, type Period, readStatement } from '../../src/movements/statement';
import { answer, loggingToken, logTransfer, TOKENS, word } from '../support/contracts';
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy';
import { LOCAL_FUNDER, rpc } from '../support/stack';
import { DEEP } from '../support/suite';
import { ETHER, type TestAccount, TransactionWorld } from './transactionWorld';
import { sendAsFunder, sendSigned, signedPayment } from './wallets';

let world: TransactionWorld;
let proxy: RpcProxy;
/** Changes what the node answers with logs. */
let lie: (logs: unknown[]) => unknown[] = (logs) => logs;
let isDown = false;
/** Addresses of which it answers nothing, without their prefix. */
let unanswered: readonly string[] = [];

beforeAll(async () => {
  world = await TransactionWorld.start(41_180);
  proxy = await startRpcProxy(world.url, async (body, pass) => {
    if (isDown || unanswered.some((address) => body.toLowerCase().includes(address))) return undefined;
    const answered = await pass();
    if (JSON.parse(body).method !== 'eth_getLogs') return answered;
    const { result, ...rest } = JSON.parse(answered);
    return JSON.stringify({ ...rest, result: lie(result) });
  });
});
afterAll(async () => {
  await proxy?.stop();
  await world?.stop();
});
afterEach(() => {
  lie = (logs) => logs;
  isDown = false;
  unanswered = [];
});

const STRANGER = checksumAddress(`0x${'b1'.repeat(20)}`);
const demo = () => world.own.current.token.address as Address;
const deps = () => ({
  db: world.serviceDb,
  chains: createChainClients([{ ...world.network, rpcUrls: [proxy.url] }]),
  tokens: [{ ...world.own.current.token, networkId: world.network.id, logoUrl: null }],
});

/** Reads what the node has; false where nothing was read. */
async function read(): Promise<boolean> {
  const { db, chains, tokens } = deps();
  const chain = requireRow(chains.get(world.network.id));
  const scanner = new MovementScanner({ db, tokens, owner: randomUUID() }, chain);
  try {
    let result = await scanner.pass();
    while (result === 'behind') result = await scanner.pass();
    while (await scanner.readPast());
    return result !== 'unread';
  } finally {
    await scanner.stop();
  }
}

/** Reads everything up to the newest block that is confirmed. */
async function readAll(): Promise<void> {
  if (!(await read())) throw new Error('nothing is read');
}

async function stored({ id }: TestAccount): Promise<Account> {
  return requireRow(await findAccount(world.db, world.org.id, id));
}

async function statement(account: TestAccount, period: Period = {}): Promise<readonly AssetStatement[]> {
  const read = await readStatement(deps(), await stored(account), period);
  if (!read.ok) throw new Error(read.refusal.message);
  return read.value;
}

const of = (statements: readonly AssetStatement[], token: string) =>
  requireRow(statements.find(({ tokenAddress }) => tokenAddress === token));

const pay = (account: TestAccount, value: bigint) =>
  sendAsFunder(world.url, { to: account.address, value: numberToHex(value), data: '0x' });
const payToken = ({ address }: TestAccount, amount: bigint) =>
  sendAsFunder(world.url, {
    to: demo(),
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address, amount] }),
  });
const now = async () => BigInt(await rpc<Hex>(world.url, 'eth_blockNumber', []));
const balanceOf = async ({ address }: TestAccount) =>
  BigInt(await rpc<Hex>(world.url, 'eth_getBalance', [address, 'latest']));

/** Changes a balance as no log shows it; in the block that is mined then. */
async function changeSilently(account: TestAccount, by: bigint): Promise<void> {
  await world.setBalance(account.address, (await balanceOf(account)) + by);
  await world.mine();
}

const prove = (skipped = new Set<string>()) =>
  proveDueAccounts(deps(), requireRow(deps().chains.get(world.network.id)), skipped);

/** Has a policy name a token. */
const nameToken = (tokenAddress: string) =>
  world.policy({
    transactionType: 'TOKEN_TRANSFER',
    tokenTransferCondition: {
      ...{ tokenAddress, tokenSymbol: 'TOK', tokenName: 'A Token', tokenDecimals: 6 },
      ...{ amountThreshold: null, destinationAddresses: [] },
    },
  } as never);

const ANOTHER_BRANCH = numberToHex(1, { size: 32 });
/** What a node may answer instead of its logs. */
const LIES: readonly ((logs: unknown[]) => unknown[])[] = [
  () => [],
  (logs) => logs.filter((_, index) => index % 2 === 0),
  (logs) => [...logs, ...logs].reverse(),
  (logs) => logs.map((log) => ({ ...(log as object), blockHash: ANOTHER_BRANCH })),
  (logs) => logs.map((log) => ({ ...(log as object), logIndex: '0x0' })),
];

describe('a statement', () => {
  it('adds up to the balances on chain', async () => {
    const account = await world.account();
    await world.mine(2);
    await pay(account, 100n);
    await payToken(account, 7n);
    await world.execute(await world.transaction({ to: STRANGER, value: 30n }, { account }));
    await world.mine(2);
    await readAll();
    const stated = await statement(account);
    expect(of(stated, ZERO_ADDRESS)).toMatchObject({
      sums: { in: 100n, out: 30n, fees: 0n },
      closing: ETHER + 70n,
      movements: 2,
    });
    expect(of(stated, demo())).toMatchObject({
      ...{ opening: 0n, closing: 7n, difference: 0n, unexplained: [] },
      sums: { in: 7n, out: 0n, fees: 0n },
    });
  });

  it('names the block in which a balance changed without a movement', async () => {
    const account = await world.account();
    await world.mine(2);
    await pay(account, 5n);
    await world.mine(20);
    await changeSilently(account, 11n);
    const changed = await now();
    await world.mine(20);
    await changeSilently(account, -4n);
    await world.mine(2);
    await readAll();
    const { difference, unexplained } = of(await statement(account, { from: new Date(0) }), ZERO_ADDRESS);
    // With what the account was given when it was made.
    expect(difference).toBe(ETHER + 11n - 4n);
    expect(unexplained.map(({ amount }) => amount)).toEqual([ETHER, 11n, -4n]);
    for (const { fromBlock, toBlock } of unexplained) expect(fromBlock).toBe(toBlock);
    const at = unexplained[1]?.fromBlock ?? 0n;
    expect([changed - 1n, changed]).toContain(at);
  });

  it('finds what an answer of the node has lacked', async () => {
    const account = await world.account();
    await world.mine(2);
    await readAll();
    lie = () => [];
    await pay(account, 9n);
    await world.mine(40);
    await readAll();
    await world.mine(40);
    await readAll();
    lie = (logs) => logs;
    expect(await world.db('movements').where({ account_id: account.id })).toEqual([]);
    const { sums } = of(await statement(account), ZERO_ADDRESS);
    expect(sums.in).toBe(9n);
  });

  it('keeps what an answer of the node lacks, and was read before', async () => {
    const account = await world.account();
    await pay(account, 9n);
    await payToken(account, 8n);
    await world.mine(3);
    await readAll();
    for (const lacking of LIES) {
      lie = lacking;
      await world.mine(1);
      await readAll();
      const rows = world.db('movements').where({ account_id: account.id }).orderBy('block_number');
      expect(await rows.select('amount', 'status')).toEqual([
        { amount: '9', status: 'confirmed' },
        { amount: '8', status: 'confirmed' },
      ]);
    }
  });

  it('has the blocks of its period, and those alone', async () => {
    const account = await world.account();
    await pay(account, 1n);
    await rpc(world.url, 'evm_increaseTime', [3_600]);
    await pay(account, 2n);
    const number = await rpc<Hex>(world.url, 'eth_blockNumber', []);
    const { timestamp } = await rpc<{ timestamp: Hex }>(world.url, 'eth_getBlockByNumber', [number, false]);
    const at = new Date(Number(timestamp) * 1_000);
    await rpc(world.url, 'evm_increaseTime', [3_600]);
    await pay(account, 4n);
    await rpc(world.url, 'evm_increaseTime', [3_600]);
    await world.mine(3);
    await readAll();
    const later = new Date(at.getTime() + 60_000);
    const earlier = new Date(at.getTime() - 60_000);
    const sums = async (period: Period) => of(await statement(account, period), ZERO_ADDRESS);
    expect(await sums({ from: earlier, to: later })).toMatchObject({
      sums: { in: 2n },
      difference: 0n,
      movements: 1,
    });
    expect(await sums({ from: later })).toMatchObject({ sums: { in: 4n }, difference: 0n });
    expect(await sums({ to: earlier })).toMatchObject({ sums: { in: 1n } });
    expect(await sums({ from: later, to: new Date(later.getTime() + 1_000) })).toMatchObject({
      ...{ sums: { in: 0n }, difference: 0n, movements: 0 },
    });
  });

  it('says what is not compared while the network is unavailable, and is refused where its blocks are not known', async () => {
    const account = await world.account();
    await pay(account, 3n);
    await world.mine(2);
    await readAll();
    isDown = true;
    expect(of(await statement(account), ZERO_ADDRESS)).toMatchObject({
      ...{ sums: { in: 3n }, movements: 1, opening: null, closing: null, difference: null },
      unproved: 'unavailable',
    });
    expect(await readStatement(deps(), await stored(account), { from: new Date(0) })).toMatchObject({
      ok: false,
      refusal: {
        code: 'conflict',
        message: expect.stringMatching(
          /^the blocks of the period cannot be found now: network .* is unavailable/,
        ),
      },
    });
  });

  it('flags a token that lies, and one without balances; no amount stops the job', async () => {
    const account = await world.account();
    const most = 2n ** 256n - 1n;
    const balanceOf = answer(word(0n));
    const lying = await world.contract('empty', loggingToken({ 'balanceOf(address)': balanceOf }), {});
    const silent = await world.contract('without balances', loggingToken(), {});
    // More than any call has gas for.
    const code = loggingToken({ 'balanceOf(address)': '0x989680 0x0 RETURN' });
    const large = await world.contract('10 MB', code, {});
    for (const token of [lying, silent, large]) {
      await nameToken(token);
      const data = logTransfer(STRANGER, account.address, most, 10n);
      await sendAsFunder(world.url, { to: token, data });
    }
    await world.mine(3);
    await readAll();
    const stated = await statement(account);
    const [sums, movements] = [{ in: 10n * most, out: 0n, fees: 0n }, 10];
    expect(of(stated, lying)).toMatchObject({
      ...{ sums, movements, opening: 0n, closing: 0n, difference: -10n * most },
      unexplained: [{ amount: -10n * most }],
    });
    for (const token of [silent, large]) {
      expect(of(stated, token)).toMatchObject({
        ...{ sums, movements, closing: null, difference: null, unexplained: [], unproved: 'unreadable' },
      });
    }
    while ((await prove()).length > 0);
    const found = world.db('unexplained_changes').where({ account_id: account.id, token_address: lying });
    expect(await found.pluck('amount')).toEqual([String(-10n * most)]);
  });

  it('is refused of a period that is not read yet', async () => {
    const account = await world.account();
    const period = { to: new Date(Date.now() + 365 * 86_400_000) };
    expect(await readStatement(deps(), await stored(account), period)).toMatchObject({
      ok: false,
      refusal: { code: 'conflict', message: expect.stringContaining('no movement of the account is read') },
    });
    await readAll();
    expect(await readStatement(deps(), await stored(account), period)).toMatchObject({
      ok: false,
      refusal: { code: 'conflict', message: expect.stringMatching(/are read up to block \d+, of 20\d\d-/) },
    });
  });
});

const AMOUNTS = ['pay', 'payToken', 'payOdd', 'logNothing', 'silently', 'ours', 'payUnseen'] as const;
const BLOCKS = ['mine', 'read', 'readLies'] as const;
/** What a lost block may have: all but our own transactions, whose records no chain gives back. */
const LOST = AMOUNTS.filter((kind) => kind !== 'ours');

type Payment = { readonly kind: (typeof AMOUNTS)[number]; readonly amount: bigint };
type Step =
  | Payment
  | { readonly kind: (typeof BLOCKS)[number]; readonly blocks: number }
  | {
      readonly kind: 'lose';
      readonly blocks: number;
      readonly lost: readonly Payment[];
      readonly again: bigint;
    };

const paymentOf = (kinds: readonly Payment['kind'][]) =>
  fc.record({ kind: fc.constantFrom(...kinds), amount: fc.bigInt({ min: 10n, max: 1_000n }) });
const blocks = fc.integer({ min: 1, max: 30 });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: paymentOf(AMOUNTS) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom(...BLOCKS), blocks }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('lose' as const),
      blocks,
      lost: fc.array(paymentOf(LOST), { maxLength: 3 }),
      again: fc.bigInt({ min: 1n, max: 1_000n }),
    }),
  },
);

/** What a node keeps back until it is not read again. */
const FORGOTTEN: Step[] = [
  { kind: 'logNothing', amount: 10n },
  { kind: 'mine', blocks: 20 },
  { kind: 'readLies', blocks: LIES.length },
  { kind: 'mine', blocks: 30 },
  { kind: 'read', blocks: 1 },
];

/** What happens to an account, and by how much its balances change without a movement that says so. */
class Traffic {
  unexplained: ReadonlyMap<string, bigint> = new Map();
  /** Transfers that were logged and that nobody made: those that a reading has found, or must find, and those that a node kept back. */
  private phantoms: readonly { readonly amount: bigint; readonly state: 'unread' | 'read' | 'keptBack' }[] =
    [];

  constructor(
    readonly account: TestAccount,
    private readonly tokens: { readonly odd: Address; readonly logging: Address },
    private readonly policyId: string,
  ) {}

  private note(token: string, by: bigint): void {
    this.unexplained = new Map(this.unexplained).set(token, (this.unexplained.get(token) ?? 0n) + by);
  }

  private readonly paying: { readonly [kind in Payment['kind']]: (amount: bigint) => Promise<unknown> } = {
    pay: (amount) => pay(this.account, amount),
    payToken: (amount) => payToken(this.account, amount),
    // It says that all has arrived, and keeps a tenth.
    payOdd: async (amount) => {
      const args = [this.account.address, amount] as const;
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
      await sendAsFunder(world.url, { to: this.tokens.odd, data });
      this.note(this.tokens.odd, (amount * 90n) / 100n - amount);
    },
    // A token that a policy names says that it has arrived, and nobody has sent it.
    logNothing: async (amount) => {
      this.phantoms = [...this.phantoms, { amount, state: 'unread' }];
      const data = logTransfer(STRANGER, this.account.address, amount);
      await sendAsFunder(world.url, { to: this.tokens.logging, data });
    },
    // More than all payments together: none of those that a node keeps back makes up for it.
    silently: async (amount) => {
      await changeSilently(this.account, amount * 1_000_000n);
      this.note(ZERO_ADDRESS, amount * 1_000_000n);
    },
    ours: async (value) => {
      const { account, policyId } = this;
      await world.execute(await world.transaction({ to: STRANGER, value }, { account, policyId }));
    },
    // While the node answers nobody, and somebody wants to read.
    payUnseen: async (amount) => {
      isDown = true;
      await pay(this.account, amount);
      await expect(readAll()).rejects.toThrow('is unavailable');
      isDown = false;
    },
  };

  private readonly passing: {
    readonly [kind in (typeof BLOCKS)[number]]: (blocks: number) => Promise<unknown>;
  } = {
    mine: (count) => world.mine(count),
    read: () => this.readAll(),
    readLies: async (count) => {
      lie = LIES[count % LIES.length] ?? lie;
      await readAll();
      lie = (logs) => logs;
      this.settle('keptBack');
    },
  };

  private settle(state: 'read' | 'keptBack'): void {
    this.phantoms = this.phantoms.map((one) => (one.state === 'unread' ? { ...one, state } : one));
  }

  async readAll(): Promise<void> {
    await readAll();
    this.settle('read');
  }

  /**
   * What a token that only logs may differ by, at least and at most: what a node kept back for longer than blocks are read again
   * changes no balance, so that nothing asks for it.
   */
  get phantomBounds(): readonly [least: bigint, most: bigint] {
    const sumOf = (wanted: string) =>
      this.phantoms.reduce((sum, { amount, state }) => sum + (state === wanted ? amount : 0n), 0n);
    return [-sumOf('read') - sumOf('keptBack'), -sumOf('read')];
  }

  /** Blocks with payments are read and lost; one payment comes again on the other branch. */
  private async lose({ blocks: count, lost, again }: Extract<Step, { kind: 'lose' }>): Promise<void> {
    const [before, phantoms] = [this.unexplained, this.phantoms.length];
    const snapshot = await rpc<Hex>(world.url, 'evm_snapshot', []);
    const payment = await signedPayment(world.url, this.account.address, again);
    await sendSigned(world.url, payment);
    for (const one of lost) await this.paying[one.kind](one.amount);
    await world.mine(count);
    await this.readAll();
    await rpc(world.url, 'evm_revert', [snapshot]);
    this.unexplained = before;
    this.phantoms = this.phantoms.slice(0, phantoms);
    await rpc(world.url, 'evm_increaseTime', [5]);
    // As a rule shorter than the lost one at first: then nothing is read.
    await read();
    await sendSigned(world.url, payment);
    await world.mine(count + 3 * lost.length + 3);
  }

  async take(one: Step): Promise<void> {
    if (one.kind === 'lose') await this.lose(one);
    else await ('amount' in one ? this.paying[one.kind](one.amount) : this.passing[one.kind](one.blocks));
  }
}

describe('the job', () => {
  it('compares each account from where it was compared before, and stores what is not explained', async () => {
    while ((await prove()).length > 0);
    const account = await world.account();
    await world.mine(3);
    await readAll();
    // With what the account was given when it was made.
    expect(await prove()).toMatchObject([
      { accountId: account.id, tokenAddress: ZERO_ADDRESS, amount: ETHER },
    ]);
    expect(await prove()).toEqual([]);
    await pay(account, 5n);
    await changeSilently(account, 6n);
    await world.mine(3);
    await readAll();
    await world
      .db('account_proofs')
      .where({ account_id: account.id })
      .update({ proved_at: new Date(0) });
    expect(await prove()).toMatchObject([{ accountId: account.id, amount: 6n }]);
    expect(
      await world.db('unexplained_changes').where({ account_id: account.id }).orderBy('id').pluck('amount'),
    ).toEqual([String(ETHER), '6']);
  });

  it('compares others while some cannot be compared', async () => {
    while ((await prove()).length > 0);
    const refused: TestAccount[] = [];
    for (let made = 0; made < 5; made += 1) refused.push(await world.account());
    const other = await world.account();
    await world.mine(3);
    await readAll();
    unanswered = refused.map(({ address }) => address.slice(2).toLowerCase());
    const skipped = new Set<string>();
    const rounds: string[][] = [];
    for (let round = 0; round < 3; round += 1) {
      rounds.push((await prove(skipped)).map(({ accountId }) => accountId));
    }
    expect(rounds).toEqual([[], [other.id], []]);
    unanswered = [];
    const found = [...(await prove(skipped)), ...(await prove(skipped))];
    expect(found.map(({ accountId }) => accountId).sort()).toEqual(refused.map(({ id }) => id).sort());
  });
});

describe('two processes that compare at once', () => {
  it('record one change once', async () => {
    while ((await prove()).length > 0);
    const account = await world.account();
    await world.mine(3);
    await readAll();
    const found = (await Promise.all([prove(), prove()])).flat();
    const own = found.filter(({ accountId }) => accountId === account.id);
    expect(own).toMatchObject([{ tokenAddress: ZERO_ADDRESS, amount: ETHER }]);
    const stored = world.db('unexplained_changes').where({ account_id: account.id });
    expect(await stored.pluck('amount')).toEqual([String(ETHER)]);
  });
});

describe('of random traffic', () => {
  it('every statement adds up, or names what is not explained', async () => {
    const policyId = await world.policy();
    const odd = await world.contract('an odd token', TOKENS.takingFee, {
      [LOCAL_FUNDER.address]: 10n ** 18n,
    });
    const balanceOf = answer(word(0n));
    const code = loggingToken({ 'balanceOf(address)': balanceOf });
    const logging = await world.contract('a token that only logs', code, {});
    for (const token of [odd, logging]) await nameToken(token);
    const tried = async (steps: readonly Step[]) => {
      const traffic = new Traffic(await world.account(), { odd, logging }, policyId);
      await world.mine(3);
      await rpc(world.url, 'evm_increaseTime', [60]);
      const block = await rpc<{ timestamp: Hex }>(world.url, 'eth_getBlockByNumber', ['latest', false]);
      const from = new Date((Number(block.timestamp) + 1) * 1_000);
      // A balance that is set is set in the last block: one of the period.
      await world.mine(1);
      for (const one of steps) await traffic.take(one);
      await world.mine(4);
      await traffic.readAll();
      const stated = await statement(traffic.account, { from });
      const tokens = stated.map(({ tokenAddress }) => tokenAddress);
      expect(tokens).toEqual(expect.arrayContaining([ZERO_ADDRESS, odd, logging]));
      // Policies name tokens of other tests too.
      const own = stated.filter(({ tokenAddress }) =>
        [ZERO_ADDRESS, odd, logging, demo()].includes(tokenAddress),
      );
      for (const { opening, closing, sums, difference, unexplained, tokenAddress } of own) {
        expect(closing).toBe((opening ?? 0n) + sums.in - sums.out - sums.fees + (difference ?? 0n));
        expect(unexplained.reduce((total, part) => total + part.amount, 0n)).toBe(difference);
        if (tokenAddress === logging) continue;
        const expected = traffic.unexplained.get(tokenAddress) ?? 0n;
        expect([tokenAddress, difference]).toEqual([tokenAddress, expected]);
      }
      const { difference: phantom } = of(stated, logging);
      const [least, most] = traffic.phantomBounds;
      expect(phantom).toBeGreaterThanOrEqual(least);
      expect(phantom).toBeLessThanOrEqual(most);
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: DEEP ? 40 : 12 }), tried), {
      numRuns: DEEP ? 40 : 3,
      endOnFailure: true,
      examples: [[FORGOTTEN]],
    });
  });
});
