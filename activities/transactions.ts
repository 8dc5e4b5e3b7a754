import type { IdentifyVoter } from '../src/chain/voter';
import type { NetworkConfig } from '../src/config';
import type { NewTransaction as TransactionRequest } from '../src/contract/transactions';
import { decideAttempt, hasUndecidedAttempt } from '../src/db/attemptOutcomes';
import { type Actor, type AuditInput, appendAudit, OPERATOR, SYSTEM } from '../src/db/audit';
import type { Db, Tx } from '../src/db/database';
import { commitUsage, lockBudget, releaseUsage, reserveUsage } from '../src/db/policyUsage';
import { restoredMessageId } from '../src/db/reconciler';
import { readRequestToTransact } from '../src/db/transactionRequests';
import {
  insertTransaction,
  insertTransactionVote,
  lockTransaction,
  placeTransaction,
  readTransaction,
  readTransactionForMessage,
  type StoredTransaction,
  type TransactionForMessage,
  type TransactionMessageKey,
  takeTransactionMessage,
  updateTransaction,
} from '../src/db/transactions';
import { readTransactionWorld } from '../src/db/transactionWorld';
import type { JsonValue } from '../src/domain/canonicalJson';
import { type Failure, type FailureCode, isExpired } from '../src/domain/proposal';
import type { WorkflowGone } from '../src/domain/reconciliation';
import { refuse } from '../src/domain/refusal';
import {
  checkTransactionExecution,
  checkTransactionVote,
  initiatorVote,
  maySign,
  type TransactionNow,
  type TransactionState,
  type TransactionVoteType,
  transactionStanding,
  transactionState,
  transactionVoters,
} from '../src/domain/transaction';
import { faultPoint } from '../src/faults';
import type { Outside } from '../src/operations/kind';
import type { TransactionMessageResult } from '../src/temporal/transactionMessages';
import { planTransaction, readTransferredToken, resolveTransaction } from '../src/transactions/plan';
import { policyRefusal, usageOf } from '../src/transactions/policy';
import {
  identifyTransactionVoter,
  payloadToSign,
  signatureHash,
  verifyVotesAgain,
  worldWithSigner,
} from '../src/transactions/voter';
import { actorOf, memberActor, Refused, refusable, withKey } from './refusable';

/** What these activities need from outside. */
export interface TransactionActivityDeps {
  readonly db: Db;
  readonly networks: readonly NetworkConfig[];
  readonly identifyVoter: IdentifyVoter;
  readonly readToken: Outside['readToken'];
  /** Milliseconds from creation to expiry. */
  readonly proposalLifetimeMs: number;
  readonly maxOpenPerKey: number;
}

/** Names one transaction. */
export interface TransactionRef {
  readonly organizationId: string;
  readonly transactionId: string;
}

/** What the chain made of an attempt, with its network's confirmations. */
export type AttemptOutcome = {
  readonly attemptId: string;
  readonly transactionHash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  /** ISO 8601. */
  readonly blockTime: string;
} & (
  | { readonly kind: 'executed' }
  /** The account's call failed inside; `reason` is in words. */
  | { readonly kind: 'reverted'; readonly reason: string }
  /** Its nonce was used up by an empty call. */
  | { readonly kind: 'cancelled' }
);

/** Why an execution came to nothing. */
export interface ExecutionFailure {
  readonly code: FailureCode;
  readonly message: string;
  readonly transactionHash?: string;
}

/** How an execution ended: by what the chain decided, or before anything was signed. */
export type ExecutionResult =
  | { readonly status: 'decided'; readonly outcome: AttemptOutcome }
  | {
      readonly status: 'failed' | 'blocked';
      readonly failure: ExecutionFailure;
      /** The relayer lacks coin: the execution goes on by itself when it has so much. Decimal wei. */
      readonly awaitsRelayerWei?: string;
    };

function entry(
  record: Pick<StoredTransaction, 'id' | 'accountId' | 'networkId'>,
  verb: string,
  actor: Actor,
  details: Record<string, JsonValue>,
): AuditInput {
  return {
    action: `transaction.${verb}`,
    actor,
    resourceType: 'transaction',
    resourceId: record.id,
    details: { accountId: record.accountId, networkId: record.networkId, ...details },
  };
}

/** The database half of a transaction: each function is one transaction there, and can be called again with no second effect. */
export function createTransactionActivities(deps: TransactionActivityDeps) {
  const { db } = deps;

  async function stateOf(handle: Db | Tx, ref: TransactionRef): Promise<TransactionState> {
    const found = await readTransaction(handle, ref);
    if (!found) throw new Error(`there is no transaction ${ref.transactionId}`);
    return transactionState(found.record, found.now);
  }

  async function lock(tx: Tx, key: TransactionMessageKey): Promise<TransactionForMessage> {
    const locked = await lockTransaction(tx, key);
    if (locked) return locked;
    throw new Refused({ code: 'notFound', message: `there is no transaction ${key.transactionId}` });
  }

  /**
   * Makes the transaction from its stored request, or finds it when it is there; without a request it can only be
   * found. Its refusals leave nothing behind.
   */
  async function createTransaction(
    input: TransactionRef & { requestId?: string },
  ): Promise<TransactionMessageResult> {
    const { organizationId, transactionId } = input;
    return refusable(async () => {
      const seen = await readRequestToTransact(db, input);
      if (seen.made) return { ok: true, state: await stateOf(db, input) };
      const { request } = seen;
      if (!request) return refuse('notFound', `there is no request to make transaction ${transactionId}`);
      const asked = request.body as TransactionRequest;
      const of = {
        organizationId,
        accountId: asked.accountId,
        walletAddress: asked.initiatorWalletAddress,
        policyId: asked.policyId,
      };
      const before = await readTransactionWorld(db, of);
      const early = resolveTransaction(deps.networks, before, asked);
      const token = early.ok
        ? await readTransferredToken(deps.readToken, asked.networkId, early.value.content, before.policy)
        : null;
      // Says nothing against the transaction: the activity is tried again until the chain is back.
      if (token && !token.ok && token.unavailable) throw new Error(token.reason);
      return db.transaction(async (tx) => {
        const { made, open, now } = await readRequestToTransact(tx, input, { lock: true });
        if (made) return { ok: true, state: await stateOf(tx, input) };
        if (open >= deps.maxOpenPerKey) {
          throw new Refused({
            code: 'conflict',
            message: `this API key has ${open} open proposals and transactions, as many as one key may have`,
          });
        }
        const world = await readTransactionWorld(tx, of);
        const resolved = resolveTransaction(deps.networks, world, asked);
        if (!resolved.ok) {
          const [{ field, message }] = resolved.issues;
          throw new Refused({ code: 'validationError', message: `${field} ${message}`, field });
        }
        const planned = planTransaction(world, resolved.value, asked, token);
        if (!planned.ok) throw new Refused(planned.refusal);
        const expiresAt = new Date(Math.floor((now.getTime() + deps.proposalLifetimeMs) / 1_000) * 1_000);
        const { apiKeyId } = request;
        const { summary, content, accountId, networkId, policyId, initiatorId } = planned.value;
        await insertTransaction(tx, {
          ...planned.value,
          id: transactionId,
          organizationId,
          expiresAt,
          createdByKey: apiKeyId,
        });
        faultPoint('worker.transactionStored');
        const [position] = await appendAudit(tx, organizationId, [
          entry({ id: transactionId, accountId, networkId }, 'created', await actorOf(tx, apiKeyId), {
            summary,
            policyId,
            initiatorId,
            data: content,
            expiresAt: expiresAt.toISOString(),
            apiKeyId,
          }),
        ]);
        await placeTransaction(tx, transactionId, position ?? 0n);
        return { ok: true, state: await stateOf(tx, input) };
      });
    });
  }

  /** Records a vote after verifying its signature and its signer's standing, whichever way it came. */
  async function recordTransactionVote(
    input: TransactionRef & {
      messageId: string;
      type: TransactionVoteType;
      signature: string;
      reason?: string;
      requestId?: string;
    },
  ): Promise<TransactionMessageResult> {
    const { organizationId, transactionId, messageId, type, signature, reason } = input;
    return refusable(async () => {
      const seen = await readTransactionForMessage(db, input);
      if (!seen) return refuse('notFound', `there is no transaction ${transactionId}`);
      if (seen.messageTaken) return { ok: true, state: transactionState(seen.record, seen.now) };
      const voter = await identifyTransactionVoter(db, deps.identifyVoter, seen, { type, signature });
      if (!voter.ok) return voter;
      const signedPayload = payloadToSign(seen.record, seen.now, type);
      const recorded = await db.transaction(async (tx): Promise<TransactionMessageResult | undefined> => {
        const locked = await lock(tx, input);
        const { record, apiKeyId, messageTaken } = locked;
        if (messageTaken) return { ok: true, state: transactionState(record, locked.now) };
        const { member, signerAddress, scheme } = voter.value;
        const { now, member: signer } = await worldWithSigner(tx, locked, signature);
        // The world has changed between the verification and the lock: it is looked at anew.
        if (signer?.id !== member.id || payloadToSign(record, now, type) !== signedPayload) return undefined;
        if (!maySign(record, now, type, member)) return undefined;
        const allowed = checkTransactionVote(record, now, { member, type });
        if (!allowed.ok) throw new Refused(allowed.refusal);
        const before = transactionStanding(record, now).signatureStatus;
        await takeTransactionMessage(tx, messageId, transactionId, 'sign');
        await insertTransactionVote(tx, {
          transactionId,
          memberId: member.id,
          type,
          signerAddress,
          scheme,
          signature,
          signatureHash: signatureHash(signature),
          initiatorSignatureHash:
            type === 'initiator' ? null : (initiatorVote(record, now)?.signatureHash ?? null),
          reason: reason ?? null,
          apiKeyId,
        });
        faultPoint('worker.voteStored');
        await updateTransaction(tx, transactionId, {});
        const state = await stateOf(tx, input);
        await appendAudit(tx, organizationId, [
          entry(record, 'signed', memberActor(member), {
            type,
            ...(reason === undefined ? {} : { reason }),
            signatureStatus: { before, after: state.signatureStatus },
            ...withKey(apiKeyId),
          }),
        ]);
        return { ok: true, state };
      });
      return recorded ?? recordTransactionVote(input);
    });
  }

  async function storeEvidence(
    tx: Tx,
    record: StoredTransaction,
    now: TransactionNow,
    outcome: { resolution: 'approved' | 'rejected'; payload: string; threshold: number },
  ): Promise<void> {
    await tx('evidence').insert({
      organization_id: record.organizationId,
      subject_type: 'transaction',
      subject_id: record.id,
      resolution: outcome.resolution,
      payload: outcome.payload,
      signatures: JSON.stringify(
        record.votes.map(({ memberId, type, signerAddress, scheme, signature }) => ({
          memberId,
          type,
          signerAddress,
          scheme,
          signature,
        })),
      ),
      threshold: outcome.threshold,
      context: JSON.stringify({
        policy: now.policy,
        members: [...now.members.values()],
        groups: Object.fromEntries(now.groups),
      }),
    });
  }

  function failureAt(now: TransactionNow, attempt: number, failure: ExecutionFailure): Failure {
    const { code, message, transactionHash } = failure;
    return {
      code,
      message,
      at: now.time.toISOString(),
      attempt,
      ...(transactionHash === undefined ? {} : { transactionHash }),
    };
  }

  /**
   * Begins an outcome whose threshold is met. A rejection ends here. An approval is checked again under its policy, its
   * usage is reserved, and it is left `processing`; a check that refuses leaves it `blocked`.
   */
  async function beginTransaction(
    input: TransactionRef & {
      messageId: string;
      type: 'approve' | 'reject';
      requestId?: string;
      actor?: 'operator' | 'system';
    },
  ): Promise<TransactionMessageResult> {
    const { organizationId, transactionId, messageId, type } = input;
    return refusable(async () => {
      const seen = await readTransactionForMessage(db, input);
      if (!seen) return refuse('notFound', `there is no transaction ${transactionId}`);
      if (seen.messageTaken) return { ok: true, state: transactionState(seen.record, seen.now) };
      const verified = (
        await Promise.all(
          (['initiator', type] as const).map((of) => verifyVotesAgain(deps.identifyVoter, seen, of)),
        )
      ).flat();
      const seenVoters = transactionVoters(seen.record, seen.now, type);
      const begun = await db.transaction(async (tx): Promise<TransactionMessageResult | undefined> => {
        const locked = await lock(tx, input);
        const { record, now, apiKeyId } = locked;
        if (locked.messageTaken) return { ok: true, state: transactionState(record, now) };
        if (input.actor === 'system' && record.awaitsRelayerWei === null) {
          return { ok: true, state: transactionState(record, now) };
        }
        const allowed = checkTransactionExecution(record, now, type);
        if (!allowed.ok) throw new Refused(allowed.refusal);
        if (input.actor === 'operator' && record.failure === null) {
          throw new Refused({
            code: 'conflict',
            message: `no execution of transaction ${transactionId} has failed: there is nothing to try again`,
          });
        }
        const votersNow = transactionVoters(record, now, type);
        const unseen = votersNow.some(
          ({ id, walletAddress }) =>
            !seenVoters.some((one) => one.id === id && one.walletAddress === walletAddress),
        );
        const begunBy = (of: TransactionForMessage) => initiatorVote(of.record, of.now)?.signatureHash;
        // Somebody has signed, or got their wallet or place, since the signatures were verified.
        if (unseen || begunBy(locked) !== begunBy(seen)) return undefined;
        await takeTransactionMessage(tx, messageId, transactionId, 'execute');
        let actor: Actor = OPERATOR;
        if (input.actor === 'system') actor = SYSTEM;
        else if (input.actor === undefined && apiKeyId !== null) actor = await actorOf(tx, apiKeyId);
        const audit = (verb: string, details: Record<string, JsonValue>) =>
          entry(record, verb, actor, { ...details, ...withKey(apiKeyId) });
        const attempt = record.executionAttempt + 1;

        const block = async (failure: ExecutionFailure): Promise<TransactionMessageResult> => {
          await updateTransaction(tx, transactionId, {
            executionStatus: 'blocked',
            executionAttempt: attempt,
            failure: failureAt(now, attempt, failure),
            awaitsRelayerWei: null,
          });
          const state = await stateOf(tx, input);
          await appendAudit(tx, organizationId, [
            audit('blocked', { attempt, code: failure.code, message: failure.message }),
          ]);
          return { ok: true, state };
        };

        const holds = (vote: { memberId: string; type: string; signatureHash: string }) =>
          verified.some(
            (one) =>
              one.memberId === vote.memberId &&
              one.type === vote.type &&
              one.signatureHash === vote.signatureHash,
          );
        const proved = { ...record, votes: record.votes.filter(holds) };
        if (!checkTransactionExecution(proved, now, type).ok) {
          return block({
            code: 'stale',
            message: 'a signature that counted no longer verifies: its wallet does not accept it any more',
          });
        }
        const standing = transactionStanding(record, now);
        const voters = votersNow.map(({ id }) => id);
        const payload =
          payloadToSign(record, now, type === 'approve' && standing.threshold === 0 ? 'initiator' : type) ??
          '';

        if (type === 'reject') {
          await storeEvidence(tx, proved, now, {
            resolution: 'rejected',
            payload,
            threshold: Math.max(1, standing.threshold),
          });
          await updateTransaction(tx, transactionId, {
            executionStatus: 'rejected',
            result: { resolution: 'rejected' },
            failure: null,
            awaitsRelayerWei: null,
            closedWith: standing,
          });
          const state = await stateOf(tx, input);
          await appendAudit(tx, organizationId, [audit('rejected', { rejections: voters })]);
          return { ok: true, state };
        }

        await lockBudget(tx, record.policyId);
        const refused = await policyRefusal(tx, { record, now });
        if (refused) return block(refused);
        await reserveUsage(tx, usageOf(record));
        faultPoint('worker.usageReserved');
        await storeEvidence(tx, proved, now, {
          resolution: 'approved',
          payload,
          threshold: standing.threshold,
        });
        await updateTransaction(tx, transactionId, {
          executionStatus: 'processing',
          executionAttempt: attempt,
          executionStarted: true,
          executedWith: standing,
          failure: null,
          waitingFor: null,
          awaitsRelayerWei: null,
          givingUp: false,
        });
        const state = await stateOf(tx, input);
        await appendAudit(tx, organizationId, [
          audit('executionStarted', { attempt, approvals: voters, threshold: standing.threshold }),
        ]);
        faultPoint('worker.executionStarted');
        return { ok: true, state };
      });
      return begun ?? beginTransaction(input);
    });
  }

  /** Tells what an execution waits for, or (null) that it waits no more. */
  async function reportTransaction(
    input: TransactionRef & { waitingFor: string | null },
  ): Promise<TransactionState> {
    return db.transaction(async (tx) => {
      const { record } = await lock(tx, input);
      if (record.executionStatus === 'processing' && record.waitingFor !== input.waitingFor) {
        await updateTransaction(tx, input.transactionId, { waitingFor: input.waitingFor });
      }
      return stateOf(tx, input);
    });
  }

  /**
   * Ends an execution: its attempt, its budget and its record together. What could still reach the chain does not end:
   * then it is left `processing`.
   */
  async function finishTransaction(
    input: TransactionRef & { result: ExecutionResult },
  ): Promise<TransactionState> {
    const { organizationId, transactionId, result } = input;
    return db.transaction(async (tx) => {
      const { record, now } = await lock(tx, input);
      if (record.executionStatus !== 'processing') return transactionState(record, now);
      const attempt = record.executionAttempt;
      const closedWith = transactionStanding(record, now);
      if (result.status === 'decided') {
        const { outcome } = result;
        if (!(await decideAttempt(tx, transactionId, outcome))) return transactionState(record, now);
        faultPoint('worker.attemptDecided');
        const { transactionHash } = outcome;
        const blockNumber = Number(outcome.blockNumber);
        if (outcome.kind === 'executed') {
          await commitUsage(tx, transactionId, new Date(outcome.blockTime));
          faultPoint('worker.usageCommitted');
          await updateTransaction(tx, transactionId, {
            executionStatus: 'completed',
            result: { resolution: 'approved', transactionHash, blockNumber },
            failure: null,
            waitingFor: null,
            closedWith,
          });
          const state = await stateOf(tx, input);
          await appendAudit(tx, organizationId, [
            entry(record, 'executed', SYSTEM, { attempt, transactionHash, blockNumber }),
          ]);
          faultPoint('worker.executionFinished');
          return state;
        }
        return fail(tx, input, record, now, {
          status: 'failed',
          failure:
            outcome.kind === 'cancelled'
              ? {
                  code: 'timeout',
                  message:
                    'it was given up: an empty call of the account has used its nonce, nothing was moved',
                  transactionHash,
                }
              : { code: 'reverted', message: outcome.reason, transactionHash },
        });
      }
      if (await hasUndecidedAttempt(tx, transactionId)) return transactionState(record, now);
      return fail(tx, input, record, now, result);
    });
  }

  async function fail(
    tx: Tx,
    ref: TransactionRef,
    record: StoredTransaction,
    now: TransactionNow,
    result: Extract<ExecutionResult, { status: 'failed' | 'blocked' }>,
  ): Promise<TransactionState> {
    const attempt = record.executionAttempt;
    const failure = failureAt(now, attempt, result.failure);
    await releaseUsage(tx, record.id);
    faultPoint('worker.usageReleased');
    await updateTransaction(tx, record.id, {
      executionStatus: result.status,
      failure,
      waitingFor: null,
      givingUp: false,
      awaitsRelayerWei: result.awaitsRelayerWei === undefined ? null : BigInt(result.awaitsRelayerWei),
    });
    const state = await stateOf(tx, ref);
    await appendAudit(tx, record.organizationId, [
      entry(record, result.status === 'blocked' ? 'blocked' : 'executionFailed', SYSTEM, {
        attempt,
        failure: { ...failure },
      }),
    ]);
    faultPoint('worker.executionFailed');
    return state;
  }

  /** Notes that an operator wants what is on its way to come to nothing. Refuses with conflict when nothing is. */
  async function requestGiveUp(
    input: TransactionRef & { messageId: string },
  ): Promise<TransactionMessageResult> {
    return refusable(() =>
      db.transaction(async (tx): Promise<TransactionMessageResult> => {
        const { record, now, messageTaken } = await lock(tx, input);
        if (messageTaken) return { ok: true, state: transactionState(record, now) };
        if (record.executionStatus !== 'processing') {
          return refuse(
            'conflict',
            `transaction ${record.id} is not being executed: there is nothing to give up`,
          );
        }
        await takeTransactionMessage(tx, input.messageId, record.id, 'giveUp');
        await updateTransaction(tx, record.id, { givingUp: true });
        faultPoint('worker.giveUpStored');
        const state = await stateOf(tx, input);
        await appendAudit(tx, record.organizationId, [
          entry(record, 'giveUpRequested', OPERATOR, { attempt: record.executionAttempt }),
        ]);
        return { ok: true, state };
      }),
    );
  }

  /** Expires a transaction whose time is over by the database's clock. Too early, or too late, it changes nothing. */
  async function expireTransaction(ref: TransactionRef): Promise<TransactionState> {
    return db.transaction(async (tx) => {
      const { record, now } = await lock(tx, ref);
      if (record.closed || record.executionStatus === 'processing' || !isExpired(record, now.time)) {
        return transactionState(record, now);
      }
      await updateTransaction(tx, record.id, {
        expired: true,
        awaitsRelayerWei: null,
        closedWith: transactionStanding(record, now),
      });
      const state = await stateOf(tx, ref);
      await appendAudit(tx, ref.organizationId, [
        entry(record, 'expired', SYSTEM, { expiresAt: record.expiresAt.toISOString() }),
      ]);
      return state;
    });
  }

  /** Notes, once for each run of the workflow, that it was started again for an open transaction, and why. */
  async function recordTransactionRestored(
    input: TransactionRef & { found: WorkflowGone; runId: string },
  ): Promise<TransactionState> {
    const { organizationId, transactionId, found, runId } = input;
    return db.transaction(async (tx) => {
      const messageId = restoredMessageId(runId);
      const { record, now, messageTaken } = await lock(tx, { organizationId, transactionId, messageId });
      const state = transactionState(record, now);
      if (messageTaken || record.closed) return state;
      await takeTransactionMessage(tx, messageId, transactionId, 'restore');
      await appendAudit(tx, organizationId, [
        entry(record, 'restored', SYSTEM, { found: { ...found }, startedRunId: runId }),
      ]);
      return state;
    });
  }

  /** The record as it is now. */
  async function readTransactionState(ref: TransactionRef): Promise<TransactionState> {
    return stateOf(db, ref);
  }

  return {
    createTransaction,
    recordTransactionVote,
    beginTransaction,
    reportTransaction,
    finishTransaction,
    requestGiveUp,
    expireTransaction,
    recordTransactionRestored,
    readTransactionState,
  };
}

/** The database half of a transaction, as its workflow sees it. */
export type TransactionActivities = ReturnType<typeof createTransactionActivities>;
