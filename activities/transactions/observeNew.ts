import type { Address, Hex } from 'viem';
import {
  ask,
  assertChainId,
  type ChainClient,
  networkLabel,
  transactionCount,
} from '../../src/chain/clients';
import { dataCost } from '../../src/chain/dataFee';
import { accountNonce } from '../../src/chain/safe';
import { mostSafeTxGas } from '../../src/chain/safeTransaction';
import { type InnerCall, type Simulation, simulateInner } from '../../src/chain/simulation';
import type { StoredTransaction } from '../../src/db/transactions';
import type { FailureCode } from '../../src/domain/approval';
import { relayerOf } from '../relayer/relayerOf';
import { currentFees, envelopeTerms, type FundsRefusal, refuseFunds } from '../relayer/terms';
import type { TransactionChainContext } from './chainContext';
import { gasWithData } from './gasAfterReverts';
import type { TransactionObservation } from './observation';
import { tokenOf } from './outcome';

/** An endpoint is asked so often which chain it serves. */
const CHAIN_ID_MS = 10_000;

function failed(code: FailureCode, message: string): TransactionObservation {
  return { kind: 'failed', failure: { code, message } };
}

/** Why a token's return value means failure; null for success: no data, or true. Source: ERC-20, SafeERC20. */
function refuseTokenAnswer(returnData: Hex): string | null {
  if (returnData === '0x') return null;
  if (returnData.length >= 66 && BigInt(returnData.slice(0, 66)) === 1n) return null;
  const isFalse = returnData.length >= 66 && BigInt(returnData.slice(0, 66)) === 0n;
  return isFalse ? 'the token returns false' : 'the token returns neither true nor false';
}

/** Why the call would fail, as an observation. */
function failedSimulation(
  chain: ChainClient,
  { accountAddress }: StoredTransaction,
  { kind, reason }: Extract<Simulation, { ok: false }>,
): TransactionObservation {
  return kind === 'funds'
    ? failed('funds', `${reason}: fund the account ${accountAddress} on ${networkLabel(chain)}`)
    : failed('reverted', `the call would revert with ${reason}; nothing was sent`);
}

/** Why the call would succeed without moving tokens; null when it would move them, or is not a token transfer. */
function refuseToken(
  chain: ChainClient,
  record: StoredTransaction,
  { hasCode, returnData }: Extract<Simulation, { ok: true }>,
): TransactionObservation | null {
  const token = tokenOf(record);
  if (token === null) return null;
  const refusal = hasCode ? refuseTokenAnswer(returnData) : 'there is no token contract';
  return refusal === null
    ? null
    : failed('reverted', `${token} on ${networkLabel(chain)}: ${refusal}; nothing was sent`);
}

/** A failure for lack of funds; the execution continues by itself when the relayer's balance is sufficient. */
function insufficientFunds({ message, neededWei }: FundsRefusal): TransactionObservation {
  return {
    kind: 'failed',
    failure: { code: 'funds', message },
    ...(neededWei === undefined ? {} : { awaitsRelayerWei: String(neededWei) }),
  };
}

/**
 * The terms of a transaction without a signed attempt, or why it fails now. It is simulated first: a call that would
 * revert, or move nothing, is refused before it costs gas. Throws ChainUnavailable.
 */
export async function observeNew(
  { db, maxGas, balances, transactionCounts, fees: shared }: TransactionChainContext,
  chain: ChainClient,
  record: StoredTransaction,
): Promise<TransactionObservation> {
  const account = record.accountAddress as Address;
  const relayer = await relayerOf(db, chain.network, record.accountId);
  const data = record.calldata.toLowerCase() as Hex;
  const call: InnerCall = { account, to: record.to as Address, value: record.value, data };
  const ceiling = mostSafeTxGas(maxGas, data);
  if (ceiling <= 0n) {
    return failed('reverted', `its calldata alone needs more than ${maxGas} gas, the ceiling (MAX_GAS)`);
  }
  const nonce = await accountNonce(chain, account);
  if (nonce === null) {
    return failed(
      'stale',
      `account ${record.accountId} was not found at ${account} on ${networkLabel(chain)}`,
    );
  }
  const { id } = chain.network;
  const [simulated, fees, balance, chainNonce, dataFee] = await Promise.all([
    simulateInner(chain, call, { ceiling, sender: relayer }),
    shared.read(`${id}`, () => currentFees(chain)),
    balances.read(`${id}/${relayer}`, () => ask(chain, (rpc) => rpc.getBalance({ address: relayer }))),
    transactionCounts.read(`${id}/${relayer}`, () => transactionCount(chain, relayer)),
    dataCost(chain, { account, data }),
    assertChainId(chain, { withinMs: CHAIN_ID_MS }),
  ]);
  if (!simulated.ok) return failedSimulation(chain, record, simulated);
  const movesNothing = refuseToken(chain, record, simulated);
  if (movesNothing) return movesNothing;
  const gas = gasWithData({ safeTxGas: simulated.gas, data }, 0, dataFee, maxGas);
  const poor = refuseFunds(chain, { address: relayer, balance }, fees, { gas, wei: dataFee.wei });
  if (poor) return insufficientFunds(poor);
  return {
    kind: 'needsEnvelope',
    terms: {
      ...envelopeTerms(fees, gas, { relayerAddress: relayer, chainNonce }),
      safeTxGas: String(simulated.gas),
      accountNonce: String(nonce),
      fromBlock: String(fees.head),
    },
    cancels: false,
    attempted: false,
  };
}
