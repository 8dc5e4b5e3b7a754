import type {
  ApprovalContext,
  ApprovalRecord,
  ApprovalRules,
  Failure,
  FailureCode,
  MemberSummary,
} from './approval';
import { type ApprovalState, approvalState } from './approvalState';
import type { JsonValue } from './canonicalJson';

export type ResourceType = 'members' | 'groups' | 'policies' | 'accounts' | 'admins';
export type ProposalAction = 'create' | 'update' | 'remove' | 'delete';

/** The voters of organization operations and their threshold. */
export interface AdminSet {
  readonly threshold: number;
  readonly members: readonly MemberSummary[];
}

/** The deployment of one account of a proposal on one network. */
export interface Deployment {
  readonly accountId: string;
  readonly networkId: number;
  readonly status: 'pending' | 'completed' | 'failed';
  readonly transactionHash: string | null;
  readonly failure: Failure | null;
  /** What a pending deployment waits for, as text. */
  readonly waitingFor: string | null;
}

/** Names one deployment of a proposal. */
export interface DeploymentKey {
  readonly organizationId: string;
  readonly proposalId: string;
  readonly accountId: string;
  readonly networkId: number;
}

/** The outcome of one deployment. */
export type DeploymentResult =
  | {
      readonly status: 'completed';
      readonly transactionHash: string | null;
      readonly blockNumber: string | null;
    }
  | {
      readonly status: 'failed';
      readonly failure: {
        readonly code: FailureCode;
        readonly message: string;
        readonly transactionHash?: string | undefined;
      };
    };

/** One entry of `result.resources`. */
export interface ResultResource {
  readonly type: 'member' | 'group' | 'policy' | 'account' | 'admin';
  readonly id: string;
  readonly uri?: string;
}

/** An organization operation, open or decided by the admins. */
export interface ProposalRecord extends ApprovalRecord {
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
  readonly data: JsonValue;
  /** The tables show its sealed change; only deployments may be missing. */
  readonly applied: boolean;
  /** A change is visible to others. */
  readonly effective: boolean;
  readonly result: {
    readonly resolution: 'approved' | 'rejected';
    readonly resources: readonly ResultResource[];
  } | null;
  readonly deployments: readonly Deployment[];
}

/** The state that the rules of a proposal depend on: the current admins and the database's time. */
export interface ProposalContext extends ApprovalContext {
  readonly admins: AdminSet;
}

/** True when an account of the proposal is deployed on at least one of its networks. */
export function isPartlyDeployed(record: Pick<ProposalRecord, 'deployments'>): boolean {
  return record.deployments.some((deployment) => deployment.status === 'completed');
}

/** Proposals are decided by admins: the same threshold approves and rejects. */
export const proposalRules: ApprovalRules<ProposalRecord, ProposalContext> = {
  subject: 'proposal',
  people: ({ admins }) => admins.members,
  mayVote: (_record, { admins }, type, member) =>
    type !== 'initiator' && admins.members.some(({ id }) => id === member.id),
  isBound: () => true,
  thresholds: (_record, { admins: { threshold } }) => ({ approve: threshold, reject: threshold }),
  isInitiated: () => true,
  isPartlyDone: (record) => record.effective || isPartlyDeployed(record),
  isFinishable: (record) =>
    record.applied &&
    isPartlyDeployed(record) &&
    (record.executionStatus === 'failed' || record.executionStatus === 'processing'),
};

/** The part of a proposal that its workflow keeps. */
export interface ProposalState extends ApprovalState {
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
  readonly applied: boolean;
  readonly deployments: readonly Deployment[];
}

/** The state of a proposal now. */
export function proposalState(record: ProposalRecord, now: ProposalContext): ProposalState {
  const { resourceType, action, applied, deployments } = record;
  return { ...approvalState(proposalRules, record, now), resourceType, action, applied, deployments };
}
