import { type Hex, keccak256 } from 'viem';
import { sameAddress } from '../chain/address';
import { decodeSignature, InvalidSignature } from '../chain/signatures';
import type { IdentifyVoter, Voter } from '../chain/voter';
import type { Db, Tx } from '../db/database';
import { findMembersByWallet, memberSummary } from '../db/members';
import type { StoredTransactionVote, TransactionSnapshot } from '../db/transactions';
import type { MemberSummary } from '../domain/proposal';
import { accept, type Outcome, refuse } from '../domain/refusal';
import { type TransactionStatement, transactionPayload } from '../domain/signing';
import {
  initiatorVote,
  maySign,
  type TransactionNow,
  type TransactionRecord,
  type TransactionVoteType,
} from '../domain/transaction';

const STATEMENTS: Record<TransactionVoteType, TransactionStatement> = {
  initiator: 'InitiateTransaction',
  approve: 'ApproveTransaction',
  reject: 'RejectTransaction',
};

const ROLES: Record<TransactionVoteType, string> = {
  initiator: 'initiator of this transaction',
  approve: 'member who may approve this transaction under its policy',
  reject: 'member who may reject this transaction under its policy',
};

/** What is signed about a transaction in that way now; undefined before its initiator has signed. */
export function payloadToSign(
  record: TransactionRecord,
  now: Pick<TransactionNow, 'members'>,
  type: TransactionVoteType,
): string | undefined {
  if (type === 'initiator') return transactionPayload(STATEMENTS.initiator, record, null);
  const begun = initiatorVote(record, now);
  return begun && transactionPayload(STATEMENTS[type], record, begun.signatureHash);
}

/** keccak256 of a signature as it was sent: what approvals and rejections are bound to. */
export function signatureHash(signature: string): string {
  return keccak256(signature.toLowerCase() as Hex);
}

function claimedSigner(signature: string): string | undefined {
  try {
    return decodeSignature(signature).signer;
  } catch (error) {
    if (error instanceof InvalidSignature) return undefined;
    throw error;
  }
}

/** The world of a transaction with the member in it whose wallet a signature claims: they may have no part in it yet. */
export async function worldWithSigner(
  db: Db | Tx,
  { record, now }: TransactionSnapshot,
  signature: string,
): Promise<{ readonly now: TransactionNow; readonly member: MemberSummary | undefined }> {
  const signer = claimedSigner(signature);
  const [known] = signer ? await findMembersByWallet(db, record.organizationId, [signer]) : [];
  if (!known) return { now, member: undefined };
  const member = memberSummary(known);
  return { now: { ...now, members: new Map([...now.members, [member.id, member]]) }, member };
}

/**
 * Finds out who signed a transaction, and whether they may now. Refuses with conflict (before its initiator),
 * invalidSignature or forbidden; throws ChainUnavailable.
 */
export async function identifyTransactionVoter(
  db: Db | Tx,
  identifyVoter: IdentifyVoter,
  { record, now: before }: TransactionSnapshot,
  { type, signature }: { type: TransactionVoteType; signature: string },
): Promise<Outcome<Voter & { readonly now: TransactionNow }>> {
  const payload = payloadToSign(record, before, type);
  if (payload === undefined) {
    return refuse('conflict', `transaction ${record.id} waits for the signature of its initiator first`);
  }
  const { now, member } = await worldWithSigner(db, { record, now: before }, signature);
  const members = member && maySign(record, now, type, member) ? [member] : [];
  const voter = await identifyVoter({ payload, signature, admins: { members }, role: ROLES[type] });
  return voter.ok ? accept({ ...voter.value, now }) : voter;
}

/** Verifies recorded votes of one type again, at this moment; answers those whose signatures still hold. */
export async function verifyVotesAgain(
  identifyVoter: IdentifyVoter,
  { record, now }: TransactionSnapshot,
  type: TransactionVoteType,
): Promise<readonly StoredTransactionVote[]> {
  const payload = payloadToSign(record, now, type);
  if (payload === undefined) return [];
  const people = [...now.members.values(), ...[...now.groups.values()].flat()];
  const verified = await Promise.all(
    record.votes
      .filter((vote) => vote.type === type)
      .map(async (vote) => {
        const member = people.find(
          ({ id, walletAddress }) => id === vote.memberId && sameAddress(walletAddress, vote.signerAddress),
        );
        if (!member) return [];
        const { signature } = vote;
        const voter = await identifyVoter({ payload, signature, admins: { members: [member] } });
        return voter.ok && signatureHash(signature) === vote.signatureHash ? [vote] : [];
      }),
  );
  return verified.flat();
}
