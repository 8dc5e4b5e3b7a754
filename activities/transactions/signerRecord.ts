import type { Db, Tx } from '../../src/db/database';
import { findTransactionStatus, readTransaction, type TransactionSnapshot } from '../../src/db/transactions';
import { memberSummary } from '../../src/domain/approval';
import { findResource, membersOf, type OrganizationState } from '../../src/domain/governance';
import type { PolicyDefinition } from '../../src/domain/policy';
import type { TransactionNow, TransactionRef } from '../../src/domain/transaction';
import type { SignerContext } from '../signer/context';
import { SignerRefusal } from '../signer/refusal';

/** The network, policy and execution status of a transaction. Throws SignerRefusal when it does not exist. */
export async function statusOf(handle: Db | Tx, ref: TransactionRef) {
  const found = await findTransactionStatus(handle, ref);
  if (!found) throw new SignerRefusal('stale', `transaction ${ref.transactionId} not found`);
  return found;
}

/** The members and groups that a policy and a record name, as the admins have decided. */
function peopleOf(
  state: OrganizationState,
  { initiatorSetting, approverSetting }: PolicyDefinition,
  memberIds: readonly string[],
): Pick<TransactionNow, 'members' | 'groups'> {
  const settings = [
    ...(initiatorSetting ? [initiatorSetting] : []),
    ...(approverSetting ? [approverSetting] : []),
  ];
  const named = settings.flatMap((setting) => (setting.type === 'user' ? [setting.memberId] : []));
  const members = membersOf(state, [...memberIds, ...named]);
  const groups = settings.flatMap((setting) => {
    const group = setting.type === 'group' ? findResource(state, 'group', setting.groupId) : undefined;
    return group ? [[group.id, membersOf(state, group.memberIds).map(memberSummary)] as const] : [];
  });
  return {
    members: new Map(members.map((member) => [member.id, memberSummary(member)])),
    groups: new Map(groups),
  };
}

/**
 * A record under what the admins have decided, at the signer's time: policy, members, groups and account are those of the
 * sealed state, whatever the tables say.
 */
function underSealedState(
  { record, now }: TransactionSnapshot,
  state: OrganizationState,
  time: Date,
): TransactionSnapshot {
  const policy = findResource(state, 'policy', record.policyId);
  const account = findResource(state, 'account', record.accountId);
  const initiator = findResource(state, 'member', record.initiator.id);
  if (!account) throw new SignerRefusal('stale', `no sealed decision has account ${record.accountId}`);
  const voters = record.votes.map(({ memberId }) => memberId);
  return {
    record: {
      ...record,
      accountAddress: account.address,
      accountName: account.name,
      accountNetworkIds: account.networkIds,
      ...(initiator ? { initiator: memberSummary(initiator) } : {}),
    },
    now: {
      time,
      policy: policy ? { id: policy.id, ...policy.definition } : now.policy,
      policyRemoved: !policy,
      ...peopleOf(state, policy?.definition ?? now.policy, [record.initiator.id, ...voters]),
    },
  };
}

/** A transaction under the sealed state. */
export interface SealedTransaction extends TransactionSnapshot {
  readonly state: OrganizationState;
}

/**
 * Reads a transaction under the sealed state; undefined when it does not exist. With a lock, nothing is sealed before the
 * database transaction ends. Throws SignerRefusal, and SignerHold when the clock of the database is apart.
 */
export async function readSealedTransaction(
  { readSealedState, clock }: Pick<SignerContext, 'readSealedState' | 'clock'>,
  handle: Db | Tx,
  ref: TransactionRef,
  options: { readonly lock?: 'share' } = {},
): Promise<SealedTransaction | undefined> {
  const { state } = await readSealedState(handle, ref.organizationId, options);
  const found = await readTransaction(handle, ref);
  if (!found) return undefined;
  clock.assertInStep(found.now.time);
  return { ...underSealedState(found, state, clock.now()), state };
}

/** The same. Throws SignerRefusal when it does not exist. */
export async function readSealed(
  ...[context, handle, ref]: Parameters<typeof readSealedTransaction>
): Promise<SealedTransaction> {
  const found = await readSealedTransaction(context, handle, ref);
  if (!found) throw new SignerRefusal('stale', `transaction ${ref.transactionId} not found`);
  return found;
}

/** Reads a transaction. Throws SignerRefusal unless it is on that network, which is locked. */
export async function readOnNetwork(
  context: Pick<SignerContext, 'readSealedState' | 'clock'>,
  tx: Tx,
  ref: TransactionRef,
  networkId: number,
): Promise<SealedTransaction> {
  const found = await readSealedTransaction(context, tx, ref, { lock: 'share' });
  if (found?.record.networkId !== networkId) {
    throw new SignerRefusal('stale', `transaction ${ref.transactionId} not found on network ${networkId}`);
  }
  return found;
}
