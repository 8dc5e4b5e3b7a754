import { decodeSignature, InvalidSignature } from '../chain/signatures';
import { findMembersByWallet } from '../db/members';
import type { TransactionSnapshot } from '../db/storedTransactions';
import { lockTransaction, readTransactionForMessage } from '../db/transactions';
import { isSameAddress } from '../domain/address';
import { type MemberSummary, toMemberSummary, type VoteType } from '../domain/approval';
import type { JsonValue } from '../domain/canonicalJson';
import { initiatorVote, transactionRules } from '../domain/transaction';
import { type TransactionState, transactionState } from '../domain/transactionState';
import type { ApprovalSubject } from './approvalSubject';
import { signedTransaction } from './signedTransaction';

const ROLES: Record<VoteType, string> = {
  initiator: 'the initiator of this transaction',
  approve: 'permitted to approve this transaction by its policy',
  reject: 'permitted to reject this transaction by its policy',
};

function claimedWallet(signature: string): string | undefined {
  try {
    return decodeSignature(signature).signer;
  } catch (error) {
    if (error instanceof InvalidSignature) return undefined;
    throw error;
  }
}

/** Transactions of accounts: decided by the policy that they name. */
export const transactionSubject: ApprovalSubject<TransactionSnapshot, TransactionState> = {
  ...signedTransaction,
  needsAdmin: false,
  read: readTransactionForMessage,
  lock: lockTransaction,
  state: ({ record, now }) => transactionState(record, now),
  async withVoter(db, snapshot, signature) {
    const signer = claimedWallet(signature);
    const { record, now } = snapshot;
    const isPart = ({ walletAddress }: MemberSummary) => signer && isSameAddress(walletAddress, signer);
    if (!signer || transactionRules.people(now).some(isPart)) return snapshot;
    const [known] = await findMembersByWallet(db, record.organizationId, [signer]);
    if (!known) return snapshot;
    return {
      ...snapshot,
      now: { ...now, members: new Map([...now.members, [known.id, toMemberSummary(known)]]) },
    };
  },
  role: (type) => ROLES[type],
  boundTo({ record, now }, type) {
    return type === 'initiator' ? null : (initiatorVote(record, now)?.signatureHash ?? null);
  },
  electorate: (now) =>
    ({
      policy: now.policy,
      members: transactionRules.people(now),
      groups: Object.fromEntries(now.groups),
    }) as unknown as JsonValue,
  about: ({ accountId, networkId }) => ({ accountId, networkId }),
};
