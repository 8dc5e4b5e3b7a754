import type { ChainClient, ChainClients } from '../../src/chain/clients';
import type { Fees } from '../../src/chain/fees';
import { SharedReads } from '../../src/chain/sharedReads';
import type { Db } from '../../src/db/database';
import { KeyedLimiter } from '../../src/temporal/keyedLimiter';
import type { WithoutSlot } from '../../src/temporal/waitingActivities';
import { createHeads, type Heads } from './heads';
import { createSendLog, type SendLog } from './sendLog';

/** How often a network is asked for its newest block at first; in milliseconds. */
export const POLL_MS = 250;
/** How long a sent transaction may be pending before its fee is raised; in milliseconds. */
export const STUCK_AFTER_MS = 30_000;

/** The dependencies of the chain worker. It has no key. */
export interface RelayerDeps {
  readonly db: Db;
  readonly chains: ChainClients;
  /** The network of contract wallets: elsewhere the address of one may be somebody else's. Absent: it is nowhere. */
  readonly signerNetworkId?: number | undefined;
  /** How often a network is asked for its newest block at first, in milliseconds; the pause grows to 16 times this. */
  readonly pollMs: number;
  /** How long a sent transaction may be pending before its fee is raised, in milliseconds. */
  readonly stuckAfterMs: number;
  /** Runs activities that wait for a network. */
  readonly withoutSlot: WithoutSlot;
}

/** What is read for relayers once for all activities of one process. */
export interface RelayerReads {
  /** Balances of relayers in wei, by network and address. */
  readonly balances: SharedReads<bigint>;
  /** How many transactions of relayers were in blocks at least, a while ago: unless blocks are lost, there are not fewer. */
  readonly transactionCounts: SharedReads<number>;
  /** The fees of networks, by network: a while ago. */
  readonly fees: SharedReads<Fees>;
}

/** The dependencies, and what the activities of one process share. */
export interface RelayerContext extends RelayerDeps, RelayerReads {
  readonly sent: SendLog;
  readonly heads: Heads;
  /** Those who follow something take turns, by network and relayer; what is sent for the first time has turns of its own. */
  readonly turns: KeyedLimiter;
  /** The same by network, of all its relayers together. */
  readonly networkTurns: KeyedLimiter;
}

/** What changes slowly is read again after so many polls. */
const SLOW_POLLS = 40;

/** How many of those who follow something of one relayer use the database and the network at once. */
const TURNS_AT_ONCE = 8;
/** The same of all relayers of one network. */
const NETWORK_TURNS_AT_ONCE = 16;

/** Creates the shared reads of one process. */
export function createRelayerReads(pollMs: number): RelayerReads {
  const slow = <V>() => new SharedReads<V>(SLOW_POLLS * pollMs, pollMs);
  return { balances: new SharedReads(pollMs), transactionCounts: slow(), fees: slow() };
}

/** Creates the context that the activities of one process share. */
export function createRelayerContext<T extends RelayerDeps>(
  deps: T,
  reads = createRelayerReads(deps.pollMs),
): T & RelayerContext {
  const { pollMs } = deps;
  return {
    ...deps,
    ...reads,
    sent: createSendLog(),
    heads: createHeads(pollMs),
    turns: new KeyedLimiter(TURNS_AT_ONCE),
    networkTurns: new KeyedLimiter(NETWORK_TURNS_AT_ONCE),
  };
}

/** The client of a network. Throws when the network is not configured. */
export function requireChain({ chains }: Pick<RelayerDeps, 'chains'>, networkId: number): ChainClient {
  const chain = chains.get(networkId);
  if (!chain) throw new Error(`network ${networkId} is not configured`);
  return chain;
}
