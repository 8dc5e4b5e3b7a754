import type { Address, Hex } from 'viem';
import { checksumAddress } from '../chain/address';
import type { ChainClient } from '../chain/clients';
import type { SigningKeys } from '../chain/keys';
import { cancellation, safeTransactionHash } from '../chain/safeTransaction';
import { openSeal } from '../chain/seals';
import { hasSigned } from '../chain/signatures';
import { accountAddress } from '../db/accounts';
import { type Attempt, attemptsOfTransaction } from '../db/attempts';
import { listAuthorizations, type ShownAuthorization, transactionRows } from '../db/authorizations';
import type { Db } from '../db/database';
import { activeFreezes } from '../db/freezes';
import { sealedSequences } from '../db/recovery';
import { listSeals } from '../db/seals';
import { findReplaced } from '../db/transactions';
import { listUnknownExecutions } from '../db/unknownExecutions';
import { readContent, spendingOf } from '../domain/transactionContent';
import { type JournalEntry, JournalError, sealEntry, signedPart } from '../journal/entries';
import type { Journal } from '../journal/journal';
import { type ShownExecution, shownOnChain } from './shownOnChain';

/** What completing a journal needs. */
interface Deps {
  readonly db: Db;
  readonly journal: Journal;
  readonly keystore: Pick<SigningKeys, 'organizationKey' | 'sealKey'>;
  /** The signer's own endpoints of a network. */
  readonly endpointsOf: (networkId: number) => readonly ChainClient[];
}

/** The seals of an organization that the journal lacks. Throws JournalError for one that its seal key has not signed. */
async function sealEntries({ db, journal, keystore }: Deps, organizationId: string): Promise<JournalEntry[]> {
  const { address } = keystore.sealKey(organizationId);
  const after = journal.latestSealed(organizationId)?.sequence ?? -1;
  const seals = await listSeals(db, organizationId, { after });
  for (const seal of seals) {
    if (await openSeal(address, seal)) continue;
    throw new JournalError(
      `decision ${seal.sequence} of organization ${organizationId} in the database is not of the seal key in this keystore`,
    );
  }
  return seals.map(sealEntry);
}

/** What both an authorization and a rejection keep. */
async function decidedOf({ db }: Deps, organizationId: string, shown: ShownAuthorization) {
  const { transactionId, accountId, networkId, policyId, initiatorId, tokenAddress, amount, destination } =
    shown;
  return {
    ...{ organizationId, transactionId, accountId, networkId, policyId, initiatorId, tokenAddress, amount },
    destination,
    replaces: await findReplaced(db, transactionId),
    rows: await transactionRows(db, transactionId),
  };
}

/** What a call spends, by its bytes alone: a row may say less, and leave more of a budget. */
function spentBy({ id, to, value, data }: Pick<Attempt, 'id' | 'to' | 'value' | 'data'>) {
  const content = readContent({ to, value, data }, checksumAddress);
  if (!content.ok) throw new JournalError(`chain_attempts ${id} has no call: ${content.refusal.message}`);
  const { recipient, token, amount } = spendingOf(content.value);
  return { tokenAddress: token, amount: String(amount), destination: recipient };
}

/**
 * What became of an authorization, where database and chain say the same; executed, which frees nothing, also where no endpoint
 * is asked. What else was read, the signer reads again.
 */
function outcomeOf(
  { outcome, blockAt, safeTxHash }: ShownAuthorization,
  shown: ShownExecution | null,
): { outcome: 'executed' | 'reverted' | 'cancelled'; blockAt: string } | undefined {
  if (outcome === null || outcome === 'rejected' || blockAt === null) return undefined;
  if (!shown) return outcome === 'executed' ? { outcome, blockAt } : undefined;
  const kind = shown.kind === 'success' ? 'executed' : 'reverted';
  const became = shown.safeTxHash === safeTxHash ? kind : 'cancelled';
  return became === outcome ? { outcome, blockAt: shown.blockAt.toISOString() } : undefined;
}

/**
 * The entries of one authorization or rejection; none where nothing proves it: neither a signature of the key, nor an
 * execution on the chain. The signer verifies its votes when it comes to it.
 */
async function entriesOf(
  deps: Deps,
  organizationId: string,
  shown: ShownAuthorization,
): Promise<JournalEntry[]> {
  const { db, keystore } = deps;
  const decided = await decidedOf(deps, organizationId, shown);
  const { transactionId, accountId, networkId } = decided;
  if (shown.outcome === 'rejected') return [{ type: 'rejection', ...decided }];
  const attempts = await attemptsOfTransaction(db, transactionId);
  const attempt = attempts.find(({ kind }) => kind === 'transaction');
  if (!attempt || attempt.safeTxHash !== shown.safeTxHash) return [];
  const account = (await accountAddress(db, accountId)) as Address;
  const { safeNonce, fromBlock, signature } = attempt;
  const content = { ...attempt, account, to: attempt.to as Address, data: attempt.data as Hex };
  if (safeTransactionHash({ ...content, nonce: safeNonce }) !== shown.safeTxHash) return [];
  const executed = await shownOnChain(db, deps.endpointsOf(networkId), {
    ...{ accountId, networkId, account, safeNonce, fromBlock },
  });
  const { address } = keystore.organizationKey(organizationId);
  const isSigned =
    signature !== null && (await hasSigned(address, attempt.safeTxHash as Hex, signature as Hex));
  const isProved = isSigned || executed?.safeTxHash === shown.safeTxHash;
  const empty = safeTransactionHash(cancellation({ networkId, account, nonce: safeNonce }));
  const isCancelled =
    attempts.some(({ kind }) => kind === 'cancellation') && (isProved || executed?.safeTxHash === empty);
  const became = isProved || isCancelled ? outcomeOf(shown, executed) : undefined;
  const of = { organizationId, transactionId };
  const nonceOf = { accountId, networkId, safeNonce: String(safeNonce) };
  return [
    ...(isProved
      ? [
          {
            type: 'authorization' as const,
            ...decided,
            ...spentBy(attempt),
            ...signedPart(attempt),
            ...{ account, authorizedAt: shown.authorizedAt, evidence: null },
          },
        ]
      : []),
    ...(isCancelled ? [{ type: 'cancellation' as const, ...of, ...nonceOf, safeTxHash: empty }] : []),
    ...(became ? [{ type: 'outcome' as const, ...of, ...became }] : []),
  ];
}

/** Whether the journal has what was decided about a transaction. */
function isKnown(journal: Journal, { transactionId }: ShownAuthorization): boolean {
  return (
    journal.authorizationOf(transactionId) !== undefined ||
    journal.isRejected(transactionId) ||
    journal.outcomeOf(transactionId)?.outcome === 'cancelled'
  );
}

/** Unknown executions and freezes of the database that the journal lacks. */
async function otherEntries({ db, journal }: Deps): Promise<JournalEntry[]> {
  const known = new Set(journal.unknownExecutions().map(({ safeTxHash }) => safeTxHash));
  const unknown = await listUnknownExecutions(db);
  const freezes = await activeFreezes(db);
  return [
    ...unknown
      .filter(({ safeTxHash }) => !known.has(safeTxHash))
      .map((one) => ({ type: 'unknownExecution' as const, ...one, safeNonce: String(one.safeNonce) })),
    ...freezes
      .filter(({ id }) => !journal.isRequestDone(id))
      .map(({ id, organizationId }) => ({ type: 'freeze' as const, id, organizationId })),
  ];
}

/**
 * Completes a journal that is new, or from a backup, with what the database has and the keys or the chains prove. Returns
 * the ids of authorizations that nothing proves: the signer verifies their votes when it comes to them. What the database has
 * lost as well is lost; only the chain knows it. Throws JournalError for a seal that is not signed.
 */
export async function completeJournal(deps: Deps): Promise<readonly string[]> {
  const { db, journal } = deps;
  const unproved: string[] = [];
  const complete = async (entries: readonly JournalEntry[]) => {
    if (entries.length === 0) return;
    await journal.beginCompleting();
    await journal.append(...entries);
  };
  for (const organizationId of (await sealedSequences(db)).keys()) {
    await complete(await sealEntries(deps, organizationId));
    for (const shown of await listAuthorizations(db, organizationId)) {
      if (isKnown(journal, shown)) continue;
      const entries = await entriesOf(deps, organizationId, shown);
      if (entries.length === 0) unproved.push(shown.transactionId);
      await complete(entries);
    }
  }
  await complete(await otherEntries(deps));
  return unproved;
}
