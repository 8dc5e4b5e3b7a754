import { sameAddress } from '../src/chain/address';
import type { IdentifyVoter } from '../src/chain/voter';
import type { NetworkConfig } from '../src/config';
import { type Actor, type AuditInput, appendAudit, OPERATOR, SYSTEM } from '../src/db/audit';
import type { Db, Tx } from '../src/db/database';
import { readAdmins } from '../src/db/members';
import {
  lockProposalForMessage,
  type MessageKey,
  type ProposalForMessage,
  readProposalForMessage,
  readRequestToPropose,
  takeVote,
} from '../src/db/proposalMessages';
import {
  findProposal,
  freeClaims,
  insertDeployments,
  insertProposal,
  placeProposal,
  type StoredProposal,
  takeMessage,
  updateDeployment,
  updateProposal,
} from '../src/db/proposals';
import { restoredMessageId } from '../src/db/reconciler';
import { listNotedSince, noteOnOpenRecords } from '../src/db/recordNotes';
import type { JsonValue } from '../src/domain/canonicalJson';
import { adminChanges } from '../src/domain/outsideEvents';
import {
  canFinishAfterExpiry,
  checkExecution,
  checkVote,
  countedVoters,
  type Failure,
  type FailureCode,
  isExpired,
  type MemberSummary,
  type Now,
  type ProposalAction,
  type ProposalState,
  proposalState,
  type ResourceType,
  type Standing,
  standing,
  type Vote,
  type VoteType,
} from '../src/domain/proposal';
import type { RecordRef, WorkflowGone } from '../src/domain/reconciliation';
import { refuse } from '../src/domain/refusal';
import { proposalPayload } from '../src/domain/signing';
import { findKind, kindOf, proposes } from '../src/operations';
import type { KindContext, Outside } from '../src/operations/kind';
import type { CreateResult, MessageResult } from '../src/temporal/messages';
import { forEachAtOnce } from './atOnce';
import { actorOf, memberActor, Refused, refusable, withKey } from './refusable';

/** What these activities need from outside. */
export interface ProposalActivityDeps {
  readonly db: Db;
  readonly networks: readonly NetworkConfig[];
  readonly identifyVoter: IdentifyVoter;
  readonly deriveAccount: KindContext['deriveAccount'];
  readonly readToken: Outside['readToken'];
  /** Tells the workflow of a record to read it again. */
  readonly refresh: (record: RecordRef) => Promise<void>;
  /** Milliseconds from creation to expiry. */
  readonly proposalLifetimeMs: number;
  readonly maxOpenPerKey: number;
}

/** Names one proposal. */
export interface ProposalRef {
  readonly organizationId: string;
  readonly proposalId: string;
}

/** Names one deployment of a proposal. */
export interface DeploymentKey extends ProposalRef {
  readonly accountId: string;
  readonly networkId: number;
}

/** What became of one deployment. */
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

const REFRESHED_AT_ONCE = 20;

/** Ends a transaction without effect because an open proposal is in the way. */
class Taken extends Error {
  constructor(readonly by: { readonly takenClaim: string; readonly byProposal: string }) {
    super(`${by.takenClaim} is taken`);
  }
}

function proposalEntry(
  proposal: Pick<StoredProposal, 'id' | 'resourceType' | 'action'>,
  verb: string,
  actor: Actor,
  details: Record<string, JsonValue>,
): AuditInput {
  return {
    action: `proposal.${verb}`,
    actor,
    resourceType: 'proposal',
    resourceId: proposal.id,
    details: { resourceType: proposal.resourceType, action: proposal.action, ...details },
  };
}

/** What no other vote on the same proposal has. A wallet that changes hands makes the same signature for both. */
function voteKey({ memberId, type, signerAddress }: Vote): string {
  return `${memberId}/${type}/${signerAddress}`;
}

function isAmong(
  members: readonly MemberSummary[],
  { id, walletAddress }: Pick<MemberSummary, 'id' | 'walletAddress'>,
): boolean {
  return members.some((member) => member.id === id && sameAddress(member.walletAddress, walletAddress));
}

/** Those whose votes count in a standing, for the one signature type. */
function voteIds(members: readonly MemberSummary[]): string[] {
  return members.map((member) => member.id);
}

/** The database half of a proposal: each function is one transaction, and can be called again with no second effect. */
export function createProposalActivities(deps: ProposalActivityDeps) {
  const { db } = deps;

  async function stateOf(handle: Db | Tx, ref: ProposalRef): Promise<ProposalState> {
    const found = await readProposalForMessage(handle, ref);
    if (!found) throw new Error(`there is no proposal ${ref.proposalId}`);
    return proposalState(found.record, found.now);
  }

  async function lock(
    tx: Tx,
    key: MessageKey,
    options: { alone?: boolean } = {},
  ): Promise<ProposalForMessage> {
    const locked = await lockProposalForMessage(tx, key, options);
    if (!locked) throw new Refused({ code: 'notFound', message: `there is no proposal ${key.proposalId}` });
    return locked;
  }

  function kindContext(tx: Tx, organizationId: string): KindContext {
    return { tx, organizationId, networks: deps.networks, deriveAccount: deps.deriveAccount };
  }

  function payloadOf({ record, domainSalt }: ProposalForMessage, type: VoteType): string {
    return proposalPayload(type === 'approve' ? 'ApproveProposal' : 'RejectProposal', domainSalt, record);
  }

  interface ProposeInput extends ProposalRef {
    resourceType: ResourceType;
    action: ProposalAction;
    requestId?: string;
  }

  /** Reads what the plan of a request needs from chains, before any transaction. */
  async function observe(input: ProposeInput): Promise<unknown> {
    const kind = findKind(input.resourceType, input.action);
    if (!kind?.observe) return undefined;
    const { made, request } = await readRequestToPropose(db, input);
    if (made || !request || !proposes(kind, request.path, request.body)) return undefined;
    const observed = await kind.observe({ networks: deps.networks, readToken: deps.readToken }, request.body);
    if (!observed.ok) throw new Refused(observed.refusal);
    return observed.value;
  }

  /** One try to make a proposal. Answers the open proposal in its way instead, when there is one. */
  async function tryToCreate(
    input: ProposeInput,
    facts: unknown,
  ): Promise<CreateResult | { takenClaim: string; byProposal: string }> {
    const { organizationId, proposalId, resourceType, action } = input;
    const create = async (tx: Tx): Promise<CreateResult> => {
      const { made, request, open, now, hasSigningKey } = await readRequestToPropose(tx, input);
      const kind = findKind(resourceType, action);
      const needsSigningKey = kind?.needsSigningKey === true && !hasSigningKey;
      if (made) return { ok: true, state: await stateOf(tx, input), needsSigningKey };
      if (!request || !kind || !proposes(kind, request.path, request.body)) {
        throw new Refused({
          code: 'notFound',
          message: `there is no request to ${action} ${resourceType} as proposal ${proposalId}`,
        });
      }
      if (open >= deps.maxOpenPerKey) {
        throw new Refused({
          code: 'conflict',
          message: `this API key has ${open} open proposals and transactions, as many as one key may have`,
        });
      }
      const planned = await kind.plan(kindContext(tx, organizationId), request.body, facts);
      if (!planned.ok) throw new Refused(planned.refusal);
      const { data, plan, summary, claims, names } = planned.value;
      const expiresAt = new Date(Math.floor((now.time.getTime() + deps.proposalLifetimeMs) / 1_000) * 1_000);
      const taken = await insertProposal(tx, {
        id: proposalId,
        organizationId,
        resourceType,
        action,
        data,
        plan,
        summary,
        expiresAt,
        createdByKey: request.apiKeyId,
        claims,
        names,
      });
      if (taken) throw new Taken(taken);
      const actor = await actorOf(tx, request.apiKeyId);
      const [position] = await appendAudit(tx, organizationId, [
        proposalEntry({ id: proposalId, resourceType, action }, 'created', actor, {
          summary,
          data,
          expiresAt: expiresAt.toISOString(),
          apiKeyId: request.apiKeyId,
        }),
      ]);
      const record = await placeProposal(tx, proposalId, position ?? 0n);
      return { ok: true, state: proposalState(record, now), needsSigningKey };
    };
    try {
      return await db.transaction(create);
    } catch (error) {
      if (error instanceof Taken) return error.by;
      throw error;
    }
  }

  /**
   * Makes the proposal from its stored request, or finds it when it is there; without a request it can only be found.
   * Its refusals leave nothing behind.
   */
  async function createProposal(input: ProposeInput): Promise<CreateResult> {
    return refusable(async () => {
      const facts = await observe(input);
      for (;;) {
        const created = await tryToCreate(input, facts);
        if ('ok' in created) return created;
        const { byProposal, takenClaim } = created;
        // One whose time is over is in nobody's way; its own workflow may not have noticed yet.
        const holder = { organizationId: input.organizationId, proposalId: byProposal };
        if ((await findProposal(db, holder.organizationId, byProposal)) === undefined) continue;
        const { closed, signatureStatus } = await expireProposal(holder);
        if (closed || signatureStatus === 'expired') continue;
        return refuse('conflict', `the open proposal ${byProposal} already changes ${takenClaim}`);
      }
    });
  }

  /** Records a vote after verifying its signature and its signer's standing, whichever way it came. */
  async function recordVote(
    input: ProposalRef & {
      messageId: string;
      type: VoteType;
      signature: string;
      reason?: string;
      requestId?: string;
    },
  ): Promise<MessageResult> {
    const { organizationId, proposalId, messageId, type, signature, reason } = input;
    return refusable(async () => {
      if (type !== 'approve' && type !== 'reject') {
        return refuse('validationError', 'must be approve or reject', 'type');
      }
      if (typeof signature !== 'string') return refuse('validationError', 'must be a string', 'signature');
      const seen = await readProposalForMessage(db, input);
      if (!seen) return refuse('notFound', `there is no proposal ${proposalId}`);
      if (seen.messageTaken) return { ok: true, state: proposalState(seen.record, seen.now) };
      const voter = await deps.identifyVoter({
        payload: payloadOf(seen, type),
        signature,
        admins: seen.now.admins,
      });
      if (!voter.ok) return voter;
      return db.transaction(async (tx) => {
        const locked = await lock(tx, input);
        const { record, now, apiKeyId } = locked;
        if (locked.messageTaken) return { ok: true, state: proposalState(record, now) };
        const { signerAddress, scheme } = voter.value;
        const member = now.admins.members.find(
          ({ walletAddress }) => walletAddress.toLowerCase() === signerAddress.toLowerCase(),
        );
        if (!member) {
          throw new Refused({
            code: 'forbidden',
            message: `signer ${signerAddress} is no admin of the organization`,
            field: 'signature',
          });
        }
        const allowed = checkVote(record, now, { member, type });
        if (!allowed.ok) throw new Refused(allowed.refusal);
        const before = standing(record, now).signatureStatus;
        const voted = await takeVote(tx, locked, {
          messageId,
          memberId: member.id,
          type,
          signerAddress,
          scheme,
          signature,
          reason: reason ?? null,
        });
        const state = proposalState(voted, now);
        await appendAudit(tx, organizationId, [
          proposalEntry(record, 'signed', memberActor(member), {
            type,
            ...(reason === undefined ? {} : { reason }),
            signatureStatus: { before, after: state.signatureStatus },
            ...withKey(apiKeyId),
          }),
        ]);
        return { ok: true, state };
      });
    });
  }

  /** The votes of a record that count and whose signatures verify again, at this moment. */
  async function verifyVotesAgain(seen: ProposalForMessage, type: VoteType) {
    const { record, now } = seen;
    const payload = payloadOf(seen, type);
    const accepted = await Promise.all(
      record.votes
        .filter((vote) => vote.type === type)
        .map(async (vote) => {
          const voter = await deps.identifyVoter({ payload, signature: vote.signature, admins: now.admins });
          return voter.ok && voter.value.member.id === vote.memberId ? [voteKey(vote)] : [];
        }),
    );
    return {
      payload,
      counted: countedVoters(record.votes, type, now.admins),
      accepted: new Set(accepted.flat()),
    };
  }

  async function storeEvidence(
    tx: Tx,
    record: StoredProposal,
    outcome: { resolution: 'approved' | 'rejected'; payload: string; type: VoteType; admins: Now['admins'] },
  ): Promise<void> {
    await tx('evidence').insert({
      organization_id: record.organizationId,
      subject_type: 'proposal',
      subject_id: record.id,
      resolution: outcome.resolution,
      payload: outcome.payload,
      signatures: JSON.stringify(
        record.votes
          .filter((vote) => vote.type === outcome.type)
          .map(({ memberId, signerAddress, scheme, signature }) => ({
            memberId,
            signerAddress,
            scheme,
            signature,
          })),
      ),
      admins: JSON.stringify(outcome.admins.members),
      threshold: outcome.admins.threshold,
    });
  }

  function failureAt(now: Now, record: StoredProposal, code: FailureCode, message: string): Failure {
    return { code, message, at: now.time.toISOString(), attempt: record.executionAttempt + 1 };
  }

  /**
   * Begins an outcome whose threshold is met. Everything off chain happens in this one transaction; a proposal that
   * still has to deploy is left `processing`. A check that refuses leaves it `blocked`.
   */
  async function beginExecution(
    input: ProposalRef & { messageId: string; type: VoteType; requestId?: string; actor?: 'operator' },
  ): Promise<MessageResult> {
    const { organizationId, proposalId, messageId, type } = input;
    return refusable(async () => {
      if (type !== 'approve' && type !== 'reject') {
        return refuse('validationError', 'must be approve or reject', 'type');
      }
      const seen = await readProposalForMessage(db, input);
      if (!seen) return refuse('notFound', `there is no proposal ${proposalId}`);
      if (seen.messageTaken) return { ok: true, state: proposalState(seen.record, seen.now) };
      const { payload, accepted, counted } = await verifyVotesAgain(seen, type);
      const begun = await db.transaction(async (tx): Promise<MessageResult | undefined> => {
        // A change of the organization has it to itself.
        const alone = type === 'approve' && !seen.record.applied;
        const { record, now, apiKeyId, messageTaken } = await lock(tx, input, { alone });
        if (messageTaken) return { ok: true, state: proposalState(record, now) };
        const allowed = checkExecution(record, now, type);
        if (!allowed.ok) throw new Refused(allowed.refusal);
        if (input.actor === 'operator' && record.failure === null) {
          throw new Refused({
            code: 'conflict',
            message: `no execution of proposal ${proposalId} has failed: there is nothing to try again`,
          });
        }
        const standingNow = standing(record, now);
        const votersNow = type === 'approve' ? standingNow.approvals : standingNow.rejections;
        // Somebody has signed, or become an admin, or got their wallet, since the signatures were verified.
        if (!record.applied && votersNow.some((voter) => !isAmong(counted, voter))) return undefined;
        await takeMessage(tx, messageId, proposalId, 'execute');
        const actor =
          input.actor === 'operator' || apiKeyId === null ? OPERATOR : await actorOf(tx, apiKeyId);
        const stillCounts = (vote: Vote) =>
          accepted.has(voteKey(vote)) &&
          isAmong(votersNow, { id: vote.memberId, walletAddress: vote.signerAddress });
        const verified = { ...record, votes: record.votes.filter(stillCounts) };
        const audit = (verb: string, details: Record<string, JsonValue>) =>
          proposalEntry(record, verb, actor, { ...details, ...withKey(apiKeyId) });

        const block = async (code: FailureCode, message: string): Promise<MessageResult> => {
          const failure = failureAt(now, record, code, message);
          await updateProposal(tx, proposalId, {
            executionStatus: 'blocked',
            executionAttempt: failure.attempt,
            failure,
          });
          const state = await stateOf(tx, input);
          await appendAudit(tx, organizationId, [audit('blocked', { code, message })]);
          return { ok: true, state };
        };

        if (!record.applied && !checkExecution(verified, now, type).ok) {
          return block(
            'stale',
            'a signature that counted no longer verifies: its wallet does not accept it any more',
          );
        }

        if (type === 'reject') {
          await storeEvidence(tx, verified, { resolution: 'rejected', payload, type, admins: now.admins });
          await freeClaims(tx, proposalId);
          await updateProposal(tx, proposalId, {
            executionStatus: 'rejected',
            result: { resolution: 'rejected', resources: [] },
            failure: null,
            closedWith: standingNow,
          });
          const state = await stateOf(tx, input);
          await appendAudit(tx, organizationId, [
            audit('rejected', { rejections: voteIds(standingNow.rejections) }),
          ]);
          return { ok: true, state };
        }

        const attempt = record.executionAttempt + 1;
        if (record.applied) {
          for (const deployment of record.deployments.filter(({ status }) => status === 'failed')) {
            await updateDeployment(
              tx,
              { proposalId, ...deployment },
              { ...deployment, status: 'pending', failure: null, waitingFor: null },
            );
          }
          await updateProposal(tx, proposalId, {
            executionStatus: 'processing',
            executionAttempt: attempt,
            executedWith: standingNow,
            failure: null,
          });
          const state = await stateOf(tx, input);
          await appendAudit(tx, organizationId, [audit('executionRetried', { attempt })]);
          return { ok: true, state };
        }

        await tx.raw('SAVEPOINT unchanged');
        const applied = await kindOf(record.resourceType, record.action).apply(
          kindContext(tx, organizationId),
          record,
        );
        if (!applied.ok) {
          await tx.raw('ROLLBACK TO SAVEPOINT unchanged');
          return block('stale', applied.refusal.message);
        }
        const { resources, deployments = [], effective = false, audit: changes } = applied.value;
        await storeEvidence(tx, verified, { resolution: 'approved', payload, type, admins: now.admins });
        await insertDeployments(tx, proposalId, deployments);
        const complete = deployments.length === 0;
        if (complete) await freeClaims(tx, proposalId);
        await updateProposal(tx, proposalId, {
          applied: true,
          effective,
          executionAttempt: attempt,
          executedWith: standingNow,
          failure: null,
          result: { resolution: 'approved', resources },
          ...(complete
            ? { executionStatus: 'completed', closedWith: standingNow }
            : { executionStatus: 'processing' }),
        });
        const noted = await noteOnOpenRecords(tx, organizationId, proposalId, [
          ...adminChanges(now.admins, await readAdmins(tx, organizationId)),
          ...(applied.value.notices ?? []).map(({ subject, ...notice }) => ({
            target: { subject },
            ...notice,
          })),
        ]);
        const state = await stateOf(tx, input);
        const positions = await appendAudit(tx, organizationId, [
          ...changes.map((change) => ({ ...change, actor })),
          audit(complete ? 'executed' : 'executionStarted', {
            attempt,
            approvals: voteIds(standingNow.approvals),
            threshold: standingNow.threshold,
          }),
        ]);
        await applied.value.place?.(positions);
        return { ok: true, state, ...(noted > 0 ? { noted: true } : {}) };
      });
      return begun ?? beginExecution(input);
    });
  }

  /** Tells the workflows of what this one's execution was noted on to read their records again. */
  async function refreshNoted(ref: ProposalRef): Promise<number> {
    const noted = await listNotedSince(db, ref);
    await forEachAtOnce(REFRESHED_AT_ONCE, noted, deps.refresh);
    return noted.length;
  }

  /** Tells what a pending deployment waits for, or (null) that it waits no more. */
  async function reportDeployment(
    key: DeploymentKey & { waitingFor: string | null },
  ): Promise<ProposalState> {
    return db.transaction(async (tx) => {
      const { record } = await lock(tx, key);
      const deployment = record.deployments.find(
        (d) => d.accountId === key.accountId && d.networkId === key.networkId,
      );
      if (deployment && deployment.status === 'pending' && deployment.waitingFor !== key.waitingFor) {
        await updateDeployment(tx, key, { ...deployment, waitingFor: key.waitingFor });
        await updateProposal(tx, key.proposalId, {});
      }
      return stateOf(tx, key);
    });
  }

  /** Records what became of one deployment. */
  async function recordDeployment(key: DeploymentKey & { result: DeploymentResult }): Promise<ProposalState> {
    return db.transaction(async (tx) => {
      const { record, now } = await lock(tx, key);
      const deployment = record.deployments.find(
        (d) => d.accountId === key.accountId && d.networkId === key.networkId,
      );
      if (!deployment)
        throw new Error(`proposal ${key.proposalId} deploys no ${key.accountId} on ${key.networkId}`);
      if (deployment.status !== 'pending') return proposalState(record, now);
      const { result } = key;
      if (result.status === 'failed') {
        const failure: Failure = {
          code: result.failure.code,
          message: result.failure.message,
          at: now.time.toISOString(),
          attempt: record.executionAttempt,
          ...(result.failure.transactionHash ? { transactionHash: result.failure.transactionHash } : {}),
        };
        await updateDeployment(tx, key, {
          status: 'failed',
          transactionHash: failure.transactionHash ?? null,
          failure,
          waitingFor: null,
        });
        await updateProposal(tx, key.proposalId, {});
        const state = await stateOf(tx, key);
        await appendAudit(tx, key.organizationId, [
          {
            action: 'account.deploymentFailed',
            actor: SYSTEM,
            resourceType: 'account',
            resourceId: key.accountId,
            details: { proposalId: key.proposalId, networkId: key.networkId, failure: { ...failure } },
          },
        ]);
        return state;
      }
      await updateDeployment(tx, key, {
        status: 'completed',
        transactionHash: result.transactionHash,
        failure: null,
        waitingFor: null,
      });
      const account = await tx('accounts').where({ id: key.accountId }).forUpdate().first();
      const first = (await tx('account_networks').where({ account_id: key.accountId }).first()) === undefined;
      await tx('account_networks')
        .insert({
          account_id: key.accountId,
          network_id: key.networkId,
          transaction_hash: result.transactionHash,
          block_number: result.blockNumber,
        })
        .onConflict(['account_id', 'network_id'])
        .ignore();
      await updateProposal(tx, key.proposalId, {});
      const state = await stateOf(tx, key);
      const about = { resourceType: 'account', resourceId: key.accountId, actor: SYSTEM };
      const positions = await appendAudit(tx, key.organizationId, [
        ...(first
          ? [
              {
                ...about,
                action: 'account.created',
                details: {
                  proposalId: key.proposalId,
                  after: { name: account.name, address: account.address },
                },
              },
            ]
          : []),
        {
          ...about,
          action: 'account.deployed',
          details: {
            proposalId: key.proposalId,
            networkId: key.networkId,
            address: account.address,
            transactionHash: result.transactionHash,
          },
        },
      ]);
      await tx('accounts')
        .where({ id: key.accountId })
        .update({ updated_at: tx.raw('now()'), ...(first ? { position: String(positions[0]) } : {}) });
      return state;
    });
  }

  /** Ends an execution whose deployments have all been decided: completed, or failed with what is missing and why. */
  async function finishExecution(ref: ProposalRef): Promise<ProposalState> {
    return db.transaction(async (tx) => {
      const { record, now } = await lock(tx, ref);
      if (record.executionStatus !== 'processing') return proposalState(record, now);
      if (record.deployments.some(({ status }) => status === 'pending')) return proposalState(record, now);
      const failed = record.deployments.filter(({ status }) => status === 'failed');
      const networkName = (id: number) =>
        deps.networks.find((network) => network.id === id)?.name ?? String(id);
      if (failed.length === 0) {
        await freeClaims(tx, ref.proposalId);
        await updateProposal(tx, ref.proposalId, {
          executionStatus: 'completed',
          failure: null,
          closedWith: record.frozen ?? record.executedWith ?? standing(record, now),
        });
        const state = await stateOf(tx, ref);
        await appendAudit(tx, ref.organizationId, [
          proposalEntry(record, 'executed', SYSTEM, { attempt: record.executionAttempt }),
        ]);
        return state;
      }
      const reasons = failed.map(
        (d) => `${networkName(d.networkId)} (${d.networkId}): ${d.failure?.message ?? 'unknown'}`,
      );
      const first = failed[0]?.failure;
      const failure: Failure = {
        code: first?.code ?? 'rpc',
        message: `${failed.length} of ${record.deployments.length} deployments missing. ${reasons.join('; ')}`,
        at: now.time.toISOString(),
        attempt: record.executionAttempt,
        ...(first?.transactionHash ? { transactionHash: first.transactionHash } : {}),
      };
      await updateProposal(tx, ref.proposalId, { executionStatus: 'failed', failure });
      const state = await stateOf(tx, ref);
      await appendAudit(tx, ref.organizationId, [
        proposalEntry(record, 'executionFailed', SYSTEM, {
          attempt: record.executionAttempt,
          failure: { ...failure },
        }),
      ]);
      return state;
    });
  }

  /** Expires a proposal whose time is over by the database's clock. Too early, or too late, it changes nothing. */
  async function expireProposal(ref: ProposalRef): Promise<ProposalState> {
    return db.transaction(async (tx) => {
      const { record, now } = await lock(tx, ref);
      const unchanged =
        record.closed ||
        record.frozen !== null ||
        record.executionStatus === 'processing' ||
        !isExpired(record, now.time);
      if (unchanged) return proposalState(record, now);
      const expired: Standing = { ...standing(record, now), signatureStatus: 'expired' };
      await freeClaims(tx, ref.proposalId);
      await updateProposal(tx, ref.proposalId, {
        expired: true,
        ...(canFinishAfterExpiry(record) ? { frozen: expired } : { closedWith: expired }),
      });
      const state = await stateOf(tx, ref);
      await appendAudit(tx, ref.organizationId, [
        proposalEntry(record, 'expired', SYSTEM, { expiresAt: record.expiresAt.toISOString() }),
      ]);
      return state;
    });
  }

  /** Notes, once for each run of the workflow, that it was started again for an open proposal, and why. */
  async function recordRestored(
    input: ProposalRef & { found: WorkflowGone; runId: string },
  ): Promise<ProposalState> {
    const { organizationId, proposalId, found, runId } = input;
    return db.transaction(async (tx) => {
      const messageId = restoredMessageId(runId);
      const { record, now, messageTaken } = await lock(tx, { organizationId, proposalId, messageId });
      const state = proposalState(record, now);
      if (messageTaken || record.closed) return state;
      await takeMessage(tx, messageId, proposalId, 'restore');
      await appendAudit(tx, organizationId, [
        proposalEntry(record, 'restored', SYSTEM, { found: { ...found }, startedRunId: runId }),
      ]);
      return state;
    });
  }

  /** The record as it is now. */
  async function readProposal(ref: ProposalRef): Promise<ProposalState> {
    return stateOf(db, ref);
  }

  return {
    createProposal,
    recordVote,
    beginExecution,
    reportDeployment,
    recordDeployment,
    finishExecution,
    expireProposal,
    recordRestored,
    readProposal,
    refreshNoted,
  };
}

/** The database half of a proposal, as the workflow sees it. */
export type ProposalActivities = ReturnType<typeof createProposalActivities>;
