import type { ShownAuthorization } from '../db/authorizations';
import type { AuthorizationEntry, RejectionEntry } from '../signer/journal/entries';
import type { JournalReader } from '../signer/journal/journalReader';

/** What the tables show of an organization at one moment. */
interface Shown {
  readonly organizationId: string;
  /** Every decision, in order. */
  readonly seals: readonly { readonly sequence: number; readonly hash: string }[];
  readonly authorizations: readonly ShownAuthorization[];
}

/** What both an authorization and a rejection say was decided about. */
const DECIDED = [
  'accountId',
  'networkId',
  'policyId',
  'initiatorId',
  'tokenAddress',
  'amount',
  'destination',
] as const;
const AUTHORIZED = [...DECIDED, 'safeNonce', 'safeTxHash', 'authorizedAt'] as const;

function differingIn<Field extends keyof ShownAuthorization>(
  fields: readonly Field[],
  shown: ShownAuthorization,
  known: Pick<ShownAuthorization, Field>,
): string | undefined {
  const differing = fields.find((field) => known[field] !== shown[field]);
  return differing && `has another ${differing} there`;
}

/** An undecided one counts as spent, which is never too little; and for a moment it is behind the journal. */
function outcomeDifference(journal: JournalReader, shown: ShownAuthorization): string | undefined {
  if (shown.outcome === null) return undefined;
  const { outcome, blockAt } = journal.outcomeOf(shown.transactionId) ?? { outcome: null, blockAt: null };
  if (outcome !== shown.outcome) return 'has another outcome there';
  return blockAt === shown.blockAt ? undefined : 'has another blockAt there';
}

async function differenceOf(journal: JournalReader, shown: ShownAuthorization): Promise<string | undefined> {
  const { transactionId, safeNonce } = shown;
  if (safeNonce === null) {
    const rejection: RejectionEntry | undefined = await journal.rejection(transactionId);
    return rejection ? differingIn(DECIDED, shown, rejection) : 'is not in it';
  }
  const known = journal.authorizationOf(transactionId);
  // A crash came before its entry, and it was cancelled before it was carried on.
  if (!known && shown.outcome === 'cancelled') return outcomeDifference(journal, shown);
  if (!known) return 'is not in it';
  const authorization: AuthorizationEntry = await journal.readAuthorization(known);
  return differingIn(AUTHORIZED, shown, authorization) ?? outcomeDifference(journal, shown);
}

/** The transactions of an organization that the journal has decided about and the tables do not show. */
async function lacking(journal: JournalReader, { organizationId, authorizations }: Shown): Promise<string[]> {
  const ids = new Set(authorizations.map(({ transactionId }) => transactionId));
  const lacks: string[] = [];
  for (const one of journal.authorizations()) {
    if (one.organizationId === organizationId && !ids.has(one.transactionId)) lacks.push(one.transactionId);
  }
  for (const id of journal.rejectedIds()) {
    if (!ids.has(id) && (await journal.rejection(id))?.organizationId === organizationId) lacks.push(id);
  }
  return lacks;
}

/** What of the journal the tables lack, in words. Decisions may be ahead of it: they are signed, and taken over. */
async function lackIn(journal: JournalReader, shown: Shown): Promise<string | undefined> {
  const sealed = journal.latestSealed(shown.organizationId);
  if (sealed && shown.seals[sealed.sequence]?.hash !== sealed.hash) {
    return `decision ${sealed.sequence} of the journal is missing in the tables, or another one there`;
  }
  const [lost] = await lacking(journal, shown);
  return lost && `the tables lack what was decided about transaction ${lost}`;
}

/**
 * The first difference between a journal and what the tables showed before it was read, in words; undefined: there is
 * none. What they lack may have come meanwhile: then they are read once more.
 */
export async function journalDifference(
  journal: JournalReader,
  shown: Shown,
  readAgain: () => Promise<Shown>,
): Promise<string | undefined> {
  for (const one of shown.authorizations) {
    const difference = await differenceOf(journal, one);
    if (difference) return `transaction ${one.transactionId} ${difference}`;
  }
  return (await lackIn(journal, shown)) && lackIn(journal, await readAgain());
}
