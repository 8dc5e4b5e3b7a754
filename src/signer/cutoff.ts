import type { Journal } from './journal/journal';
import { SignerRefusal } from './refusal';

type WithJournal = { readonly journal: Pick<Journal, 'cutoffOf'> };

/** What says when something was requested: its expiry, which is signed. */
interface Requested {
  readonly organizationId: string;
  readonly id: string;
  readonly expiresAt: Date;
}

/** Why nothing of a request is decided any more; undefined: it was made after the journal was last completed. */
export function cutOff(
  { journal }: WithJournal,
  noun: 'transaction' | 'proposal',
  { organizationId, id, expiresAt }: Requested,
): string | undefined {
  const cutoff = journal.cutoffOf(organizationId);
  if (!cutoff || expiresAt.getTime() > cutoff.expiresUntil) return undefined;
  return `${noun} ${id} was requested before the signer's journal was lost, and completed at ${new Date(cutoff.at).toISOString()}: what became of it is unknown; create it again if it was not carried out`;
}

/** Throws SignerRefusal for what was requested before the journal was last completed. */
export function assertAfterCutoff(...request: Parameters<typeof cutOff>): void {
  const reason = cutOff(...request);
  if (reason !== undefined) throw new SignerRefusal('stale', reason);
}
