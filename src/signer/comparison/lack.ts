import type { Missing } from './compareJournal';

/** What the database lacks of one kind: its words, and the ids. */
type Lack = readonly [one: string, many: string, ids: readonly string[]];

const SHOWN = 3;

/** What the signer writes to the database before the journal: only a rollback takes it away. */
export function lost({
  seals,
  authorizations,
  rejections,
  cancellations,
  unknownExecutions,
}: Missing): Lack[] {
  return [
    [
      'decision',
      'decisions',
      [...seals].flatMap(([id, entries]) => entries.map(({ sequence }) => `${sequence} of ${id}`)),
    ],
    ['authorization', 'authorizations', authorizations.map(({ transactionId }) => transactionId)],
    ['rejection', 'rejections', rejections],
    ['cancellation', 'cancellations', cancellations],
    ['unknown execution', 'unknown executions', unknownExecutions.map(({ safeTxHash }) => safeTxHash)],
  ];
}

/** What the journal may have before the database while the signer works: what it has read last, and freezes. */
export function late({ outcomes, freezes, upkeep }: Missing): Lack[] {
  return [
    ['outcome', 'outcomes', outcomes.map(({ transactionId }) => transactionId)],
    [
      'freeze or unfreeze',
      'freezes or unfreezes',
      freezes.map(({ organizationId }) => organizationId ?? 'every organization'),
    ],
    ['upkeep', 'upkeeps', upkeep.map(({ safe, safeNonce }) => `nonce ${safeNonce} of ${safe}`)],
  ];
}

/** `the database lacks 1 rejection, 2 outcomes of the journal: txn_…`; undefined where it lacks nothing. */
export function lackText(kinds: readonly Lack[]): string | undefined {
  const present = kinds.filter(([, , ids]) => ids.length > 0);
  if (present.length === 0) return undefined;
  const counts = present
    .map(([one, many, ids]) => `${ids.length} ${ids.length === 1 ? one : many}`)
    .join(', ');
  const all = present.flatMap(([, , ids]) => ids);
  const shown = `${all.slice(0, SHOWN).join(', ')}${all.length > SHOWN ? ', …' : ''}`;
  return `the database lacks ${counts} of the journal: ${shown}`;
}
