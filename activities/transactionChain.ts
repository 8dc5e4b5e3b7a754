import { Context } from '@temporalio/activity';
import type { Address, Hex } from 'viem';
import { ask, type ChainClient, ChainUnavailable } from '../src/chain/clients';
import {
  type Execution,
  executionInTransaction,
  findExecution,
  tellsTransfer,
} from '../src/chain/executions';
import { revertReason } from '../src/chain/revertReason';
import { accountNonce } from '../src/chain/safe';
import {
  cancellation,
  executionGas,
  mostSafeTxGas,
  type SafeTransaction,
} from '../src/chain/safeTransaction';
import { type InnerCall, simulateInner } from '../src/chain/simulation';
import { tracedRevert } from '../src/chain/traces';
import { moveOutcome } from '../src/db/attemptOutcomes';
import {
  type Attempt,
  attemptsAtNonce,
  attemptsOfTransaction,
  carriedBy,
  decidedAttempts,
  envelopesOf,
  noteConfirmations,
  undecidedBelow,
} from '../src/db/attempts';
import { type Envelope, readEnvelope, reopenEnvelope } from '../src/db/chain';
import { reopenTransaction } from '../src/db/transactionReopening';
import { readTransaction, type StoredTransaction } from '../src/db/transactions';
import { NATIVE_COIN } from '../src/domain/policy';
import type { FailureCode } from '../src/domain/proposal';
import { faultPoint } from '../src/faults';
import { contentOf } from '../src/transactions/policy';
import {
  createRelayer,
  demandChainId,
  envelopeTerms,
  feesOf,
  named,
  type RelayerDeps,
  refuseFunds,
  relayerOf,
  replacementTerms,
  transactionCount,
} from './relayer';
import type { EnvelopeTerms } from './signer';
import type { AttemptOutcome, ExecutionFailure, TransactionRef } from './transactions';

/** What these activities need from outside. */
export interface TransactionChainDeps extends RelayerDeps {
  /** Gas ceiling of one chain transaction. */
  readonly maxGas: bigint;
}

/** What the chain worker proposes for a transaction; the signer caps it. Decimal strings. */
export interface TransactionTerms extends EnvelopeTerms {
  /** Gas that the account's inner call must be able to use. */
  readonly safeTxGas: string;
  /** The account's next nonce on chain. */
  readonly accountNonce: string;
  /** Head of the chain. */
  readonly fromBlock: string;
}

/** Where a transaction stands on its chain, and what the next step towards its end is. */
export type TransactionObservation =
  | { readonly kind: 'decided'; readonly outcome: AttemptOutcome }
  /** Something signed is on its way; this is the newest of what carries it. */
  | { readonly kind: 'inFlight'; readonly envelopeId: string }
  | {
      readonly kind: 'needsEnvelope';
      readonly terms: TransactionTerms;
      /** What is to be signed takes the nonce from the transaction. */
      readonly cancels: boolean;
      /** Something was signed before, so that it can reach the chain whatever is done. */
      readonly attempted: boolean;
    }
  | { readonly kind: 'unreachable'; readonly message: string }
  /** Nothing is signed, and nothing can be now. */
  | { readonly kind: 'failed'; readonly failure: ExecutionFailure; readonly awaitsRelayerWei?: string }
  | { readonly kind: 'confirming'; readonly message: string };

/** What became of a transaction while one of its envelopes was followed. */
export type TransactionFollowed =
  | { readonly kind: 'decided'; readonly outcome: AttemptOutcome }
  /** The envelope came to nothing, and the transaction is undecided. */
  | { readonly kind: 'reverted' | 'dropped' }
  | { readonly kind: 'stuck'; readonly terms: TransactionTerms; readonly cancels: boolean }
  | { readonly kind: 'gap'; readonly nonce: number; readonly terms: EnvelopeTerms }
  | { readonly kind: 'waiting'; readonly message: string | null };

/** What of a network's decided transactions its chain has lost, and what is to be done about it. */
export interface LostTransactions {
  /** They are being executed again: their workflows have to run. */
  readonly reopened: readonly TransactionRef[];
  /** Attempts of transactions that have gone on: an empty call has to take their nonce before their bytes do. */
  readonly toCancel: readonly (TransactionRef & {
    readonly attemptId: string;
    readonly networkId: number;
    readonly terms: TransactionTerms;
  })[];
  /** The chain decided otherwise about what was over: in words, for those who have to look at it. */
  readonly contradictions: readonly string[];
}

/** A chain may be shorter after a reorganization: so many blocks before the recorded one are looked at as well. */
const LOOK_BACK_BLOCKS = 256n;
/** How much more slowly than a transaction the relayer's coin is looked at. */
const LONG_POLL_FACTOR = 16;
/** What an envelope that reverted whole had too little of is raised by this, in percent, each time. */
const REVERTED_GAS_PERCENT = 150n;

/** Recorded blocks that are found on the chain, one after the other, before older ones are taken for there. */
const BLOCKS_ENOUGH = 64;
const ATTEMPTS_AT_ONCE = 200;

/** What is at one nonce of an account: a transaction, and maybe what takes the nonce from it. */
interface AtNonce {
  readonly record: StoredTransaction;
  readonly account: Address;
  readonly transaction: Attempt;
  readonly cancellation: Attempt | undefined;
}

/** The ERC-20 token that a transaction moves, if it moves one. */
function tokenOf(record: StoredTransaction): Address | null {
  const content = contentOf(record);
  if (content.type !== 'TOKEN_TRANSFER' || content.tokenAddress === NATIVE_COIN) return null;
  return content.tokenAddress as Address;
}

/** Why what a token returned is no success; null where it is one: nothing, or true. Source: ERC-20, SafeERC20. */
function refuseTokenAnswer(returnData: Hex): string | null {
  if (returnData === '0x') return null;
  if (returnData.length >= 66 && BigInt(returnData.slice(0, 66)) === 1n) return null;
  const isFalse = returnData.length >= 66 && BigInt(returnData.slice(0, 66)) === 0n;
  return isFalse
    ? 'the token answers false'
    : 'the token answers with something that is neither true nor false';
}

/** The activities that carry transactions of accounts to their chains. They hold no key. */
export function createTransactionChainActivities(deps: TransactionChainDeps) {
  const { db } = deps;
  const relaying = createRelayer(deps);

  function chainOf(networkId: number): ChainClient {
    const chain = deps.chains.get(networkId);
    if (!chain) throw new Error(`network ${networkId} is not configured`);
    return chain;
  }

  async function recordOf(ref: TransactionRef): Promise<StoredTransaction> {
    const found = await readTransaction(db, ref);
    if (!found) throw new Error(`there is no transaction ${ref.transactionId}`);
    return found.record;
  }

  async function atNonce(record: StoredTransaction, safeNonce: bigint): Promise<AtNonce> {
    const found = await attemptsAtNonce(db, record, safeNonce);
    const transaction = found.find(({ kind }) => kind === 'transaction');
    if (!transaction) throw new Error(`nothing was signed at nonce ${safeNonce} of ${record.accountId}`);
    return {
      record,
      account: record.accountAddress as Address,
      transaction,
      cancellation: found.find(({ kind }) => kind === 'cancellation'),
    };
  }

  function attemptsOf({ transaction, cancellation: other }: AtNonce): Attempt[] {
    return other ? [transaction, other] : [transaction];
  }

  /** What used the nonce, in whoever's transaction; null while nothing that is known has. */
  async function findAtNonce(
    chain: ChainClient,
    at: AtNonce,
    envelopes: readonly Envelope[],
    head: bigint,
  ): Promise<Execution | null> {
    const { account } = at;
    const attempts = attemptsOf(at);
    // Our own transactions are asked for first: they are one question each.
    for (const envelope of envelopes.toReversed()) {
      const safeTxHash = attempts.find(({ id }) => id === envelope.attemptId)?.safeTxHash as Hex;
      const transactionHash = envelope.transactionHash as Hex;
      const found = await executionInTransaction(chain, { account, safeTxHash, transactionHash });
      if (found) return found;
    }
    const next = await accountNonce(chain, account);
    if (next === null || next <= at.transaction.safeNonce) return null;
    const { fromBlock: signedAt } = at.transaction;
    const known = signedAt < head ? signedAt : head;
    return findExecution(chain, {
      account,
      safeTxHashes: attempts.map(({ safeTxHash }) => safeTxHash as Hex),
      fromBlock: known > LOOK_BACK_BLOCKS ? known - LOOK_BACK_BLOCKS : 0n,
      toBlock: head,
    });
  }

  /** Why the inner call failed: as the node tells, or found by trying it again before its block and after it. */
  async function failureReason(chain: ChainClient, at: AtNonce, execution: Execution): Promise<string> {
    const { to, value, data, safeTxGas } = at.transaction;
    const call: InnerCall = { account: at.account, to: to as Address, value, data: data as Hex };
    const traced = await tracedRevert(chain, execution.transactionHash, call);
    if (traced !== undefined) return `the call reverted with ${revertReason(traced)}`;
    const sender = await relayerOf(db, chain.network.id);
    for (const blockNumber of [execution.blockNumber - 1n, execution.blockNumber]) {
      try {
        const seen = await simulateInner(chain, call, { ceiling: safeTxGas, sender, blockNumber });
        if (!seen.ok) return seen.kind === 'funds' ? seen.reason : `the call reverted with ${seen.reason}`;
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
      }
    }
    return 'the call reverted in its block, and does not when it is tried again: why is not known';
  }

  async function outcomeOf(chain: ChainClient, at: AtNonce, execution: Execution): Promise<AttemptOutcome> {
    const { blockHash, transactionHash, blockNumber } = execution;
    const block = await ask(chain, (rpc) => rpc.getBlock({ blockHash }));
    const common = {
      attemptId: String(at.transaction.id),
      transactionHash,
      blockNumber: String(blockNumber),
      blockHash,
      blockTime: new Date(Number(block.timestamp) * 1_000).toISOString(),
    };
    if (execution.safeTxHash !== at.transaction.safeTxHash) return { ...common, kind: 'cancelled' };
    if (execution.kind === 'failure') {
      return { ...common, kind: 'reverted', reason: await failureReason(chain, at, execution) };
    }
    const token = tokenOf(at.record);
    if (token !== null && !tellsTransfer(execution.logs, token, at.account)) {
      const reason = `the call succeeded, and the token ${token} tells of no transfer from the account: nothing was moved`;
      return { ...common, kind: 'reverted', reason };
    }
    return { ...common, kind: 'executed' };
  }

  /** The outcome at a nonce, once it is confirmed; else how deep it is in the chain, null while it is not in it. */
  async function lookAtNonce(
    chain: ChainClient,
    at: AtNonce,
    head: bigint,
  ): Promise<{ outcome: AttemptOutcome } | { depth: number | null }> {
    const envelopes = await envelopesOf(db, attemptsOf(at));
    const execution = await findAtNonce(chain, at, envelopes, head);
    if (!execution) {
      await noteConfirmations(db, at.transaction, 0);
      return { depth: null };
    }
    const depth = head > execution.blockNumber ? head - execution.blockNumber : 0n;
    const needed = chain.network.confirmations;
    await noteConfirmations(db, at.transaction, Math.min(Number(depth), needed));
    if (depth < BigInt(needed)) return { depth: Number(depth) };
    faultPoint('chain.confirmed');
    for (const envelope of envelopes.filter((one) => one.outcome === null)) {
      await relaying.lookAtEnvelope(chain, envelope, head);
    }
    const outcome = await outcomeOf(chain, at, execution);
    faultPoint('chain.outcomeSeen');
    return { outcome };
  }

  /** Terms of an envelope that carries what is signed already, or is to cancel it. */
  function carryingTerms(
    envelope: EnvelopeTerms,
    { safeTxGas }: Pick<SafeTransaction, 'safeTxGas'>,
    fromBlock: bigint,
    nextNonce: bigint,
  ): TransactionTerms {
    return {
      ...envelope,
      safeTxGas: String(safeTxGas),
      accountNonce: String(nextNonce),
      fromBlock: String(fromBlock),
    };
  }

  function gasOfAttempt(
    { safeTxGas, data }: Pick<SafeTransaction, 'safeTxGas' | 'data'>,
    reverts: number,
  ): bigint {
    let gas = executionGas({ safeTxGas, data });
    for (let i = 0; i < reverts; i += 1) gas = (gas * REVERTED_GAS_PERCENT) / 100n;
    if (gas > deps.maxGas) return deps.maxGas;
    return gas;
  }

  /** Notes what became of the envelopes of an account's earlier nonces: the signer carries those on that have none. */
  async function settleEarlier(chain: ChainClient, { transaction }: AtNonce, head: bigint): Promise<void> {
    const earlier = await undecidedBelow(db, transaction, transaction.safeNonce);
    for (const envelope of await envelopesOf(db, earlier)) {
      if (envelope.outcome === null) await relaying.lookAtEnvelope(chain, envelope, head);
    }
  }

  async function observeLive(
    chain: ChainClient,
    at: AtNonce,
    givingUp: boolean,
  ): Promise<TransactionObservation> {
    const head = await ask(chain, (rpc) => rpc.getBlockNumber());
    const seen = await lookAtNonce(chain, at, head);
    if ('outcome' in seen) return { kind: 'decided', outcome: seen.outcome };
    const envelopes = await envelopesOf(db, attemptsOf(at));
    const live = envelopes.filter(({ outcome }) => outcome === null).at(-1);
    const inBlock = seen.depth !== null;
    const cancels = givingUp || at.cancellation !== undefined;
    const wanted = cancels && !at.cancellation ? undefined : live;
    if (wanted || (live && inBlock)) return { kind: 'inFlight', envelopeId: String((wanted ?? live)?.id) };
    if (inBlock) {
      const { confirmations } = chain.network;
      return { kind: 'confirming', message: `waits for ${confirmations} confirmations on ${named(chain)}` };
    }
    const last = envelopes.at(-1);
    if (!live && last && (await transactionCount(chain, last.relayerAddress)) <= last.relayerNonce) {
      // The chain has lost the block in which it was decided. Its bytes can land again, so nothing new is signed.
      await reopenEnvelope(db, last.id);
      return { kind: 'inFlight', envelopeId: String(last.id) };
    }
    await settleEarlier(chain, at, head);
    const { safeNonce, networkId } = at.transaction;
    const signed = at.cancellation ?? at.transaction;
    const content = cancels
      ? cancellation({ networkId, account: at.account, nonce: safeNonce })
      : { safeTxGas: signed.safeTxGas, data: signed.data as Hex };
    const reverts = envelopes.filter((one) => one.attemptId === signed.id && one.outcome === 'reverted');
    const gas = gasOfAttempt(content, cancels ? 0 : reverts.length);
    const nextNonce = (await accountNonce(chain, at.account)) ?? 0n;
    const needs = (terms: EnvelopeTerms): TransactionObservation => ({
      kind: 'needsEnvelope',
      terms: carryingTerms(terms, content, signed.fromBlock, nextNonce),
      cancels,
      attempted: true,
    });
    const replaced = live && (await replacementTerms(chain, live, gas));
    if (replaced) return needs(replaced);
    const relayer = live?.relayerAddress ?? (await relayerOf(db, networkId));
    const [fees, chainNonce] = await Promise.all([feesOf(chain), transactionCount(chain, relayer)]);
    return needs(envelopeTerms(fees, gas, chainNonce));
  }

  async function observeNew(chain: ChainClient, record: StoredTransaction): Promise<TransactionObservation> {
    const failed = (code: FailureCode, message: string): TransactionObservation => ({
      kind: 'failed',
      failure: { code, message },
    });
    const account = record.accountAddress as Address;
    const sender = await relayerOf(db, record.networkId);
    const call: InnerCall = {
      account,
      to: record.to as Address,
      value: record.value,
      data: record.calldata.toLowerCase() as Hex,
    };
    const ceiling = mostSafeTxGas(deps.maxGas, call.data);
    if (ceiling <= 0n) {
      return failed(
        'reverted',
        `its calldata alone needs more than ${deps.maxGas} gas, the ceiling (MAX_GAS)`,
      );
    }
    const nonce = await accountNonce(chain, account);
    if (nonce === null) {
      return failed('stale', `account ${record.accountId} is not at ${account} on ${named(chain)} any more`);
    }
    const [head, simulated, fees, balance, chainNonce] = await Promise.all([
      ask(chain, (rpc) => rpc.getBlockNumber()),
      simulateInner(chain, call, { ceiling, sender }),
      feesOf(chain),
      ask(chain, (rpc) => rpc.getBalance({ address: sender })),
      transactionCount(chain, sender),
      demandChainId(chain),
    ]);
    if (!simulated.ok) {
      return simulated.kind === 'funds'
        ? failed('funds', `${simulated.reason}: fund the account ${account} on ${named(chain)}`)
        : failed('reverted', `the call would revert with ${simulated.reason}; nothing was sent`);
    }
    const token = tokenOf(record);
    if (token !== null) {
      const refusal = simulated.hasCode ? refuseTokenAnswer(simulated.returnData) : 'there is no token';
      if (refusal) return failed('reverted', `${token} on ${named(chain)}: ${refusal}; nothing was sent`);
    }
    const gas = executionGas({ safeTxGas: simulated.gas, data: call.data });
    const poor = refuseFunds(chain, { address: sender, balance }, fees, gas);
    if (poor) {
      const { neededWei } = poor;
      return {
        ...{ kind: 'failed', failure: { code: 'funds', message: poor.message } },
        ...(neededWei === undefined ? {} : { awaitsRelayerWei: String(neededWei) }),
      };
    }
    return {
      kind: 'needsEnvelope',
      terms: {
        ...envelopeTerms(fees, gas, chainNonce),
        safeTxGas: String(simulated.gas),
        accountNonce: String(nonce),
        fromBlock: String(head),
      },
      cancels: false,
      attempted: false,
    };
  }

  async function liveAttempt(transactionId: string): Promise<Attempt | undefined> {
    const attempts = await attemptsOfTransaction(db, transactionId);
    return attempts.find(({ kind, outcome }) => kind === 'transaction' && outcome === null);
  }

  /**
   * Looks for a transaction on its chain, and says what the next step towards its end is. A new one is tried first:
   * what would revert, or move nothing, is refused before it costs gas. `givingUp`: what is on its way shall come to
   * nothing.
   */
  async function prepareTransaction(
    input: TransactionRef & { networkId: number; givingUp: boolean },
  ): Promise<TransactionObservation> {
    const { networkId, givingUp } = input;
    const record = await recordOf(input);
    const attempt = await liveAttempt(record.id);
    const chain = deps.chains.get(networkId);
    if (!chain) {
      const message = `network ${networkId} is not one of this deployment any more`;
      return attempt
        ? { kind: 'confirming', message }
        : { kind: 'failed', failure: { code: 'stale', message } };
    }
    if (!attempt && givingUp) {
      const message = 'it was given up before anything was signed';
      return { kind: 'failed', failure: { code: 'timeout', message } };
    }
    try {
      if (!attempt) return await observeNew(chain, record);
      await demandChainId(chain);
      return await observeLive(chain, await atNonce(record, attempt.safeNonce), givingUp);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      const envelopes = attempt ? await envelopesOf(db, [attempt]) : [];
      const live = envelopes.filter(({ outcome }) => outcome === null).at(-1);
      if (live && !givingUp) return { kind: 'inFlight', envelopeId: String(live.id) };
      return attempt
        ? { kind: 'confirming', message: error.message }
        : { kind: 'unreachable', message: error.message };
    }
  }

  /**
   * Hands a stored envelope of a transaction to the node and follows the transaction until the chain has decided it,
   * whoever's transaction carried it there. It ends before that only to say something new.
   */
  async function followTransaction(
    input: TransactionRef & { envelopeId: string; networkId: number; told: string | null },
  ): Promise<TransactionFollowed> {
    const chain = chainOf(input.networkId);
    const record = await recordOf(input);
    const envelope = await readEnvelope(db, BigInt(input.envelopeId));
    const { attempt } = await carriedBy(db, envelope);
    if (!attempt) throw new Error(`envelope ${input.envelopeId} carries no transaction of an account`);
    if (envelope.outcome === 'reverted' || envelope.outcome === 'dropped') return { kind: envelope.outcome };
    const { account } = await atNonce(record, attempt.safeNonce);

    const followed = await relaying.follow<TransactionFollowed>({
      chain,
      envelope,
      told: input.told,
      fillsGaps: true,
      look: async (head) => {
        // Something may have been signed meanwhile that takes the nonce from it.
        const at = await atNonce(record, attempt.safeNonce);
        const seen = await lookAtNonce(chain, at, head);
        if ('outcome' in seen) return { end: { kind: 'decided', outcome: seen.outcome } };
        if (seen.depth !== null) return { inBlock: true };
        const own = await relaying.lookAtEnvelope(chain, envelope, head);
        if (!('end' in own)) return own;
        if (own.end === 'dropped') return { end: { kind: 'dropped' } };
        // It is not what it carries that failed where an earlier nonce of the account was not there yet.
        const next = await accountNonce(chain, account);
        const early = next !== null && next < attempt.safeNonce;
        return { end: { kind: early ? 'dropped' : 'reverted' } };
      },
    });
    if (followed.kind !== 'stuck') return followed;
    // What is on its way has earlier ones before it: nothing is left to carry for them.
    const terms = carryingTerms(followed.terms, attempt, attempt.fromBlock, attempt.safeNonce);
    return { kind: 'stuck', terms, cancels: attempt.kind === 'cancellation' };
  }

  /** Waits until the relayer of a network has so much coin. */
  async function awaitRelayer(input: { networkId: number; wei: string }): Promise<void> {
    const context = Context.current();
    const chain = chainOf(input.networkId);
    const address = await relayerOf(db, input.networkId);
    for (;;) {
      try {
        const balance = await ask(chain, (rpc) => rpc.getBalance({ address }));
        if (balance >= BigInt(input.wei)) return;
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
      }
      context.heartbeat();
      await context.sleep(deps.pollMs * LONG_POLL_FACTOR);
    }
  }

  /** The head at the last look for lost blocks, by network: while it is on the chain, nothing below it was lost. */
  const lastHeads = new Map<number, { number: bigint; hash: Hex }>();

  /** The decided attempts of a network whose blocks are not on its chain, lowest nonce first. */
  async function lostAttempts(chain: ChainClient): Promise<Attempt[]> {
    const networkId = chain.network.id;
    const hashes = new Map<bigint, Promise<Hex | null>>();
    const hashAt = (blockNumber: bigint) => {
      const known =
        hashes.get(blockNumber) ??
        ask(chain, async (rpc) => {
          try {
            return (await rpc.getBlock({ blockNumber })).hash;
          } catch (error) {
            if ((error as Error).name === 'BlockNotFoundError') return null;
            throw error;
          }
        });
      hashes.set(blockNumber, known);
      return known;
    };
    const head = await ask(chain, (rpc) => rpc.getBlock({ blockTag: 'latest' }));
    const last = lastHeads.get(networkId);
    const since = last && (await hashAt(last.number)) === last.hash ? last.number : undefined;
    const lost: Attempt[] = [];
    const there = new Set<bigint>();
    let below: Attempt | undefined;
    for (;;) {
      const page = await decidedAttempts(db, {
        networkId,
        limit: ATTEMPTS_AT_ONCE,
        ...(below === undefined ? {} : { below }),
        ...(since === undefined ? {} : { above: since }),
      });
      for (const attempt of page) {
        const { blockNumber, blockHash } = attempt;
        if (blockNumber === null) continue;
        if ((await hashAt(blockNumber)) === blockHash) there.add(blockNumber);
        else lost.push(attempt);
        below = attempt;
      }
      if (page.length < ATTEMPTS_AT_ONCE || there.size >= BLOCKS_ENOUGH) break;
    }
    if (lost.length === 0) lastHeads.set(networkId, { number: head.number, hash: head.hash });
    return lost.sort((one, two) => Number(one.safeNonce - two.safeNonce));
  }

  /**
   * Terms of the empty call that takes a lost attempt's nonce, in place of what carried the attempt where that can
   * be. Undefined while such a call is on its way; it is handed over again.
   */
  async function termsToCancel(chain: ChainClient, at: AtNonce): Promise<TransactionTerms | undefined> {
    const { networkId, safeNonce, fromBlock } = at.transaction;
    const envelopes = await envelopesOf(db, attemptsOf(at));
    const last = envelopes.at(-1);
    if (last && last.attemptId === at.cancellation?.id && last.outcome === null) {
      await relaying.handOver(chain, last);
      return undefined;
    }
    const content = cancellation({ networkId, account: at.account, nonce: safeNonce });
    const gas = executionGas(content);
    const nextNonce = (await accountNonce(chain, at.account)) ?? 0n;
    const relayer = last?.relayerAddress ?? (await relayerOf(db, networkId));
    const chainNonce = await transactionCount(chain, relayer);
    const replacing =
      last && last.relayerNonce >= chainNonce ? await replacementTerms(chain, last, gas) : null;
    const terms = replacing ?? envelopeTerms(await feesOf(chain), gas, chainNonce);
    return carryingTerms(terms, content, fromBlock, nextNonce);
  }

  /**
   * Finds what a network had decided and has lost (a reorganization, a node restored from an older state). What stands
   * in another block is noted there; what is nowhere, or has come out otherwise, is executed again. Throws
   * ChainUnavailable.
   */
  async function lookForLost(input: { networkId: number }): Promise<LostTransactions> {
    const reopened: TransactionRef[] = [];
    const toCancel: LostTransactions['toCancel'][number][] = [];
    const contradictions: string[] = [];
    const chain = deps.chains.get(input.networkId);
    if (!chain) return { reopened, toCancel, contradictions };
    await demandChainId(chain);
    const lost = await lostAttempts(chain);
    for (const attempt of lost.filter(({ kind }) => kind === 'transaction')) {
      const { organizationId, transactionId, networkId } = attempt;
      const ref = { organizationId, transactionId };
      const attemptId = String(attempt.id);
      const at = await atNonce(await recordOf(ref), attempt.safeNonce);
      const head = await ask(chain, (rpc) => rpc.getBlockNumber());
      const execution = await findAtNonce(chain, at, await envelopesOf(db, attemptsOf(at)), head);
      const outcome = execution && (await outcomeOf(chain, at, execution));
      if (outcome?.kind === attempt.outcome) {
        await moveOutcome(db, attempt, outcome);
        continue;
      }
      if (await reopenTransaction(db, { ...ref, attemptId })) {
        reopened.push(ref);
      } else if (outcome) {
        await moveOutcome(db, attempt, outcome);
        if (outcome.kind === 'executed') {
          contradictions.push(
            `transaction ${transactionId} has gone on since its attempt ${attemptId} came to nothing, and now that attempt is executed on ${named(chain)} (${outcome.transactionHash}): look at the account`,
          );
        }
      } else {
        const terms = await termsToCancel(chain, at);
        if (terms) toCancel.push({ ...ref, attemptId, networkId, terms });
      }
    }
    return { reopened, toCancel, contradictions };
  }

  /** Hands an envelope to the node, after earlier ones. Throws ChainUnavailable, or NotTaken where it refuses. */
  async function sendEnvelope(input: { envelopeId: string; networkId: number }): Promise<void> {
    await relaying.handOver(chainOf(input.networkId), await readEnvelope(db, BigInt(input.envelopeId)));
  }

  return { prepareTransaction, followTransaction, awaitRelayer, lookForLost, sendEnvelope };
}

/** The activities that carry transactions of accounts to their chains, as workflows see them. */
export type TransactionChainActivities = ReturnType<typeof createTransactionChainActivities>;
