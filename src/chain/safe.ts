import { type Address, encodeFunctionData, type PublicClient, parseAbi } from 'viem';
import { ask, type ChainClient, networkLabel } from './clients';
import { staticCallWord } from './evmCalls';
import { keccak256 } from './keccak';
import { type CanonicalContract, MULTI_SEND, SAFE_CONTRACTS } from './safeAccount';

export const safeAbi = parseAbi([
  'function getOwners() view returns (address[])',
  'function getThreshold() view returns (uint256)',
  'function getModulesPaginated(address start, uint256 pageSize) view returns (address[] array, address next)',
  'function nonce() view returns (uint256)',
]);

/** The canonical contracts that are missing on a chain or have other code. */
export async function missingContracts(client: PublicClient): Promise<readonly CanonicalContract[]> {
  const found = await Promise.all(
    [...Object.values(SAFE_CONTRACTS), MULTI_SEND].map(async (contract) => {
      const code = await client.getCode({ address: contract.address });
      return code && keccak256(code) === contract.codeHash ? [] : [contract];
    }),
  );
  return found.flat();
}

/**
 * Why a network cannot be used, or null: it serves another chain id, its blocks have no base fee (EIP-1559), or it lacks
 * one of the canonical contracts (checked by the hash of their code). Throws ChainUnavailable.
 */
export async function refuseNetwork(chain: ChainClient): Promise<string | null> {
  const { network } = chain;
  const chainId = await ask(chain, (rpc) => rpc.getChainId());
  if (chainId !== network.id) {
    return `network ${network.name} is ${network.id} in NETWORKS_FILE, but its RPC serves chain ${chainId}`;
  }
  const { baseFeePerGas } = await ask(chain, (rpc) => rpc.getBlock({ blockTag: 'latest' }));
  if (typeof baseFeePerGas !== 'bigint') {
    return `network ${networkLabel(chain)} has no base fee (EIP-1559): transactions cannot be sent there`;
  }
  const missing = await ask(chain, missingContracts);
  if (missing.length === 0) return null;
  const names = missing
    .map(({ name, address, codeHash }) => `${name} (${address}, code ${codeHash})`)
    .join(', ');
  return `network ${networkLabel(chain)} lacks ${names}: accounts cannot be deployed there`;
}

const NONCE_CALL = encodeFunctionData({ abi: safeAbi, functionName: 'nonce' });
const NONCE_GAS = 100_000n;

/** The next nonce of an account on chain, or null when no contract answers at its address. Throws ChainUnavailable. */
export async function accountNonce(chain: ChainClient, address: string): Promise<bigint | null> {
  const answer = await staticCallWord(chain, { to: address as Address, data: NONCE_CALL, gas: NONCE_GAS });
  return answer === null ? null : BigInt(answer);
}
