import { signedState } from '../approvals/sealedState';
import { signSeal } from '../chain/signedSeals';
import type { StoredSeal } from '../db/seals';
import type { StoredProposal } from '../db/storedProposals';
import { type Decision, type FailureCode, isExpired, isVoteOf, newestVotes } from '../domain/approval';
import type { ApprovalKey } from '../domain/approvalRef';
import { adminsOf, type Changed, type OrganizationState } from '../domain/governance';
import { networkNotConfigured } from '../domain/network';
import type { DecisionSeal, SealedVote } from '../domain/seal';
import { proposalPayload, voteStatement } from '../domain/signing';
import { textDifference } from '../domain/textDifference';
import { failpoint } from '../failpoints';
import { changeState, misshapen, wellKnownKeyRefused } from '../operations/change';
import { ruleOf } from '../operations/rules';
import { assertWithinCutoffs } from './cutoff';
import { assertIds } from './input';
import { sealEntry } from './journal/entries';
import { refusalsAsValues, SignerRefusal, type TemporarilyRefused } from './refusal';
import type { SealedState } from './sealedState';
import type { SignerContext } from './signerContext';
import { storeNextSeal } from './store/nextSeal';
import { findProposalToSeal } from './store/proposalsToSeal';
import { assertTokens } from './tokens';

/** The outcome of a request to seal. */
export type SealResult =
  | { readonly sealed: number }
  | { readonly unreachable: string }
  | TemporarilyRefused
  | { readonly refused: { readonly code: FailureCode; readonly message: string } };

/** A decision that may be sealed: its votes that the sealed admins have given, over exactly this record. */
interface Verified {
  readonly votes: readonly SealedVote[];
  readonly record: Executing;
}

type Executing = StoredProposal & { readonly decision: Decision };

/** The record of a proposal whose decision is being executed. Throws SignerRefusal. */
function requireExecuting(
  { organizationId, id }: ApprovalKey,
  record: StoredProposal | undefined,
): Executing {
  // The state is that of the organization that was asked for, and the seal key that of the record.
  if (record?.id !== id || record.organizationId !== organizationId)
    throw new SignerRefusal('stale', `proposal ${id} not found`);
  const { decision } = record;
  if (record.executionStatus !== 'processing' || !decision) {
    throw new SignerRefusal('stale', `proposal ${id} is not being executed: it is ${record.executionStatus}`);
  }
  return { ...record, decision };
}

/** The payload that the admins have signed, from the content of the record and the sealed state. */
function payloadOf({ domainSalt }: OrganizationState, record: StoredProposal, decision: Decision): string {
  return proposalPayload(voteStatement(decision), domainSalt, record);
}

/**
 * Verifies every vote against the sealed admins. They alone say whose votes count: it needs less than `verifyVotes`,
 * which the votes of transactions share with the worker. Outside the database transaction, because contract wallets are asked
 * on chain. Throws SignerRefusal, ChainUnavailable and EndpointsMissing.
 */
async function verify(
  { identifyVoter }: Pick<SignerContext, 'identifyVoter'>,
  { state }: SealedState,
  record: Executing,
): Promise<Verified> {
  const { decision } = record;
  const payload = payloadOf(state, record, decision);
  const admins = adminsOf(state);
  const given = record.votes.filter(({ type }) => type === decision);
  const votes = await Promise.all(
    given.map(async (vote) => {
      const { memberId, signerAddress, scheme, signature } = vote;
      const eligible = admins.members.filter((member) => isVoteOf(member, vote));
      if (eligible.length === 0) return [];
      const voter = await identifyVoter({ payload, signature, eligible });
      return voter.ok ? [{ memberId, signerAddress, scheme, signature }] : [];
    }),
  );
  const valid = newestVotes(votes.flat());
  if (valid.length < admins.threshold) {
    throw new SignerRefusal(
      'stale',
      `the signer found ${valid.length} valid signatures of current admins to ${decision} it; ${admins.threshold} are required`,
    );
  }
  return { votes: valid, record };
}

/** Verifies the tokens that an approved operation names. Throws SignerRefusal and ChainUnavailable. */
async function verifyTokens(context: SignerContext, { record }: Verified): Promise<void> {
  if (record.decision === 'reject') return;
  const rule = ruleOf(record.resourceType, record.action);
  // Data of another shape is refused by its change.
  if (!misshapen(rule, record.data)) await assertTokens(context, rule.tokens?.(record.data) ?? []);
}

/** What an approved operation makes of the state. Throws SignerRefusal. */
function changeOf(context: SignerContext, state: OrganizationState, record: StoredProposal): Changed {
  const rule = ruleOf(record.resourceType, record.action);
  const changed = changeState(rule, state, record.data);
  if (!changed.ok) throw new SignerRefusal('stale', changed.refusal.message);
  const wellKnown = wellKnownKeyRefused(context, changed.value);
  if (wellKnown) throw new SignerRefusal('stale', wellKnown.refusal.message);
  const { networks } = context;
  for (const id of rule.networkIds?.(record.data) ?? []) {
    if (!networks.some((network) => network.id === id)) {
      throw new SignerRefusal('stale', networkNotConfigured(networks, id));
    }
  }
  const summary = rule.summary({ state, networks }, record.data);
  if (summary !== record.summary) {
    throw new SignerRefusal(
      'stale',
      `the summary of proposal ${record.id} is not what it does now: ${textDifference(record.summary, summary)}`,
    );
  }
  return changed.value;
}

/** The next seal and the state that it makes, signed by the seal key. Throws SignerRefusal. */
async function nextSeal(
  context: SignerContext,
  { state, stored }: SealedState,
  { votes, record }: Verified,
): Promise<{ seal: StoredSeal; next: SealedState }> {
  const { id, organizationId, resourceType, action, summary, data } = record;
  const at = context.clock.now();
  if (isExpired(record, at)) {
    throw new SignerRefusal('timeout', `proposal ${id} expired before the signer could seal it`);
  }
  assertWithinCutoffs(context, 'proposal', record);
  const approved = record.decision === 'approve';
  const sequence = state.sequence + 1;
  const { state: next, changes } = approved
    ? changeOf(context, state, record)
    : { state: { ...state, sequence }, changes: [] };
  const sealKey = context.keystore.sealKey(organizationId);
  const seal: DecisionSeal = {
    type: 'decision',
    organizationId,
    sequence,
    previousHash: stored.sealHash,
    at: at.toISOString(),
    proposalId: id,
    resolution: approved ? 'approved' : 'rejected',
    resourceType,
    action,
    summary,
    data,
    expiresAt: record.expiresAt.toISOString(),
    votes,
    changes,
  };
  const signed = await signSeal(sealKey, seal);
  const head = await signedState(sealKey, next, signed.hash);
  return {
    seal: { organizationId, sequence, proposalId: id, sealedAt: at, ...signed },
    next: { state: JSON.parse(head.state), stored: head },
  };
}

/** Verifies a decision, and makes the next seal of it. Throws SignerRefusal, ChainUnavailable and EndpointsMissing. */
async function sealOf(context: SignerContext, known: SealedState, record: Executing) {
  const verified = await verify(context, known, record);
  await verifyTokens(context, verified);
  return nextSeal(context, known, verified);
}

/** How often a decision is verified anew, because others were sealed meanwhile, before its activity fails and is retried. */
const MOST_ROUNDS = 100;

/**
 * Seals the decision about a proposal whose execution has begun: verifies payload, votes, threshold, expiry and networks
 * against what was sealed before, and stores what it changes as the next seal, where that is still exactly what is stored. A
 * proposal is sealed once, approved or rejected: whoever asks again gets the same seal.
 */
export async function sealProposal(context: SignerContext, key: ApprovalKey): Promise<SealResult> {
  return refusalsAsValues<SealResult>(context, async () => {
    assertIds(key, 'organizationId', 'id');
    const { db, journal, clock, readSealedState } = context;
    for (let round = 1; round <= MOST_ROUNDS; round += 1) {
      // Before the look for a seal: one that comes later is of a later state.
      const known = await readSealedState(db, key.organizationId, { remembered: true });
      const found = await findProposalToSeal(db, key);
      if (found?.sealed !== undefined) {
        await readSealedState(db, key.organizationId);
        return { sealed: found.sealed };
      }
      const record = requireExecuting(key, found?.record);
      // Now: what follows may take a while.
      if (found) clock.assertInStep(found.readAt);
      const made = await sealOf(context, known, record).catch(async (error) => {
        const now = await readSealedState(db, key.organizationId);
        if (now.stored.signature === known.stored.signature) throw error;
      });
      if (!made) continue;
      const { seal, next } = made;
      if (!(await storeNextSeal(db, seal, next.stored, { before: known.stored, record }))) {
        // It is what was sealed meanwhile, or is refused.
        await readSealedState(db, key.organizationId);
        continue;
      }
      failpoint('signer.sealStored');
      // Committed, then flushed to the journal, then used.
      await journal.append(sealEntry(seal));
      readSealedState.remember(next);
      context.upkeep.wake(key.organizationId);
      failpoint('signer.sealJournaled');
      return { sealed: seal.sequence };
    }
    throw new Error(`other decisions were sealed ${MOST_ROUNDS} times while proposal ${key.id} was verified`);
  });
}
