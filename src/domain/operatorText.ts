import {
  assertNever,
  type Failure,
  type FailureCode,
  hasFailedForGood,
  type MemberSummary,
} from './approval';
import type { ApprovalState } from './approvalState';
import { isNetworkGone } from './networkNotes';
import type { Deployment, ProposalState } from './proposal';
import { quoted } from './quoted';
import { summaryOnOneLine } from './summary';
import type { TransactionState } from './transactionState';

function names(members: readonly MemberSummary[]): string {
  if (members.length === 0) return 'nobody';
  return members.map((member) => `${plain(quoted(member.name))} (${member.id})`).join(', ');
}

/** Text from outside (names, chains, nodes) as plain words of one line: it cannot be rendered as Markdown. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>|#~]/g, '\\$&');
}

function whatToDo(code: FailureCode): string {
  switch (code) {
    case 'rpc':
      return 'Bring the network back (see `./orgwallet doctor`), then send the signal `retryExecution`.';
    case 'accountFunds':
      return 'Fund the account named above on that network, then send the signal `retryExecution`.';
    case 'feeCeiling':
      return 'Wait until gas is cheaper, or raise `maxFeePerGas` of the network and restart the service. Then send the signal `retryExecution`.';
    case 'relayerFunds':
      return 'Send native currency to the relayer named above on that network, then send the signal `retryExecution`.';
    case 'reverted':
      return 'Check the transaction and its revert reason. Once the cause is removed, send the signal `retryExecution`.';
    case 'policy':
    case 'budget':
      return 'Not permitted by policy. Change the policy or wait, then send the signal `retryExecution`.';
    case 'stale':
      return 'What it depends on has changed since it was proposed. If the execution is valid again, send `retryExecution`; otherwise reject it, or wait for its expiry, and propose it again.';
    case 'timeout':
      return 'Check that all workers run, then send the signal `retryExecution`.';
    case 'endpoints':
      return 'Set `signerRpcUrls` of the network that the failure names, restart the service, then send the signal `retryExecution`.';
    case 'closedByOperator':
      return 'Nothing: it is closed.';
    default:
      return assertNever(code);
  }
}

/** What can follow a failure. */
type Sequel = 'retryable' | 'not retryable' | 'continues by itself';

function failureText(failure: Failure, sequel: Sequel): string {
  const hash = failure.transactionHash ? ` (transaction ${failure.transactionHash})` : '';
  return `**${failure.code}**, attempt ${failure.attempt}, ${failure.at}, ${sequel}: ${plain(failure.message)}${hash}`;
}

const retrySequel = ({ open }: ApprovalState): Sequel => (open ? 'retryable' : 'not retryable');

/** How many signatures each decision needs. */
interface Needed {
  readonly approve: number;
  readonly reject: number;
}

function neededBy({ threshold }: ApprovalState): Needed {
  return { approve: threshold, reject: Math.max(1, threshold) };
}

function endSentence(state: ApprovalState, status: 'failed' | 'blocked'): string {
  if (state.failure?.code === 'closedByOperator') return 'Closed by an operator.';
  if (hasFailedForGood(state)) return 'Failed on chain: it cannot be executed again.';
  if (!state.open) return `Expired after an execution that was ${status}.`;
  return status === 'failed'
    ? 'The execution failed and waits for a retry.'
    : 'A check refused the execution; nothing was changed.';
}

function signatureSentence(state: ApprovalState): string {
  const needed = neededBy(state);
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

function sentence(state: ApprovalState, processing: () => string): string {
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
      return signatureSentence(state);
    default:
      return assertNever(state.executionStatus);
  }
}

/** One sentence: the status of a proposal and what it waits for. */
export function proposalSentence(state: ProposalState): string {
  return sentence(state, () => {
    const waiting = state.deployments.filter((deployment) => deployment.status === 'pending');
    const reasons = waiting.flatMap((d) =>
      d.waitingFor ? [`network ${d.networkId}: ${plain(d.waitingFor)}`] : [],
    );
    return `Being executed; ${waiting.length} of ${state.deployments.length} deployments are in progress.${
      reasons.length > 0 ? ` Waiting: ${reasons.join('; ')}.` : ''
    }`;
  });
}

function resumes({
  open,
  executionStatus,
  awaitsRelayerWei,
  ready,
  networkId,
  notes,
}: TransactionState): boolean {
  const isAwaited = awaitsRelayerWei !== null && !isNetworkGone('transaction', networkId, notes);
  return open && executionStatus === 'failed' && isAwaited && ready.includes('approve');
}

/** One sentence: the status of a transaction and what it waits for. */
export function transactionSentence(state: TransactionState): string {
  if (resumes(state)) {
    return `The relayer of account ${state.accountId} on network ${state.networkId} has insufficient funds; the execution continues by itself after a refill.`;
  }
  return sentence(state, () => {
    const { transactionHash: hash } = state;
    const waiting = state.waitingFor === null ? '' : ` Waiting: ${plain(state.waitingFor)}.`;
    // The hash is the transaction's own, never the empty call's.
    return state.cancelling
      ? `Being cancelled${hash === null ? '' : ` after it was sent in transaction ${hash}`}: an empty call of the account takes its nonce.${waiting}`
      : `Being executed${hash === null ? '' : `; sent in transaction ${hash}`}.${waiting}`;
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
  state: ApprovalState,
  about: {
    readonly now: string;
    readonly toDo: string | null;
    /** What can follow a failure. */
    readonly sequel: Sequel;
    /** Beside what is asked. */
    readonly context: readonly string[];
    readonly onChain: readonly string[];
  },
): string {
  const { now, toDo, sequel, context, onChain } = about;
  const needed = neededBy(state);
  const of = (have: number, needs: number) => (needs === 0 ? '(none needed)' : `(${have} of ${needs})`);
  return [
    `**Asked:** ${plain(summaryOnOneLine(state.summary))}`,
    ...context,
    `**Now:** ${now}`,
    ...(state.failure ? [`**Failure:** ${failureText(state.failure, sequel)}`] : []),
    ...(toDo === null ? [] : [`**What to do:** ${toDo}`]),
    `**Approved by:** ${names(state.approvals)} ${of(state.approvals.length, needed.approve)}`,
    `**Rejected by:** ${names(state.rejections)} ${of(state.rejections.length, needed.reject)}`,
    `**Expires:** ${state.expiresAt}`,
    ...onChain,
    ...state.notes.map((note) => `**Note** (${note.at}): ${plain(note.message)}`),
  ].join('\n\n');
}

/** The description of a proposal for operators in the Temporal UI (Markdown): operation, signatures, what is missing, what to do. */
export function proposalDetails(state: ProposalState): string {
  return paragraphsOf(state, {
    now: proposalSentence(state),
    toDo: state.failure && state.open ? whatToDo(state.failure.code) : null,
    sequel: retrySequel(state),
    context: [],
    onChain: state.deployments.length > 0 ? [deploymentTable(state.deployments)] : [],
  });
}

function failedToDo(state: TransactionState, failure: Failure): string {
  switch (failure.code) {
    case 'relayerFunds':
      return resumes(state)
        ? 'Send native currency to the relayer, as much as the failure names. The execution then continues by itself.'
        : whatToDo(failure.code);
    case 'reverted':
      return 'The call would revert: nothing was sent and its budget is released. Once the cause is removed, send the signal `retryExecution`. Otherwise reject it, or wait for its expiry.';
    case 'policy':
      return `Not permitted by policy \`${state.policyId}\`. If it should be, change the policy (an organization operation), then send the signal \`retryExecution\`. Otherwise reject it, or wait for its expiry.`;
    case 'budget':
      return `The budget of the policy \`${state.policyId}\` is used up. Wait until enough of it has left the window, or change the policy, then send the signal \`retryExecution\`.`;
    case 'stale':
      return 'What it depends on has changed since it was verified; the failure says what. If the execution is valid again, send the signal `retryExecution`. Otherwise reject it, or wait for its expiry, and propose it again.';
    case 'timeout':
      return 'Nothing of it was signed; the failure says why. To let it end, reject it, or wait for its expiry. To execute it after all, send the signal `retryExecution`.';
    case 'rpc':
    case 'accountFunds':
    case 'feeCeiling':
    case 'endpoints':
    case 'closedByOperator':
      return whatToDo(failure.code);
    default:
      return assertNever(failure.code);
  }
}

function transactionToDo(state: TransactionState): string | null {
  if (hasFailedForGood(state)) {
    return 'Nothing: its nonce is used and its budget is released. Whoever still wants it creates another transaction, which needs signatures of its own.';
  }
  if (!state.open) return null;
  if (state.failure) return failedToDo(state, state.failure);
  if (state.executionStatus !== 'processing') return null;
  return state.cancelling
    ? 'Wait: the chain decides which of the two it includes.'
    : 'Nothing, it continues by itself. Where it does not, `./orgwallet transactions show` names the part that it waits for. To cancel it, send the signal `cancelTransaction`: an empty call then takes its nonce, unless the chain is faster.';
}

/** The same for a transaction. */
export function transactionDetails(state: TransactionState): string {
  const unsigned = state.signatureStatus === 'pendingInitiatorSignature' ? ', has not signed yet' : '';
  return paragraphsOf(state, {
    now: transactionSentence(state),
    toDo: transactionToDo(state),
    sequel: resumes(state) ? 'continues by itself' : retrySequel(state),
    context: [
      `**From:** account ${state.accountId} on network ${state.networkId}, under policy ${state.policyId}`,
      `**Initiator:** ${names([state.initiator])}${unsigned}`,
    ],
    onChain: state.transactionHash === null ? [] : [`**On chain:** transaction ${state.transactionHash}`],
  });
}
