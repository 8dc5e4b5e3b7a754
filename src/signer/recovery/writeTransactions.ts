import type { Address } from 'viem';
import { cancellation, safeTransactionHash } from '../../chain/safeTransaction';
import { attemptsOfTransaction } from '../../db/attempts';
import { appendAudit } from '../../db/audit';
import type { Tx } from '../../db/database';
import type { UsageOfExecution } from '../../db/policyUsage';
import { setPositions } from '../../db/positions';
import type { JsonValue } from '../../domain/canonicalJson';
import type { Missing } from '../comparison/compareJournal';
import type { AuthorizationEntry, OutcomeEntry, RejectionEntry } from '../journal/entries';
import type { JournalReader } from '../journal/journalReader';
import { insertAttempt } from '../store/signedAttempts';
import { decideAuthorizations, insertAuthorization, insertRejection } from '../store/signedAuthorizations';
import { writeJournaledRecord } from '../store/writtenBack';
import { recoveredEntry } from './recoveredEntry';

function usageIn(entry: AuthorizationEntry | RejectionEntry): UsageOfExecution {
  const { organizationId, policyId, transactionId, networkId, tokenAddress, initiatorId, accountId } = entry;
  const { destination, amount } = entry;
  return {
    ...{ organizationId, policyId, transactionId, networkId, tokenAddress, initiatorId, accountId },
    ...{ destination, amount: BigInt(amount) },
  };
}

/** Writes the record of a transaction back, audited. */
async function writeRecord(
  tx: Tx,
  { organizationId, transactionId, record }: AuthorizationEntry | RejectionEntry,
  details: { readonly [field: string]: JsonValue },
): Promise<void> {
  // A journal that was completed from a database without it has none.
  if (record) await writeJournaledRecord(tx, record);
  const entry = recoveredEntry('transaction', transactionId, details);
  const positions = await appendAudit(tx, organizationId, [entry]);
  await setPositions(tx, 'approvals', [transactionId], positions);
}

async function writeOutcome(tx: Tx, entry: OutcomeEntry): Promise<void> {
  const { transactionId, outcome } = entry;
  const read =
    outcome === null
      ? { outcome, usedAt: entry.usedAt === undefined ? null : new Date(entry.usedAt) }
      : { outcome, blockAt: new Date(entry.blockAt) };
  await decideAuthorizations(tx, [{ transactionId, ...read }]);
}

/** Writes an authorization back: its execution continues with the same bytes at the same nonce. */
async function writeAuthorization(
  tx: Tx,
  entry: AuthorizationEntry,
  outcome: OutcomeEntry | undefined,
): Promise<void> {
  const { organizationId, transactionId, accountId, networkId, safeTxHash } = entry;
  const safeNonce = BigInt(entry.safeNonce);
  await writeRecord(tx, entry, {
    ...{ safeNonce: entry.safeNonce, safeTxHash, outcome: outcome?.outcome ?? null },
  });
  await insertAuthorization(tx, {
    ...usageIn(entry),
    safeNonce,
    safeTxHash,
    authorizedAt: new Date(entry.authorizedAt),
  });
  await insertAttempt(tx, {
    kind: 'transaction',
    ...{ organizationId, transactionId, accountId, networkId, safeNonce, safeTxHash },
    to: entry.to,
    value: BigInt(entry.value),
    data: entry.data,
    safeTxGas: BigInt(entry.safeTxGas),
    fromBlock: BigInt(entry.fromBlock),
  });
  if (outcome) await writeOutcome(tx, outcome);
}

/** Writes the cancellation of an authorization back: it is the same empty call. */
async function writeCancellation(tx: Tx, transactionId: string, account: Address): Promise<void> {
  const [target] = await attemptsOfTransaction(tx, transactionId);
  if (!target) throw new Error(`nothing of transaction ${transactionId} is signed`);
  const { networkId, safeNonce } = target;
  const content = cancellation({ networkId, account, nonce: safeNonce });
  await insertAttempt(tx, {
    ...target,
    kind: 'cancellation',
    to: content.to,
    value: content.value,
    data: content.data,
    safeTxGas: content.safeTxGas,
    safeTxHash: safeTransactionHash(content),
  });
}

/** Writes back what was authorized, rejected and cancelled, and what became of it, in the order of the journal. */
export async function writeTransactions(
  tx: Tx,
  journal: JournalReader,
  { authorizations, rejections, cancellations, outcomes }: Missing,
): Promise<void> {
  for (const one of authorizations) {
    const entry = await journal.readAuthorization(one);
    await writeAuthorization(tx, entry, journal.outcomeOf(one.transactionId));
  }
  for (const id of rejections) {
    const entry = await journal.rejection(id);
    if (!entry) continue;
    await writeRecord(tx, entry, { outcome: 'rejected' });
    await insertRejection(tx, usageIn(entry));
  }
  for (const id of cancellations) {
    const known = journal.authorizationOf(id);
    if (!known) continue;
    const { account } = await journal.readAuthorization(known);
    await writeCancellation(tx, id, account as Address);
  }
  for (const outcome of outcomes) await writeOutcome(tx, outcome);
}
