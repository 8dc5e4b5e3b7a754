import { Context } from '@temporalio/activity';
import { type Address, BaseError, type Hex } from 'viem';
import {
  ask,
  type ChainClient,
  type ChainClients,
  ChainUnavailable,
  receiptOf,
  rpcErrorText,
} from '../src/chain/clients';
import { accountNonce } from '../src/chain/safe';
import { carriedBy, hasGoneOn, isDeploymentPending, noteSent } from '../src/db/attempts';
import {
  decideEnvelope,
  type Envelope,
  findAccountDerivation,
  listRelayers,
  newestEnvelopes,
} from '../src/db/chain';
import type { Db } from '../src/db/database';
import { faultPoint } from '../src/faults';
import { type EnvelopeTerms, FILLER_GAS, RELAYER_INDEX } from './signer';

/** What following envelopes needs from outside. */
export interface RelayerDeps {
  readonly db: Db;
  readonly chains: ChainClients;
  /** How soon a pending transaction is looked at again, in milliseconds; the pause grows to 16 times this. */
  readonly pollMs: number;
  /** How long a sent transaction may be pending before its fee is raised, in milliseconds. */
  readonly stuckAfterMs: number;
}

/** Fees of a new envelope, in wei, within the ceiling of the network. */
export interface Fees {
  readonly baseFee: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** A nonce of the relayer that nobody uses and that those behind it wait for. */
export interface NonceGap {
  readonly nonce: number;
  /** What stands at it, pays too little, and is of no use any more; undefined where nothing does. */
  readonly useless?: Envelope;
}

/** What keeps a followed envelope from being decided, when somebody else has to do something about it. */
export type Obstacle =
  | { readonly kind: 'stuck'; readonly terms: EnvelopeTerms }
  | { readonly kind: 'gap'; readonly nonce: number; readonly terms: EnvelopeTerms }
  /** Nothing is decided, and what it waits for has changed; null: for the chain alone. */
  | { readonly kind: 'waiting'; readonly message: string | null };

/** What a look at the chain found: the end, or whether it is on its way to it inside a block. */
export type Look<T> = { readonly end: T } | { readonly inBlock: boolean };

/** The step by which a replaced fee is raised, in percent; nodes ask for 110. */
const REPLACEMENT_STEP_PERCENT = 125n;
/** The same bytes are offered again this often: a node may have lost them. */
const RESEND_MS = 5_000;
/** How long something is in the way before it is told. */
const TELL_AFTER_MS = 5_000;
const MAX_POLL_FACTOR = 16;
const POLL_GROWTH = 1.25;

/** A node that answers, and does not take an envelope for now. */
export class NotTaken extends Error {
  override readonly name = 'NotTaken';
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function raised(wei: bigint): bigint {
  return (wei * REPLACEMENT_STEP_PERCENT) / 100n + 1n;
}

/** A network in words. */
export function named({ network }: ChainClient): string {
  return `${network.name} (${network.id})`;
}

/** Throws ChainUnavailable unless the RPC serves the chain that it is configured for. */
export async function demandChainId(chain: ChainClient): Promise<void> {
  const chainId = await ask(chain, (rpc) => rpc.getChainId());
  if (chainId !== chain.network.id) {
    throw new ChainUnavailable(chain.network, `its RPC serves chain ${chainId}`);
  }
}

/** The address that pays for what is sent to a network. Throws while the signer has registered none. */
export async function relayerOf(db: Db, networkId: number): Promise<Address> {
  const relayer = (await listRelayers(db, networkId)).find(({ index }) => index === RELAYER_INDEX);
  if (!relayer) throw new Error(`the signer has registered no relayer for network ${networkId} yet`);
  return relayer.address as Address;
}

/** Fees that the network asks for now. Throws ChainUnavailable. */
export async function feesOf(chain: ChainClient): Promise<Fees> {
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

/** How many transactions of an address are in blocks, now or at a block. Throws ChainUnavailable. */
export async function transactionCount(
  chain: ChainClient,
  address: string,
  blockNumber?: bigint,
): Promise<number> {
  const at = blockNumber === undefined ? { blockTag: 'latest' as const } : { blockNumber };
  return ask(chain, (rpc) => rpc.getTransactionCount({ address: address as Address, ...at }));
}

/** Why the fees of now, or the coin that the relayer has, let no envelope go; null when they do. */
export function refuseFunds(
  chain: ChainClient,
  relayer: { address: string; balance: bigint },
  fees: Fees,
  gas: bigint,
): { message: string; neededWei?: bigint } | null {
  const ceiling = chain.network.maxFeePerGas;
  if (fees.baseFee > ceiling) {
    return {
      message: `gas on ${named(chain)} costs ${fees.baseFee} wei now, above the ceiling of ${ceiling} wei (maxFeePerGas of the network)`,
    };
  }
  const cost = gas * fees.maxFeePerGas;
  if (relayer.balance >= cost) return null;
  return {
    message: `relayer ${relayer.address} has ${relayer.balance} wei on ${named(chain)} and needs ${cost} wei: fund it`,
    neededWei: cost,
  };
}

/** Fees and gas as activities hand them on. */
export function envelopeTerms(
  fees: Pick<Fees, 'maxFeePerGas' | 'maxPriorityFeePerGas'>,
  gas: bigint,
  chainNonce: number,
): EnvelopeTerms {
  return {
    gas: gas.toString(),
    maxFeePerGas: fees.maxFeePerGas.toString(),
    maxPriorityFeePerGas: fees.maxPriorityFeePerGas.toString(),
    chainNonce,
  };
}

/**
 * Terms of an envelope that replaces another at its nonce; null when it would pay more than the network's ceiling.
 * Throws ChainUnavailable.
 */
export async function replacementTerms(
  chain: ChainClient,
  envelope: Envelope,
  gas = envelope.gas,
): Promise<EnvelopeTerms | null> {
  const fees = await feesOf(chain);
  const maxPriorityFeePerGas = raised(envelope.maxPriorityFeePerGas);
  let maxFeePerGas = raised(envelope.maxFeePerGas);
  if (maxFeePerGas < fees.maxFeePerGas) maxFeePerGas = fees.maxFeePerGas;
  if (maxFeePerGas > chain.network.maxFeePerGas || maxPriorityFeePerGas > maxFeePerGas) return null;
  return {
    ...envelopeTerms({ maxFeePerGas, maxPriorityFeePerGas }, gas, envelope.relayerNonce),
    replaces: String(envelope.id),
  };
}

/** Hands stored envelopes to nodes and follows them. It holds no key. */
export function createRelayer(deps: RelayerDeps) {
  const { db } = deps;
  /** When this process handed an envelope over last: those behind it need not do it again. */
  const handedAt = new Map<bigint, number>();
  /** What is being handed over: those behind it wait for the same answer. */
  const sending = new Map<bigint, Promise<void>>();

  function noteHandedOver({ id }: Envelope): void {
    const now = Date.now();
    handedAt.delete(id);
    handedAt.set(id, now);
    // The oldest stand first.
    for (const [key, at] of handedAt) {
      if (now - at < RESEND_MS) break;
      handedAt.delete(key);
    }
  }

  function wasHandedOver({ id }: Envelope): boolean {
    return Date.now() - (handedAt.get(id) ?? 0) < RESEND_MS;
  }

  /** Throws ChainUnavailable (the node does not answer) or NotTaken (it refuses for now). */
  function send(chain: ChainClient, envelope: Envelope): Promise<void> {
    const onItsWay = sending.get(envelope.id);
    if (onItsWay) return onItsWay;
    const sent = sendOnce(chain, envelope).finally(() => sending.delete(envelope.id));
    sending.set(envelope.id, sent);
    return sent;
  }

  async function sendOnce(chain: ChainClient, envelope: Envelope): Promise<void> {
    faultPoint('chain.sending');
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
    noteHandedOver(envelope);
    await noteSent(db, envelope);
    faultPoint('chain.noted');
  }

  /**
   * What is to be done about an envelope of an earlier nonce that the chain does not have. Bytes whose effect was
   * decided once are sent only where they cannot have another one: what the chain has lost is looked after elsewhere.
   */
  async function judge(chain: ChainClient, envelope: Envelope): Promise<'send' | 'leave' | 'replace'> {
    const { attempt } = await carriedBy(db, envelope);
    if (!attempt || attempt.outcome === null || attempt.kind === 'cancellation') return 'send';
    const account = await findAccountDerivation(db, attempt.organizationId, attempt.accountId);
    const nonce = account && (await accountNonce(chain, account.address));
    if (nonce !== null && nonce !== undefined && nonce > attempt.safeNonce) return 'send';
    return (await hasGoneOn(db, attempt)) ? 'replace' : 'leave';
  }

  /** Whether nobody needs what an envelope carries, and nobody looks after it. */
  async function isUseless(envelope: Envelope): Promise<boolean> {
    const { kind, attempt } = await carriedBy(db, envelope);
    if (kind === 'deployment') return !(await isDeploymentPending(db, envelope.attemptId));
    return attempt === undefined || attempt.outcome !== null;
  }

  /**
   * Hands an envelope to the node, after those of earlier nonces that the chain does not have: their own senders may
   * be gone, the chain may have lost them, and without them this one would wait for ever. Answers the first nonce
   * before it that nobody uses.
   */
  async function handOver(chain: ChainClient, envelope: Envelope): Promise<NonceGap | null> {
    const used = await transactionCount(chain, envelope.relayerAddress);
    let gap: NonceGap | null = null;
    if (used < envelope.relayerNonce) {
      const earlier = await newestEnvelopes(db, {
        networkId: envelope.networkId,
        relayerAddress: envelope.relayerAddress,
        fromNonce: used,
        toNonce: envelope.relayerNonce - 1,
      });
      let expected = used;
      for (const one of earlier) {
        if (one.relayerNonce > expected) gap ??= { nonce: expected };
        expected = one.relayerNonce + 1;
        if (wasHandedOver(one)) continue;
        const what = await judge(chain, one);
        if (what === 'send') await send(chain, one);
        if (what === 'replace') gap ??= { nonce: one.relayerNonce, useless: one };
      }
      if (expected < envelope.relayerNonce) gap ??= { nonce: expected };
    }
    await send(chain, envelope);
    return gap;
  }

  /**
   * One look at what became of an envelope as such: in a block (mined or reverted), or dropped because its nonce was
   * used by another one. It ends with the network's confirmations; what it finds then is noted.
   */
  async function lookAtEnvelope(
    chain: ChainClient,
    envelope: Envelope,
    head: bigint,
  ): Promise<Look<'mined' | 'reverted' | 'dropped'>> {
    const depth = BigInt(chain.network.confirmations);
    const receipt = await receiptOf(chain, envelope.transactionHash);
    if (receipt) {
      if (receipt.blockNumber + depth > head) return { inBlock: true };
      const outcome = receipt.status === 'success' ? 'mined' : 'reverted';
      await decideEnvelope(db, envelope, outcome);
      faultPoint('chain.envelopeDecided');
      return { end: outcome };
    }
    const confirmed = head > depth ? head - depth : 0n;
    if ((await transactionCount(chain, envelope.relayerAddress, confirmed)) <= envelope.relayerNonce) {
      return { inBlock: false };
    }
    await decideEnvelope(db, envelope, 'dropped');
    return { end: 'dropped' };
  }

  async function gapTerms(chain: ChainClient, { nonce, useless }: NonceGap): Promise<EnvelopeTerms | null> {
    if (useless) return replacementTerms(chain, useless, FILLER_GAS);
    const fees = await feesOf(chain);
    return fees.baseFee > chain.network.maxFeePerGas ? null : envelopeTerms(fees, FILLER_GAS, nonce);
  }

  /**
   * Hands a stored envelope to the node and looks at the chain until `look` finds the end. It ends before that only to
   * say something new: what it waits for (`told` is what it said last), that it is stuck and needs a higher fee, or
   * that an earlier nonce of the relayer has to be filled.
   */
  async function follow<T>(input: {
    chain: ChainClient;
    envelope: Envelope;
    told: string | null;
    look: (head: bigint) => Promise<Look<T>>;
    /** Whether the caller fills nonces that nobody uses; else it is only told of them. */
    fillsGaps: boolean;
  }): Promise<T | Obstacle> {
    const { chain, envelope } = input;
    const context = Context.current();
    const begunAt = Date.now();
    let begunAtHead: bigint | undefined;
    let sentAt: number | undefined;
    let message: string | null = null;
    let messageSince = begunAt;
    let pauseMs = deps.pollMs;

    /** What is before it: nothing, nonces that somebody looks after, or one that nobody does. */
    async function before(): Promise<NonceGap | 'others' | 'nothing'> {
      const used = await transactionCount(chain, envelope.relayerAddress);
      if (used === envelope.relayerNonce) return 'nothing';
      // Its nonce was used, and that has no confirmations yet.
      if (used > envelope.relayerNonce) return 'others';
      const { networkId, relayerAddress } = envelope;
      const [first] = await newestEnvelopes(db, {
        networkId,
        relayerAddress,
        fromNonce: used,
        toNonce: used,
      });
      if (!first) return { nonce: used };
      return (await isUseless(first)) ? { nonce: used, useless: first } : 'others';
    }

    for (;;) {
      const now = Date.now();
      let inTheWay: string | null = null;
      try {
        if (sentAt === undefined || now - sentAt >= RESEND_MS) {
          const gap = await handOver(chain, envelope);
          sentAt = now;
          const terms = gap && input.fillsGaps ? await gapTerms(chain, gap) : null;
          if (gap && terms) return { kind: 'gap', nonce: gap.nonce, terms };
        }
        const head = await ask(chain, (rpc) => rpc.getBlockNumber());
        begunAtHead ??= head;
        const seen = await input.look(head);
        if ('end' in seen) return seen.end;
        // A chain that makes no blocks takes no fee, however high.
        if (now - begunAt >= deps.stuckAfterMs && head > begunAtHead && !seen.inBlock) {
          const earlier = await before();
          if (earlier === 'others') {
            inTheWay = `its transaction waits for others of relayer ${envelope.relayerAddress} on ${named(chain)}`;
          } else if (earlier === 'nothing') {
            const terms = await replacementTerms(chain, envelope);
            if (terms) return { kind: 'stuck', terms };
            inTheWay = `its transaction is pending on ${named(chain)} and already pays the ceiling (maxFeePerGas of the network)`;
          } else {
            const terms = input.fillsGaps ? await gapTerms(chain, earlier) : null;
            if (terms) return { kind: 'gap', nonce: earlier.nonce, terms };
            inTheWay = `its transaction waits for nonce ${earlier.nonce} of relayer ${envelope.relayerAddress} on ${named(chain)}`;
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

  return { send, handOver, lookAtEnvelope, follow };
}
