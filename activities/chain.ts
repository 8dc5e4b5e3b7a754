import { Context } from '@temporalio/activity';
import { type Address, BaseError, type Hex, type TransactionReceipt } from 'viem';
import {
  ask,
  type ChainClient,
  type ChainClients,
  ChainUnavailable,
  rpcErrorText,
} from '../src/chain/clients';
import { deploymentCall, inspectAccount, refuseNetwork } from '../src/chain/safe';
import {
  decideEnvelope,
  deploymentEnvelopes,
  type Envelope,
  findAccountDerivation,
  listRelayers,
  markSent,
  newestEnvelopes,
  readEnvelope,
  reopenEnvelope,
} from '../src/db/chain';
import type { Db } from '../src/db/database';
import type { FailureCode } from '../src/domain/proposal';
import { faultPoint } from '../src/faults';
import type { DeploymentKey } from './proposals';
import { type EnvelopeTerms, RELAYER_INDEX } from './signer';

/** What these activities need from outside. */
export interface ChainActivityDeps {
  readonly db: Db;
  readonly chains: ChainClients;
  /** How soon a pending transaction is looked at again, in milliseconds; the pause grows to 16 times this. */
  readonly pollMs: number;
  /** How long a sent transaction may be pending before its fee is raised, in milliseconds. */
  readonly stuckAfterMs: number;
}

interface ChainFailure {
  readonly code: FailureCode;
  readonly message: string;
  readonly transactionHash?: string;
}

/** What was found when looking for an account on a network. */
export type DeploymentObservation =
  | {
      readonly kind: 'deployed';
      readonly transactionHash: string | null;
      readonly blockNumber: string | null;
    }
  | { readonly kind: 'confirming'; readonly message: string }
  | { readonly kind: 'inFlight'; readonly envelopeId: string }
  | { readonly kind: 'needsEnvelope'; readonly terms: EnvelopeTerms }
  | { readonly kind: 'unreachable'; readonly message: string }
  | { readonly kind: 'failed'; readonly failure: ChainFailure };

/** What became of an envelope while it was followed. */
export type EnvelopeOutcome =
  | { readonly kind: 'mined' | 'dropped' }
  | { readonly kind: 'reverted'; readonly transactionHash: string }
  | { readonly kind: 'stuck'; readonly terms: EnvelopeTerms }
  /** Nothing is decided, and what it waits for has changed; null: for the chain alone. */
  | { readonly kind: 'waiting'; readonly message: string | null };

/** The step by which a replaced fee is raised, in percent; nodes ask for 110. */
const REPLACEMENT_STEP_PERCENT = 125n;
/** Gas above what the node estimates, in percent. */
const GAS_MARGIN_PERCENT = 130n;
/** The same bytes are offered again this often: a node may have lost them. */
const RESEND_MS = 5_000;
/** How long something is in the way before it is told. */
const TELL_AFTER_MS = 5_000;
const MAX_POLL_FACTOR = 16;
const POLL_GROWTH = 1.25;

/** A node that answers, and does not take an envelope for now. */
class NotTaken extends Error {}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function named({ network }: ChainClient): string {
  return `${network.name} (${network.id})`;
}

/** The activities that read chains and hand signed bytes to them. They hold no key. */
export function createChainActivities(deps: ChainActivityDeps) {
  const { db } = deps;

  async function feesOf(chain: ChainClient) {
    const ceiling = chain.network.maxFeePerGas;
    return ask(chain, async (rpc) => {
      const [block, tip] = await Promise.all([
        rpc.getBlock({ blockTag: 'latest' }),
        rpc.estimateMaxPriorityFeePerGas(),
      ]);
      const baseFee = block.baseFeePerGas ?? 0n;
      const maxFeePerGas = min(2n * baseFee + tip, ceiling);
      return { baseFee, maxFeePerGas, maxPriorityFeePerGas: min(tip, maxFeePerGas) };
    });
  }

  async function transactionCount(
    chain: ChainClient,
    address: string,
    blockNumber?: bigint,
  ): Promise<number> {
    const at = blockNumber === undefined ? { blockTag: 'latest' as const } : { blockNumber };
    return ask(chain, (rpc) => rpc.getTransactionCount({ address: address as Address, ...at }));
  }

  async function termsFor(
    chain: ChainClient,
    relayer: Address,
    call: { to: Address; data: Hex },
    chainNonce: number,
  ): Promise<DeploymentObservation> {
    const failed = (code: FailureCode, message: string): DeploymentObservation => ({
      kind: 'failed',
      failure: { code, message },
    });
    const [fees, balance] = await Promise.all([
      feesOf(chain),
      ask(chain, (rpc) => rpc.getBalance({ address: relayer })),
    ]);
    const ceiling = chain.network.maxFeePerGas;
    if (fees.baseFee > ceiling) {
      return failed(
        'funds',
        `gas on ${named(chain)} costs ${fees.baseFee} wei now, above the ceiling of ${ceiling} wei (maxFeePerGas of the network)`,
      );
    }
    let estimate: bigint;
    try {
      // Without a fee, so that an empty relayer is told from a call that cannot succeed.
      estimate = await chain.rpc.estimateGas({ account: relayer, ...call });
    } catch (error) {
      const text = rpcErrorText(error);
      if (/revert/i.test(text)) return failed('reverted', `the deployment would revert: ${text}`);
      throw new ChainUnavailable(chain.network, text, { cause: error });
    }
    const gas = (estimate * GAS_MARGIN_PERCENT) / 100n;
    const cost = gas * fees.maxFeePerGas;
    if (balance < cost) {
      return failed(
        'funds',
        `relayer ${relayer} has ${balance} wei on ${named(chain)} and needs ${cost} wei: fund it`,
      );
    }
    return {
      kind: 'needsEnvelope',
      terms: {
        gas: gas.toString(),
        maxFeePerGas: fees.maxFeePerGas.toString(),
        maxPriorityFeePerGas: fees.maxPriorityFeePerGas.toString(),
        chainNonce,
      },
    };
  }

  async function receiptOf(chain: ChainClient, hash: string): Promise<TransactionReceipt | null> {
    return ask(chain, async (rpc) => {
      try {
        return await rpc.getTransactionReceipt({ hash: hash as Hex });
      } catch (error) {
        if ((error as Error).name === 'TransactionReceiptNotFoundError') return null;
        throw error;
      }
    });
  }

  /** The block and hash of the envelope that did it, when it was one of ours. */
  async function minedEnvelope(chain: ChainClient, envelopes: readonly Envelope[]) {
    for (const { transactionHash } of envelopes) {
      const receipt = await receiptOf(chain, transactionHash);
      if (receipt?.status === 'success') {
        return { transactionHash, blockNumber: receipt.blockNumber.toString() };
      }
    }
    return { transactionHash: null, blockNumber: null };
  }

  /** Looks for an account on a network, and says what the next step towards it is. */
  async function observeDeployment(key: DeploymentKey): Promise<DeploymentObservation> {
    const chain = deps.chains.get(key.networkId);
    if (!chain) {
      const message = `network ${key.networkId} is not one of this deployment any more`;
      return { kind: 'failed', failure: { code: 'stale', message } };
    }
    const account = await findAccountDerivation(db, key.organizationId, key.accountId);
    if (!account) throw new Error(`there is no account ${key.accountId}`);
    const envelopes = await deploymentEnvelopes(db, key);
    const live = envelopes.filter(({ outcome }) => outcome === null).at(-1);
    try {
      const [chainId, head] = await Promise.all([
        ask(chain, (rpc) => rpc.getChainId()),
        ask(chain, (rpc) => rpc.getBlockNumber()),
      ]);
      if (chainId !== key.networkId) {
        throw new ChainUnavailable(chain.network, `its RPC serves chain ${chainId}`);
      }
      const present = await ask(chain, (rpc) => inspectAccount(rpc, account));
      if (present.kind === 'different') {
        const message = `what stands at ${account.address} on ${named(chain)} is not this account: ${present.reason}`;
        return { kind: 'failed', failure: { code: 'stale', message } };
      }
      if (present.kind === 'fits') {
        const depth = BigInt(chain.network.confirmations);
        const confirmed =
          depth <= head && depth > 0n
            ? await ask(chain, (rpc) => inspectAccount(rpc, account, { blockNumber: head - depth }))
            : present;
        if (depth > head || confirmed.kind !== 'fits') {
          return { kind: 'confirming', message: `waits for ${depth} confirmations on ${named(chain)}` };
        }
        return { kind: 'deployed', ...(await minedEnvelope(chain, envelopes)) };
      }
      if (live) return { kind: 'inFlight', envelopeId: String(live.id) };
      const relayer = (await listRelayers(db, key.networkId)).find(({ index }) => index === RELAYER_INDEX);
      if (!relayer) throw new Error(`the signer has registered no relayer for network ${key.networkId} yet`);
      const last = envelopes.at(-1);
      if (last && (await transactionCount(chain, last.relayerAddress)) <= last.relayerNonce) {
        // The chain has lost the block in which it was decided. Its bytes can land again, so nothing new is signed.
        await reopenEnvelope(db, last.id);
        return { kind: 'inFlight', envelopeId: String(last.id) };
      }
      const refusal = await refuseNetwork(chain);
      if (refusal) return { kind: 'failed', failure: { code: 'rpc', message: refusal } };
      const chainNonce = await transactionCount(chain, relayer.address);
      return await termsFor(chain, relayer.address as Address, deploymentCall(account), chainNonce);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      if (live) return { kind: 'inFlight', envelopeId: String(live.id) };
      return { kind: 'unreachable', message: error.message };
    }
  }

  async function replacementTerms(chain: ChainClient, envelope: Envelope): Promise<EnvelopeTerms | null> {
    const raised = (wei: bigint) => (wei * REPLACEMENT_STEP_PERCENT) / 100n + 1n;
    const fees = await feesOf(chain);
    const maxPriorityFeePerGas = raised(envelope.maxPriorityFeePerGas);
    let maxFeePerGas = raised(envelope.maxFeePerGas);
    if (maxFeePerGas < fees.maxFeePerGas) maxFeePerGas = fees.maxFeePerGas;
    if (maxFeePerGas > chain.network.maxFeePerGas || maxPriorityFeePerGas > maxFeePerGas) return null;
    return {
      gas: envelope.gas.toString(),
      maxFeePerGas: maxFeePerGas.toString(),
      maxPriorityFeePerGas: maxPriorityFeePerGas.toString(),
      chainNonce: envelope.relayerNonce,
      replaces: String(envelope.id),
    };
  }

  /** Throws ChainUnavailable (the node does not answer) or NotTaken (it refuses for now). */
  async function send(chain: ChainClient, envelope: Envelope): Promise<void> {
    try {
      await chain.rpc.sendRawTransaction({ serializedTransaction: envelope.rawTransaction as Hex });
    } catch (error) {
      const text = rpcErrorText(error);
      const answered =
        error instanceof BaseError && error.walk((e) => (e as Error).name === 'RpcRequestError');
      if (!answered) throw new ChainUnavailable(chain.network, text, { cause: error });
      if (/insufficient funds/i.test(text)) {
        throw new NotTaken(
          `relayer ${envelope.relayerAddress} has too little coin on ${named(chain)}: fund it`,
        );
      }
      // The bytes may be there already; whether they are is read from the chain, not from this answer.
      if (!/already|known|nonce too low|underpriced|imported|base fee/i.test(text)) {
        throw new NotTaken(`${named(chain)} does not take the transaction: ${text}`);
      }
    }
    faultPoint('chain.sent');
    await markSent(db, envelope.id);
  }

  /**
   * Hands an envelope to the node, after those of earlier nonces that the chain does not have: their own senders may
   * be gone, the chain may have lost them, and without them this one would wait for ever.
   */
  async function handOver(chain: ChainClient, envelope: Envelope): Promise<void> {
    const used = await transactionCount(chain, envelope.relayerAddress);
    if (used < envelope.relayerNonce) {
      const earlier = await newestEnvelopes(db, {
        networkId: envelope.networkId,
        relayerAddress: envelope.relayerAddress,
        fromNonce: used,
        toNonce: envelope.relayerNonce - 1,
      });
      for (const one of earlier) await send(chain, one);
    }
    await send(chain, envelope);
  }

  /** One look at a sent envelope: undefined while the chain has not decided. */
  async function lookAt(
    chain: ChainClient,
    envelope: Envelope,
    head: bigint,
  ): Promise<EnvelopeOutcome | undefined> {
    const depth = BigInt(chain.network.confirmations);
    const receipt = await receiptOf(chain, envelope.transactionHash);
    if (receipt) {
      if (receipt.blockNumber + depth > head) return undefined;
      const mined = receipt.status === 'success';
      await decideEnvelope(db, envelope, mined ? 'mined' : 'reverted');
      return mined ? { kind: 'mined' } : { kind: 'reverted', transactionHash: envelope.transactionHash };
    }
    const confirmed = head > depth ? head - depth : 0n;
    if ((await transactionCount(chain, envelope.relayerAddress, confirmed)) <= envelope.relayerNonce) {
      return undefined;
    }
    await decideEnvelope(db, envelope, 'dropped');
    return { kind: 'dropped' };
  }

  /**
   * Hands a stored envelope to the node and follows it until the chain has decided. It ends before that only to say
   * something new: what it waits for (`told` is what it said last), or that it is stuck and needs a higher fee.
   */
  async function followEnvelope(input: {
    envelopeId: string;
    networkId: number;
    told: string | null;
  }): Promise<EnvelopeOutcome> {
    const context = Context.current();
    const chain = deps.chains.get(input.networkId);
    const envelope = await readEnvelope(db, BigInt(input.envelopeId));
    if (envelope.outcome === 'reverted') {
      return { kind: 'reverted', transactionHash: envelope.transactionHash };
    }
    if (envelope.outcome !== null) return { kind: envelope.outcome };
    if (!chain) throw new Error(`network ${input.networkId} is not configured`);
    const begunAt = Date.now();
    let begunAtHead: bigint | undefined;
    let sentAt: number | undefined;
    let message: string | null = null;
    let messageSince = begunAt;
    let pauseMs = deps.pollMs;
    for (;;) {
      const now = Date.now();
      let inTheWay: string | null = null;
      try {
        if (sentAt === undefined || now - sentAt >= RESEND_MS) {
          await handOver(chain, envelope);
          sentAt = now;
        }
        const head = await ask(chain, (rpc) => rpc.getBlockNumber());
        begunAtHead ??= head;
        const outcome = await lookAt(chain, envelope, head);
        if (outcome) return outcome;
        // A chain that makes no blocks takes no fee, however high.
        if (now - begunAt >= deps.stuckAfterMs && head > begunAtHead) {
          const receipt = await receiptOf(chain, envelope.transactionHash);
          if (receipt === null) {
            const terms = await replacementTerms(chain, envelope);
            if (terms) return { kind: 'stuck', terms };
            inTheWay = `its transaction is pending on ${named(chain)} and already pays the ceiling (maxFeePerGas of the network)`;
          }
        }
      } catch (error) {
        if (!(error instanceof ChainUnavailable || error instanceof NotTaken)) throw error;
        inTheWay = error.message;
        sentAt = undefined;
      }
      if (inTheWay !== message) {
        message = inTheWay;
        messageSince = now;
      }
      if (message !== input.told && now - messageSince >= TELL_AFTER_MS) return { kind: 'waiting', message };
      context.heartbeat();
      await context.sleep(pauseMs);
      pauseMs = Math.min(pauseMs * POLL_GROWTH, deps.pollMs * MAX_POLL_FACTOR);
    }
  }

  /**
   * Sends again what a network had decided and has lost (a reorganization, a node restored from an older state), in
   * the order of its nonces. Returns how many. Throws ChainUnavailable.
   */
  async function resendLost(networkId: number): Promise<number> {
    const chain = deps.chains.get(networkId);
    if (!chain) return 0;
    let count = 0;
    for (const { address } of await listRelayers(db, networkId)) {
      const lost = await newestEnvelopes(db, {
        networkId,
        relayerAddress: address,
        fromNonce: await transactionCount(chain, address),
        toNonce: Number.MAX_SAFE_INTEGER,
      });
      // What is undecided is sent by its own workflow, which knows whether it still may be.
      for (const envelope of lost.filter(({ outcome }) => outcome === 'mined' || outcome === 'reverted')) {
        await send(chain, envelope);
        count += 1;
      }
    }
    return count;
  }

  return { observeDeployment, followEnvelope, resendLost };
}

/** The activities that read chains and hand signed bytes to them, as workflows see them. */
export type ChainActivities = ReturnType<typeof createChainActivities>;
