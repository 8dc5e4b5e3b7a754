import type { DataCost } from '../../src/chain/dataFee';
import { executionGas, type SafeTransaction } from '../../src/chain/safeTransaction';
import { min } from '../../src/domain/bigint';

/** Gas of the next envelope after one that reverted completely, in percent. */
const REVERTED_GAS_PERCENT = 150n;
/** After this many envelopes that reverted completely the next one waits for an operator. */
export const MAX_WHOLE_REVERTS = 3;

/** Gas of the envelope that executes a transaction of an account, after others that reverted completely. */
export function gasAfterReverts(
  content: Pick<SafeTransaction, 'safeTxGas' | 'data'>,
  reverts: number,
): bigint {
  let gas = executionGas(content);
  for (let i = 0; i < reverts; i += 1) gas = (gas * REVERTED_GAS_PERCENT) / 100n;
  return gas;
}

/** The same with what its data uses more on a rollup, within what the signer signs and a ceiling. */
export function gasWithData(
  content: Pick<SafeTransaction, 'safeTxGas' | 'data'>,
  reverts: number,
  { gas }: Pick<DataCost, 'gas'>,
  maxGas: bigint,
): bigint {
  const most = min(gasAfterReverts(content, MAX_WHOLE_REVERTS), maxGas);
  return min(gasAfterReverts(content, reverts) + gas, most);
}
