import type { Address } from 'viem';
import type { NetworkConfig } from '../config';
import { ask, type ChainClients, ChainUnavailable } from './clients';

/** About the gas of a deployment, the most expensive of what relayers commonly pay for. */
const DEPLOYMENT_GAS = 400_000n;
/** A relayer that cannot pay for so many deployments, or about 50 token transfers, is low. */
const ENOUGH_DEPLOYMENTS = 20n;

/** What one deployment may cost at a gas price; in wei. Fees are offered at twice the base fee, to hold while it rises. */
function deploymentCost(gasPrice: bigint): bigint {
  return DEPLOYMENT_GAS * gasPrice * 2n;
}

/** Whether a relayer can keep paying at a gas price; amounts in wei. */
export function relayerFunds(balance: bigint, gasPrice: bigint): 'enough' | 'low' | 'empty' {
  const oneDeployment = deploymentCost(gasPrice);
  if (balance === 0n || balance < oneDeployment) return 'empty';
  return balance < oneDeployment * ENOUGH_DEPLOYMENTS ? 'low' : 'enough';
}

/** The balance of a relayer, in wei. */
export interface RelayerBalance {
  readonly network: NetworkConfig;
  readonly address: string;
  readonly wei: bigint;
  /** For how many deployments it is enough now. */
  readonly deployments: number;
  readonly funds: ReturnType<typeof relayerFunds>;
}

/** The balances of relayers; those of an unavailable network are left out. */
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
            return {
              network: chain.network,
              address,
              wei,
              deployments: wei === 0n ? 0 : Number(wei) / Number(deploymentCost(gasPrice)),
              funds: relayerFunds(wei, gasPrice),
            };
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
