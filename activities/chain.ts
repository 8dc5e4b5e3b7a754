import { Context } from '@temporalio/activity';
import type { Address, Hex } from 'viem';
import {
  ask,
  type ChainClient,
  type ChainClients,
  ChainUnavailable,
  rpcErrorText,
} from '../src/chain/clients';
import { deploymentCall, inspectAccount, missingContracts } from '../src/chain/safe';
import {
  decideEnvelope,
  deploymentEnvelopes,
  type Envelope,
  findAccountDerivation,
  listRelayers,
  markSent,
  readEnvelope,
} from '../src/db/chain';
import type { Db } from '../src/db/database';
import type { FailureCode } from '../src/domain/proposal';
import type { DeploymentKey } from './proposals';
import { type EnvelopeTerms, RELAYER_INDEX } from './signer';

/** What these activities need from outside. */
export interface ChainActivityDeps {
  readonly db: Db;
  readonly chains: ChainClients;
  /** How often a pending transaction is looked at, in milliseconds. */
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
  | { readonly kind: 'confirming' }
  | { readonly kind: 'inFlight'; readonly envelopeId: string }
  | { readonly kind: 'needsEnvelope'; readonly terms: EnvelopeTerms }
  | { readonly kind: 'unreachable'; readonly message: string; readonly signed: boolean }
  | { readonly kind: 'failed'; readonly failure: ChainFailure };

/** What became of an envelope while it was followed. */
export type EnvelopeOutcome =
  | { readonly kind: 'mined' | 'dropped' }
  | { readonly kind: 'reverted'; readonly transactionHash: string }
  | { readonly kind: 'stuck'; readonly terms: EnvelopeTerms }
  | { readonly kind: 'unreachable'; readonly message: string };

/** The smallest step by which nodes take a replacement, in percent, with a margin. */
const REPLACEMENT_STEP_PERCENT = 125n;
/** Gas above what the node estimates, in percent. */
const GAS_MARGIN_PERCENT = 130n;

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** The activities that read chains and hand signed bytes to them. They hold no key. */
export function createChainActivities(deps: ChainActivityDeps) {
  const { db } = deps;

  function chainOf(networkId: number): ChainClient | undefined {
    return deps.chains.get(networkId);
  }

  async function feesOf(chain: ChainClient): Promise<{ maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }> {
    const ceiling = chain.network.maxFeePerGas;
    return ask(chain, async (rpc) => {
      const [block, tip] = await Promise.all([
        rpc.getBlock({ blockTag: 'latest' }),
        rpc.estimateMaxPriorityFeePerGas(),
      ]);
      const maxFeePerGas = min(2n * (block.baseFeePerGas ?? 0n) + tip, ceiling);
      return { maxFeePerGas, maxPriorityFeePerGas: min(tip, maxFeePerGas) };
    });
  }

  async function termsFor(
    chain: ChainClient,
    relayer: Address,
    call: { to: Address; data: Hex },
  ): Promise<DeploymentObservation> {
    const failed = (code: FailureCode, message: string): DeploymentObservation => ({
      kind: 'failed',
      failure: { code, message },
    });
    const [fees, chainNonce, balance] = await Promise.all([
      feesOf(chain),
      ask(chain, (rpc) => rpc.getTransactionCount({ address: relayer, blockTag: 'latest' })),
      ask(chain, (rpc) => rpc.getBalance({ address: relayer })),
    ]);
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
        `relayer ${relayer} has ${balance} wei on ${chain.network.name} (${chain.network.id}) and needs ${cost} wei: fund it`,
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

  /** The block and hash of the envelope that is on chain, when one of ours is. */
  async function minedEnvelope(chain: ChainClient, envelopes: readonly Envelope[]) {
    for (const { transactionHash } of envelopes) {
      const receipt = await receiptOf(chain, transactionHash as Hex);
      if (receipt?.status === 'success')
        return { transactionHash, blockNumber: receipt.blockNumber.toString() };
    }
    return { transactionHash: null, blockNumber: null };
  }

  async function receiptOf(chain: ChainClient, hash: Hex) {
    return ask(chain, async (rpc) => {
      try {
        return await rpc.getTransactionReceipt({ hash });
      } catch (error) {
        if ((error as Error).name === 'TransactionReceiptNotFoundError') return null;
        throw error;
      }
    });
  }

  /** Looks for an account on a network, and says what the next step towards it is. */
  async function observeDeployment(key: DeploymentKey): Promise<DeploymentObservation> {
    const chain = chainOf(key.networkId);
    if (!chain) {
      return {
        kind: 'failed',
        failure: {
          code: 'stale',
          message: `network ${key.networkId} is not one of this deployment any more`,
        },
      };
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
        const message = `what stands at ${account.address} is not this account: ${present.reason}`;
        return { kind: 'failed', failure: { code: 'stale', message } };
      }
      if (present.kind === 'fits') {
        const depth = BigInt(chain.network.confirmations);
        if (depth > head) return { kind: 'confirming' };
        const confirmed =
          depth === 0n
            ? present
            : await ask(chain, (rpc) => inspectAccount(rpc, account, { blockNumber: head - depth }));
        if (confirmed.kind !== 'fits') return { kind: 'confirming' };
        return { kind: 'deployed', ...(await minedEnvelope(chain, envelopes)) };
      }
      if (live) return { kind: 'inFlight', envelopeId: String(live.id) };
      const missing = await ask(chain, missingContracts);
      if (missing.length > 0) {
        const names = missing.map(({ name, address }) => `${name} (${address})`).join(', ');
        return { kind: 'failed', failure: { code: 'rpc', message: `the network lacks ${names}` } };
      }
      const relayer = (await listRelayers(db, key.networkId)).find(({ index }) => index === RELAYER_INDEX);
      if (!relayer) throw new Error(`the signer has registered no relayer for network ${key.networkId} yet`);
      return await termsFor(chain, relayer.address as Address, deploymentCall(account));
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      return { kind: 'unreachable', message: error.message, signed: live !== undefined };
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

  async function handOver(chain: ChainClient, envelope: Envelope): Promise<void> {
    try {
      await chain.rpc.sendRawTransaction({ serializedTransaction: envelope.rawTransaction as Hex });
    } catch (error) {
      // The bytes may be there already; whether they are is read from the chain, not from this answer.
      if (!/known|nonce|underpriced|imported/i.test(rpcErrorText(error))) {
        throw new ChainUnavailable(chain.network, rpcErrorText(error), { cause: error });
      }
    }
    await markSent(db, envelope.id);
  }

  /** One look at a sent envelope: undefined while the chain has not decided. */
  async function lookAt(chain: ChainClient, envelope: Envelope): Promise<EnvelopeOutcome | undefined> {
    const depth = BigInt(chain.network.confirmations);
    const head = await ask(chain, (rpc) => rpc.getBlockNumber());
    const receipt = await receiptOf(chain, envelope.transactionHash as Hex);
    if (receipt) {
      if (receipt.blockNumber + depth > head) return undefined;
      const mined = receipt.status === 'success';
      await decideEnvelope(db, envelope.id, mined ? 'mined' : 'reverted');
      return mined ? { kind: 'mined' } : { kind: 'reverted', transactionHash: envelope.transactionHash };
    }
    const used = await ask(chain, (rpc) =>
      rpc.getTransactionCount({
        address: envelope.relayerAddress as Address,
        blockNumber: head > depth ? head - depth : 0n,
      }),
    );
    if (used <= envelope.relayerNonce) return undefined;
    await decideEnvelope(db, envelope.id, 'dropped');
    return { kind: 'dropped' };
  }

  /**
   * Hands a stored envelope to the node and follows it until the chain has decided. Answers `unreachable` when the
   * network has not answered for `patienceMs`.
   */
  async function followEnvelope(input: {
    envelopeId: string;
    networkId: number;
    patienceMs: number;
  }): Promise<EnvelopeOutcome> {
    const chain = chainOf(input.networkId);
    if (!chain) return { kind: 'unreachable', message: `network ${input.networkId} is not configured` };
    const context = Context.current();
    const envelope = await readEnvelope(db, BigInt(input.envelopeId));
    if (envelope.outcome !== null) {
      return envelope.outcome === 'reverted'
        ? { kind: 'reverted', transactionHash: envelope.transactionHash }
        : { kind: envelope.outcome };
    }
    const begunAt = Date.now();
    let answeredAt = begunAt;
    let sent = false;
    for (;;) {
      try {
        if (!sent) await handOver(chain, envelope);
        sent = true;
        const outcome = await lookAt(chain, envelope);
        if (outcome) return outcome;
        answeredAt = Date.now();
        if (answeredAt - begunAt >= deps.stuckAfterMs) {
          const terms = await replacementTerms(chain, envelope);
          if (terms) return { kind: 'stuck', terms };
          sent = false; // at the fee ceiling: offer the same bytes again
        }
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        sent = false;
        if (Date.now() - answeredAt >= input.patienceMs)
          return { kind: 'unreachable', message: error.message };
      }
      context.heartbeat();
      await context.sleep(deps.pollMs);
    }
  }

  return { observeDeployment, followEnvelope };
}

/** The activities that read chains and hand signed bytes to them, as workflows see them. */
export type ChainActivities = ReturnType<typeof createChainActivities>;
