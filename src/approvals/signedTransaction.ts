import type { TransactionSnapshot } from '../db/storedTransactions';
import type { VoteType } from '../domain/approval';
import { initiatorPayload, type TransactionStatement, transactionPayload } from '../domain/signing';
import {
  type EvaluationContext,
  initiatorVote,
  type TransactionRecord,
  transactionRules,
} from '../domain/transaction';
import type { SignedSubject } from './approvalSubject';

const STATEMENTS: Record<VoteType, TransactionStatement> = {
  initiator: 'InitiateTransaction',
  approve: 'ApproveTransaction',
  reject: 'RejectTransaction',
};

/** The payload of a statement about a transaction; undefined for a review before its initiator has signed. */
export function payloadToSign(
  record: TransactionRecord,
  now: Pick<EvaluationContext, 'members'>,
  type: VoteType,
): string | undefined {
  if (type === 'initiator') return initiatorPayload(record);
  const initiated = initiatorVote(record, now);
  return initiated && transactionPayload(STATEMENTS[type], record, initiated.signatureHash);
}

/** What the votes about a transaction are verified with. */
export const signedTransaction: SignedSubject<TransactionSnapshot> = {
  rules: transactionRules,
  payload: ({ record, now }, type) => payloadToSign(record, now, type),
  provedBy: ['initiator'],
};
