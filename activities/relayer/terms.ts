import { type ChainClient, networkLabel } from '../../src/chain/clients';
import type { DataCost } from '../../src/chain/dataFee';
import type { Fees } from '../../src/chain/fees';
import { gasPriceText, nativeAmount } from '../../src/chain/nativeAmount';
import type { Envelope } from '../../src/db/chain';

/** The terms that are proposed for an envelope; the signer bounds them by what it reads itself. Decimal strings of wei, and of gas. */
export interface EnvelopeTerms {
  readonly gas: string;
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
  readonly relayerAddress: string;
  /** Number of the relayer's transactions in blocks: its next nonce on chain. */
  readonly chainNonce: number;
  /** Number of the block that the fees are of. */
  readonly head: string;
  /** Id of the stuck envelope that the new one replaces at its nonce, with a higher fee. */
  readonly replaces?: string;
}

/** Gas of an empty transfer, which fills a nonce. */
export const FILLER_GAS = 21_000n;
/** The step by which a replacement raises the fee, in percent; nodes require 110. */
const REPLACEMENT_STEP_PERCENT = 125n;

/** The fee of a replacement. */
export function raised(wei: bigint): bigint {
  return (wei * REPLACEMENT_STEP_PERCENT) / 100n + 1n;
}

/** Fees and gas as activities pass them on, and the relayer with its next nonce. */
export function envelopeTerms(
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

/** Whether the network asks for more than an envelope offers. */
export function isOutbid(fees: Fees, envelope: Pick<Fees, 'maxFeePerGas' | 'maxPriorityFeePerGas'>): boolean {
  return (
    fees.maxFeePerGas > envelope.maxFeePerGas || fees.maxPriorityFeePerGas > envelope.maxPriorityFeePerGas
  );
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
    ...envelopeTerms({ head, maxFeePerGas, maxPriorityFeePerGas }, gas, { relayerAddress, chainNonce }),
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
