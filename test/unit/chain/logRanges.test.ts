/** @deep */
import { setTimeout as sleep } from 'node:timers/promises';
import { createChainClient } from '../../../src/chain/clients';
import { random } from '../../support/random';
import { REFUSALS } from '../../support/refusals';
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy';
import { DEEP, itDeep } from '../../support/suite';

/** Within which a loaded node does not answer; what fails more quickly is repeated at once. */
const TIMEOUT_MS = 1_100;

/** A node with one log in each block, which answers for so many blocks or logs of them. */
interface Limited {
  readonly proxy: RpcProxy;
  limit: number;
  bytesPerLog: number;
  /** For how many blocks it answers in time. */
  fastFor: number;
  /** How many blocks each eth_getLogs asked for. */
  readonly asked: number[];
}

const opened: Limited[] = [];

async function open(limit: number): Promise<Limited> {
  const asked: number[] = [];
  const proxy = await startRpcProxy('', async (body) => {
    const { id, method, params } = JSON.parse(body);
    const answer = (content: object) => JSON.stringify({ jsonrpc: '2.0', id, ...content });
    if (method !== 'eth_getLogs') return answer({ result: '0x1' });
    const from = Number(params[0].fromBlock);
    const blocks = Number(params[0].toBlock) - from + 1;
    asked.push(blocks);
    if (blocks > node.fastFor) await sleep(2 * TIMEOUT_MS);
    if (blocks > node.limit) return answer({ error: REFUSALS[random(REFUSALS.length)] });
    const data = 'ab'.repeat(node.bytesPerLog / 2);
    const log = (_: unknown, index: number) => ({ blockNumber: from + index, data });
    return answer({ result: Array.from({ length: blocks }, log) });
  });
  const node: Limited = { proxy, limit, bytesPerLog: 0, fastFor: Number.POSITIVE_INFINITY, asked };
  opened.push(node);
  return node;
}

afterEach(() => Promise.all(opened.splice(0).map(({ proxy }) => proxy.stop())));

function connect(nodes: readonly Limited[], timeoutMs = 3_000) {
  const { rpc } = createChainClient(
    {
      id: 1,
      name: 'One',
      rpcUrls: nodes.map(({ proxy }) => proxy.url),
      signerRpcUrls: [],
      relayers: 1,
      nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
      confirmations: 1,
      maxFeePerGas: 1n,
    },
    { timeoutMs },
  );
  return async (from: number, to: number): Promise<number[]> => {
    const filter = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` } as const;
    const logs = await rpc.request({ method: 'eth_getLogs', params: [filter] });
    return logs.map(({ blockNumber }) => Number(blockNumber));
  };
}

const blocks = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('logs of more blocks than a node answers for', () => {
  it.each(DEEP ? [1, 5, 10, 500, 999, 10_000] : [1, 500])(
    'are read in parts where it answers for %d',
    async (limit) => {
      const node = await open(limit);
      const logs = connect([node]);
      expect(await logs(1_001, 2_000)).toEqual(blocks(1_001, 2_000));
      const refused = node.asked.filter((asked) => asked > limit);
      expect(refused.length).toBeLessThanOrEqual(10);
      // It is remembered.
      node.asked.length = 0;
      expect(await logs(1_001, 2_000)).toEqual(blocks(1_001, 2_000));
      expect(node.asked.filter((asked) => asked > limit)).toEqual([]);
    },
  );

  it('are read from the endpoint that answers for them', async () => {
    const small = await open(10);
    const large = await open(10_000);
    const logs = connect([small, large]);
    for (const _ of ['first', 'again']) expect(await logs(1, 1_000)).toEqual(blocks(1, 1_000));
    expect([small.asked, large.asked]).toEqual([[1_000], [1_000, 1_000]]);
    // The first one is asked for what it may answer.
    expect(await logs(1, 8)).toEqual(blocks(1, 8));
    expect(small.asked).toEqual([1_000, 8]);
  });

  it('are read in parts that suit each endpoint where none answers for all of them', async () => {
    const nodes = [await open(10), await open(100)];
    const logs = connect(nodes);
    expect(await logs(1, 1_000)).toEqual(blocks(1, 1_000));
    for (const node of nodes) node.asked.length = 0;
    expect(await logs(1, 1_000)).toEqual(blocks(1, 1_000));
    expect(nodes[0]?.asked).toEqual([]);
    expect(nodes[1]?.asked.every((asked) => asked <= 100)).toBe(true);
  });

  it('are read in parts where a response would be longer than is read', async () => {
    const node = await open(10_000);
    node.bytesPerLog = 20_000;
    expect(await connect([node])(1, 1_000)).toEqual(blocks(1, 1_000));
    expect(node.asked).toEqual([1_000, 500, 500]);
  });

  it('are a failure where it refuses one block, which says nothing of their number', async () => {
    const node = await open(0);
    const logs = connect([node]);
    await expect(logs(1, 64)).rejects.toThrow();
    node.limit = 10_000;
    node.asked.length = 0;
    expect(await logs(1, 64)).toEqual(blocks(1, 64));
    expect(node.asked).toEqual([64]);
  });

  it('are read in fewer blocks while it is too slow, and in more again once it answers', async () => {
    const node = await open(10_000);
    const logs = connect([node], TIMEOUT_MS);
    node.fastFor = 500;
    await expect(logs(1, 1_000)).rejects.toThrow();
    // It rests for as long as the failure says.
    await sleep(1_100);
    expect(await logs(1, 1_000)).toEqual(blocks(1, 1_000));
    node.fastFor = 10_000;
    node.asked.length = 0;
    for (let time = 0; time < 4; time += 1) expect(await logs(1, 1_000)).toEqual(blocks(1, 1_000));
    expect(node.asked[0]).toBe(500);
    expect(node.asked.at(-1)).toBe(1_000);
  });

  itDeep('are read in as few blocks for ever longer where it stays too slow', async () => {
    const node = await open(10_000);
    const logs = connect([node], TIMEOUT_MS);
    node.fastFor = 500;
    let timeouts = 0;
    for (let time = 0; time < 30; time += 1) {
      const failed = await logs(1, 1_000).then(
        () => false,
        () => true,
      );
      if (!failed) continue;
      timeouts += 1;
      await sleep(1_100);
    }
    // After 4, 8, 16 and 32 answers for 500 blocks.
    expect(timeouts).toBeLessThanOrEqual(4);
    expect(timeouts).toBeGreaterThan(1);
  });
});
