import { type ChainClient, networkLabel } from '../../src/chain/clients';
import type { DataCost } from '../../src/chain/dataCost';
import type { Fees } from '../../src/chain/fees';
import { raised } from '../../src/chain/fees';
import { gasPriceText, nativeAmount } from '../../src/chain/nativeAmount';
import type { Envelope } from '../../src/db/envelopes';
import type { EnvelopeTerms } from '../../src/domain/terms';

/** Fees and gas as activities pass them on, and the relayer with its next nonce. */
export function newEnvelopeTerms(
  fees: Pick<Fees, 'head' | 'maxFeePerGas' | 'maxPriorityFeePerGas'>,
  gas: bigint,
  { relayerAddress, chainNonce }: Pick<EnvelopeTerms, 'relayerAddress' | 'chainNonce'>,
): EnvelopeTerms {
  return {
    gas: gas.toString(),
    maxFeePerGas: fees.maxFeePerGas.toString(),
    maxPriorityFeePerGas: fees.maxPriorityFeePerGas.toString(),
    relayerAddress,
    chainNonce,
    head: fees.head.toString(),
  };
}

/**
 * Terms of an envelope that replaces another at its nonce, by the current fees; null when it would pay more than the
 * network's ceiling.
 */
export function replacementTerms(
  { network }: Pick<ChainClient, 'network'>,
  fees: Fees,
  envelope: Envelope,
  gas = envelope.gas,
): EnvelopeTerms | null {
  const maxPriorityFeePerGas = raised(envelope.maxPriorityFeePerGas);
  let maxFeePerGas = raised(envelope.maxFeePerGas);
  if (maxFeePerGas < fees.maxFeePerGas) maxFeePerGas = fees.maxFeePerGas;
  if (maxFeePerGas > network.maxFeePerGas || maxPriorityFeePerGas > maxFeePerGas) return null;
  const { relayerAddress, relayerNonce: chainNonce } = envelope;
  const { head } = fees;
  return {
    ...newEnvelopeTerms({ head, maxFeePerGas, maxPriorityFeePerGas }, gas, { relayerAddress, chainNonce }),
    replaces: String(envelope.id),
  };
}

/** Why a relayer cannot pay. `neededWei`: the balance that it needs. */
export type FundsRefusal =
  | { readonly code: 'feeCeiling'; readonly message: string }
  | { readonly code: 'relayerFunds'; readonly message: string; readonly neededWei: bigint };

/** Why the current fees or the relayer's balance do not permit an envelope; null when they do. `wei`: what it costs beside its gas. */
export function refuseFunds(
  chain: ChainClient,
  relayer: { address: string; balance: bigint },
  fees: Fees,
  { gas, wei }: DataCost,
): FundsRefusal | null {
  const { network } = chain;
  if (fees.baseFee > network.maxFeePerGas) {
    return {
      code: 'feeCeiling',
      message: `the base fee on ${networkLabel(chain)} is ${gasPriceText(fees.baseFee)}, above the ceiling of ${gasPriceText(network.maxFeePerGas)} (maxFeePerGas of the network)`,
    };
  }
  const cost = gas * fees.maxFeePerGas + wei;
  if (relayer.balance >= cost) return null;
  return {
    code: 'relayerFunds',
    message: `insufficient funds: relayer ${relayer.address} has ${nativeAmount(network, relayer.balance)} on ${networkLabel(chain)} and needs ${nativeAmount(network, cost)}; fund it`,
    neededWei: cost,
  };
}
