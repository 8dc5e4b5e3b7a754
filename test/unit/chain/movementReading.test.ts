/** @deep */
import fc from 'fast-check';
import {
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  parseAbi,
  toHex,
} from 'viem';
import { checksumAddress } from '../../../src/chain/address';
import type { BlockLog } from '../../../src/chain/movementLogs';
import { type MovementSource, readRange } from '../../../src/chain/movementReading';
import type { StoredMovement } from '../../../src/domain/movementReading';
import { DEEP } from '../../support/suite';

const RUNS = DEEP ? 2_000 : 60;
const TRANSFER = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']);
const address = (n: number) => checksumAddress(pad(numberToHex(n), { size: 20 }));
const OURS = address(0xa1);
const STRANGER = address(0xb1);
const ACCOUNTS = [{ id: 'acc_1', organizationId: 'org_1', address: OURS }];
const CONFIRMATIONS = 2n;

interface Payment {
  readonly id: number;
  /** Equal transfers of the one transaction. */
  readonly times: number;
  readonly isIn: boolean;
}

interface Block {
  readonly hash: Hex;
  readonly payments: readonly Payment[];
}

/** A chain that loses blocks, and a node that answers as `faults` say. */
class FakeChain implements MovementSource {
  blocks: Block[] = [{ hash: keccak256('0x00'), payments: [] }];
  lost: Block[] = [];
  faults = { drop: 0, twice: false, reversed: false, otherBranch: false };
  private made = 0;

  mine(payments: readonly Payment[]): void {
    this.made += 1;
    this.blocks.push({ hash: keccak256(toHex(`${this.made}`)), payments });
  }

  /** Replaces the last blocks; some of their transactions come again, in other blocks. */
  reorganize(depth: number, kept: number): void {
    const gone = this.blocks.splice(Math.max(1, this.blocks.length - depth));
    this.lost = gone;
    const payments = gone.flatMap((block) => block.payments);
    const again = payments.filter((_, index) => (index + kept) % 3 !== 0);
    for (let count = 0; count <= gone.length; count += 1) {
      this.mine(again.filter((_, index) => (index + kept) % (gone.length + 1) === count));
    }
  }

  get head(): bigint {
    return BigInt(this.blocks.length - 1);
  }

  private logsOf({ hash, payments }: Block, number: bigint): BlockLog[] {
    let logIndex = 0;
    return payments.flatMap(({ id, times, isIn }) =>
      Array.from({ length: times }, () => {
        logIndex += 1;
        const [from, to] = isIn ? [STRANGER, OURS] : [OURS, STRANGER];
        const topics = encodeEventTopics({
          abi: TRANSFER,
          eventName: 'Transfer',
          args: { from, to },
        }) as Hex[];
        const data = encodeAbiParameters([{ type: 'uint256' }], [BigInt(id % 3)]);
        const transactionHash = keccak256(toHex(`transaction ${id}`));
        return {
          address: address(0xc1),
          topics,
          data,
          blockNumber: number,
          blockHash: hash,
          transactionHash,
          logIndex,
        };
      }),
    );
  }

  async logs(
    filter: { readonly topics: readonly (readonly Hex[] | null)[] },
    range: { from: bigint; to: bigint },
  ) {
    const within = (blocks: readonly Block[], first: bigint) =>
      blocks.flatMap((block, index) => {
        const number = first + BigInt(index);
        return number >= range.from && number <= range.to ? this.logsOf(block, number) : [];
      });
    const matches = ({ topics }: BlockLog) =>
      filter.topics.every((wanted, at) => wanted === null || wanted.includes(topics[at] as Hex));
    const { drop, twice, reversed, otherBranch } = this.faults;
    const all = [
      ...within(this.blocks, 0n),
      ...(otherBranch ? within(this.lost, this.head - BigInt(this.lost.length)) : []),
    ].filter(matches);
    const answered = all.filter((_, index) => drop === 0 || (index + drop) % 3 !== 0);
    if (twice) answered.push(...answered);
    return reversed ? answered.reverse() : answered;
  }

  async block(number: bigint) {
    const found = this.blocks[Number(number)];
    return found && { number, hash: found.hash, time: new Date(Number(number) * 1_000) };
  }

  async receipt(transactionHash: Hex) {
    for (const [number, block] of this.blocks.entries()) {
      const logs = this.logsOf(block, BigInt(number)).filter(
        (log) => log.transactionHash === transactionHash,
      );
      if (logs.length > 0) return logs;
    }
    return null;
  }
}

/** What is stored, changed as a reading says. */
class Store {
  readonly rows = new Map<string, StoredMovement>();

  async read(chain: FakeChain, range = { from: 0n, to: chain.head }): Promise<void> {
    const changes = await readRange(chain, {
      accounts: ACCOUNTS,
      range,
      confirmedTo: chain.head - CONFIRMATIONS,
      accountsAtOnce: 100,
      idOf: (content) => content,
      stored: async ({ from, to }, ids) => {
        const named = new Set(ids);
        return [...this.rows.values()].filter(
          ({ id, block }) => named.has(id) || (block.number >= from && block.number <= to),
        );
      },
    });
    for (const { id } of changes.added) expect(this.rows.has(id)).toBe(false);
    for (const one of [...changes.added, ...changes.changed]) this.rows.set(one.id, one);
    for (const one of changes.reversed) {
      expect(chain.blocks[Number(one.block.number)]?.hash).not.toBe(one.block.hash);
      this.rows.set(one.id, { ...one, status: 'reversed' });
    }
  }

  /** The movements that count, as their number in each transaction. */
  get shown(): string[] {
    return [...this.rows.values()]
      .filter(({ status }) => status !== 'reversed')
      .map(({ transactionHash, block, status }) => `${transactionHash} ${block.hash} ${status}`)
      .sort();
  }
}

function expected(chain: FakeChain): string[] {
  return chain.blocks
    .flatMap(({ hash, payments }, number) => {
      const status = BigInt(number) <= chain.head - CONFIRMATIONS ? 'confirmed' : 'pending';
      return payments.flatMap(({ id, times }) =>
        Array.from({ length: times }, () => `${keccak256(toHex(`transaction ${id}`))} ${hash} ${status}`),
      );
    })
    .sort();
}

type Step =
  | { readonly kind: 'mine'; readonly payments: readonly { times: number; isIn: boolean }[] }
  | { readonly kind: 'reorganize'; readonly depth: number; readonly kept: number }
  | { readonly kind: 'read'; readonly faults: FakeChain['faults']; readonly back: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('mine' as const),
    payments: fc.array(fc.record({ times: fc.integer({ min: 1, max: 3 }), isIn: fc.boolean() }), {
      maxLength: 3,
    }),
  }),
  fc.record({
    kind: fc.constant('reorganize' as const),
    depth: fc.integer({ min: 1, max: 5 }),
    kept: fc.integer({ min: 0, max: 5 }),
  }),
  fc.record({
    kind: fc.constant('read' as const),
    faults: fc.record({
      drop: fc.integer({ min: 0, max: 2 }),
      twice: fc.boolean(),
      reversed: fc.boolean(),
      otherBranch: fc.boolean(),
    }),
    back: fc.integer({ min: 0, max: 8 }),
  }),
);

async function run(steps: readonly Step[]): Promise<void> {
  const chain = new FakeChain();
  const store = new Store();
  let paid = 0;
  for (const one of steps) {
    if (one.kind === 'mine') {
      const first = paid;
      chain.mine(one.payments.map((payment, index) => ({ ...payment, id: first + index })));
      paid += one.payments.length;
    } else if (one.kind === 'reorganize') {
      chain.reorganize(one.depth, one.kept);
    } else {
      chain.faults = one.faults;
      const from = chain.head - BigInt(one.back);
      await store.read(chain, { from: from < 0n ? 0n : from, to: chain.head });
      chain.faults = { drop: 0, twice: false, reversed: false, otherBranch: false };
    }
  }
  await store.read(chain);
  expect(store.shown).toEqual(expected(chain));
  // Nothing changes by reading again.
  const before = [...store.rows.values()];
  await store.read(chain);
  expect([...store.rows.values()]).toEqual(before);
}

describe('readings of a chain', () => {
  it('show in the end what is on it, whatever blocks it lost and however a node answered', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25 }), run), { numRuns: RUNS });
  });

  it('find again what a lost block had, as the same movements', async () => {
    const chain = new FakeChain();
    const store = new Store();
    chain.mine([{ id: 2, times: 2, isIn: true }]);
    await store.read(chain);
    const keys = [...store.rows.keys()];
    const before = chain.blocks;
    chain.blocks = chain.blocks.slice(0, 1);
    chain.mine([]);
    await store.read(chain);
    expect([...store.rows.values()].map(({ status }) => status)).toEqual(['reversed', 'reversed']);
    chain.blocks = before;
    await store.read(chain);
    expect([...store.rows.keys()]).toEqual(keys);
    expect([...store.rows.values()].map(({ status }) => status)).toEqual(['pending', 'pending']);
  });

  it('reverse nothing that an answer lacks while its block is on the chain', async () => {
    const chain = new FakeChain();
    const store = new Store();
    chain.mine([1, 2, 3].map((id) => ({ id, times: 1, isIn: true })));
    await store.read(chain);
    chain.faults = { ...chain.faults, drop: 1 };
    await store.read(chain);
    expect(store.shown).toEqual(expected(chain));
  });

  it('take as many logs as a node answers with, and let others go on meanwhile', async () => {
    const chain = new FakeChain();
    chain.mine([{ id: 1, times: 1, isIn: true }]);
    const [log] = await chain.logs({ topics: [] }, { from: 1n, to: 1n });
    // As many are too many for the arguments of one call.
    const logs = Array.from({ length: 200_000 }, (_, logIndex) => ({ ...(log as BlockLog), logIndex }));
    const answers = [logs];
    let turns = 0;
    let isRead = false;
    const others = () => {
      turns += 1;
      if (!isRead) setImmediate(others);
    };
    setImmediate(others);
    const { added } = await readRange(
      {
        logs: async () => answers.pop() ?? [],
        block: (number) => chain.block(number),
        receipt: async () => null,
      },
      {
        ...{ accounts: ACCOUNTS, range: { from: 1n, to: 1n }, confirmedTo: 1n, accountsAtOnce: 100 },
        idOf: (content) => content,
        stored: async () => [],
      },
    );
    isRead = true;
    expect(added).toHaveLength(logs.length);
    expect(turns).toBeGreaterThan(10);
  });
});
