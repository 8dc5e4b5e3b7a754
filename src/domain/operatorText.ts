import {
  assertNever,
  type Deployment,
  type Failure,
  type FailureCode,
  type MemberSummary,
  type ProposalState,
} from './proposal';
import { quoted } from './signing';
import type { TransactionState } from './transaction';

function names(members: readonly MemberSummary[]): string {
  if (members.length === 0) return 'nobody';
  return members.map((member) => `${plain(quoted(member.name))} (${member.id})`).join(', ');
}

/** Text from outside (names, chains, nodes) as plain words of one line: it cannot pose as Markdown of ours. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>|#~]/g, '\\$&');
}

function whatToDo(code: FailureCode): string {
  switch (code) {
    case 'rpc':
      return 'Bring the network back (see `npx orgwallet doctor`), then send the signal `retryExecution`.';
    case 'funds':
      return 'Send the relayer named above native coin on that network, then send the signal `retryExecution`.';
    case 'reverted':
      return 'Look at the transaction and its reason. If the cause is gone, send the signal `retryExecution`.';
    case 'policy':
    case 'budget':
      return 'A policy refused it. Change the policy or wait, then send the signal `retryExecution`.';
    case 'stale':
      return 'The world has changed since it was proposed. If it fits again send `retryExecution`; else let it be rejected, or expire, and propose anew.';
    case 'timeout':
      return 'Check that all workers run, then send the signal `retryExecution`.';
    case 'closedByOperator':
      return 'Nothing: it is closed.';
    default:
      return assertNever(code);
  }
}

function failureText(failure: Failure): string {
  const hash = failure.transactionHash ? ` (transaction ${failure.transactionHash})` : '';
  return `**${failure.code}**, attempt ${failure.attempt}, ${failure.at}: ${plain(failure.message)}${hash}`;
}

/** What is the same of everything that is signed for and executed. */
type Judged = Pick<
  ProposalState,
  | 'summary'
  | 'signatureStatus'
  | 'executionStatus'
  | 'threshold'
  | 'approvals'
  | 'rejections'
  | 'expiresAt'
  | 'open'
  | 'failure'
  | 'notes'
>;

/** How many signatures it takes. */
interface Needed {
  readonly approve: number;
  readonly reject: number;
}

function endSentence(state: Judged, status: 'failed' | 'blocked'): string {
  if (state.failure?.code === 'closedByOperator') return 'Closed by an operator.';
  if (!state.open) return `Expired after an execution that was ${status}.`;
  return status === 'failed'
    ? 'The execution failed and waits for a retry.'
    : 'A check refused the execution; nothing was changed.';
}

function signatureSentence(state: Judged, needed: Needed): string {
  switch (state.signatureStatus) {
    case 'expired':
      return 'Expired before it was executed.';
    case 'approvalReady':
      return needed.approve === 0
        ? 'Needs no approval. Waits for somebody to execute it.'
        : 'Approved. Waits for somebody to execute it.';
    case 'rejectionReady':
      return 'Enough rejections. Waits for somebody to execute the rejection.';
    case 'approvalAndRejectionReady':
      return needed.approve === 0
        ? 'Needs no approval, and has a rejection: whichever is executed first wins.'
        : 'Enough approvals and enough rejections: whichever is executed first wins.';
    case 'pendingInitiatorSignature':
      return 'Waits for the signature of its initiator.';
    case 'pendingReviewSignatures': {
      const approve = Math.max(0, needed.approve - state.approvals.length);
      const reject = Math.max(0, needed.reject - state.rejections.length);
      return `Waits for signatures: ${approve} more to approve, or ${reject} more to reject.`;
    }
    default:
      return assertNever(state.signatureStatus);
  }
}

function sentence(state: Judged, needed: Needed, processing: () => string): string {
  switch (state.executionStatus) {
    case 'processing':
      return processing();
    case 'completed':
      return 'Executed. Nothing is left to do.';
    case 'rejected':
      return 'Rejected. Nothing was changed.';
    case 'failed':
    case 'blocked':
      return endSentence(state, state.executionStatus);
    case null:
      return signatureSentence(state, needed);
    default:
      return assertNever(state.executionStatus);
  }
}

function proposalNeeds({ threshold }: ProposalState): Needed {
  return { approve: threshold, reject: threshold };
}

/** One sentence: where the proposal stands and what it waits for. */
export function statusSentence(state: ProposalState): string {
  return sentence(state, proposalNeeds(state), () => {
    const waiting = state.deployments.filter((deployment) => deployment.status === 'pending');
    const reasons = waiting.flatMap((d) =>
      d.waitingFor ? [`network ${d.networkId}: ${plain(d.waitingFor)}`] : [],
    );
    return `Being executed; ${waiting.length} of ${state.deployments.length} deployments are on their way.${
      reasons.length > 0 ? ` Waiting: ${reasons.join('; ')}.` : ''
    }`;
  });
}

function transactionNeeds({ threshold }: TransactionState): Needed {
  return { approve: threshold, reject: Math.max(1, threshold) };
}

/** One sentence: where the transaction stands and what it waits for. */
export function transactionSentence(state: TransactionState): string {
  if (state.open && state.executionStatus === 'failed' && state.awaitsRelayerWei !== null) {
    return `The relayer of network ${state.networkId} has too little coin; it goes on by itself when the relayer has ${state.awaitsRelayerWei} wei.`;
  }
  return sentence(state, transactionNeeds(state), () => {
    const carried = state.transactionHash === null ? '' : `; sent in transaction ${state.transactionHash}`;
    const waiting = state.waitingFor === null ? '' : ` Waiting: ${plain(state.waitingFor)}.`;
    return state.givingUp
      ? `Being given up: an empty call of the account takes its nonce${carried}.${waiting}`
      : `Being executed${carried}.${waiting}`;
  });
}

function deploymentTable(deployments: readonly Deployment[]): string {
  const rows = deployments.map((d) => {
    const about = plain(d.failure?.message ?? d.waitingFor ?? d.transactionHash ?? '');
    return `| ${d.accountId} | ${d.networkId} | ${d.status} | ${about} |`;
  });
  return ['| Account | Network | Status | |', '|---|---|---|---|', ...rows].join('\n');
}

function paragraphsOf(
  state: Judged,
  about: {
    readonly needed: Needed;
    readonly now: string;
    readonly toDo: string | null;
    /** Beside what is asked. */
    readonly context: readonly string[];
    readonly onChain: readonly string[];
  },
): string {
  const { needed, now, toDo, context, onChain } = about;
  const of = (have: number, needs: number) => (needs === 0 ? '(none needed)' : `(${have} of ${needs})`);
  return [
    `**Asked:** ${plain(state.summary)}`,
    ...context,
    `**Now:** ${now}`,
    ...(state.failure ? [`**Failure:** ${failureText(state.failure)}`] : []),
    ...(toDo === null ? [] : [`**What to do:** ${toDo}`]),
    `**Approved by:** ${names(state.approvals)} ${of(state.approvals.length, needed.approve)}`,
    `**Rejected by:** ${names(state.rejections)} ${of(state.rejections.length, needed.reject)}`,
    `**Expires:** ${state.expiresAt}`,
    ...onChain,
    ...state.notes.map((note) => `**Note** (${note.at}): ${plain(note.message)}`),
  ].join('\n\n');
}

/** What an operator reads in the Temporal UI (Markdown): what is asked, who signed, what is missing, what to do. */
export function operatorDetails(state: ProposalState): string {
  return paragraphsOf(state, {
    needed: proposalNeeds(state),
    now: statusSentence(state),
    toDo: state.failure && state.open ? whatToDo(state.failure.code) : null,
    context: [],
    onChain: state.deployments.length > 0 ? [deploymentTable(state.deployments)] : [],
  });
}

function fundsToDo({ networkId, awaitsRelayerWei }: TransactionState): string {
  return awaitsRelayerWei === null
    ? 'The failure says what is missing: coin of the account, or gas that costs less. When it is there, send the signal `retryExecution`.'
    : `Send the relayer of network ${networkId} native coin until it has at least ${awaitsRelayerWei} wei. It goes on by itself then.`;
}

function failedToDo(state: TransactionState, failure: Failure): string {
  switch (failure.code) {
    case 'funds':
      return fundsToDo(state);
    case 'reverted':
      return failure.transactionHash
        ? 'It was on chain and came to nothing there; its nonce is used and its budget is free again. If the cause is gone, send the signal `retryExecution`: it is signed anew. Else let it be rejected, or expire.'
        : 'The call would revert: nothing was sent and its budget is free again. If the cause is gone, send the signal `retryExecution`. Else let it be rejected, or expire.';
    case 'policy':
      return `The policy \`${state.policyId}\` does not let it go. Change the policy if it should (an organization operation), then send the signal \`retryExecution\`. Else let it be rejected, or expire.`;
    case 'budget':
      return `The budget of the policy \`${state.policyId}\` is used up. Wait until enough of it has left the window, or change the policy, then send the signal \`retryExecution\`.`;
    case 'stale':
      return 'The world has changed since it was verified; the failure says what. If it fits again, send the signal `retryExecution`. Else let it be rejected, or expire, and propose anew.';
    case 'timeout':
      return 'Nothing of it is on its way any more. Check that the network answers and all workers run (see `npx orgwallet doctor`), then send the signal `retryExecution`.';
    case 'rpc':
    case 'closedByOperator':
      return whatToDo(failure.code);
    default:
      return assertNever(failure.code);
  }
}

function transactionToDo(state: TransactionState): string | null {
  if (!state.open) return null;
  if (state.failure) return failedToDo(state, state.failure);
  if (state.executionStatus !== 'processing') return null;
  return state.givingUp
    ? 'Wait: the chain decides which of the two it takes.'
    : 'Nothing, it goes on by itself. If it must not go on, send the signal `giveUp`: its nonce is then taken by an empty call, unless the chain is faster.';
}

/** The same for a transaction. */
export function transactionDetails(state: TransactionState): string {
  const unsigned = state.signatureStatus === 'pendingInitiatorSignature' ? ', has not signed yet' : '';
  return paragraphsOf(state, {
    needed: transactionNeeds(state),
    now: transactionSentence(state),
    toDo: transactionToDo(state),
    context: [
      `**From:** account ${state.accountId} on network ${state.networkId}, under policy ${state.policyId}`,
      `**Initiator:** ${names([state.initiator])}${unsigned}`,
    ],
    onChain: state.transactionHash === null ? [] : [`**On chain:** transaction ${state.transactionHash}`],
  });
}
