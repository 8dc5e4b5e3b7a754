import { createAccountsEndpoint, updateAccountsEndpoint } from '../../contract/accounts';
import {
  executeProposalEndpoint,
  getProposalEndpoint,
  listAllProposalsEndpoint,
  listProposalsEndpoint,
  PROPOSAL_RESOURCES,
  type ProposalResource,
  signProposalEndpoint,
} from '../../contract/proposals';
import type { Db } from '../../db/database';
import { newId } from '../../db/ids';
import { readOrganization } from '../../db/organizations';
import {
  findProposal,
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
  type ProposalAction,
  type ResourceType,
} from '../../domain/proposal';
import { proposalView } from '../../domain/proposalView';
import type { Outcome } from '../../domain/refusal';
import { proposalPayload } from '../../domain/signing';
import { type MessageOutcome, TemporalUnavailable } from '../../temporal/client';
import { mutationRoute, type RequestContext, type Route, readRoute } from '../context';
import type { Cursors } from '../cursors';
import type { ApiDependencies } from '../dependencies';
import { DEFAULT_LIMIT, page, pageRequest } from '../pages';
import type { WaitForProposal } from '../proposalWaiter';
import { notFound, Refused, unavailable } from '../refusals';

// biome-ignore lint/suspicious/noExplicitAny: the shape of `data` is the kind's; responses are checked in one place
type Shown = any;

function acceptOrThrow<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Refused(outcome.refusal);
  return outcome.value;
}

/** A voter who has not signed: what refuses this one refuses everybody. */
const NOBODY: MemberSummary = { id: '', name: '', type: 'user', walletAddress: '' };

/** The kinds of operation that can be proposed. One more kind is one more line. */
const proposeEndpoints = [
  { endpoint: createAccountsEndpoint, resourceType: 'accounts', action: 'create' },
  { endpoint: updateAccountsEndpoint, resourceType: 'accounts', action: 'update' },
] as const;

/** Everything about proposals, for every resource. */
export function proposalRoutes(
  options: { db: Db; cursors: Cursors; waitForProposal: WaitForProposal } & Pick<
    ApiDependencies,
    'proposals' | 'planProposal' | 'identifyVoter'
  >,
): Route[] {
  const { db, cursors, waitForProposal, proposals, planProposal, identifyVoter } = options;
  const salts = new Map<string, string>();

  async function domainSalt(organizationId: string): Promise<string> {
    const known = salts.get(organizationId);
    if (known !== undefined) return known;
    const salt = (await readOrganization(db, organizationId)).domainSalt;
    salts.set(organizationId, salt);
    return salt;
  }

  async function load(
    organizationId: string,
    proposalId: string,
    resourceType: ResourceType,
  ): Promise<{ record: StoredProposal; now: Now; salt: string }> {
    const [record, now, salt] = await Promise.all([
      findProposal(db, organizationId, proposalId, resourceType),
      readNow(db, organizationId),
      domainSalt(organizationId),
    ]);
    if (!record) throw notFound('proposal');
    return { record, now, salt };
  }

  async function show(
    { organizationId }: RequestContext,
    proposalId: string,
    resourceType: ResourceType,
    view: { created?: boolean } = {},
  ): Promise<{ data: Shown }> {
    const { record, now, salt } = await load(organizationId, proposalId, resourceType);
    return { data: proposalView(record, now, salt, view) };
  }

  /** Sends a message to a workflow; a workflow that is away is a 500 that can be repeated. */
  async function deliver(send: () => Promise<MessageOutcome>): Promise<MessageOutcome> {
    try {
      return await send();
    } catch (error) {
      if (error instanceof TemporalUnavailable) {
        throw unavailable('the workflow service is away; send the same request again', error);
      }
      throw error;
    }
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
      if (!(await messageWasTaken(db, id))) {
        const { record, now } = await load(context.organizationId, resourceId, resourceType);
        acceptOrThrow(recheck(record, now));
        throw unavailable('the workflow of the proposal is being restored; send the same request again');
      }
    } else if (!outcome.ok) {
      throw new Refused(outcome.refusal);
    } else if (outcome.state.executionStatus === 'processing') {
      await waitForProposal(resourceId);
    }
    return { body: await show(context, resourceId, resourceType) };
  }

  function proposeRoute({ endpoint, resourceType, action }: (typeof proposeEndpoints)[number]): Route {
    return mutationRoute(endpoint as typeof createAccountsEndpoint, {
      async prepare({ organizationId, body }) {
        const request = { organizationId, resourceType, action: action as ProposalAction };
        acceptOrThrow(await planProposal({ ...request, body: body as JsonValue }));
        return { resourceId: newId('prop') };
      },
      async send(context, { id, resourceId }) {
        const { organizationId } = context;
        const outcome = await deliver(() =>
          proposals.start({ organizationId, resourceType, proposalId: resourceId, action, requestId: id }),
        );
        if ('ok' in outcome && !outcome.ok) throw new Refused(outcome.refusal);
        if ('gone' in outcome && !(await findProposal(db, organizationId, resourceId, resourceType))) {
          throw unavailable('the proposal could not be created; send the same request again');
        }
        return {
          body: await show(context, resourceId, resourceType, { created: true }),
          location: `/api/v1/${resourceType}/proposals/${resourceId}`,
        };
      },
    });
  }

  function signRoute(resourceType: ProposalResource): Route {
    return mutationRoute(signProposalEndpoint(resourceType), {
      async prepare({ organizationId, params, body }) {
        const proposalId = params.proposalId ?? '';
        const { record, now, salt } = await load(organizationId, proposalId, resourceType);
        const statement = body.type === 'approve' ? 'ApproveProposal' : 'RejectProposal';
        const payload = proposalPayload(statement, salt, record);
        const { member } = acceptOrThrow(
          await identifyVoter({ payload, signature: body.signature, admins: now.admins }),
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

  function executeRoute(resourceType: ProposalResource): Route {
    return mutationRoute(executeProposalEndpoint(resourceType), {
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
    const [rows, now, salt] = await Promise.all([
      listProposals(db, {
        organizationId,
        limit: request.limit + 1,
        ...(request.before === undefined ? {} : { before: request.before }),
        ...(ofResource === undefined ? {} : { resourceType: ofResource }),
        ...(ofStatus === undefined ? {} : { status: ofStatus }),
      }),
      readNow(db, organizationId),
      domainSalt(organizationId),
    ]);
    return page(cursors, scope, request, rows, (record) => proposalView(record, now, salt));
  }

  return [
    ...proposeEndpoints.map(proposeRoute),
    ...PROPOSAL_RESOURCES.flatMap((resourceType) => [
      readRoute(listProposalsEndpoint(resourceType), (context) =>
        listPage(context, `${resourceType}/proposals`, context.query, resourceType),
      ),
      readRoute(getProposalEndpoint(resourceType), (context) =>
        show(context, context.params.proposalId ?? '', resourceType),
      ),
      signRoute(resourceType),
      executeRoute(resourceType),
    ]),
    readRoute(listAllProposalsEndpoint, (context) => listPage(context, 'proposals', context.query)),
  ];
}
