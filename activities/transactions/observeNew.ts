import type { Address, Hex } from 'viem';
import { ask, assertChainId, type ChainClient, transactionCount } from '../../src/chain/clients';
import { dataCost } from '../../src/chain/dataCost';
import { currentFees, type Fees } from '../../src/chain/fees';
import { gasWithData } from '../../src/chain/gas';
import { relayerIndex } from '../../src/chain/relayerIndex';
import type { InnerCall } from '../../src/chain/simulation';
import { type SimulationResult, simulateTransaction } from '../../src/chain/transactionSimulation';
import type { TransactionToObserve } from '../../src/db/transactions';
import type { FailureCode } from '../../src/domain/approval';
import { tokenOf } from '../../src/transactions/policy';
import { relayerOf } from '../relayer/relayerOf';
import { relayerKey } from '../relayer/sendLog';
import { type FundsRefusal, newEnvelopeTerms, refuseFunds } from '../relayer/terms';
import type { ObserveNewContext } from './chainContext';
import type { TransactionObservation } from './observation';

/** An endpoint is asked so often which chain it serves. */
const CHAIN_ID_MS = 10_000;

/** Nobody has so much wei: some nodes, as those of Fantom and XDC, give the sender of a call all that there can be. */
const IMPLAUSIBLE_WEI = 2n ** 128n;

function failed(code: FailureCode, message: string): TransactionObservation {
  return { kind: 'failed', failure: { code, message } };
}

/** Why the call would fail, as an observation. */
function failedSimulation({
  code,
  message,
}: Extract<SimulationResult, { ok: false }>): TransactionObservation {
  return failed(code, code === 'reverted' ? `${message}; nothing was sent` : message);
}

/** A failure because the relayer cannot pay; the execution continues by itself when its balance is sufficient. */
function cannotPay(refused: FundsRefusal): TransactionObservation {
  const { code, message } = refused;
  return {
    kind: 'failed',
    failure: { code, message },
    ...(code === 'relayerFunds' ? { awaitsRelayerWei: String(refused.neededWei) } : {}),
  };
}

/**
 * The terms of a transaction without a signed attempt, or why it fails now. It is simulated first: a call that would
 * revert, or move nothing, is refused before it costs gas. Throws ChainUnavailable.
 */
export async function observeNew(
  context: ObserveNewContext,
  chain: ChainClient,
  { record, relayers }: TransactionToObserve,
): Promise<TransactionObservation> {
  const { db, maxGas, transactionCounts } = context;
  const { accountId } = record;
  const account = record.accountAddress as Address;
  const registered = relayers?.[relayerIndex(accountId, chain.network.relayers)];
  const relayer = (registered ?? (await relayerOf(db, chain.network, accountId))) as Address;
  const data = record.calldata.toLowerCase() as Hex;
  const call: InnerCall = { account, to: record.to as Address, value: record.value, data };
  const { id } = chain.network;
  const readFees = (since = 0) => context.fees.read(`${id}`, () => currentFees(chain), since);
  const [simulated, lately, chainNonce, dataFee] = await Promise.all([
    simulateTransaction(chain, { accountId, call, token: tokenOf(record) }, { maxGas, sender: relayer }),
    readFees(),
    transactionCounts.read(relayerKey(id, relayer), () => transactionCount(chain, relayer)),
    dataCost(chain, { account, data }),
    assertChainId(chain, { withinMs: CHAIN_ID_MS }),
  ]);
  if (!simulated.ok) return failedSimulation(simulated);
  const gas = gasWithData({ safeTxGas: simulated.gas, data }, 0, dataFee, maxGas);
  const balance =
    simulated.senderBalance < IMPLAUSIBLE_WEI
      ? simulated.senderBalance
      : await ask(chain, (rpc) => rpc.getBalance({ address: relayer }));
  const payer = { address: relayer, balance };
  const refuse = (fees: Fees) => refuseFunds(chain, payer, fees, { gas, wei: dataFee.wei });
  // Nothing is refused for fees of a while ago.
  const fees = refuse(lately) ? await readFees(performance.now()) : lately;
  const refused = refuse(fees);
  if (refused) return cannotPay(refused);
  return {
    kind: 'needsEnvelope',
    terms: {
      ...newEnvelopeTerms(fees, gas, { relayerAddress: relayer, chainNonce }),
      safeTxGas: String(simulated.gas),
      accountNonce: String(simulated.accountNonce),
      fromBlock: String(fees.head),
    },
    cancels: false,
    attempted: false,
  };
}
