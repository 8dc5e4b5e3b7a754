import type { ExecutionStatus, FailureCode, SignatureStatus } from '../../../src/domain/approval';
import { networkNote } from '../../../src/domain/networkNotes';
import { transactionDetails, transactionSentence } from '../../../src/domain/operatorText';
import type { TransactionState } from '../../../src/domain/transactionState';
import { aFailure, aHash, aMember } from '../../support/builders';

const ada = aMember().withId('mem_a').named('Ada').build();
const bo = aMember().withId('mem_b').named('Bo').build();

/** A transaction that its initiator has signed and one of two approvers has approved, with changes. */
function state(change: Partial<TransactionState> = {}): TransactionState {
  return {
    id: 'txn_1',
    organizationId: 'org_1',
    accountId: 'acc_1',
    networkId: 31_337,
    policyId: 'pol_1',
    operation: 'transfer',
    amount: '1 ETH',
    version: 3,
    summary: 'Send 1 "ETH" to 0x1',
    signatureStatus: 'pendingReviewSignatures',
    executionStatus: null,
    decision: null,
    initiator: ada,
    threshold: 2,
    approvals: [bo],
    rejections: [],
    ready: [],
    createdAt: '2025-06-01T12:00:00.000Z',
    expiresAt: '2025-06-08T12:00:00.000Z',
    open: true,
    expired: false,
    closed: false,
    failure: null,
    notes: [],
    transactionHash: null,
    waitingFor: null,
    awaitsRelayerWei: null,
    cancelling: false,
    rejecting: false,
    ...change,
  };
}

const failedWith = (code: FailureCode, change: Partial<TransactionState> = {}) =>
  state({ executionStatus: 'failed', failure: aFailure({ code }), ...change });

describe('the status of a transaction, in one sentence', () => {
  it.each<[SignatureStatus, number, string]>([
    ['pendingInitiatorSignature', 2, 'Waits for the signature of its initiator.'],
    ['pendingReviewSignatures', 2, 'Waits for signatures: 1 more to approve, or 2 more to reject.'],
    ['approvalReady', 1, 'Approved. Waits for somebody to execute it.'],
    ['approvalReady', 0, 'Needs no approval. Waits for somebody to execute it.'],
    ['rejectionReady', 2, 'Enough rejections. Waits for somebody to execute the rejection.'],
    [
      'approvalAndRejectionReady',
      2,
      'Enough approvals and enough rejections: whichever is executed first wins.',
    ],
    [
      'approvalAndRejectionReady',
      0,
      'Needs no approval, and has a rejection: whichever is executed first wins.',
    ],
    ['expired', 2, 'Expired before it was executed.'],
  ])('before any execution, %s with a threshold of %s: %s', (signatureStatus, threshold, sentence) => {
    expect(transactionSentence(state({ signatureStatus, threshold }))).toBe(sentence);
  });

  it.each<[string, Partial<TransactionState>, string]>([
    ['being signed', {}, 'Being executed.'],
    ['sent', { transactionHash: '0xabc' }, 'Being executed; sent in transaction 0xabc.'],
    [
      'waiting',
      { transactionHash: '0xabc', waitingFor: '1 of 2 confirmations' },
      'Being executed; sent in transaction 0xabc. Waiting: 1 of 2 confirmations.',
    ],
    ['cancelled', { cancelling: true }, 'Being cancelled: an empty call of the account takes its nonce.'],
    [
      'cancelled after it was sent',
      { cancelling: true, transactionHash: '0xabc', waitingFor: 'a block' },
      'Being cancelled after it was sent in transaction 0xabc: an empty call of the account takes its nonce. Waiting: a block.',
    ],
  ])('while it is executed, %s', (_, change, sentence) => {
    expect(transactionSentence(state({ executionStatus: 'processing', ...change }))).toBe(sentence);
  });

  it.each<[ExecutionStatus, boolean, string]>([
    ['completed', false, 'Executed. Nothing is left to do.'],
    ['rejected', false, 'Rejected. Nothing was changed.'],
    ['failed', true, 'The execution failed and waits for a retry.'],
    ['failed', false, 'Expired after an execution that was failed.'],
    ['blocked', true, 'A check refused the execution; nothing was changed.'],
    ['blocked', false, 'Expired after an execution that was blocked.'],
  ])('%s, open %s: %s', (executionStatus, open, sentence) => {
    expect(transactionSentence(state({ executionStatus, open }))).toBe(sentence);
  });

  it('when the relayer has insufficient funds: what it waits for, as long as it is open', () => {
    const waiting = failedWith('relayerFunds', { awaitsRelayerWei: '1200', ready: ['approve'] });
    expect(transactionSentence(waiting)).toBe(
      `The relayer of account ${waiting.accountId} on network 31337 has insufficient funds; the execution continues by itself after a refill.`,
    );
    expect(transactionSentence({ ...waiting, ready: [] })).toBe(
      'The execution failed and waits for a retry.',
    );
    const gone = { at: 'now', ...networkNote('transaction', waiting.networkId, true) };
    expect(transactionSentence({ ...waiting, notes: [gone] })).toBe(
      'The execution failed and waits for a retry.',
    );
    expect(transactionSentence({ ...waiting, open: false })).toBe(
      'Expired after an execution that was failed.',
    );
  });

  it('closed by an operator', () => {
    expect(transactionSentence(failedWith('closedByOperator', { open: false }))).toBe(
      'Closed by an operator.',
    );
  });
});

describe('what an operator reads about a transaction', () => {
  it('is what is asked, of which account, by whom, its status, who signed, and until when', () => {
    expect(transactionDetails(state())).toBe(
      [
        '**Asked:** Send 1 "ETH" to 0x1',
        '**From:** account acc_1 on network 31337, under policy pol_1',
        '**Initiator:** "Ada" (mem_a)',
        '**Now:** Waits for signatures: 1 more to approve, or 2 more to reject.',
        '**Approved by:** "Bo" (mem_b) (1 of 2)',
        '**Rejected by:** nobody (0 of 2)',
        '**Expires:** 2025-06-08T12:00:00.000Z',
      ].join('\n\n'),
    );
  });

  it('says who has not signed yet, and that an approval is not needed where it is not', () => {
    const details = transactionDetails(
      state({ signatureStatus: 'pendingInitiatorSignature', threshold: 0, approvals: [] }),
    );
    expect(details).toContain('**Initiator:** "Ada" (mem_a), has not signed yet');
    expect(details).toContain('**Approved by:** nobody (none needed)');
    expect(details).toContain('**Rejected by:** nobody (0 of 1)');
  });

  it('names the transaction on chain', () => {
    const transactionHash = aHash();
    expect(transactionDetails(state({ executionStatus: 'completed', transactionHash }))).toContain(
      `**On chain:** transaction ${transactionHash}`,
    );
  });

  it.each<FailureCode>([
    'rpc',
    'reverted',
    'accountFunds',
    'feeCeiling',
    'relayerFunds',
    'policy',
    'budget',
    'stale',
    'timeout',
  ])('says what to do about a failure of the kind %s while it can still change', (code) => {
    const details = transactionDetails(failedWith(code));
    expect(details).toMatch(/\*\*What to do:\*\* [A-Z].*`retryExecution`.*\.$/m);
    expect(transactionDetails(failedWith(code, { open: false }))).not.toContain('What to do');
  });

  it('says first how what was cancelled before it was signed ends, then how it is executed after all', () => {
    expect(transactionDetails(failedWith('timeout'))).toMatch(
      /To let it end, reject it, or wait for its expiry\. To execute it after all, send the signal `retryExecution`/,
    );
  });

  it('asks for no retry of what continues by itself, and for nothing about what is closed', () => {
    const details = transactionDetails(
      failedWith('relayerFunds', { awaitsRelayerWei: '1200', ready: ['approve'] }),
    );
    expect(details).toContain(
      '**What to do:** Send native currency to the relayer, as much as the failure names. The execution then continues by itself.',
    );
    expect(details).toContain('continues by itself: ');
    expect(details).not.toMatch(/\bwei\b|retryable/);
    expect(details).not.toContain('retryExecution');
    expect(transactionDetails(failedWith('closedByOperator'))).toContain('Nothing: it is closed.');
  });

  it('distinguishes a revert on chain from a simulated one', () => {
    const failure = aFailure({ code: 'reverted', transactionHash: '0xabc' });
    const final = transactionDetails(failedWith('reverted', { failure, closed: true, open: false }));
    expect(final).toContain('**Now:** Failed on chain: it cannot be executed again.');
    expect(final).toContain('its nonce is used');
    expect(final).not.toContain('retryExecution');
    expect(transactionDetails(failedWith('reverted'))).toContain('nothing was sent');
  });

  it('offers to cancel an in-flight transaction, once', () => {
    const processing = state({ executionStatus: 'processing' });
    expect(transactionDetails(processing)).toContain('send the signal `cancelTransaction`');
    expect(transactionDetails({ ...processing, cancelling: true })).not.toContain('`cancelTransaction`');
  });

  it('keeps what comes from outside on its line and out of the Markdown', () => {
    const mallory = aMember().withId('mem_m').named('**Eve**\n\n**What to do:** pay').build();
    const details = transactionDetails(
      state({
        executionStatus: 'processing',
        initiator: mallory,
        summary: 'a\n**Now:** b',
        waitingFor: 'c\n\n**d**',
      }),
    );
    expect(details.match(/^\*\*What to do:\*\*/gm)).toHaveLength(1);
    expect(details.match(/^\*\*Now:\*\*/gm)).toHaveLength(1);
  });
});
