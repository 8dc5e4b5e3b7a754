import {
  assertNever,
  type Deployment,
  type Failure,
  type FailureCode,
  type MemberSummary,
  type ProposalState,
} from './proposal';
import { quoted } from './signing';

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

/** One sentence: where the proposal stands and what it waits for. */
export function statusSentence(state: ProposalState): string {
  const missing = (have: number) => Math.max(0, state.threshold - have);
  switch (state.executionStatus) {
    case 'processing': {
      const waiting = state.deployments.filter((deployment) => deployment.status === 'pending');
      const reasons = waiting.flatMap((d) =>
        d.waitingFor ? [`network ${d.networkId}: ${plain(d.waitingFor)}`] : [],
      );
      return `Being executed; ${waiting.length} of ${state.deployments.length} deployments are on their way.${
        reasons.length > 0 ? ` Waiting: ${reasons.join('; ')}.` : ''
      }`;
    }
    case 'completed':
      return 'Executed. Nothing is left to do.';
    case 'rejected':
      return 'Rejected. Nothing was changed.';
    case 'failed':
    case 'blocked':
      if (state.failure?.code === 'closedByOperator') return 'Closed by an operator.';
      if (!state.open) return `Expired after an execution that was ${state.executionStatus}.`;
      return state.executionStatus === 'failed'
        ? 'The execution failed and waits for a retry.'
        : 'A check refused the execution; nothing was changed.';
    case null:
      break;
    default:
      return assertNever(state.executionStatus);
  }
  switch (state.signatureStatus) {
    case 'expired':
      return 'Expired before it was executed.';
    case 'approvalReady':
      return 'Approved. Waits for somebody to execute it.';
    case 'rejectionReady':
      return 'Enough rejections. Waits for somebody to execute the rejection.';
    case 'approvalAndRejectionReady':
      return 'Enough approvals and enough rejections: whichever is executed first wins.';
    case 'pendingInitiatorSignature':
      return 'Waits for the signature of its initiator.';
    case 'pendingReviewSignatures':
      return `Waits for signatures: ${missing(state.approvals.length)} more to approve, or ${missing(
        state.rejections.length,
      )} more to reject.`;
    default:
      return assertNever(state.signatureStatus);
  }
}

function deploymentTable(deployments: readonly Deployment[]): string {
  const rows = deployments.map((d) => {
    const about = plain(d.failure?.message ?? d.waitingFor ?? d.transactionHash ?? '');
    return `| ${d.accountId} | ${d.networkId} | ${d.status} | ${about} |`;
  });
  return ['| Account | Network | Status | |', '|---|---|---|---|', ...rows].join('\n');
}

/** What an operator reads in the Temporal UI (Markdown): what is asked, who signed, what is missing, what to do. */
export function operatorDetails(state: ProposalState): string {
  const paragraphs = [
    `**Asked:** ${plain(state.summary)}`,
    `**Now:** ${statusSentence(state)}`,
    ...(state.failure ? [`**Failure:** ${failureText(state.failure)}`] : []),
    ...(state.failure && state.open ? [`**What to do:** ${whatToDo(state.failure.code)}`] : []),
    `**Approved by:** ${names(state.approvals)} (${state.approvals.length} of ${state.threshold})`,
    `**Rejected by:** ${names(state.rejections)} (${state.rejections.length} of ${state.threshold})`,
    `**Expires:** ${state.expiresAt}`,
    ...(state.deployments.length > 0 ? [deploymentTable(state.deployments)] : []),
    ...state.notes.map((note) => `**Note** (${note.at}): ${plain(note.message)}`),
  ];
  return paragraphs.join('\n\n');
}
