import type { AnySnapshot } from '../src/approvals/approvalSubject';
import type { ProposalSnapshot } from '../src/db/proposals';
import type { TransactionSnapshot } from '../src/db/storedTransactions';
import { setPaused } from '../src/delivery/operatorPause';
import type { Subject } from '../src/domain/approval';
import type { ApprovalKey } from '../src/domain/approvalRef';
import type { ApprovalState } from '../src/domain/approvalState';
import type { DeploymentKey, DeploymentResult, ProposalState } from '../src/domain/proposal';
import type { WorkflowGone } from '../src/domain/reconciliation';
import type { Refusal } from '../src/domain/refusal';
import type { Reminder } from '../src/domain/reminder';
import type { ExecutionResult, TransactionState } from '../src/domain/transactionState';
import type { SealResult } from '../src/signer/seal';
import type { MessageResult } from '../src/temporal/messages';
import { readAuthority } from './approvals/authority';
import { type BeginInput, beginExecution } from './approvals/begin';
import { createApproval } from './approvals/create';
import type {
  ApprovalDeps,
  CreatableSubject,
  CreateInput,
  ExecutableSubject,
  MessageInput,
} from './approvals/executableSubject';
import { expireApproval } from './approvals/expire';
import { readApprovalState } from './approvals/read';
import { recordReminder } from './approvals/remind';
import { recordRestart } from './approvals/restart';
import { recordVote, type VoteInput } from './approvals/vote';
import { reportWaiting, type Waiting } from './approvals/wait';
import { applySeal, refreshNoted } from './proposals/applySeal';
import { finishDeployments, recordDeployment, reportDeployment } from './proposals/deployments';
import { type CreateProposalInput, executableProposal } from './proposals/executableProposal';
import { createReconcilerActivities } from './reconciler/reconciler';
import type { ReconcilerDeps } from './reconciler/repairs';
import { requestCancellation } from './transactions/cancel';
import type { ObserveNewContext } from './transactions/chainContext';
import { executableTransaction } from './transactions/executableTransaction';
import { finishTransaction } from './transactions/finish';
import { createPrepareNewTransaction } from './transactions/prepareNew';

/** The shared lifecycle of one subject. Each activity is one database transaction, and idempotent. */
export type LifecycleActivities<K extends Subject, S extends ApprovalState, I extends CreateInput> = {
  createApproval(input: I & { readonly subject: K }): Promise<MessageResult<S>>;
  recordVote(input: VoteInput & { readonly subject: K }): Promise<MessageResult<S>>;
  readAuthority(input: MessageInput & { readonly subject: K }): Promise<Refusal | null>;
  beginExecution(input: BeginInput & { readonly subject: K }): Promise<MessageResult<S>>;
  expireApproval(input: ApprovalKey & { readonly subject: K }): Promise<S>;
  recordReminder(input: ApprovalKey & { readonly subject: K; readonly reminder: Reminder }): Promise<S>;
  recordRestored(
    input: ApprovalKey & { readonly subject: K; readonly found: WorkflowGone; readonly runId: string },
  ): Promise<S>;
  readApproval(input: ApprovalKey & { readonly subject: K }): Promise<S>;
  reportWaiting(input: ApprovalKey & Waiting & { readonly subject: K }): Promise<S>;
};

/** The activities of a proposal's workflow that decide and write in the database. */
export type ProposalActivities = LifecycleActivities<'proposal', ProposalState, CreateProposalInput> & {
  reportDeployment(input: DeploymentKey & Waiting): Promise<ProposalState>;
  recordDeployment(input: DeploymentKey & { readonly result: DeploymentResult }): Promise<ProposalState>;
  applySeal(
    input: ApprovalKey & { readonly result: SealResult },
  ): Promise<{ readonly state: ProposalState; readonly noted: boolean }>;
  finishDeployments(input: ApprovalKey): Promise<ProposalState>;
  refreshNoted(input: ApprovalKey): Promise<number>;
};

/** The activities of a transaction's workflow that decide and write in the database. */
export type TransactionActivities = LifecycleActivities<'transaction', TransactionState, CreateInput> & {
  finishTransaction(input: ApprovalKey & { readonly result: ExecutionResult }): Promise<TransactionState>;
  requestCancellation(input: MessageInput): Promise<MessageResult<TransactionState>>;
};

/** Binds the shared lifecycle to a subject. */
function lifecycleOf<
  K extends Subject,
  V extends AnySnapshot,
  S extends ApprovalState,
  I extends CreateInput,
>(
  deps: ApprovalDeps,
  subject: CreatableSubject<V, S, I> & ExecutableSubject<V, S>,
): LifecycleActivities<K, S, I> {
  return {
    createApproval: (input) => createApproval(deps, subject, input),
    recordVote: (input) => recordVote(deps, subject, input),
    readAuthority: (input) => readAuthority(deps, subject, input),
    beginExecution: (input) => beginExecution(deps, subject, input),
    expireApproval: (input) => expireApproval(deps, subject, input),
    recordReminder: (input) => recordReminder(deps, subject, input),
    recordRestored: (input) => recordRestart(deps, subject, input),
    readApproval: (input) => readApprovalState(deps.db, subject, input),
    reportWaiting: (input) => reportWaiting(deps, subject, input),
  };
}

/** The activities of approvals that decide and write in the database. */
export function createLifecycleActivities(deps: ApprovalDeps): ProposalActivities & TransactionActivities {
  const proposals = lifecycleOf<'proposal', ProposalSnapshot, ProposalState, CreateProposalInput>(
    deps,
    executableProposal,
  );
  const transactions = lifecycleOf<'transaction', TransactionSnapshot, TransactionState, CreateInput>(
    deps,
    executableTransaction,
  );
  const bySubject = { proposal: proposals, transaction: transactions };
  const dispatch =
    (name: keyof typeof proposals) =>
    (input: { readonly subject: Subject }): Promise<unknown> =>
      (bySubject[input.subject][name] as (input: unknown) => Promise<unknown>)(input);
  const lifecycle = Object.fromEntries(
    (Object.keys(proposals) as (keyof typeof proposals)[]).map((name) => [name, dispatch(name)]),
  ) as unknown as typeof proposals & typeof transactions;
  return {
    ...lifecycle,
    reportDeployment: (input) => reportDeployment(deps, input),
    recordDeployment: (input) => recordDeployment(deps, input),
    applySeal: (input) => applySeal(deps, input),
    finishDeployments: (input) => finishDeployments(deps, input),
    refreshNoted: (input) => refreshNoted(deps, input),
    finishTransaction: (input) => finishTransaction(deps, input),
    requestCancellation: (input) => requestCancellation(deps, input),
  };
}

/** The dependencies of the worker of workflows. It has no key. */
type WorkerDeps = ApprovalDeps &
  ObserveNewContext &
  ReconcilerDeps & {
    /** Counts a transaction that was executed. */
    readonly noteExecuted: (transactionId: string) => void;
  };

interface SetDeliveryPaused {
  readonly id: string;
  readonly isPaused: boolean;
}

/** The activities of the worker of workflows: local ones of approvals and transactions, and the reconciler. */
export function createWorkerActivities(deps: WorkerDeps) {
  const lifecycle = createLifecycleActivities(deps);
  return {
    ...lifecycle,
    async finishTransaction(input: Parameters<typeof lifecycle.finishTransaction>[0]) {
      const state = await lifecycle.finishTransaction(input);
      if (state.executionStatus === 'completed') deps.noteExecuted(input.id);
      return state;
    },
    prepareNewTransaction: createPrepareNewTransaction(deps),
    /** Pauses or resumes a destination, as an operator. */
    async setDeliveryPaused({ id, isPaused }: SetDeliveryPaused): Promise<void> {
      await setPaused(deps.db, id, isPaused);
    },
    ...createReconcilerActivities(deps),
  };
}

/** The activities of the worker of workflows, as these see them. */
export type WorkerActivities = ReturnType<typeof createWorkerActivities>;
