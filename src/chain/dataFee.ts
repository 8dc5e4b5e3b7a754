import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { ask, type ChainClient } from './clients';

/** Predeploy of the OP stack. Source: OP stack specification, GasPriceOracle (Fjord). */
export const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000F';
/** Precompile of Arbitrum that only calls see. Source: Arbitrum documentation, NodeInterface. */
const NODE_INTERFACE = '0x00000000000000000000000000000000000000C8';
const nodeAbi = parseAbi([
  'function gasEstimateL1Component(address to, bool contractCreation, bytes data) payable returns (uint64 gasEstimateForL1, uint256 baseFee, uint256 l1BaseFeeEstimate)',
]);
/** As long as the owner's signature, and as hard to compress. */
export const A_SIGNATURE = `0x${'a5'.repeat(65)}` as const;

/** Gas that the data of a call uses beside its execution; 0 where it is charged in wei. Throws ChainUnavailable. */
export async function callDataGas(
  chain: ChainClient,
  { to, data }: { readonly to: Address; readonly data: Hex },
): Promise<bigint> {
  if (chain.network.dataFee !== 'arbitrum') return 0n;
  const call = encodeFunctionData({
    abi: nodeAbi,
    functionName: 'gasEstimateL1Component',
    args: [to, false, data],
  });
  return ask(chain, async (rpc) => {
    const { data: answer = '0x' } = await rpc.call({ to: NODE_INTERFACE, data: call });
    return BigInt(answer.slice(0, 66));
  });
}
