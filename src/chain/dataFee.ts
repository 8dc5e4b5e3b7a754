import { type Address, encodeFunctionData, type Hex, parseAbi, size } from 'viem';
import { ask, type ChainClient } from './clients';
import { executionCall, type SafeTransaction } from './safeTransaction';

/** What the data of a transaction costs beside its execution: wei that are charged on top, or gas that it uses more. */
export interface DataCost {
  readonly wei: bigint;
  readonly gas: bigint;
}

const NONE: DataCost = { wei: 0n, gas: 0n };

/** Predeploy of the OP stack. Source: OP stack specification, GasPriceOracle (Fjord). */
export const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000F';
const oracleAbi = parseAbi(['function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)']);
/** Precompile of Arbitrum that only calls see. Source: Arbitrum documentation, NodeInterface. */
const NODE_INTERFACE = '0x00000000000000000000000000000000000000C8';
const nodeAbi = parseAbi([
  'function gasEstimateL1Component(address to, bool contractCreation, bytes data) payable returns (uint64 gasEstimateForL1, uint256 baseFee, uint256 l1BaseFeeEstimate)',
]);
/** Bytes of an envelope beside its data: chain id, nonce, fees, gas, receiver and value (EIP-1559). */
const ENVELOPE_BYTES = 128;
/** As long as the owner's signature, and as hard to compress. */
export const A_SIGNATURE = `0x${'a5'.repeat(65)}` as const;

/** What the data of the execution of an account costs on its network (`dataFee`). Throws ChainUnavailable. */
export async function dataCost(
  chain: ChainClient,
  inner: Pick<SafeTransaction, 'account' | 'data'>,
): Promise<DataCost> {
  const { id: networkId, dataFee } = chain.network;
  if (!dataFee) return NONE;
  const tx = { ...inner, networkId, to: inner.account, value: 0n, safeTxGas: 0n, nonce: 0n };
  const call = executionCall(tx, A_SIGNATURE);
  if (dataFee === 'arbitrum') return { wei: 0n, gas: await callDataGas(chain, call) };
  const functionName = 'getL1FeeUpperBound';
  const args = [BigInt(size(call.data) + ENVELOPE_BYTES)] as const;
  const wei = await ask(chain, (rpc) =>
    rpc.readContract({ address: GAS_PRICE_ORACLE, abi: oracleAbi, functionName, args }),
  );
  return { wei, gas: 0n };
}

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
