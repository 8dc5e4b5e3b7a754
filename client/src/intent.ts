import type { Hex } from 'viem';
import type { Schema } from './records.ts';

/** Who sends, and on which network. */
interface FromAccount {
  /** The address of the account. */
  readonly account: string;
  readonly networkId: number;
  /** The policy that permits it. Absent: whichever the payload names. */
  readonly policyId?: string;
  /** The failed transaction that it replaces. */
  readonly replaces?: string;
}

/** Native currency or a token is sent. */
export interface TransferIntent extends FromAccount {
  readonly type: 'transfer';
  /** The address of the token; absent: native currency. */
  readonly token?: string;
  readonly to: string;
  /** In the smallest unit. */
  readonly amount: bigint | string;
  /** Of the token: without them its summary may have the amount in the smallest unit only. */
  readonly decimals?: number;
}

/** A contract is called. */
export interface CallIntent extends FromAccount {
  readonly type: 'call';
  readonly to: string;
  readonly data: Hex;
  /** Native currency that the call sends, in its smallest unit; 0 by default. */
  readonly value?: bigint | string;
}

/** What can be asked of an account. */
export type TransactionIntent = TransferIntent | CallIntent;

/** The body of each kind of organization operation. */
interface OperationBodies {
  'members.create': Schema['ProposeMembersCreateRequest'];
  'members.update': Schema['ProposeMembersUpdateRequest'];
  'members.remove': Schema['ProposeMembersRemoveRequest'];
  'groups.create': Schema['ProposeGroupsCreateRequest'];
  'groups.update': Schema['ProposeGroupsUpdateRequest'];
  'groups.delete': Schema['ProposeGroupsDeleteRequest'];
  /** New policies and changes of policies, in one proposal. */
  'policies.change': Schema['ProposePoliciesRequest'];
  'policies.add': Schema['ProposePoliciesAddRequest'];
  'policies.update': Schema['ProposePoliciesUpdateRequest'];
  'policies.remove': Schema['ProposePoliciesRemoveRequest'];
  'accounts.create': Schema['ProposeAccountsCreateRequest'];
  'accounts.update': Schema['ProposeAccountsUpdateRequest'];
  'admins.update': Schema['ProposeAdminsUpdateRequest'];
}

/** A kind of organization operation. */
export type OperationType = keyof OperationBodies;

/** What can be asked of the organization: `{ type: 'members.remove', ids: [...] }`. */
export type OperationIntent<T extends OperationType = OperationType> = {
  [Type in T]: { readonly type: Type } & OperationBodies[Type];
}[T];

/** What a caller wants, in their own words: what a payload is compared with. */
export type Intent = TransactionIntent | OperationIntent;

/**
 * The records that a change begins with, as they were read before it was proposed: what a change does not name has to
 * stay as it is here.
 */
export interface Before {
  readonly members?: readonly Pick<
    Schema['Member'],
    'id' | 'name' | 'type' | 'walletAddress' | 'walletKind'
  >[];
  readonly groups?: readonly Pick<Schema['Group'], 'id' | 'name' | 'members'>[] | undefined;
  readonly admins?:
    | (Pick<Schema['Admins'], 'members' | 'threshold'> & Partial<Pick<Schema['Admins'], 'onChain'>>)
    | undefined;
}
