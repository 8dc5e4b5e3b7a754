import { formatUnits } from 'viem';
import { checkChangeSummary } from './changeSummary.ts';
import { anyDecimals, Matcher, match } from './expectation.ts';
import type { Intent } from './intent.ts';
import type { VoteType } from './payload.ts';
import type { Approval, Proposal, Transaction } from './records.ts';
import { replacedIn, sentSymbolIn, symbolInSummary } from './summary.ts';
import { isNative, isTransfer, NATIVE_DECIMALS } from './transactionCall.ts';
import { type Known, type Verified, verify } from './verify.ts';

/** What can be signed about a record, verified. */
export type Payloads = { readonly [Vote in VoteType]?: Verified };

const VOTES: readonly VoteType[] = ['initiator', 'approve', 'reject'];

/** What a record says about the fields of the message, by its type; how a call is decoded is not among them. */
function messageOf(record: Transaction): { readonly [field: string]: string } {
  if (record.type === 'TOKEN_TRANSFER') {
    const { destination, asset, rawAmount } = record.data;
    return { recipient: destination, token: asset?.tokenAddress, amount: rawAmount };
  }
  const { toAddress: to, value, calldata } = record.data;
  return { to, value, data: calldata };
}

function checkTransaction(record: Transaction, { typedData: { domain, message } }: Verified): void {
  const { type, networkId, data, to, value, calldata, policy, replaces } = record;
  match('type', type, isTransfer(message) ? 'TOKEN_TRANSFER' : 'CONTRACT_INTERACTION');
  for (const chainId of [networkId, data.networkId]) match('domain.chainId', chainId, domain.chainId);
  for (const fields of [{ to, value, data: calldata, policyId: policy.id }, messageOf(record)]) {
    for (const [field, said] of Object.entries(fields))
      match(`message.${field}`, said, message[field as keyof typeof message]);
  }
  match('replaces', replaces, replacedIn(message));
  if (record.type !== 'TOKEN_TRANSFER') return;
  const { asset, rawAmount, displayAmount } = record.data;
  if (isNative(message.token)) {
    match('data.asset.decimals', asset.decimals, NATIVE_DECIMALS);
    // Of a token its address says more; a native currency has none.
    const said = symbolInSummary(asset.symbol);
    match('data.asset.symbol', said, sentSymbolIn(message) ?? said);
  }
  match('data.displayAmount', displayAmount, formatUnits(BigInt(rawAmount), asset.decimals ?? 0));
}

function checkProposal(record: Proposal, { typedData: { message }, change }: Verified): void {
  const { resourceType, action, data } = record;
  match('message.resourceType', resourceType, message.resourceType);
  match('message.action', action, message.action);
  // Members have times only in the response that creates a proposal.
  const signed = JSON.stringify(data, (key, value) => (/^(cre|upd)atedAt$/.test(key) ? undefined : value));
  match('message.data', JSON.parse(signed), change?.data);
  if (change) checkChangeSummary(message.summary, change);
}

/** The status of what its initiator has signed, by whether it has all approvals and all rejections. */
const STATUSES = [
  ['pendingReviewSignatures', 'rejectionReady'],
  ['approvalReady', 'approvalAndRejectionReady'],
] as const;

const open = new Matcher(
  'null, failed or blocked: it can be signed',
  (got) => got === null || got === 'failed' || got === 'blocked',
);

/** Compares the state of a record that can be signed with its signatures. Throws PayloadMismatch. */
function checkState(record: Approval): void {
  const { executionStatus, signatureStatus, approvals, rejections, threshold } = record;
  match('executionStatus', open, executionStatus);
  if ('policy' in record) match('policy.threshold', threshold, record.policy.threshold);
  for (const [field, voters] of Object.entries({ approvals, rejections })) {
    const ids = voters.map(({ id }) => id);
    match(
      field,
      ids.map((id, i) => (ids.indexOf(id) === i ? id : 'another member')),
      ids,
    );
  }
  if (signatureStatus === 'pendingInitiatorSignature') return;
  const isApproved = approvals.length >= threshold;
  const isRejected = rejections.length >= Math.max(1, threshold);
  match('signatureStatus', STATUSES[isApproved ? 1 : 0][isRejected ? 1 : 0], signatureStatus);
}

/** Compares everything that a record says about what is signed with a payload. Throws PayloadMismatch. */
function checkRecord(record: Approval, verified: Verified): void {
  match('subject', 'resourceType' in record ? 'proposal' : 'transaction', verified.subject);
  if ('resourceType' in record) checkProposal(record, verified);
  else checkTransaction(record, verified);
}

/**
 * Verifies every payload that a record has, as `verify` does, and that they say the same as the record and as each other:
 * what is shown of a record that passes is what is signed, and its state is that of its signatures. The decimals of a token
 * are the record's. Throws PayloadMismatch.
 */
export function verifyRecord(
  record: Approval,
  intent?: Intent,
  known: Omit<Known, 'id' | 'vote' | 'summary' | 'expiresAt'> = {},
): Payloads {
  const { id, summary, expiresAt, signingPayloads = {} } = record;
  const decimals = 'asset' in record.data ? (record.data.asset?.decimals ?? undefined) : undefined;
  if (decimals !== undefined) match('data.asset.decimals', anyDecimals, decimals);
  const payloads: { [Vote in VoteType]?: Verified } = {};
  for (const vote of VOTES) {
    const payload = (signingPayloads as { [name: string]: string })[`${vote}Payload`];
    if (payload === undefined) continue;
    const verified = verify(payload, intent, {
      decimals,
      ...known,
      id,
      summary,
      expiresAt,
      vote,
    });
    checkRecord(record, verified);
    const [first = verified] = Object.values(payloads);
    const { domain, message } = verified.typedData;
    // What the initiator signs is bound to nothing.
    const { initiatorSignatureHash } = (payloads.approve ?? verified).typedData.message;
    const said = { ...first.typedData.message, initiatorSignatureHash };
    match('', { domain: first.typedData.domain, message: said }, { domain, message });
    payloads[vote] = verified;
  }
  if (Object.keys(payloads).length > 0) checkState(record);
  return payloads;
}
