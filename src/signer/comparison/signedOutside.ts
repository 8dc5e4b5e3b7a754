import type { Hex } from 'viem';
import type { SigningKeys } from '../../chain/keys';
import { hasSigned } from '../../chain/signatures';
import { attemptsOfTransaction } from '../../db/attempts';
import type { Db } from '../../db/database';
import { JournalError } from '../journal/entries';
import type { JournalReader } from '../journal/journalReader';
import { type AuthorizationKey, allAuthorizations } from '../store/signedAuthorizations';

/** What is compared. */
interface Compared {
  readonly db: Db;
  readonly journal: JournalReader;
  readonly keystore: Pick<SigningKeys, 'organizationKey'>;
}

/** Whether the journal has what was decided about a transaction. */
export function isDecided(journal: JournalReader, transactionId: string): boolean {
  return (
    journal.authorizationOf(transactionId) !== undefined ||
    journal.isRejected(transactionId) ||
    // One that was cancelled before it was carried on has no authorization there.
    journal.outcomeOf(transactionId)?.outcome === 'cancelled'
  );
}

/** Every hash that keys of organizations have signed, or may sign, by the journal. */
function hashesOf(journal: JournalReader): ReadonlySet<string> {
  const cancelled = [...journal.cancelledIds()].flatMap((id) => journal.cancellationOf(id) ?? []);
  return new Set([...journal.authorizations(), ...cancelled].map(({ safeTxHash }) => safeTxHash));
}

/** Whether a journal was completed since an authorization: what was proved of it is in the journal, and the rest is cut off. */
function isCompletedSince(
  journal: JournalReader,
  { organizationId, authorizedAt }: Pick<AuthorizationKey, 'organizationId' | 'authorizedAt'>,
): boolean {
  const cutoff = journal.cutoffOf(organizationId);
  return cutoff !== undefined && authorizedAt.getTime() <= cutoff.at;
}

/** Whether the key of its organization has signed something of a transaction that is not in the journal. */
async function isSignedOutside(
  { db, keystore }: Compared,
  hashes: ReadonlySet<string>,
  { organizationId, transactionId }: AuthorizationKey,
): Promise<boolean> {
  const { address } = keystore.organizationKey(organizationId);
  for (const { safeTxHash, signature } of await attemptsOfTransaction(db, transactionId)) {
    if (signature === null || safeTxHash === null || hashes.has(safeTxHash)) continue;
    if (await hasSigned(address, safeTxHash as Hex, signature as Hex)) return true;
  }
  return false;
}

/**
 * Ids of the transactions that the database shows signed, and that the journal does not know. A signature is stored after its
 * line of the journal: so the journal is not the newest one, whatever the database says of its position.
 */
export async function signedOutside(compared: Compared): Promise<readonly string[]> {
  const { db, journal } = compared;
  const found: string[] = [];
  let hashes: ReadonlySet<string> | undefined;
  for await (const page of allAuthorizations(db)) {
    for (const one of page) {
      if (isDecided(journal, one.transactionId) || isCompletedSince(journal, one)) continue;
      hashes ??= hashesOf(journal);
      if (await isSignedOutside(compared, hashes, one)) found.push(one.transactionId);
    }
  }
  return found;
}

/** Throws JournalError where the database shows that the journal is not the newest one. */
export async function assertNewest(compared: Compared): Promise<void> {
  const [first, ...others] = await signedOutside(compared);
  if (first === undefined) return;
  const signed = others.length === 0 ? first : `${first} and ${others.length} more`;
  throw new JournalError(
    `${compared.journal.file}: the database shows ${signed} signed, which is not in the journal: it is a copy or a backup, and the position in signer_lease was changed or restored. Use the newest journal; where that is lost, see "The journal is lost" in docs/runbook.md`,
  );
}
