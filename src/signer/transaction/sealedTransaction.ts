import { payloadToSign } from '../../approvals/signedTransaction';
import { hashTypedPayload } from '../../chain/typedData';
import type { Attempt } from '../../db/attempts';
import type { StoredVote } from '../../db/storedApprovals';
import type {
  StoredTransaction,
  TransactionSnapshot,
  UnsealedTransaction,
} from '../../db/storedTransactions';
import { isSameAddress } from '../../domain/address';
import { countedVoters, toMemberSummary } from '../../domain/approval';
import type { JsonValue } from '../../domain/canonicalJson';
import { findResource, membersOf, type OrganizationState } from '../../domain/governance';
import { type PolicyDefinition, policyPeople } from '../../domain/policy';
import { NO_REFERENCES } from '../../domain/references';
import { type EvaluationContext, initiatorVote, transactionRules } from '../../domain/transaction';

/** The members and groups that a policy and a record name, as the admins have decided. */
function peopleOf(
  state: OrganizationState,
  policy: PolicyDefinition,
  memberIds: readonly string[],
): Pick<EvaluationContext, 'members' | 'groups'> {
  const named = policyPeople([policy]);
  const members = membersOf(state, [...memberIds, ...named.memberIds]);
  const groups = named.groupIds.flatMap((id) => {
    const group = findResource(state, 'group', id);
    return group ? [[group.id, membersOf(state, group.memberIds).map(toMemberSummary)] as const] : [];
  });
  return {
    members: new Map(members.map((member) => [member.id, toMemberSummary(member)])),
    groups: new Map(groups),
  };
}

/**
 * A record under what the admins have decided, at a time: policy, members, groups and account are those of the sealed state,
 * whatever the tables say. Undefined where that has no such account.
 */
export function underSealedState(
  { record, now }: UnsealedTransaction,
  state: OrganizationState,
  time: Date,
): TransactionSnapshot | undefined {
  const policy = findResource(state, 'policy', record.policyId);
  const account = findResource(state, 'account', record.accountId);
  const initiator = findResource(state, 'member', record.initiator.id);
  if (!account) return undefined;
  const voters = record.votes.map(({ memberId }) => memberId);
  return {
    record: {
      ...record,
      accountAddress: account.address,
      accountName: account.name,
      accountNetworkIds: account.networkIds,
      // Not read: the signer reads the outcome from its own endpoints, and references are not signed.
      chain: null,
      references: NO_REFERENCES,
      fees: null,
      ...(initiator ? { initiator: toMemberSummary(initiator) } : {}),
    },
    now: {
      time,
      policy: policy ? { id: policy.id, ...policy.definition } : now.policy,
      policyRemoved: !policy,
      ...peopleOf(state, policy?.definition ?? now.policy, [record.initiator.id, ...voters]),
    },
  };
}

/** Whether a record has a signable form: valid addresses and numbers. */
export function canBeSigned({ record, now }: TransactionSnapshot): boolean {
  try {
    hashTypedPayload(payloadToSign(record, now, 'initiator') ?? '');
    return true;
  } catch {
    return false;
  }
}

/**
 * The signatures that a record lacks, in words; undefined: none. It has verified votes only, counted by the rules that
 * `checkExecution` uses too; whether the record may be executed otherwise (open, not expired) is asked elsewhere.
 */
export function missingVotes({ record, now }: TransactionSnapshot): string | undefined {
  if (!initiatorVote(record, now)) return 'no valid signature of the initiator';
  const { length } = countedVoters(transactionRules, record, now, 'approve');
  const { approve: threshold } = transactionRules.thresholds(record, now);
  if (length >= threshold) return undefined;
  return `${length} valid approvals by current approvers; ${threshold} are required`;
}

/** Whether an attempt is the call that a record asks for. */
export function isAttemptOf(record: StoredTransaction, attempt: Omit<Attempt, 'id'>): boolean {
  return (
    attempt.transactionId === record.id &&
    attempt.organizationId === record.organizationId &&
    attempt.accountId === record.accountId &&
    attempt.networkId === record.networkId &&
    isSameAddress(attempt.to, record.to) &&
    attempt.value === record.value &&
    attempt.data.toLowerCase() === record.calldata.toLowerCase()
  );
}

/** The payloads and votes that prove a transaction. */
export function evidenceOf({ record, now }: TransactionSnapshot, votes: readonly StoredVote[]): JsonValue {
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
