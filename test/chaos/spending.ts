import {
  type Address,
  createPublicClient,
  decodeEventLog,
  type Hex,
  parseAbi,
  http as rpcTransport,
} from 'viem';
import type { NetworkConfig } from '../../src/config';
import { endpointOf } from '../support/stack';

const SAFE_EVENTS = parseAbi([
  'event SafeMultiSigTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures, bytes additionalInfo)',
  'event ExecutionSuccess(bytes32 indexed txHash, uint256 payment)',
  'event ExecutionFailure(bytes32 indexed txHash, uint256 payment)',
]);

/** What an account paid out, by its own events. */
interface Payout {
  readonly safeTxHash: Hex;
  readonly to: Address;
  readonly value: bigint;
  readonly blockNumber: bigint;
  /** Milliseconds. */
  readonly blockTime: number;
}

/** Everything that an account paid out in native currency on a network, in the order of the chain. */
export async function payoutsOf(network: NetworkConfig, account: Address): Promise<Payout[]> {
  const chain = createPublicClient({ transport: rpcTransport(endpointOf(network)) });
  const logs = await chain.getLogs({ address: account, fromBlock: 0n, toBlock: 'latest' });
  const times = new Map<bigint, number>();
  const payouts: Payout[] = [];
  let begun: { to: Address; value: bigint } | undefined;
  for (const { topics, data, blockNumber } of logs) {
    let event: ReturnType<typeof decodeEventLog<typeof SAFE_EVENTS>>;
    try {
      event = decodeEventLog({ abi: SAFE_EVENTS, topics, data });
    } catch {
      continue;
    }
    if (event.eventName === 'SafeMultiSigTransaction') {
      begun = event.args;
    } else if (begun) {
      if (!times.has(blockNumber)) {
        times.set(blockNumber, Number((await chain.getBlock({ blockNumber })).timestamp) * 1_000);
      }
      if (event.eventName === 'ExecutionSuccess') {
        const { to, value } = begun;
        const blockTime = times.get(blockNumber) ?? 0;
        payouts.push({ safeTxHash: event.args.txHash, to, value, blockNumber, blockTime });
      }
      begun = undefined;
    }
  }
  return payouts;
}

/** The most that was paid out in any period of that length. */
export function mostWithin(payouts: readonly Payout[], hours: number): bigint {
  let most = 0n;
  for (const { blockTime } of payouts) {
    const within = payouts.filter(
      (one) => one.blockTime >= blockTime && one.blockTime <= blockTime + hours * 3_600_000,
    );
    const sum = within.reduce((total, { value }) => total + value, 0n);
    if (sum > most) most = sum;
  }
  return most;
}
