import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { readPast } from '../../../src/api/pastTransactions';
import type { RecentTransaction } from '../../../src/db/recentTransactions';
import { anAddress, anId } from '../../support/builders';

const ABI = parseAbi(['function multicall(bytes[] data)']);
const carrying = (calls: number) =>
  encodeFunctionData({ abi: ABI, args: [Array.from({ length: calls }, (): Hex => '0x12345678')] });

const recent = (calldata = '0x'): RecentTransaction => ({
  ...{ id: anId('txn'), summary: '', description: '', createdAt: new Date(0), counts: true },
  ...{ accountId: anId('acc'), accountNetworkIds: [1], networkId: 1, initiatorId: anId('mem') },
  ...{ to: anAddress(), value: 0n, calldata },
});
const read = (transactions: readonly RecentTransaction[]) => readPast(transactions, async () => {});

describe('the transactions that a policy is tried with', () => {
  it('are the newest that carry a thousand calls together, however many others there are', async () => {
    const most = Array.from({ length: 4 }, () => recent(carrying(250)));
    const others = Array.from({ length: 490 }, () => recent());
    const one = recent(carrying(1));
    expect(await read([...most, ...others, one])).toHaveLength(494);
    expect(await read([one, ...most, ...others])).toHaveLength(4);
  });

  it('are in the order of their creation', async () => {
    const [newest, older] = [recent(), recent()];
    expect((await read([newest, older])).map(({ id }) => id)).toEqual([older.id, newest.id]);
  });

  it('count calls at every depth', async () => {
    const outer = encodeFunctionData({ abi: ABI, args: [[carrying(200), carrying(50)]] });
    const transactions = Array.from({ length: 5 }, () => recent(outer));
    expect(await read(transactions)).toHaveLength(3);
  });
});
