import { type Hex, recoverAddress } from 'viem';
import type { SigningKeys } from '../chain/keys';
import { openSeal } from '../chain/seals';
import { accountAddress } from '../db/accounts';
import { type Attempt, attemptsOfTransaction } from '../db/attempts';
import { listAuthorizations, type ShownAuthorization, transactionRows } from '../db/authorizations';
import type { Db } from '../db/database';
import { activeFreezes } from '../db/freezes';
import { sealedSequences } from '../db/recovery';
import { listSeals } from '../db/seals';
import { listUnknownExecutions } from '../db/unknownExecutions';
import { isSameAddress } from '../domain/address';
import { type JournalEntry, JournalError } from '../journal/entries';
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
  return Promise.all(
    seals.map(async ({ sequence, body, hash, signature }) => {
      if (!(await openSeal(address, { body, hash: hash as Hex, signature: signature as Hex }))) {
        throw new JournalError(
          `decision ${sequence} of organization ${organizationId} in the database is not of the seal key in this keystore`,
        );
      }
      return { type: 'seal', organizationId, sequence, hash, body, signature } as const;
    }),
  );
}

/** Whether the key of its organization has signed an attempt. */
async function isSigned(
  { keystore }: Deps,
  { organizationId, safeTxHash, signature }: Attempt,
): Promise<boolean> {
  if (signature === null) return false;
  const signer = await recoverAddress({ hash: safeTxHash as Hex, signature: signature as Hex }).catch(
    () => null,
  );
  return signer !== null && isSameAddress(signer, keystore.organizationKey(organizationId).address);
}

/** The entries of one authorization or rejection; none where nothing proves it: the signer verifies it when it comes to it. */
async function entriesOf(
  deps: Deps,
  organizationId: string,
  shown: ShownAuthorization,
): Promise<JournalEntry[]> {
  const { db } = deps;
  const { transactionId, accountId, networkId, policyId, initiatorId, tokenAddress, amount, destination } =
    shown;
  const decided = {
    ...{ organizationId, transactionId, accountId, networkId, policyId, initiatorId, tokenAddress, amount },
    destination,
    rows: await transactionRows(db, transactionId),
  };
  const { outcome, blockAt } = shown;
  if (outcome === 'rejected') return [{ type: 'rejection', ...decided }];
  const attempts = await attemptsOfTransaction(db, transactionId);
  const attempt = attempts.find(({ kind }) => kind === 'transaction');
  if (!attempt || attempt.safeTxHash !== shown.safeTxHash || !(await isSigned(deps, attempt))) return [];
  const isCancelled = attempts.some(({ kind }) => kind === 'cancellation');
  return [
    {
      type: 'authorization',
      ...decided,
      safeNonce: String(attempt.safeNonce),
      safeTxHash: attempt.safeTxHash,
      account: await accountAddress(db, accountId),
      to: attempt.to,
      value: String(attempt.value),
      data: attempt.data,
      safeTxGas: String(attempt.safeTxGas),
      fromBlock: String(attempt.fromBlock),
      authorizedAt: shown.authorizedAt,
      evidence: null,
    },
    ...(isCancelled ? [{ type: 'cancellation', organizationId, transactionId } as const] : []),
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
