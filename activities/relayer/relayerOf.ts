import type { Address } from 'viem';
import { ChainUnavailable } from '../../src/chain/clients';
import { relayerIndex } from '../../src/chain/relayerIndex';
import type { NetworkConfig } from '../../src/config';
import { listRelayers } from '../../src/db/chain';
import type { Db, Tx } from '../../src/db/database';
import { relayerInFlight } from '../../src/db/reservations';

/**
 * The relayer that pays for what is new of an account on a network: the one of what is in flight for the account, where
 * there is something, so that its nonces stay in order while the number of relayers changes; else by the account's id.
 * `addressAt`: the address of a relayer by its index.
 */
export async function chosenRelayer(
  db: Db | Tx,
  { id: networkId, relayers }: Pick<NetworkConfig, 'id' | 'relayers'>,
  accountId: string,
  addressAt: (index: number) => string | Promise<string>,
): Promise<string> {
  const inFlight = await relayerInFlight(db, { accountId, networkId });
  return inFlight ?? addressAt(relayerIndex(accountId, relayers));
}

/** The same by the relayers that the signer has registered. Throws ChainUnavailable while it has not registered that one. */
export async function relayerOf(db: Db, network: NetworkConfig, accountId: string): Promise<Address> {
  const address = await chosenRelayer(db, network, accountId, async (index) => {
    const relayer = (await listRelayers(db, network.id)).find((one) => one.index === index);
    if (relayer) return relayer.address;
    throw new ChainUnavailable(
      network,
      `the signer has not registered relayer ${index} yet; restart it with the same NETWORKS_FILE`,
    );
  });
  return address as Address;
}
