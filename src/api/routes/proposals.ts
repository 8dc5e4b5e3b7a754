import { BASE_PATH } from '../../contract/endpoint';
import type { Db } from '../../db/database';
import { newId } from '../../db/ids';
import { readOrganization } from '../../db/organizations';
import { type ProposalSnapshot, readProposalSnapshot } from '../../db/proposalSnapshot';
import {
  findProposal,
  findQueuedAdminProposal,
  listProposals,
  messageWasTaken,
  readNow,
  type StoredProposal,
} from '../../db/proposals';
import type { JsonValue } from '../../domain/canonicalJson';
import {
  checkExecution,
  checkVote,
  type MemberSummary,
  type Now,
  type ResourceType,
} from '../../domain/proposal';
import { proposalView } from '../../domain/proposalView';
import type { Outcome } from '../../domain/refusal';
import { proposalPayload } from '../../domain/signing';
import { operations, proposes } from '../../operations';
import type { ProposalKind } from '../../operations/kind';
import type { MessageOutcome } from '../../temporal/client';
import { mutationRoute, type RequestContext, type Route, readRoute } from '../context';
import type { Cursors } from '../cursors';
import { deliver } from '../deliver';
import type { ApiDependencies } from '../dependencies';
import { proposals as endpoints } from '../endpoints';
import type { WaitForExecution } from '../executionWaiter';
import { DEFAULT_LIMIT, page, pageRequest } from '../pages';
import { acceptOrThrow, notFound, Refused, unavailable } from '../refusals';

// biome-ignore lint/suspicious/noExplicitAny: the shape of `data` is the kind's; responses are checked in one place
type Shown = any;

/** A voter who has not signed: what refuses this one refuses everybody. */
const NOBODY: MemberSummary = { id: '', name: '', type: 'user', walletAddress: '' };

/** The endpoints of one resource's proposals. */
type ResourceEndpoints = (typeof endpoints.byResource)[number];

const REMEMBERED_PAYLOADS = 2_000;

/** Payloads by statement and proposal: what is signed about a proposal never changes. */
function rememberPayloads(): typeof proposalPayload {
  const known = new Map<string, string>();
  return (statement, domainSalt, proposal) => {
    const key = `${statement}/${proposal.organizationId}/${proposal.id}`;
    const remembered = known.get(key);
    if (remembered !== undefined) return remembered;
    const made = proposalPayload(statement, domainSalt, proposal);
    const oldest = known.keys().next().value;
    if (known.size >= REMEMBERED_PAYLOADS && oldest !== undefined) known.delete(oldest);
    known.set(key, made);
    return made;
  };
}

/** Everything about proposals, for every resource. */
export function proposalRoutes(
  options: { db: Db; cursors: Cursors; waitForProposal: WaitForExecution } & Pick<
    ApiDependencies,
    'proposals' | 'planProposal' | 'identifyVoter'
  >,
): Route[] {
  const { db, cursors, waitForProposal, proposals, planProposal, identifyVoter } = options;
  const payload = rememberPayloads();

  async function load(
    organizationId: string,
    proposalId: string,
    resourceType: ResourceType,
  ): Promise<ProposalSnapshot> {
    const snapshot = await readProposalSnapshot(db, { organizationId, proposalId, resourceType });
    if (!snapshot) throw notFound('proposal');
    return snapshot;
  }

  async function show(
    { organizationId }: RequestContext,
    proposalId: string,
    resourceType: ResourceType,
    view: { created?: boolean } = {},
  ): Promise<{ data: Shown }> {
    const { record, now, domainSalt } = await load(organizationId, proposalId, resourceType);
    return { data: proposalView(record, now, domainSalt, { ...view, payload }) };
  }

  /** Waits for what a message has set going, and shows the proposal as it is then. */
  async function settle(
    context: RequestContext,
    message: { id: string; resourceId: string; resourceType: ResourceType },
    outcome: MessageOutcome,
    recheck: (record: StoredProposal, now: Now) => Outcome<unknown>,
  ): Promise<{ body: { data: Shown } }> {
    const { id, resourceId, resourceType } = message;
    if ('gone' in outcome) {
      // Its workflow is closed: either the message had its effect before, or the record says why it cannot have one.
      if (!(await messageWasTaken(db, id, resourceId))) {
        const { record, now } = await load(context.organizationId, resourceId, resourceType);
        acceptOrThrow(recheck(record, now));
        throw unavailable(
          'the workflow of the proposal is being restored, which takes up to a minute; send the same request again',
        );
      }
    } else if (!outcome.ok) {
      throw new Refused(outcome.refusal);
    } else if (outcome.state.executionStatus === 'processing') {
      await waitForProposal(resourceId);
    }
    return { body: await show(context, resourceId, resourceType) };
  }

  function kindOfRequest(path: string, body: JsonValue): ProposalKind {
    const kind = operations.find((candidate) => proposes(candidate, `${BASE_PATH}${path}`, body));
    if (!kind) throw new Error(`nothing is proposed by ${path}`);
    return kind;
  }

  function proposeRoute(endpoint: ResourceEndpoints['propose'][number]): Route {
    return mutationRoute(endpoint, {
      async prepare(context) {
        const { organizationId } = context;
        const body = context.body as JsonValue;
        acceptOrThrow(await planProposal({ organizationId, kind: kindOfRequest(endpoint.path, body), body }));
        return { resourceId: newId('prop') };
      },
      async send(context, { id, resourceId }) {
        const { organizationId } = context;
        const { resourceType, action } = kindOfRequest(endpoint.path, context.body as JsonValue);
        const outcome = await deliver(() =>
          proposals.start({ organizationId, resourceType, proposalId: resourceId, action, requestId: id }),
        );
        if ('ok' in outcome && !outcome.ok) throw new Refused(outcome.refusal);
        if ('gone' in outcome && !(await findProposal(db, organizationId, resourceId, resourceType))) {
          throw unavailable('the proposal could not be created; send the same request again');
        }
        return {
          body: await show(context, resourceId, resourceType, { created: true }),
          location: `${BASE_PATH}/${resourceType}/proposals/${resourceId}`,
        };
      },
    });
  }

  function signRoute({ resource: resourceType, sign }: ResourceEndpoints): Route {
    return mutationRoute(sign, {
      async prepare({ organizationId, params, body }) {
        const proposalId = params.proposalId ?? '';
        const { record, now, domainSalt } = await load(organizationId, proposalId, resourceType);
        const statement = body.type === 'approve' ? 'ApproveProposal' : 'RejectProposal';
        const signed = proposalPayload(statement, domainSalt, record);
        const { member } = acceptOrThrow(
          await identifyVoter({ payload: signed, signature: body.signature, admins: now.admins }),
        );
        acceptOrThrow(checkVote(record, now, { member, type: body.type }));
        return { resourceId: proposalId };
      },
      async send(context, { id, resourceId }) {
        const { organizationId, body } = context;
        const { reason, ...vote } = body;
        const outcome = await deliver(() =>
          proposals.sign({
            organizationId,
            resourceType,
            proposalId: resourceId,
            requestId: id,
            ...vote,
            ...(reason === undefined ? {} : { reason }),
          }),
        );
        return settle(context, { id, resourceId, resourceType }, outcome, (record, now) =>
          checkVote(record, now, { member: NOBODY, type: body.type }),
        );
      },
    });
  }

  function executeRoute({ resource: resourceType, execute }: ResourceEndpoints): Route {
    return mutationRoute(execute, {
      async prepare({ organizationId, params, body }) {
        const proposalId = params.proposalId ?? '';
        const { record, now } = await load(organizationId, proposalId, resourceType);
        acceptOrThrow(checkExecution(record, now, body.type));
        return { resourceId: proposalId };
      },
      async send(context, { id, resourceId }) {
        const { organizationId, body } = context;
        const outcome = await deliver(() =>
          proposals.execute({
            organizationId,
            resourceType,
            proposalId: resourceId,
            requestId: id,
            type: body.type,
          }),
        );
        return settle(context, { id, resourceId, resourceType }, outcome, (record, now) =>
          checkExecution(record, now, body.type),
        );
      },
    });
  }

  async function listPage(
    { organizationId }: RequestContext,
    list: string,
    query: {
      cursor?: string | undefined;
      limit?: number | undefined;
      status?: 'open' | 'closed' | undefined;
      resourceType?: ResourceType | undefined;
    },
    onlyResource?: ResourceType,
  ): Promise<{ data: Shown[]; pagination: { cursor: string; hasMore: boolean } }> {
    const scope = { organizationId, list };
    const { status, resourceType } = query;
    const request = pageRequest(cursors, scope, query, { status, resourceType }, DEFAULT_LIMIT);
    const ofResource = onlyResource ?? (request.filters.resourceType as ResourceType | undefined);
    const ofStatus = request.filters.status as 'open' | 'closed' | undefined;
    const [rows, now, { domainSalt }] = await Promise.all([
      listProposals(db, {
        organizationId,
        limit: request.limit + 1,
        ...(request.before === undefined ? {} : { before: request.before }),
        ...(ofResource === undefined ? {} : { resourceType: ofResource }),
        ...(ofStatus === undefined ? {} : { status: ofStatus }),
      }),
      readNow(db, organizationId),
      readOrganization(db, organizationId),
    ]);
    return page(cursors, scope, request, rows, (record) =>
      proposalView(record, now, domainSalt, { payload }),
    );
  }

  return [
    ...endpoints.byResource.flatMap((own) => [
      ...own.propose.map(proposeRoute),
      ...(own.list
        ? [
            readRoute(own.list, (context) =>
              listPage(context, `${own.resource}/proposals`, context.query, own.resource),
            ),
          ]
        : []),
      readRoute(own.get, (context) => show(context, context.params.proposalId ?? '', own.resource)),
      signRoute(own),
      executeRoute(own),
    ]),
    readRoute(endpoints.queuedAdmin, async (context) => {
      const queued = await findQueuedAdminProposal(db, context.organizationId);
      if (!queued) throw notFound('queued admin proposal');
      return show(context, queued.id, 'admins');
    }),
    readRoute(endpoints.listAll, (context) => listPage(context, 'proposals', context.query)),
  ];
}
