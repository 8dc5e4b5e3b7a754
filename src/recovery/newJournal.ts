import type { Address } from 'viem';
import type { SigningKeys } from '../chain/keys';
import { cancellation, safeTransactionHash } from '../chain/safeTransaction';
import { openSeal } from '../chain/seals';
import { hasSigned } from '../chain/signatures';
import { accountAddress } from '../db/accounts';
import { attemptsOfTransaction } from '../db/attempts';
import { listAuthorizations, type ShownAuthorization, transactionRows } from '../db/authorizations';
import type { Db } from '../db/database';
import { activeFreezes } from '../db/freezes';
import { sealedSequences } from '../db/recovery';
import { listSeals } from '../db/seals';
import { findReplaced } from '../db/transactions';
import { listUnknownExecutions } from '../db/unknownExecutions';
import {
  type CancellationEntry,
  type JournalEntry,
  JournalError,
  sealEntry,
  signedPart,
} from '../journal/entries';
import type { Journal } from '../journal/journal';

/** What making a journal anew needs. */
interface Deps {
  readonly db: Db;
  readonly journal: Journal;
  readonly keystore: Pick<SigningKeys, 'organizationKey' | 'sealKey'>;
}

/** The seals of an organization. Throws JournalError for one that its seal key has not signed. */
async function sealEntries({ db, keystore }: Deps, organizationId: string): Promise<JournalEntry[]> {
  const { address } = keystore.sealKey(organizationId);
  const seals = await listSeals(db, organizationId, { after: -1 });
  for (const seal of seals) {
    if (await openSeal(address, seal)) continue;
    throw new JournalError(
      `decision ${seal.sequence} of organization ${organizationId} in the database is not of the seal key in this keystore`,
    );
  }
  return seals.map(sealEntry);
}

/** The entries of one authorization or rejection; none where nothing proves it: the signer verifies it when it comes to it. */
async function entriesOf(
  deps: Deps,
  organizationId: string,
  shown: ShownAuthorization,
): Promise<JournalEntry[]> {
  const { db, keystore } = deps;
  const { transactionId, accountId, networkId, policyId, initiatorId, tokenAddress, amount, destination } =
    shown;
  const decided = {
    ...{ organizationId, transactionId, accountId, networkId, policyId, initiatorId, tokenAddress, amount },
    destination,
    replaces: await findReplaced(db, transactionId),
    rows: await transactionRows(db, transactionId),
  };
  const { outcome, blockAt } = shown;
  if (outcome === 'rejected') return [{ type: 'rejection', ...decided }];
  const attempts = await attemptsOfTransaction(db, transactionId);
  const attempt = attempts.find(({ kind }) => kind === 'transaction');
  if (!attempt?.signature || attempt.safeTxHash !== shown.safeTxHash) return [];
  const { address } = keystore.organizationKey(organizationId);
  if (!(await hasSigned(address, attempt.safeTxHash, attempt.signature))) return [];
  const account = await accountAddress(db, accountId);
  const { safeNonce: nonce } = attempt;
  const isCancelled = attempts.some(({ kind }) => kind === 'cancellation');
  const empty = cancellation({ networkId, account: account as Address, nonce });
  const cancelled: CancellationEntry = {
    ...{ type: 'cancellation', organizationId, transactionId, accountId, networkId },
    ...{ safeNonce: String(nonce), safeTxHash: safeTransactionHash(empty) },
  };
  return [
    {
      type: 'authorization',
      ...decided,
      ...signedPart(attempt),
      account,
      authorizedAt: shown.authorizedAt,
      evidence: null,
    },
    ...(isCancelled ? [cancelled] : []),
    ...(outcome && blockAt
      ? [{ type: 'outcome', organizationId, transactionId, outcome, blockAt } as const]
      : []),
  ];
}

/**
 * Fills a new journal with what the database has, verified by the keys: the lost one is replaced. What the database has
 * lost as well is lost; only the chain knows it. Throws JournalError for what is not signed.
 */
export async function fillJournal(deps: Deps): Promise<void> {
  const { db, journal } = deps;
  for (const organizationId of (await sealedSequences(db)).keys()) {
    await journal.append(...(await sealEntries(deps, organizationId)));
    for (const shown of await listAuthorizations(db, organizationId)) {
      await journal.append(...(await entriesOf(deps, organizationId, shown)));
    }
  }
  const unknown = await listUnknownExecutions(db);
  const freezes = await activeFreezes(db);
  await journal.append(
    ...unknown.map((one) => ({
      type: 'unknownExecution' as const,
      ...one,
      safeNonce: String(one.safeNonce),
    })),
    ...freezes.map(({ id, organizationId }) => ({ type: 'freeze' as const, id, organizationId })),
  );
}
