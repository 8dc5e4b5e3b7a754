import type { ShownAuthorization } from '../db/authorizations';
import type { JournalReader } from '../journal/journal';

/** What the tables show of an organization at one moment. */
export interface Shown {
  readonly organizationId: string;
  /** Every decision, in order. */
  readonly seals: readonly { readonly sequence: number; readonly hash: string }[];
  readonly authorizations: readonly ShownAuthorization[];
}

/** The fields that say what was authorized or rejected. */
const FIELDS = [
  'accountId',
  'networkId',
  'policyId',
  'initiatorId',
  'tokenAddress',
  'amount',
  'destination',
  'safeNonce',
  'safeTxHash',
  'authorizedAt',
] as const;

/** What the journal has of an authorization or a rejection; undefined where it does not know it. */
async function journaled(
  journal: JournalReader,
  { transactionId, safeNonce }: ShownAuthorization,
): Promise<Partial<ShownAuthorization> | undefined> {
  if (safeNonce === null) return journal.rejection(transactionId);
  const known = journal.authorizationOf(transactionId);
  return known && journal.readAuthorization(known);
}

async function differenceOf(journal: JournalReader, shown: ShownAuthorization): Promise<string | undefined> {
  const known = await journaled(journal, shown);
  if (!known) return 'is not in it';
  // A rejection is in the journal without what only authorizations have.
  const differing = FIELDS.find((field) => field in known && known[field] !== shown[field]);
  if (differing) return `has another ${differing} there`;
  if (shown.safeNonce === null) return undefined;
  const outcome = journal.outcomeOf(shown.transactionId);
  if ((outcome?.outcome ?? null) !== shown.outcome) return 'has another outcome there';
  if ((outcome?.blockAt ?? null) !== shown.blockAt) return 'has another blockAt there';
  return undefined;
}

/**
 * The first difference between the tables and the journal about an organization, in words; undefined: there is none.
 * Decisions may be ahead of the journal: they are signed, and taken over.
 */
export async function journalDifference(
  journal: JournalReader,
  { organizationId, seals, authorizations }: Shown,
): Promise<string | undefined> {
  const sealed = journal.latestSealed(organizationId);
  if (sealed && seals[sealed.sequence]?.hash !== sealed.hash) {
    return `decision ${sealed.sequence} of the journal is missing in the tables, or another one there`;
  }
  for (const shown of authorizations) {
    const difference = await differenceOf(journal, shown);
    if (difference) return `transaction ${shown.transactionId} ${difference}`;
  }
  const ids = new Set(authorizations.map(({ transactionId }) => transactionId));
  for (const one of journal.authorizations()) {
    if (one.organizationId === organizationId && !ids.has(one.transactionId)) {
      return `the tables lack the authorization of transaction ${one.transactionId}`;
    }
  }
  for (const id of journal.rejectedIds()) {
    if (ids.has(id)) continue;
    const rejection = await journal.rejection(id);
    if (rejection?.organizationId === organizationId)
      return `the tables lack the rejection of transaction ${id}`;
  }
  return undefined;
}
