import type { Address } from 'viem';
import type { NetworkConfig } from '../config';
import { ask, type ChainClients, ChainUnavailable } from './clients';

/** About what the deployment of an account takes, the most of what relayers pay for every day. */
const DEPLOYMENT_GAS = 400_000n;
/** A relayer that cannot pay for so many deployments, or some 50 transfers of tokens, is low. */
const ENOUGH_DEPLOYMENTS = 20n;

/** Whether a relayer can go on paying at a gas price; amounts in wei. */
export function relayerFunds(balance: bigint, gasPrice: bigint): 'enough' | 'low' | 'empty' {
  // Fees are offered at twice the base fee, so that they hold while it rises.
  const oneDeployment = DEPLOYMENT_GAS * gasPrice * 2n;
  if (balance === 0n || balance < oneDeployment) return 'empty';
  return balance < oneDeployment * ENOUGH_DEPLOYMENTS ? 'low' : 'enough';
}

/** What a relayer has, in wei. */
export interface RelayerBalance {
  readonly network: NetworkConfig;
  readonly address: string;
  readonly wei: bigint;
  readonly funds: ReturnType<typeof relayerFunds>;
}

/** What relayers have; those of a network that is away are left out. */
export async function readRelayerBalances(
  chains: ChainClients,
  relayers: readonly { readonly networkId: number; readonly address: string }[],
): Promise<readonly RelayerBalance[]> {
  const read = await Promise.all(
    [...chains.values()].map(async (chain) => {
      const own = relayers.filter(({ networkId }) => networkId === chain.network.id);
      try {
        const gasPrice = await ask(chain, (rpc) => rpc.getGasPrice());
        return await Promise.all(
          own.map(async ({ address }) => {
            const wei = await ask(chain, (rpc) => rpc.getBalance({ address: address as Address }));
            return { network: chain.network, address, wei, funds: relayerFunds(wei, gasPrice) };
          }),
        );
      } catch (error) {
        if (error instanceof ChainUnavailable) return [];
        throw error;
      }
    }),
  );
  return read.flat();
}
