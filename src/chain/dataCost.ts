import { parseAbi, size } from 'viem';
import { ask, type ChainClient } from './clients';
import { A_SIGNATURE, callDataGas, GAS_PRICE_ORACLE } from './dataFee';
import { executionCall, type SafeTransaction } from './safeTransaction';

/** What the data of a transaction costs beside its execution: wei that are charged on top, or gas that it uses more. */
export interface DataCost {
  readonly wei: bigint;
  readonly gas: bigint;
}

const NONE: DataCost = { wei: 0n, gas: 0n };

const oracleAbi = parseAbi(['function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)']);

/** Bytes of an envelope beside its data: chain id, nonce, fees, gas, receiver and value (EIP-1559). */
const ENVELOPE_BYTES = 128;

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
