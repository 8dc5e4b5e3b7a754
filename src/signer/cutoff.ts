import { MAX_CLOCKS_APART_MS } from '../domain/clock';
import { HOUR_MS } from '../domain/policyEngine';
import type { Journal } from './journal/journal';
import { SignerRefusal, TemporaryRefusal } from './refusal';
import type { SignerContext } from './signerContext';

/** What says when something was requested: its expiry, which is signed. */
interface Requested {
  readonly organizationId: string;
  readonly id: string;
  readonly expiresAt: Date;
}

/** The cutoff that a request was made before, by its expiry; undefined where it was made later, or there is none. */
export function cutoffAfter(
  journal: Pick<Journal, 'cutoffOf'>,
  { organizationId, expiresAt }: Pick<Requested, 'organizationId' | 'expiresAt'>,
): ReturnType<Journal['cutoffOf']> {
  const cutoff = journal.cutoffOf(organizationId);
  return cutoff && expiresAt.getTime() <= cutoff.expiresUntil ? cutoff : undefined;
}

/** Why nothing of a request is decided any more; undefined: it was made after the journal was last completed. */
export function cutOff(
  { journal }: { readonly journal: Pick<Journal, 'cutoffOf'> },
  noun: 'transaction' | 'proposal',
  request: Requested,
): string | undefined {
  const cutoff = cutoffAfter(journal, request);
  if (!cutoff) return undefined;
  return `${noun} ${request.id} was requested before the signer's journal was lost, and completed at ${new Date(cutoff.at).toISOString()}: what became of it is unknown; create it again if it was not carried out`;
}

/**
 * Throws SignerRefusal for what was requested before the journal was last completed; TemporaryRefusal for what can be signed for
 * longer than a request of now: the cutoff of a journal that is lost meanwhile would not reach it.
 */
export function assertWithinCutoffs(
  context: Pick<SignerContext, 'clock' | 'journal' | 'proposalLifetimeMs'>,
  noun: 'transaction' | 'proposal',
  request: Requested,
): void {
  const reason = cutOff(context, noun, request);
  if (reason !== undefined) throw new SignerRefusal('stale', reason);
  const { clock, proposalLifetimeMs: lifetimeMs } = context;
  const { id, expiresAt } = request;
  if (expiresAt.getTime() <= clock.now().getTime() + lifetimeMs + MAX_CLOCKS_APART_MS) return;
  throw new TemporaryRefusal(
    'expiry',
    `${noun} ${id} expires at ${expiresAt.toISOString()}, which is more than PROPOSAL_LIFETIME (${lifetimeMs / HOUR_MS} h) from now: set PROPOSAL_LIFETIME of the signer as the API and the workers have it`,
  );
}
