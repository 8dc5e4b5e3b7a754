import type { Address, Hex } from 'viem';
import { ask, assertChainId, type ChainClient, ChainUnavailable } from '../../chain/clients';
import { relayerIndex } from '../../chain/relayerIndex';
import { simulateTransaction } from '../../chain/transactionSimulation';
import type { StoredTransaction } from '../../db/storedTransactions';
import { max } from '../../domain/bigint';
import { tokenOf } from '../../transactions/policy';
import { TemporaryRefusal } from '../refusal';
import { networkOf, type SignerContext } from '../signerContext';

/** A call with value to a new address without code. Sources: EIP-150, EIP-2929. */
const PLAIN_GAS = 2_600n + 9_000n + 25_000n;

/** Whether there was code at an address lately. Throws ChainUnavailable. */
function hasCode(
  { recipients }: Pick<SignerContext, 'recipients'>,
  chain: ChainClient,
  place: number,
  address: Address,
): Promise<boolean> {
  return recipients.read(`${chain.network.id}/${place}/${address}`, async () => {
    const code = await ask(chain, (rpc) => rpc.getCode({ address }));
    return code !== undefined && code !== '0x';
  });
}

/** The safeTxGas that a call needs by one endpoint. Throws TemporaryRefusal where it would fail, and ChainUnavailable. */
async function neededAt(
  { keystore, maxGas }: SignerContext,
  chain: ChainClient,
  record: StoredTransaction,
): Promise<bigint> {
  const { id, accountId, to, value, calldata } = record;
  const { network } = chain;
  const { address: sender } = keystore.relayerKey(network.id, relayerIndex(accountId, network.relayers));
  const call = {
    account: record.accountAddress as Address,
    to: to as Address,
    value,
    data: calldata.toLowerCase() as Hex,
  };
  const transaction = { accountId, call, token: tokenOf(record) };
  const [simulated] = await Promise.all([
    simulateTransaction(chain, transaction, { maxGas, sender }),
    assertChainId(chain),
  ]);
  if (simulated.ok) return simulated.gas;
  throw new TemporaryRefusal(
    'simulation',
    `the signer's own endpoint does not confirm that transaction ${id} succeeds: ${simulated.message}`,
  );
}

/** The gas that a transaction needs, or why that cannot be said now: thrown once all else permits the transaction. */
export type NeededGas = bigint | TemporaryRefusal | ChainUnavailable;

/** The gas that is needed. Throws what stands for it. */
export function requireGas(needed: NeededGas): bigint {
  if (typeof needed === 'bigint') return needed;
  throw needed;
}

/**
 * The safeTxGas that a transaction needs, by all of the signer's own endpoints: with less its outer call may succeed and
 * an inner one fail. Of a plain transfer to an address without code it is always the same; on a network without endpoints 0.
 */
export async function neededGas(context: SignerContext, record: StoredTransaction): Promise<NeededGas> {
  try {
    return await mostNeeded(context, record);
  } catch (error) {
    if (error instanceof TemporaryRefusal || error instanceof ChainUnavailable) return error;
    throw error;
  }
}

async function mostNeeded(context: SignerContext, record: StoredTransaction): Promise<bigint> {
  const chains = context.endpointsOf(networkOf(context, record.networkId));
  const needs = await Promise.all(
    chains.map(async (chain, place) => {
      const isPlain = record.calldata === '0x';
      if (isPlain && !(await hasCode(context, chain, place, record.to as Address))) return PLAIN_GAS;
      return neededAt(context, chain, record);
    }),
  );
  return needs.reduce(max, 0n);
}
