import { proposalSubject } from '../../approvals/proposalSubject';
import { BASE_PATH } from '../../contract/endpoint';
import type { TagColumn } from '../../db/approvalTags';
import type { Db } from '../../db/database';
import { newId } from '../../db/ids';
import {
  findResourceType,
  type ProposalFilter,
  type ProposalSnapshot,
  pageOfProposals,
  readProposalSnapshot,
} from '../../db/proposals';
import type { Tag } from '../../db/searchTerms';
import type { ApprovalRef } from '../../domain/approvalRef';
import type { JsonValue } from '../../domain/canonicalJson';
import { isMissing } from '../../domain/missingMember';
import { proposalRules, type ResourceType } from '../../domain/proposal';
import { proposalView } from '../../domain/proposalView';
import { proposalPayload } from '../../domain/signing';
import { kindOfRequest } from '../../operations';
import { planOperation } from '../../operations/plan';
import { setNewest } from '../../setNewest';
import type { Cursors, Filters } from '../cursors';
import type { ApiDependencies } from '../dependencies';
import { proposals as endpoints } from '../endpoints';
import { type FilteredPage, filteredPage } from '../filteredPage';
import { requireNamed } from '../namedRecords';
import { DEFAULT_LIMIT, page, pageRequest, parseInstant, requestFilters } from '../pages';
import { acceptOrThrow, notFound } from '../refusals';
import { mutationRoute, type RequestContext, type Route, readRoute } from '../requestContext';
import { type ApprovalJson, type ApprovalRouteDeps, approvalRoutes, requestApproval } from './approvalRoutes';

/** The endpoints of one resource's proposals. */
type ResourceEndpoints = (typeof endpoints.byResource)[number];

/** The dependencies of these routes. */
type Deps = ApprovalRouteDeps & Pick<ApiDependencies, 'config' | 'readToken'> & { readonly cursors: Cursors };

const CACHED_PAYLOADS = 2_000;
/** Bytes of data on one page: a response contains each of them several times. */
const MAX_PAGE_DATA = 524_288;

/** Payloads by statement and proposal: what is signed about a proposal never changes. */
function cachePayloads(): typeof proposalPayload {
  const cache = new Map<string, string>();
  return (statement, domainSalt, proposal) => {
    const key = `${statement}/${proposal.organizationId}/${proposal.id}`;
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const payload = proposalPayload(statement, domainSalt, proposal);
    setNewest(cache, key, payload, CACHED_PAYLOADS);
    return payload;
  };
}

async function load(
  db: Db,
  organizationId: string,
  proposalId: string,
  resourceType?: ResourceType,
): Promise<ProposalSnapshot & TagColumn> {
  const snapshot = await readProposalSnapshot(db, { organizationId, id: proposalId, resourceType });
  if (!snapshot) throw notFound('proposal');
  return snapshot;
}

function locationOf(resourceType: ResourceType, proposalId: string): string {
  return `${BASE_PATH}/${resourceType}/proposals/${proposalId}`;
}

/** Shows a proposal; `created` shows the initiator's payload as well. */
type Show = (snapshot: ProposalSnapshot, options?: { created?: boolean }) => ApprovalJson;

function proposeRoute(deps: Deps, endpoint: ResourceEndpoints['propose'][number], show: Show): Route {
  const { db, config, readToken } = deps;
  const { networks, production } = config;
  return mutationRoute(endpoint, {
    async check(context) {
      const { organizationId } = context;
      const body = context.body as JsonValue;
      const kind = kindOfRequest(endpoint.path, body);
      acceptOrThrow(await planOperation({ db, networks, production, readToken }, organizationId, kind, body));
      return { resourceId: newId('prop') };
    },
    async send(context, { id: requestId, resourceId: id, createdAt: requestedAt }) {
      const { organizationId } = context;
      const { resourceType, action } = kindOfRequest(endpoint.path, context.body as JsonValue);
      const ref: ApprovalRef = { subject: 'proposal', organizationId, id, resourceType, action };
      const request = { requestId, requestedAt, accountIds: [], networkIds: [] };
      const created = await requestApproval(deps, ref, request, () =>
        readProposalSnapshot(db, { organizationId, id, resourceType }),
      );
      return { body: { data: show(created, { created: true }) }, location: locationOf(resourceType, id) };
    },
    async show({ organizationId }, id) {
      const existing = await load(db, organizationId, id);
      return { body: { data: show(existing) }, location: locationOf(existing.record.resourceType, id) };
    },
  });
}

interface ListQuery {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly status?: ProposalFilter['status'] | undefined;
  readonly resourceType?: ResourceType | undefined;
  readonly text?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly accountId?: string | undefined;
  readonly policyId?: string | undefined;
  readonly memberId?: string | undefined;
  readonly networkId?: number | undefined;
  readonly missingMemberId?: string | undefined;
}

const NAMES = { accountId: 'account', policyId: 'policy', memberId: 'member', networkId: 'network' } as const;

/** What a filter says that a proposal names. */
function namesIn(filters: Filters): readonly Tag[] {
  return Object.entries(NAMES).flatMap(([field, noun]): Tag[] => {
    const id = filters[field];
    return id === undefined ? [] : [`${noun}:${id}`];
  });
}

async function listPage(
  { db, cursors }: Deps,
  { organizationId }: RequestContext,
  list: string,
  query: ListQuery,
  show: Show,
  onlyResource?: ResourceType,
): Promise<{ data: ApprovalJson[]; pagination: { cursor: string; hasMore: boolean } }> {
  const scope = { organizationId, list };
  const { status, resourceType, text, from, to, networkId, ...named } = query;
  const { accountId, policyId, memberId, missingMemberId } = named;
  const given = {
    ...{ status, resourceType, text, from: parseInstant(from), to: parseInstant(to) },
    ...{ accountId, policyId, memberId, networkId: networkId?.toString(), missingMemberId },
  };
  const request = pageRequest(cursors, scope, query, given, DEFAULT_LIMIT);
  const ofResource = onlyResource ?? (request.filters.resourceType as ResourceType | undefined);
  const ofStatus = request.filters.status as ProposalFilter['status'];
  const missing = request.filters.missingMemberId;
  const filter = {
    organizationId,
    ...requestFilters(request.filters),
    limit: request.limit,
    names: namesIn(request.filters),
    ...(ofResource === undefined ? {} : { resourceType: ofResource }),
    ...(ofStatus === undefined ? {} : { status: ofStatus }),
    ...(missing === undefined ? {} : { unclosed: true as const }),
  };
  const read = (after = request.before) =>
    pageOfProposals(db, { ...filter, ...(after === undefined ? {} : { before: after }) }, MAX_PAGE_DATA);
  const found: FilteredPage<ProposalSnapshot> =
    missing === undefined
      ? await read()
      : await filteredPage(request.limit, read, ({ record, now }) =>
          isMissing(proposalRules, record, now, missing),
        );
  const { snapshots, hasMore, reached } = found;
  if (snapshots.length === 0) await requireNamed(db, organizationId, request.filters);
  const rows = snapshots.map((snapshot) => ({ ...snapshot, position: snapshot.record.position }));
  return page(cursors, scope, request, rows, show, hasMore, reached);
}

/** Reading, signing and executing one; without a resource, of any. */
function oneRoutes(
  deps: Deps,
  { get, sign, execute }: Pick<ResourceEndpoints, 'get' | 'sign' | 'execute'>,
  show: Show,
  resource?: ResourceType,
): Route[] {
  const { db } = deps;
  return approvalRoutes(deps, {
    subject: proposalSubject,
    get,
    sign,
    execute,
    load: ({ organizationId, params }) => load(db, organizationId, params.proposalId ?? '', resource),
    async workflowOf({ organizationId, params }) {
      const key = { organizationId, id: params.proposalId ?? '' };
      const resourceType = resource ?? (await findResourceType(db, key));
      if (!resourceType) throw notFound('proposal');
      return { subject: 'proposal', ...key, resourceType };
    },
    show,
    isCacheable: () => true,
    // The scope decides: no operation is about some accounts alone.
    assertPermitted: () => undefined,
  });
}

function resourceRoutes(deps: Deps, own: ResourceEndpoints, show: Show): Route[] {
  const { resource, list } = own;
  return [
    ...own.propose.map((endpoint) => proposeRoute(deps, endpoint, show)),
    ...(list
      ? [
          readRoute(list, (context) =>
            listPage(deps, context, `${resource}/proposals`, context.query, show, resource),
          ),
        ]
      : []),
    ...oneRoutes(deps, own, show, resource),
  ];
}

/** Everything about proposals, for every resource. */
export function proposalRoutes(deps: Deps): Route[] {
  const { db } = deps;
  const payload = cachePayloads();
  const show: Show = ({ record, now, domainSalt }, options = {}) =>
    proposalView(record, now, domainSalt, { ...options, payload });
  return [
    ...endpoints.byResource.flatMap((own) => resourceRoutes(deps, own, show)),
    readRoute(endpoints.queuedAdmin, async ({ organizationId }) => {
      const { snapshots } = await pageOfProposals(
        db,
        { organizationId, resourceType: 'admins', status: 'open', limit: 1 },
        MAX_PAGE_DATA,
      );
      const [queued] = snapshots;
      if (!queued) throw notFound('queued admin proposal');
      return { data: show(queued) };
    }),
    ...oneRoutes(deps, endpoints, show),
    readRoute(endpoints.listAll, (context) => listPage(deps, context, 'proposals', context.query, show)),
  ];
}
