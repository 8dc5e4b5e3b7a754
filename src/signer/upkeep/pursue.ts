import type { Address, Hex, TransactionReceipt } from 'viem';
import type { Call } from '../../chain/adminsSafe';
import { blockTime } from '../../chain/blockTime';
import { ask, type ChainClient, ChainUnavailable, receiptOf, transactionCount } from '../../chain/clients';
import { A_SIGNATURE, callDataGas } from '../../chain/dataFee';
import { currentFees, isOutbid } from '../../chain/fees';
import { executionGas } from '../../chain/gas';
import { keccak256 } from '../../chain/keccak';
import { paidFee } from '../../chain/paidFee';
import { readRawTransaction } from '../../chain/rawTransaction';
import { boundedFee } from '../../chain/receiptFee';
import { relayerIndex } from '../../chain/relayerIndex';
import { accountNonce } from '../../chain/safe';
import { executionCall, type SafeTransaction, safeTransactionHash } from '../../chain/safeTransaction';
import type { NetworkConfig } from '../../config';
import type { Db, Tx } from '../../db/database';
import type { Envelope } from '../../db/envelopes';
import type { Reservation } from '../../db/reservations';
import { max, min } from '../../domain/bigint';
import { failpoint } from '../../failpoints';
import { type BoundedTerms, boundTerms } from '../boundedTerms';
import type { UpkeepEntry } from '../journal/entries';
import { ROLLED_BACK, TemporaryRefusal } from '../refusal';
import { gasOf, reservedBefore, reserveEnvelope, signReserved } from '../signEnvelope';
import { type SignerContext, withNetwork } from '../signerContext';
import { reservationsOf } from '../store/reservations';
import { decideUpkeep, decideUpkeepEnvelope, provideUpkeep, upkeepEnvelopes } from '../store/upkeep';
import { isBelowCeiling, ownTerms, sendOwn } from './relaying';

/** How long an envelope may wait before its fee is raised, in milliseconds. */
const STUCK_AFTER_MS = 30_000;
/** So many envelopes may fail within an hour: more would be in vain as well. */
const MOST_FAILURES = 5;

/** What is in the journal, as the transaction that is signed. */
export function contentOf({ networkId, safe, to, data, safeTxGas, safeNonce }: UpkeepEntry): SafeTransaction {
  return {
    ...{ networkId, account: safe as Address, to: to as Address, value: 0n, data: data as Hex },
    ...{ safeTxGas: BigInt(safeTxGas), nonce: BigInt(safeNonce) },
  };
}

/** A content with its nonce, as it goes into the journal. */
export function upkeepEntry(
  of: Pick<UpkeepEntry, 'organizationId' | 'accountId' | 'sequence'>,
  transaction: SafeTransaction,
): UpkeepEntry {
  const { networkId, account, to, data, safeTxGas, nonce } = transaction;
  return {
    ...{ type: 'upkeep', ...of, networkId, safe: account, safeNonce: String(nonce) },
    ...{ safeTxHash: safeTransactionHash(transaction), to, data, safeTxGas: String(safeTxGas) },
  };
}

/** What is in the journal, signed. */
export interface SignedUpkeep {
  readonly transaction: SafeTransaction;
  readonly signature: Hex;
}

/** Signs what is in the journal with the key of the organization. Throws TemporaryRefusal for an entry with another hash. */
export async function signUpkeep(
  { keystore }: Pick<SignerContext, 'keystore'>,
  entry: UpkeepEntry,
): Promise<SignedUpkeep> {
  const transaction = contentOf(entry);
  const hash = safeTransactionHash(transaction);
  if (hash !== entry.safeTxHash) {
    throw new TemporaryRefusal(
      'rollback',
      `the upkeep at nonce ${entry.safeNonce} of ${entry.safe} is not ${hash}: ${ROLLED_BACK}`,
    );
  }
  return { transaction, signature: await keystore.organizationKey(entry.organizationId).sign({ hash }) };
}

/** The endpoint by which the signer sends. Throws ChainUnavailable without one. */
function ownEndpoint(context: Pick<SignerContext, 'endpointsOf'>, network: NetworkConfig): ChainClient {
  const [chain] = context.endpointsOf(network);
  if (!chain) throw new ChainUnavailable(network, 'the signer has no endpoints there (signerRpcUrls)');
  return chain;
}

/** The call that executes an upkeep on its network now. */
export interface UpkeepCall {
  readonly call: Call;
  readonly gas: bigint;
}

/** The call that executes an upkeep alone. */
export const upkeepCallAlone = ({ transaction, signature }: SignedUpkeep): UpkeepCall => ({
  call: executionCall(transaction, signature),
  gas: executionGas(transaction),
});

/** What is in the journal, with a signature that is as long as its own: how much gas it takes is known before it is signed. */
export function unsigned(entry: UpkeepEntry): SignedUpkeep {
  return { transaction: contentOf(entry), signature: A_SIGNATURE };
}

/**
 * Gas of the call of an upkeep, with what its data uses on a rollup: as much of it as the signer signs, where the network asks
 * for more for a while. Throws ChainUnavailable.
 */
async function gasOfCall(
  { maxGas }: SignerContext,
  chain: ChainClient,
  { call, gas }: UpkeepCall,
): Promise<bigint> {
  return min(gas + (await callDataGas(chain, call)), max(gas, maxGas));
}

/** The module of an account belongs to its deployment: what is kept of the budget is for the keeper. */
const gasFor = ({ accountId, organizationId }: UpkeepEntry) =>
  ({ kind: accountId === null ? 'upkeep' : 'deployment', organizationId }) as const;

/** The terms of the envelope of an upkeep; `replaced`: in place of that one. Throws ChainUnavailable. */
export async function termsOf(
  context: SignerContext,
  network: NetworkConfig,
  { accountId, safe }: UpkeepEntry,
  { upkeepCall, replaced }: { readonly upkeepCall: UpkeepCall; readonly replaced?: Envelope | undefined },
): Promise<BoundedTerms> {
  const chain = ownEndpoint(context, network);
  const index = relayerIndex(accountId ?? safe, network.relayers);
  const relayerAddress = replaced?.relayerAddress ?? context.keystore.relayerKey(network.id, index).address;
  const gas = await gasOfCall(context, chain, upkeepCall);
  const terms = await ownTerms(chain, { relayerAddress, gas, replaced });
  return boundTerms(context, network.id, terms);
}

/**
 * Takes a nonce of a relayer for an upkeep, in the transaction that stores it; `leastGas`: what it needs beside its data. Throws
 * SignerRefusal and TemporaryRefusal.
 */
export async function reserveFirst(
  context: SignerContext,
  tx: Tx,
  { entry, attemptId }: { readonly entry: UpkeepEntry; readonly attemptId: bigint },
  { terms, leastGas }: { readonly terms: BoundedTerms; readonly leastGas: bigint },
): Promise<Reservation> {
  const request = { attemptId, about: gasFor(entry), networkId: entry.networkId, terms };
  const before = (await reservationsOf(tx, [{ id: attemptId }])).at(-1);
  // Of a moment ago, or a crash came before it was signed. What its data uses changes with each block.
  if (before && before.gas >= leastGas) return reservedBefore(context, tx, request, before);
  return reserveEnvelope(context, tx, request);
}

/** Signs and stores an envelope. Throws SignerRefusal, TemporaryRefusal, ChainUnavailable. */
async function signCall(
  context: SignerContext,
  chain: ChainClient,
  { entry, attemptId, replaced }: { entry: UpkeepEntry; attemptId: bigint; replaced: Envelope | undefined },
  upkeepCall: UpkeepCall,
): Promise<void> {
  const { network } = chain;
  const about = gasFor(entry);
  const terms = await termsOf(context, network, entry, { upkeepCall, replaced });
  const reserved = await withNetwork(context, network.id, (tx) =>
    replaced
      ? reserveEnvelope(context, tx, { attemptId, about, networkId: network.id, terms, replaces: replaced })
      : reserveFirst(context, tx, { entry, attemptId }, { terms, leastGas: upkeepCall.gas }),
  );
  failpoint('signer.upkeepReserved');
  await context.gasBudget.append(gasOf(reserved, about));
  await signReserved(context, reserved, upkeepCall.call);
}

/** The envelopes of an upkeep whose bytes a relayer of this signer has signed for it: rows may say anything. */
async function ownEnvelopes(
  { db, keystore }: SignerContext,
  { network }: ChainClient,
  { data }: UpkeepEntry,
  attemptId: bigint,
): Promise<readonly Envelope[]> {
  const relayers = Array.from({ length: network.relayers }, (_, index) =>
    String(keystore.relayerKey(network.id, index).address),
  );
  const own: Envelope[] = [];
  for (const one of await upkeepEnvelopes(db, attemptId)) {
    const read = await readRawTransaction(one.rawTransaction as Hex).catch(() => undefined);
    const isIncluded = read?.transaction.data?.includes(data.slice(2).toLowerCase());
    if (!read || !isIncluded || read.signer !== one.relayerAddress || !relayers.includes(read.signer))
      continue;
    own.push({ ...one, transactionHash: keccak256(one.rawTransaction as Hex) });
  }
  return own;
}

/** What became of an envelope, by the endpoint. Throws ChainUnavailable. */
async function outcomeOf(
  chain: ChainClient,
  envelope: Envelope,
): Promise<{ readonly outcome: Envelope['outcome']; readonly receipt?: TransactionReceipt }> {
  const { transactionHash, relayerAddress, relayerNonce } = envelope;
  const receipt = await receiptOf(chain, transactionHash);
  if (!receipt) {
    const isUsed = (await transactionCount(chain, relayerAddress)) > relayerNonce;
    return { outcome: isUsed ? 'dropped' : null };
  }
  return { outcome: receipt.status === 'success' ? 'mined' : 'reverted', receipt };
}

/** Records what became of an envelope, and what it cost. Throws ChainUnavailable. */
async function decide(
  db: Db,
  chain: ChainClient,
  envelope: Envelope,
  { outcome, receipt }: Awaited<ReturnType<typeof outcomeOf>>,
): Promise<void> {
  if (!receipt) return decideUpkeepEnvelope(db, envelope, { outcome });
  const { blockNumber, blockHash } = receipt;
  const { timestamp } = await ask(chain, (rpc) => rpc.getBlock({ blockHash }));
  const blockAt = blockTime(chain, blockHash, timestamp);
  const fee = { ...boundedFee(await paidFee(chain, receipt), envelope), blockNumber, blockAt };
  await decideUpkeepEnvelope(db, envelope, { outcome, fee });
}

/** What became of the envelopes of an upkeep that is undecided; returns the one that goes on. */
async function followEnvelopes(
  context: SignerContext,
  chain: ChainClient,
  entry: UpkeepEntry,
  attemptId: bigint,
): Promise<Envelope | 'mined' | undefined> {
  const { db, upkeep } = context;
  let last: Envelope | undefined;
  for (const one of await ownEnvelopes(context, chain, entry, attemptId)) {
    const found = await outcomeOf(chain, one);
    // It has its confirmations when the upkeep is done.
    const isMined = found.outcome === 'mined';
    if (found.outcome !== null && !isMined) upkeep.noteFailure(entry.safeTxHash, one.transactionHash);
    await decide(db, chain, one, isMined ? { outcome: null } : found);
    if (isMined) return 'mined';
    if (found.outcome === null) last = one;
  }
  return last;
}

/**
 * Whether the nonce of an upkeep is used already, in the newest block that one of the signer's own endpoints has: whoever sees the bytes
 * can send them. Throws ChainUnavailable.
 */
async function isUsed(
  { endpointsOf }: SignerContext,
  network: NetworkConfig,
  { safe, safeNonce }: UpkeepEntry,
): Promise<boolean> {
  const nonces = await Promise.all(endpointsOf(network).map((chain) => accountNonce(chain, safe)));
  return nonces.some((nonce) => nonce !== null && nonce > BigInt(safeNonce));
}

/**
 * Whether an envelope has waited for long and another one would do better: with a higher fee, or with more gas, where a rollup asks
 * for more for its data than when it was signed and takes it no more. Throws ChainUnavailable.
 */
async function isStuck(
  context: SignerContext,
  chain: ChainClient,
  live: Envelope,
  upkeepCall: UpkeepCall,
): Promise<boolean> {
  if (context.upkeep.waitedMs(live) <= STUCK_AFTER_MS || !isBelowCeiling(chain, live)) return false;
  return isOutbid(await currentFees(chain), live) || (await gasOfCall(context, chain, upkeepCall)) > live.gas;
}

/**
 * Carries an undecided upkeep on: sends it again, with a higher fee where it waits, in a new envelope where one reverted. It
 * waits for nobody: the signer sends by its own endpoints. Throws SignerRefusal, TemporaryRefusal and ChainUnavailable.
 */
export async function pursue(
  context: SignerContext,
  network: NetworkConfig,
  entry: UpkeepEntry,
  upkeepCall: (signed: SignedUpkeep) => UpkeepCall,
): Promise<void> {
  const { db } = context;
  const chain = ownEndpoint(context, network);
  context.upkeep.noteSettled(entry.safeTxHash, false);
  const attemptId = await provideUpkeep(db, entry);
  await decideUpkeep(db, attemptId, null);
  const live = await followEnvelopes(context, chain, entry, attemptId);
  if (live === 'mined') return;
  let replaced = live;
  if (live) {
    const inTheWay = await sendOwn(context, chain, live);
    if (!inTheWay && !(await isStuck(context, chain, live, upkeepCall(unsigned(entry))))) return;
    replaced = inTheWay ?? live;
  }
  // Another envelope would revert, and its relayer would pay for it.
  if (await isUsed(context, network, entry)) return;
  if (context.upkeep.failuresOf(entry.safeTxHash) >= MOST_FAILURES) {
    throw new TemporaryRefusal(
      'undecided',
      `${MOST_FAILURES} envelopes of the upkeep at nonce ${entry.safeNonce} of ${entry.safe} failed within an hour`,
    );
  }
  const signed = await signUpkeep(context, entry);
  await signCall(context, chain, { entry, attemptId, replaced }, upkeepCall(signed));
  const made = (await upkeepEnvelopes(db, attemptId)).at(-1);
  if (made) await sendOwn(context, chain, made);
}

/** Records that upkeeps are done, in a database that may lack them, and what became of their envelopes. */
export async function settle(
  context: SignerContext,
  network: NetworkConfig,
  entry: UpkeepEntry,
): Promise<void> {
  const { db } = context;
  context.upkeep.noteSettled(entry.safeTxHash, true);
  const [chain] = context.endpointsOf(network);
  const attemptId = await provideUpkeep(db, entry);
  await decideUpkeep(db, attemptId, 'executed');
  for (const one of await upkeepEnvelopes(db, attemptId)) {
    if (!chain || one.outcome !== null) continue;
    await decide(db, chain, one, await outcomeOf(chain, one));
  }
}
