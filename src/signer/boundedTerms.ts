import { z } from 'zod';
import { transactionCount } from '../chain/clients';
import { currentFees, type Fees } from '../chain/fees';
import { min } from '../domain/bigint';
import type { EnvelopeTerms } from '../domain/terms';
import { shownInput } from './input';
import { SignerRefusal } from './refusal';
import { relayerKeyOf } from './relayerKeys';
import { networkOf, type SignerContext } from './signerContext';
import { highestRelayerNonce } from './store/relayerRecords';

/** What the signer reads itself: the highest fees of a new envelope, in wei, and the head of the chain. */
type OwnReading = Pick<Fees, 'maxFeePerGas' | 'maxPriorityFeePerGas'> & {
  /** The lowest of its endpoints, at most a while ago; undefined without endpoints. */
  readonly head?: bigint;
};

/** Terms that a message asks for, and what the signer bounds them by. */
export type BoundedTerms<T extends EnvelopeTerms = EnvelopeTerms> = T & { readonly most: OwnReading };

const decimal = (pattern: RegExp) => z.string('a decimal integer').regex(pattern, 'a decimal integer');
/** A uint256. */
export const amount = decimal(/^\d{1,78}$/);
/** A number that fits into a bigint of Postgres. */
export const integer = decimal(/^\d{1,18}$/);
/** The terms of an envelope, in a message: whoever can reach the signer's queue writes it. */
export const envelopeTerms = z.object({
  gas: amount,
  maxFeePerGas: amount,
  maxPriorityFeePerGas: amount,
  relayerAddress: z.string('an address').regex(/^0x[0-9a-fA-F]{40}$/, 'an address'),
  chainNonce: z.int('an integer from 0').nonnegative('an integer from 0'),
  head: integer,
  replaces: z
    .string('the id of an envelope')
    .regex(/^\d{1,18}$/, 'the id of an envelope')
    .optional(),
});

/** The terms of a message. Throws SignerRefusal where they are malformed. */
function parsed<T>(schema: z.ZodType<unknown>, terms: T): T {
  const result = schema.safeParse(terms);
  if (result.success) return terms;
  const [issue] = result.error.issues;
  const field = issue?.path[0];
  const value = field === undefined ? terms : Object(terms)[field];
  throw new SignerRefusal(
    'stale',
    `invalid ${String(field ?? 'terms')} ${shownInput(value)} (expected ${issue?.message})`,
  );
}

/**
 * The fees and the head of a network by the signer's own endpoints, read lately but not before `since`: the lowest of those
 * that answer; without endpoints, the ceiling. Throws ChainUnavailable when none answers.
 */
async function readOwn(context: SignerContext, networkId: number, since: number): Promise<OwnReading> {
  const network = networkOf(context, networkId);
  const { maxFeePerGas: ceiling } = network;
  const endpoints = context.endpointsOf(network);
  if (endpoints.length === 0) return { maxFeePerGas: ceiling, maxPriorityFeePerGas: ceiling };
  const answers = await Promise.allSettled(
    endpoints.map((chain, place) =>
      context.fees.read(`${networkId}/${place}`, () => currentFees(chain), since),
    ),
  );
  const read = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (read.length === 0) throw failed?.reason;
  return {
    head: read.map(({ head }) => head).reduce(min),
    maxFeePerGas: read.map(({ maxFeePerGas: wei }) => wei).reduce(min),
    maxPriorityFeePerGas: read.map(({ maxPriorityFeePerGas: wei }) => wei).reduce(min),
  };
}

/** Whether what the signer has read will do for terms: they ask for no more, or have read no later block. */
function isEnough(most: OwnReading, terms: EnvelopeTerms): boolean {
  const isWithin =
    BigInt(terms.maxFeePerGas) <= most.maxFeePerGas &&
    BigInt(terms.maxPriorityFeePerGas) <= most.maxPriorityFeePerGas;
  return isWithin || (most.head !== undefined && BigInt(terms.head) <= most.head);
}

async function bounded<T extends EnvelopeTerms>(
  context: SignerContext,
  networkId: number,
  terms: T,
): Promise<BoundedTerms<T>> {
  const asked = performance.now();
  const lately = await readOwn(context, networkId, 0);
  const most = isEnough(lately, terms) ? lately : await readOwn(context, networkId, asked);
  return { ...terms, most };
}

/**
 * Bounds fees by what the signer reads itself: a message can lower them, and not raise them. What it has read a while ago
 * will do for a message that asks for no more, or whose fees are of no later block. Throws SignerRefusal for malformed
 * terms, and ChainUnavailable.
 */
export async function boundFees(
  context: SignerContext,
  networkId: number,
  terms: EnvelopeTerms,
): Promise<BoundedTerms> {
  return bounded(context, networkId, parsed(envelopeTerms, terms));
}

/**
 * Throws SignerRefusal for a nonce of the relayer above those that the signer has signed, unless all of its own endpoints
 * have that many transactions in blocks: an envelope at a later nonce would wait for ever. Throws ChainUnavailable.
 */
async function assertChainNonce(
  context: SignerContext,
  networkId: number,
  terms: EnvelopeTerms,
): Promise<void> {
  const { chainNonce } = terms;
  const network = networkOf(context, networkId);
  const { address: relayerAddress } = relayerKeyOf(context, networkId, terms.relayerAddress);
  const relayer = { networkId, relayerAddress };
  const journaled = context.journal.highestRelayerNonce(relayer) ?? -1;
  if (chainNonce <= journaled + 1) return;
  const endpoints = context.endpointsOf(network);
  // Without endpoints of its own it has nothing but its table to ask, where its journal is new.
  const stored = endpoints.length > 0 ? undefined : await highestRelayerNonce(context.db, relayer);
  const highest = Math.max(journaled, stored ?? -1);
  if (chainNonce <= highest + 1) return;
  const counts = await Promise.all(endpoints.map((chain) => transactionCount(chain, relayerAddress)));
  if (counts.length > 0 && counts.every((count) => count >= chainNonce)) return;
  const read =
    counts.length > 0 ? `its own endpoints have ${Math.min(...counts)}` : 'it has no signerRpcUrls to ask';
  throw new SignerRefusal(
    'stale',
    `nonce ${chainNonce} of relayer ${relayerAddress} on ${network.name} is too high: the signer has signed up to ${highest < 0 ? 'none' : highest}, and ${read}`,
  );
}

/**
 * Bounds the terms of an envelope at a new nonce. `schema`: that of the terms, which extends `envelopeTerms`. Throws
 * SignerRefusal or ChainUnavailable.
 */
export async function boundTerms<T extends EnvelopeTerms>(
  context: SignerContext,
  networkId: number,
  terms: T,
  schema: z.ZodType<unknown> = envelopeTerms,
): Promise<BoundedTerms<T>> {
  const known = parsed(schema, terms);
  await assertChainNonce(context, networkId, known);
  return bounded(context, networkId, known);
}
