import type { Address } from 'viem';
import { ChainUnavailable } from '../../src/chain/clients';
import { relayerIndex } from '../../src/chain/relayerIndex';
import type { NetworkConfig } from '../../src/config';
import type { Db } from '../../src/db/database';
import { payingRelayer } from '../../src/db/reservations';

/**
 * The relayer that pays for what is new of an account on a network: the one of what is in flight for the account, where
 * there is something, so that its nonces stay in order while the number of relayers changes; else by the account's id, as
 * the signer has registered it. Throws ChainUnavailable while it has not registered that one.
 */
export async function relayerOf(db: Db, network: NetworkConfig, accountId: string): Promise<Address> {
  const index = relayerIndex(accountId, network.relayers);
  const relayer = await payingRelayer(db, { accountId, networkId: network.id }, index);
  if (relayer !== undefined) return relayer as Address;
  throw new ChainUnavailable(
    network,
    `the signer has not registered relayer ${index} yet; restart it with the same NETWORKS_FILE`,
  );
}
