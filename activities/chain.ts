import type { Address, Hex } from 'viem';
import { ask, type ChainClient, ChainUnavailable, receiptOf, rpcErrorText } from '../src/chain/clients';
import { deploymentCall, inspectAccount, refuseNetwork } from '../src/chain/safe';
import { carriedBy } from '../src/db/attempts';
import {
  deploymentEnvelopes,
  type Envelope,
  findAccountDerivation,
  listRelayers,
  newestEnvelopes,
  readEnvelope,
  reopenEnvelope,
} from '../src/db/chain';
import type { FailureCode } from '../src/domain/proposal';
import type { DeploymentKey } from './proposals';
import {
  createRelayer,
  demandChainId,
  envelopeTerms,
  feesOf,
  named,
  type RelayerDeps,
  refuseFunds,
  relayerOf,
  transactionCount,
} from './relayer';
import type { EnvelopeTerms } from './signer';

/** What these activities need from outside. */
export type ChainActivityDeps = RelayerDeps;

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

/** Gas above what the node estimates, in percent. */
const GAS_MARGIN_PERCENT = 130n;

/** The activities that read chains and hand signed bytes to them. They hold no key. */
export function createChainActivities(deps: ChainActivityDeps) {
  const { db } = deps;
  const relayer = createRelayer(deps);

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
    const poor = refuseFunds(chain, { address: relayer, balance }, fees, gas);
    if (poor) return failed('funds', poor.message);
    return { kind: 'needsEnvelope', terms: envelopeTerms(fees, gas, chainNonce) };
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
      const [head] = await Promise.all([ask(chain, (rpc) => rpc.getBlockNumber()), demandChainId(chain)]);
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
      const sender = await relayerOf(db, key.networkId);
      const last = envelopes.at(-1);
      if (last && (await transactionCount(chain, last.relayerAddress)) <= last.relayerNonce) {
        // The chain has lost the block in which it was decided. Its bytes can land again, so nothing new is signed.
        await reopenEnvelope(db, last.id);
        return { kind: 'inFlight', envelopeId: String(last.id) };
      }
      const refusal = await refuseNetwork(chain);
      if (refusal) return { kind: 'failed', failure: { code: 'rpc', message: refusal } };
      const chainNonce = await transactionCount(chain, sender);
      return await termsFor(chain, sender, deploymentCall(account), chainNonce);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      if (live) return { kind: 'inFlight', envelopeId: String(live.id) };
      return { kind: 'unreachable', message: error.message };
    }
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
    const chain = deps.chains.get(input.networkId);
    const envelope = await readEnvelope(db, BigInt(input.envelopeId));
    const ended = (outcome: NonNullable<Envelope['outcome']>): EnvelopeOutcome =>
      outcome === 'reverted'
        ? { kind: outcome, transactionHash: envelope.transactionHash }
        : { kind: outcome };
    if (envelope.outcome !== null) return ended(envelope.outcome);
    if (!chain) throw new Error(`network ${input.networkId} is not configured`);
    const followed = await relayer.follow({
      chain,
      envelope,
      told: input.told,
      look: (head) => relayer.lookAtEnvelope(chain, envelope, head),
      fillsGaps: false,
    });
    if (typeof followed === 'string') return ended(followed);
    if (followed.kind === 'gap') throw new Error('a deployment fills no nonces');
    return followed;
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
        // What the chain has lost of a transaction of an account is judged before it is sent again.
        if ((await carriedBy(db, envelope)).kind !== 'deployment') continue;
        await relayer.send(chain, envelope);
        count += 1;
      }
    }
    return count;
  }

  return { observeDeployment, followEnvelope, resendLost };
}

/** The activities that read chains and hand signed bytes to them, as workflows see them. */
export type ChainActivities = ReturnType<typeof createChainActivities>;
