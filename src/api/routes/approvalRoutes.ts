import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { AnySnapshot, ApprovalSubject } from '../../approvals/approvalSubject';
import { identifySignatory } from '../../approvals/voters';
import type { IdentifyVoter } from '../../chain/voter';
import type { Endpoint } from '../../contract/endpoint';
import type { TagColumn } from '../../db/approvalTags';
import type { Db } from '../../db/database';
import { isMessageReceived } from '../../db/receivedMessages';
import { checkExecution, type Decision, type VoteType } from '../../domain/approval';
import type { ApprovalRef, WorkflowRef } from '../../domain/approvalRef';
import type { ApprovalState } from '../../domain/approvalState';
import type { Result } from '../../domain/refusal';
import { checkOpenToVotes, checkVote } from '../../domain/voting';
import type { MessageOutcome, StartRequest } from '../../temporal/approvalMessages';
import { TemporalUnavailable } from '../../temporal/client';
import { approvalWorkflowId } from '../../temporal/ids';
import type { ShowApproval } from '../approvalCache';
import type { ApprovalSender } from '../dependencies';
import type { WatchExecution } from '../executionWatch';
import type { RequestRef } from '../idempotency';
import { acceptOrThrow, Refused, unavailable } from '../refusals';
import { mutationRoute, type RequestContext, type Route, readTextRoute } from '../requestContext';

// biome-ignore lint/suspicious/noExplicitAny: the shape is the subject's; responses are checked in one place
export type ApprovalJson = any;

/** Sends a message to a workflow; an unavailable one is a 500 that can be repeated. */
async function deliver<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof TemporalUnavailable) {
      throw unavailable('the workflow service is unavailable; send the same request again', error);
    }
    throw error;
  }
}

/** The body of a signature request. */
interface SignBody {
  type: VoteType;
  signature: string;
  execute: boolean;
  reason?: string | undefined;
}

/** The dependencies of the routes of approvals. */
export interface ApprovalRouteDeps {
  readonly db: Db;
  readonly watchExecution: WatchExecution;
  readonly approvals: ApprovalSender;
  readonly identifyVoter: IdentifyVoter;
  readonly showApproval: ShowApproval;
}

/** How the routes of a subject read and show it. */
interface ApprovalRoutes<V extends AnySnapshot, S extends ApprovalState> {
  readonly subject: ApprovalSubject<V, S>;
  readonly get: Endpoint;
  readonly sign: Endpoint<z.ZodType, z.ZodType<SignBody>>;
  readonly execute: Endpoint<z.ZodType, z.ZodType<{ type: Decision }>>;
  /** The approval that a request names. Throws notFound. */
  readonly load: (context: RequestContext) => Promise<V & TagColumn>;
  /** The workflow of the approval that a request names. Throws notFound where only the record says which. */
  readonly workflowOf: (context: RequestContext) => WorkflowRef | Promise<WorkflowRef>;
  readonly show: (snapshot: V) => ApprovalJson;
  /** Refuses what the API key of a request is not for. Throws Refused. */
  readonly assertPermitted: (context: RequestContext, snapshot: V) => void;
  /** Whether what is shown changes only with the tag. */
  readonly isCacheable: (record: V['record']) => boolean;
}

/** Whether a message was refused because its request was not stored when it was read. */
function lackedRequest(outcome: MessageOutcome): boolean {
  return 'ok' in outcome && !outcome.ok && outcome.refusal.code === 'internalError';
}

/**
 * Starts the workflow of a new approval, and reads the approval that it has created. Throws Refused, or unavailable when
 * there is none.
 */
export async function requestApproval<V>(
  { approvals }: Pick<ApprovalRouteDeps, 'approvals'>,
  ref: ApprovalRef,
  request: StartRequest,
  find: () => Promise<V | undefined>,
): Promise<V> {
  const accept = (outcome: MessageOutcome) => {
    if ('ok' in outcome && !outcome.ok) throw new Refused(outcome.refusal);
  };
  const started = await deliver(() => approvals.start(ref, request));
  if (!lackedRequest(started)) {
    accept(started);
    const known = await find();
    if (known) return known;
  }
  accept(await deliver(() => approvals.startAnew(ref, request)));
  const created = await find();
  if (!created) throw unavailable(`the ${ref.subject} could not be created; send the same request again`);
  return created;
}

/** A message to an approval, from a stored request. */
type Message = Pick<RequestRef, 'id' | 'resourceId' | 'isRepeated'>;

/** Whether the outcome that Temporal has of a message is not what Postgres has. */
async function isOutdated(db: Db, { id, resourceId }: Message, outcome: MessageOutcome): Promise<boolean> {
  const isAccepted = 'ok' in outcome && outcome.ok;
  return isAccepted ? !(await isMessageReceived(db, resourceId, id)) : lackedRequest(outcome);
}

/**
 * Sends a message with the id of its request. Where that was sent before, Temporal may have the outcome of what Postgres has
 * lost, or of a moment when it lacked the request: then it is sent again, with another id.
 */
async function sendMessage(
  db: Db,
  message: Message,
  send: (updateId: string) => Promise<MessageOutcome>,
): Promise<MessageOutcome> {
  const { id, isRepeated } = message;
  const outcome = await deliver(() => send(id));
  if (!isRepeated || !(await isOutdated(db, message, outcome))) return outcome;
  return deliver(() => send(randomUUID()));
}

/** Sends a message, waits for its outcome, and shows the approval. */
async function respond<V extends AnySnapshot, S extends ApprovalState>(
  { db, watchExecution }: ApprovalRouteDeps,
  { subject, load, show }: ApprovalRoutes<V, S>,
  context: RequestContext,
  message: Message,
  send: (updateId: string) => Promise<MessageOutcome>,
  recheck: (snapshot: V) => Result<unknown>,
): Promise<{ body: { data: ApprovalJson } }> {
  const { id, resourceId } = message;
  const watch = watchExecution(resourceId);
  try {
    const outcome = await sendMessage(db, message, send);
    if ('workflowClosed' in outcome) {
      // Its workflow is closed: either the message had its effect before, or the record says why it cannot have one.
      if (!(await isMessageReceived(db, resourceId, id))) {
        acceptOrThrow(recheck(await load(context)));
        throw unavailable(
          `the workflow of the ${subject.rules.subject} is being restarted, which takes up to a minute; send the same request again`,
        );
      }
    } else if (!outcome.ok) {
      throw new Refused(outcome.refusal);
    } else if (outcome.state.executionStatus === 'processing') {
      context.endTurn();
      const isOver = ({ record }: V) => record.executionStatus !== 'processing';
      return { body: { data: show(await watch.waitUntil(isOver, () => load(context), context.deadlineMs)) } };
    }
    return { body: { data: show(await load(context)) } };
  } finally {
    watch.stop();
  }
}

function getRoute<V extends AnySnapshot, S extends ApprovalState>(
  { showApproval }: ApprovalRouteDeps,
  { get, load, workflowOf, show, isCacheable }: ApprovalRoutes<V, S>,
): Route {
  return readTextRoute(get, async (context) =>
    showApproval(approvalWorkflowId(await workflowOf(context)), {
      load: () => load(context),
      show,
      isCacheable,
    }),
  );
}

/** Refuses a request that was stored before, maybe by another key, where the one that sends it now is not for it. */
async function assertRepeatable<V extends AnySnapshot, S extends ApprovalState>(
  { load, assertPermitted }: ApprovalRoutes<V, S>,
  context: RequestContext,
  { isRepeated }: Message,
): Promise<void> {
  if (isRepeated) assertPermitted(context, await load(context));
}

function signRoute<V extends AnySnapshot, S extends ApprovalState>(
  deps: ApprovalRouteDeps,
  routes: ApprovalRoutes<V, S>,
): Route {
  const { subject, load, workflowOf } = routes;
  const { rules } = subject;
  return mutationRoute(routes.sign, {
    async check(context) {
      const { type, execute } = context.body;
      const snapshot = await load(context);
      routes.assertPermitted(context, snapshot);
      const { record, now } = snapshot;
      // Before its initiator has signed there is nothing to approve or reject: no payload to verify against.
      if (subject.payload(snapshot, type) === undefined) {
        acceptOrThrow(checkOpenToVotes(rules, record, now, type));
      }
      const { seen, member } = acceptOrThrow(await identifySignatory(deps, subject, snapshot, context.body));
      acceptOrThrow(checkVote(rules, seen.record, seen.now, { member, type, execute }));
      return { resourceId: record.id };
    },
    async send(context, message) {
      await assertRepeatable(routes, context, message);
      const { type, signature, execute, reason } = context.body;
      const ref = await workflowOf(context);
      const vote = { type, signature, execute, ...(reason === undefined ? {} : { reason }) };
      const send = (updateId: string) =>
        deps.approvals.sign(ref, { ...vote, requestId: message.id }, updateId);
      return respond(deps, routes, context, message, send, ({ record, now }) =>
        checkOpenToVotes(rules, record, now, type),
      );
    },
  });
}

function executeRoute<V extends AnySnapshot, S extends ApprovalState>(
  deps: ApprovalRouteDeps,
  routes: ApprovalRoutes<V, S>,
): Route {
  const { subject, load, workflowOf } = routes;
  const check = ({ record, now }: V, type: 'approve' | 'reject') =>
    checkExecution(subject.rules, record, now, type);
  return mutationRoute(routes.execute, {
    async check(context) {
      const snapshot = await load(context);
      routes.assertPermitted(context, snapshot);
      acceptOrThrow(check(snapshot, context.body.type));
      return { resourceId: snapshot.record.id };
    },
    async send(context, message) {
      await assertRepeatable(routes, context, message);
      const { type } = context.body;
      const ref = await workflowOf(context);
      const send = (updateId: string) =>
        deps.approvals.execute(ref, { type, requestId: message.id }, updateId);
      return respond(deps, routes, context, message, send, (snapshot) => check(snapshot, type));
    },
  });
}

/** Reading, signing and executing one, the same for every subject. */
export function approvalRoutes<V extends AnySnapshot, S extends ApprovalState>(
  deps: ApprovalRouteDeps,
  routes: ApprovalRoutes<V, S>,
): Route[] {
  return [getRoute(deps, routes), signRoute(deps, routes), executeRoute(deps, routes)];
}
