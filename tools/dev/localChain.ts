import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { WebSocket } from 'ws';
import { ensureDemoToken, ensureSafeContracts, type TestToken } from './localContracts';
import { type Part, startPart, untilReady } from './parts';
import { rpc } from './rpc';

/** Transactions that come together are confirmed by one block. */
const GATHER_MS = 100;
/** How soon the blocks of a chain that has ended are followed again. */
const FOLLOW_AGAIN_MS = 500;

/** An anvil chain that this process has started. */
export interface RunningChain {
  readonly part: Part;
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly token: TestToken;
  /** Stops mining the block that confirms a transaction; the chain itself continues. */
  stopConfirming(): void;
}

export interface ChainOptions {
  readonly name: string;
  readonly chainId: number;
  readonly port: number;
  /** Folder for the state file. */
  readonly dir: string;
  /** What it charges by; absent: as Ethereum. */
  readonly family?: 'optimism' | undefined;
  /** False: the state is not kept after its end. */
  readonly durable?: false;
  readonly logFile: string;
}

/** The native anvil program; npm's wrapper script would be another process. */
function anvilProgram(): string {
  const resolveFrom = createRequire(createRequire(__filename).resolve('@foundry-rs/anvil/package.json'));
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const platform = process.platform === 'win32' ? 'win32' : process.platform;
  try {
    const manifest = resolveFrom.resolve(`@foundry-rs/anvil-${platform}-${arch}/package.json`);
    return join(dirname(manifest), 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil');
  } catch {
    throw new Error(
      `anvil is not available for this machine (@foundry-rs/anvil-${platform}-${arch} is not installed). Set NETWORKS_FILE to chains that run elsewhere.`,
    );
  }
}

/**
 * Mines an empty block on top of each block that holds transactions, so that they are confirmed and
 * an idle chain does not grow. Returns the function that stops it.
 */
function confirmTransactions(rpcUrl: string): () => void {
  let ended = false;
  let blocks: WebSocket;
  let next: NodeJS.Timeout | undefined;
  const confirm = async () => {
    next = undefined;
    try {
      const block = await rpc<{ transactions: unknown[] }>(rpcUrl, 'eth_getBlockByNumber', ['latest', false]);
      if (!ended && block.transactions.length > 0) await rpc(rpcUrl, 'anvil_mine', ['0x1']);
    } catch {
      // The chain does not answer: it is looked at again once its blocks are followed again.
      blocks.terminate();
    }
  };
  const look = () => {
    if (!ended) next ??= setTimeout(confirm, GATHER_MS).unref();
  };
  const follow = () => {
    if (ended) return;
    blocks = new WebSocket(rpcUrl.replace(/^http/, 'ws'));
    blocks.on('open', () => {
      blocks.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }));
    });
    // The answer to the subscription is the first message, and each block another one.
    blocks.on('message', look);
    blocks.on('error', () => undefined);
    blocks.on('close', () => setTimeout(follow, FOLLOW_AGAIN_MS).unref());
  };
  follow();
  return () => {
    ended = true;
    clearTimeout(next);
    blocks.terminate();
  };
}

/** Starts anvil with its state in a file, and deploys the Safe contracts and the demo token. */
export async function startChain(options: ChainOptions): Promise<RunningChain> {
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  const rpcUrl = `http://127.0.0.1:${options.port}`;
  const part = startPart({
    name: options.name,
    command: anvilProgram(),
    args: [
      ...['--host', '127.0.0.1', '--port', String(options.port), '--chain-id', String(options.chainId)],
      ...(options.durable === false
        ? []
        : ['--state', join(options.dir, `chain-${options.chainId}.json`), '--state-interval', '1']),
      ...['--cache-path', join(options.dir, `cache-${options.chainId}`)],
      ...(options.family ? ['--network', options.family] : []),
      '--quiet',
    ],
    logFile: options.logFile,
    stopSignal: 'SIGINT',
    stopLimitMs: 5_000,
  });
  await untilReady(part, 30_000, () => rpc(rpcUrl, 'eth_chainId'));
  await ensureSafeContracts(rpcUrl);
  const token = await ensureDemoToken(rpcUrl);
  const stopConfirming = confirmTransactions(rpcUrl);
  return { part, chainId: options.chainId, rpcUrl, token, stopConfirming };
}

/** Sets the balance of an address to 1,000,000 ETH on a local chain. */
export async function fundOnLocalChain(rpcUrl: string, address: string): Promise<void> {
  await rpc(rpcUrl, 'anvil_setBalance', [address, `0x${(10n ** 24n).toString(16)}`]);
}
