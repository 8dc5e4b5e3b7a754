import type { Address } from 'viem';
import { payloadToSign } from '../../src/approvals/transactions';
import { hasSigned } from '../../src/chain/signatures';
import type { Attempt } from '../../src/db/attempts';
import type { Tx } from '../../src/db/database';
import type { TransactionSnapshot } from '../../src/db/transactions';
import type { JsonValue } from '../../src/domain/canonicalJson';
import { type AuthorizationEntry, signedPart } from '../../src/journal/entries';
import { policyRefusal, usageOf } from '../../src/transactions/policy';
import type { SignerContext } from '../signer/context';
import { SignerRefusal } from '../signer/refusal';
import { assertAttemptOf } from './signedAttempts';
import { assertTransactionEvidence, type Unread, type Votes } from './signerEvidence';
import type { SigningSnapshot } from './signerRecord';

/** The payloads and votes that prove a transaction. */
function evidenceOf({ record, now }: TransactionSnapshot, votes: Votes): JsonValue {
  return {
    initiator: payloadToSign(record, now, 'initiator') ?? null,
    approve: payloadToSign(record, now, 'approve') ?? null,
    votes: votes.map(({ memberId, type, signerAddress, scheme, signature }) => ({
      memberId,
      type,
      signerAddress,
      scheme,
      signature,
    })),
  };
}

/** The authorization of a stored attempt, as the journal keeps it; `rows`: of `transactionRows`. */
export function authorizationEntry(
  snapshot: TransactionSnapshot,
  attempt: Attempt,
  {
    account,
    votes,
    authorizedAt,
    rows,
  }: { account: Address; votes: Votes; authorizedAt: Date; rows: string },
): AuthorizationEntry {
  const { record } = snapshot;
  const { amount, policyId, initiatorId, tokenAddress, destination } = usageOf(record);
  return {
    type: 'authorization',
    organizationId: record.organizationId,
    transactionId: record.id,
    accountId: attempt.accountId,
    networkId: attempt.networkId,
    ...signedPart(attempt),
    account,
    policyId,
    initiatorId,
    tokenAddress,
    amount: String(amount),
    destination,
    authorizedAt: authorizedAt.toISOString(),
    evidence: evidenceOf(snapshot, votes),
    rows,
  };
}

/**
 * Throws SignerRefusal unless a stored attempt that the journal lacks may be taken over: it is the call that was asked
 * for, and the key has signed it, or a crash came before that and all of its evidence is still valid.
 */
export async function assertTakenOver(
  context: SignerContext,
  tx: Tx,
  {
    snapshot,
    attempt,
    votes,
    unread,
  }: { snapshot: SigningSnapshot; attempt: Attempt; votes: Votes; unread: Unread },
): Promise<void> {
  const { record, now } = snapshot;
  assertAttemptOf(record, attempt);
  if (attempt.signature !== null) {
    const { address } = context.keystore.organizationKey(record.organizationId);
    if (await hasSigned(address, attempt.safeTxHash, attempt.signature)) return;
    throw new SignerRefusal(
      'stale',
      `chain_attempts ${attempt.id} has a signature that is not of the organization's key`,
    );
  }
  try {
    await assertTransactionEvidence(context, tx, snapshot, votes, unread);
  } catch (error) {
    // Its own authorization is stored, and counts.
    if (!(error instanceof SignerRefusal) || error.code !== 'budget') throw error;
    const refused = await policyRefusal(
      tx,
      { record, now },
      { by: 'signer', at: now.time, except: record.id },
    );
    if (refused) throw new SignerRefusal(refused.code, refused.message);
  }
}
