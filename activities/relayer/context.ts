import type { Address } from 'viem';
import type { ChainClient, ChainClients } from '../../src/chain/clients';
import { listRelayers } from '../../src/db/chain';
import type { Db } from '../../src/db/database';
import { createSendLog, type SendLog } from './sendLog';

/** The dependencies of the chain worker. It has no key. */
export interface RelayerDeps {
  readonly db: Db;
  readonly chains: ChainClients;
  /** The first pause between two checks of a pending transaction, in milliseconds; it grows to 16 times this. */
  readonly pollMs: number;
  /** How long a sent transaction may be pending before its fee is raised, in milliseconds. */
  readonly stuckAfterMs: number;
}

/** The dependencies, and the log of what this process has sent. */
export interface RelayerContext extends RelayerDeps {
  readonly sent: SendLog;
}

/** The relayer that pays on every network. */
export const RELAYER_INDEX = 0;

/** Creates the context that the activities of one process share. */
export function createRelayerContext<T extends RelayerDeps>(deps: T): T & RelayerContext {
  return { ...deps, sent: createSendLog() };
}

/** The client of a network. Throws when the network is not configured. */
export function requireChain({ chains }: Pick<RelayerDeps, 'chains'>, networkId: number): ChainClient {
  const chain = chains.get(networkId);
  if (!chain) throw new Error(`network ${networkId} is not configured`);
  return chain;
}

/** The address that pays for transactions on a network. Throws while the signer has registered none. */
export async function relayerAddress(db: Db, networkId: number): Promise<Address> {
  const relayer = (await listRelayers(db, networkId)).find(({ index }) => index === RELAYER_INDEX);
  if (!relayer) throw new Error(`the signer has not registered a relayer for network ${networkId} yet`);
  return relayer.address as Address;
}
