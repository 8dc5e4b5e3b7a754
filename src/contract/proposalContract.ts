import { z } from 'zod';
import { adminThreshold, capital, idOf, memberSummary, networkId, timestamp } from '../domain/schemas';
import { endpoint, type Tag } from './endpoint';
import {
  dataResponse,
  LARGE_PAGE,
  MISSING_MEMBER,
  networkIdQuery,
  pageOf,
  pageQuery,
  reasonInput,
  requestQuery,
  transactionHash,
} from './primitives';

/** A signature of 65 bytes by the wallet 0x7099…79C8, ABI-encoded with it. */
export const EXAMPLE_SIGNATURE = [
  '0x',
  '00000000000000000000000070997970c51812dc3a010c7d01b50e0d17dc79c8',
  '40'.padStart(64, '0'),
  '41'.padStart(64, '0'),
  '1f'.repeat(64),
  '1b'.padEnd(64, '0'),
].join('');

export const failure = z
  .object({
    code: z
      .enum([
        'rpc',
        'reverted',
        'accountFunds',
        'feeCeiling',
        'relayerFunds',
        'policy',
        'budget',
        'stale',
        'timeout',
        'endpoints',
        'closedByOperator',
      ])
      .meta({ id: 'FailureCode', description: 'Why an execution failed or was blocked.' }),
    message: z.string(),
    at: timestamp,
    attempt: z.int().min(0),
    transactionHash: transactionHash.optional(),
    retryable: z.boolean().optional().meta({
      description:
        'Whether it can be executed again: not once it has expired, or the chain has decided. Absent for one deployment.',
    }),
    resumes: z.boolean().optional().meta({
      description:
        'Whether it is executed again by itself: do not create it again. Absent for one deployment.',
    }),
  })
  .meta({ id: 'Failure', description: 'Why an execution failed or was blocked.' });

export const note = z
  .object({
    at: timestamp,
    code: z.string().meta({ examples: ['adminsChanged'] }),
    message: z.string(),
  })
  .meta({ id: 'Note', description: 'A change elsewhere that concerns a proposal or transaction.' });

const deployment = z
  .object({
    accountId: idOf('acc'),
    networkId,
    status: z.enum(['pending', 'completed', 'failed']).meta({ id: 'DeploymentStatus' }),
    transactionHash: transactionHash.optional(),
    failure: failure.optional(),
    waitingFor: z
      .string()
      .optional()
      .meta({ description: 'What blocks a pending deployment, as a sentence for operators.' }),
  })
  .meta({ id: 'Deployment', description: 'The deployment of an account on one network.' });

export const signatureStatus = z
  .enum([
    'pendingInitiatorSignature',
    'pendingReviewSignatures',
    'approvalReady',
    'rejectionReady',
    'approvalAndRejectionReady',
    'expired',
  ])
  .meta({
    id: 'SignatureStatus',
    description:
      '`pendingInitiatorSignature`: only for transactions, the initiator has not signed. ' +
      '`pendingReviewSignatures`: no threshold is met. `approvalReady`, `rejectionReady`, ' +
      '`approvalAndRejectionReady`: the threshold for approval, for rejection or for both is met. ' +
      '`expired`: it expired before execution.',
  });

export const executionStatus = z
  .enum(['processing', 'completed', 'rejected', 'failed', 'blocked'])
  .meta({
    id: 'ExecutionStatus',
    description:
      '`processing`: execution in progress. `completed`, `rejected`: executed. `failed`: execution failed. ' +
      '`blocked`: a check at execution refused it and nothing changed.',
  })
  .nullable()
  .meta({ description: 'null: execution has not been attempted.' });

export const resolution = z.enum(['approved', 'rejected']).meta({ id: 'Resolution' });

export const expiresAt = timestamp.meta({ description: 'Until when it can be signed, in whole seconds.' });

export const summary = z.string().meta({
  id: 'Summary',
  description:
    'What is signed, in at most 2,000 bytes: lines that are separated by line feeds. The first one says what is ' +
    'dangerous, and of many items the last one says that `data` has them all. Each line is signed as an element of ' +
    '`summary`.',
  examples: ['Create account "Treasury" on "Ethereum" (1)'],
});

const TYPED_DATA = 'EIP-712 typed data as JSON text';

const signingPayloads = z
  .object({
    approvePayload: z.string().meta({ description: `${TYPED_DATA}, to sign for approval.` }),
    rejectPayload: z.string().meta({ description: `${TYPED_DATA}, to sign for rejection.` }),
    initiatorPayload: z
      .string()
      .optional()
      .meta({ description: `${TYPED_DATA}. Present only in the response that creates the proposal.` }),
  })
  .meta({ id: 'ProposalSigningPayloads' });

const resource = z
  .object({
    type: z.enum(['member', 'group', 'policy', 'account', 'admin']).meta({ id: 'ResourceKind' }),
    id: z.string().meta({ examples: ['acc_01jz8k3v5fe5ht0n2m6w9r4xyz'] }),
    uri: z.string().optional().meta({
      description: 'Path of the resource, such as `/api/v1/accounts/acc_…`. Absent if it was removed.',
    }),
  })
  .meta({ id: 'ResultResource', description: 'A resource that was created, changed or removed.' });

const result = z.object({ resolution, resources: z.array(resource) }).meta({ id: 'ProposalResult' });

/** The fields of every proposal. */
export const proposalBase = z
  .object({
    id: idOf('prop'),
    signatureStatus,
    executionStatus,
    threshold: adminThreshold,
    approvals: z.array(memberSummary).meta({ description: 'Members who approved.' }),
    rejections: z.array(memberSummary).meta({ description: 'Members who rejected.' }),
    createdAt: timestamp,
    expiresAt,
    summary,
    signingPayloads: signingPayloads
      .optional()
      .meta({ description: 'Present while signatures can be collected.' }),
    result: result.optional().meta({ description: 'Present after execution.' }),
    failure: failure.optional(),
    notes: z.array(note),
    deployments: z
      .array(deployment)
      .optional()
      .meta({ description: 'Present on proposals that deploy accounts, once executed.' }),
  })
  .meta({ id: 'ProposalBase', description: 'The fields of every proposal.' });

/** A resource whose changes are proposed. */
type ProposalResource = 'members' | 'groups' | 'policies' | 'accounts' | 'admins';

/** A request that proposes a change. */
export interface ProposeRequest<Body> {
  /** Name of its endpoint, unique. */
  readonly id: string;
  /** Below /api/v1. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** Strict schema of the body. */
  readonly body: z.ZodType<Body>;
  readonly exampleBody: unknown;
  /** Whether a body is of this kind, where several kinds share a path; absent: all. */
  readonly appliesTo?: (body: Body) => boolean;
}

/** The contract of one kind of operation. */
interface KindContract {
  readonly resourceType: ProposalResource;
  readonly action: 'create' | 'update' | 'remove' | 'delete';
  // biome-ignore lint/suspicious/noExplicitAny: each request has its own body type
  readonly requests: readonly ProposeRequest<any>[];
  /** Shape of the proposal's `data`. */
  readonly data: z.ZodType;
}

/** Tag and singular of each resource. */
const RESOURCES: Record<ProposalResource, { tag: Tag; singular: string }> = {
  members: { tag: 'Members', singular: 'Member' },
  groups: { tag: 'Groups', singular: 'Group' },
  policies: { tag: 'Policies', singular: 'Policy' },
  accounts: { tag: 'Accounts', singular: 'Account' },
  admins: { tag: 'Admins', singular: 'Admin' },
};

/** Every resource whose changes are proposed. */
const PROPOSAL_RESOURCES = Object.keys(RESOURCES) as ProposalResource[];

/** A schema with a name in the document, unless it has one. */
function withName<T extends z.ZodType>(schema: T, id: string): T {
  return schema.meta()?.id === undefined ? schema.meta({ id }) : schema;
}

function proposalOfKind({ resourceType, action, data }: KindContract) {
  const name = `${capital(resourceType)}${capital(action)}`;
  return proposalBase
    .extend({
      kind: z.literal(`${resourceType}/${action}`),
      resourceType: z.literal(resourceType),
      action: z.literal(action),
      data: withName(data, `${name}Data`),
    })
    .meta({ id: `${name}Proposal`, extends: 'ProposalBase' });
}

const voteType = z.enum(['approve', 'reject']).meta({ id: 'VoteType' });

/** A signature in a request. It is decoded later: a malformed one is an invalidSignature. */
export const signatureInput = z.string().meta({
  id: 'Signature',
  description: 'ABI-encoded pair (address signer, bytes signature), 0x hex.',
  pattern: '^0x([0-9a-fA-F]{2})*$',
  examples: [EXAMPLE_SIGNATURE],
});

export const signBody = z
  .strictObject({
    type: voteType,
    signature: signatureInput,
    reason: reasonInput.optional(),
    execute: z.boolean().default(false).meta({ description: 'Execute at once if the threshold is met.' }),
  })
  .meta({ id: 'SignProposalRequest' });

export const executeBody = z
  .strictObject({ type: voteType.meta({ description: 'The outcome to execute.' }) })
  .meta({ id: 'ExecuteRequest' });

const status = z
  .enum(['open', 'closed', 'done', 'failed', 'expired'])
  .meta({
    id: 'ProposalFilter',
    description:
      '`open`: can still change; `closed`: cannot. `done`: completed or rejected. `failed`: failed or blocked, for good or ' +
      'not. `expired`: never executed, and too late for it. Absent: all.',
  })
  .optional()
  .meta({ param: { id: 'ProposalStatus' } });

const proposalParams = { proposalId: 'prop' } as const;

type ResponseSchema = z.ZodType;

/** The proposals that endpoints are about, and the path that these are below. */
interface Below {
  readonly tag: Tag;
  readonly singular: string;
  readonly base: string;
  /** The end of a summary, with its space. */
  readonly about: string;
}

/** Endpoints for whoever has nothing but the id of a proposal. */
const OF_ANY_RESOURCE: Below = { tag: 'Proposals', singular: '', base: '/proposals', about: ' of any kind' };
type ProposalSchema = z.core.$ZodTypeDiscriminable & z.ZodType;

function signProposalEndpoint({ tag, singular, base, about }: Below, response: ResponseSchema) {
  return endpoint({
    id: `sign${singular}Proposal`,
    tag,
    method: 'post',
    path: `${base}/{proposalId}/signatures`,
    access: 'admin',
    summary: `Vote on a proposal${about}`,
    description:
      'The API key of the request need not belong to the admin who votes. With `execute` the outcome is executed at ' +
      'once if its threshold is met.',
    params: proposalParams,
    query: z.strictObject({}),
    body: signBody,
    response,
    status: 200,
    errors: ['invalidSignature', 'forbidden', 'notFound', 'proposalExpired'],
    exampleBody: { type: 'approve', signature: EXAMPLE_SIGNATURE, execute: true },
  });
}

function executeProposalEndpoint({ tag, singular, base, about }: Below, response: ResponseSchema) {
  return endpoint({
    id: `execute${singular}Proposal`,
    tag,
    method: 'post',
    path: `${base}/{proposalId}/execute`,
    access: 'admin',
    summary: `Execute a proposal${about}`,
    description:
      'Either outcome, once its threshold is met; resumes a failed execution. Waits up to 10 seconds for the end.',
    params: proposalParams,
    query: z.strictObject({}),
    body: executeBody,
    response,
    status: 200,
    errors: ['forbidden', 'notFound', 'thresholdNotMet', 'proposalExpired'],
    exampleBody: { type: 'approve' },
  });
}

function getProposalEndpoint({ tag, singular, base, about }: Below, response: ResponseSchema) {
  return endpoint({
    id: `get${singular}Proposal`,
    tag,
    method: 'get',
    path: `${base}/{proposalId}`,
    access: 'read',
    summary: `Get a proposal${about}`,
    params: proposalParams,
    query: z.strictObject({}),
    response,
    status: 200,
    errors: ['notFound'],
  });
}

function listProposalsEndpoint(resource: ProposalResource, response: ResponseSchema) {
  return endpoint({
    id: `list${RESOURCES[resource].singular}Proposals`,
    tag: RESOURCES[resource].tag,
    method: 'get',
    path: `/${resource}/proposals`,
    access: 'read',
    summary: `List proposals about ${resource}`,
    description: `Returns a page, newest first. ${LARGE_PAGE}`,
    params: {},
    query: z.strictObject({ ...pageQuery, ...requestQuery, status }),
    response,
    status: 200,
    errors: [],
  });
}

function getQueuedAdminProposalEndpoint(response: ResponseSchema) {
  return endpoint({
    id: 'getQueuedAdminProposal',
    tag: 'Admins',
    method: 'get',
    path: '/admins/proposals',
    access: 'read',
    summary: 'Get the queued admin proposal',
    description: 'At most one is queued at a time; 404 if there is none.',
    params: {},
    query: z.strictObject({}),
    response,
    status: 200,
    errors: ['notFound'],
  });
}

function listAllProposalsEndpoint(response: ResponseSchema) {
  return endpoint({
    id: 'listProposals',
    tag: 'Proposals',
    method: 'get',
    path: '/proposals',
    access: 'read',
    summary: 'List proposals of all kinds',
    description: `Returns a page, newest first. ${LARGE_PAGE}`,
    params: {},
    query: z.strictObject({
      ...pageQuery,
      ...requestQuery,
      status,
      resourceType: z
        .enum(PROPOSAL_RESOURCES as [ProposalResource, ...ProposalResource[]])
        .meta({ id: 'ProposalResourceType' })
        .optional()
        .meta({ description: 'Only proposals about these resources.' }),
      accountId: idOf('acc').optional().meta({ description: 'Only proposals that name this account.' }),
      policyId: idOf('pol').optional().meta({ description: 'Only proposals that name this policy.' }),
      memberId: idOf('mem').optional().meta({ description: 'Only proposals that name this member.' }),
      networkId: networkIdQuery.optional().meta({ description: 'Only proposals that name this network.' }),
      missingMemberId: idOf('mem').optional().meta({ description: MISSING_MEMBER }),
    }),
    response,
    status: 200,
    errors: [],
  });
}

function proposeEndpoint(
  resource: ProposalResource,
  response: ResponseSchema,
  { appliesTo: _, ...request }: ProposeRequest<unknown>,
) {
  return endpoint({
    tag: RESOURCES[resource].tag,
    method: 'post',
    access: 'admin',
    params: {},
    query: z.strictObject({}),
    response,
    status: 201,
    errors: ['forbidden'],
    ...request,
  });
}

/** One of several proposals, discriminated by a field; a single one is used as it is. */
function oneOf(field: 'action' | 'kind', name: string, proposals: readonly ProposalSchema[]) {
  const [first, ...more] = proposals;
  if (!first) throw new Error(`no operation for ${name}`);
  if (more.length === 0) return first;
  return z.discriminatedUnion(field, [first, ...more]).meta({ id: name });
}

/** Every endpoint about proposals, generated from the kinds of operation. */
export function describeProposals(kinds: readonly KindContract[]) {
  const byResource = PROPOSAL_RESOURCES.map((resource) => {
    const own = kinds.filter(({ resourceType }) => resourceType === resource);
    const proposals = own.map(proposalOfKind);
    const proposal = oneOf('action', `${capital(resource)}Proposal`, proposals);
    const response = dataResponse(proposal);
    const requests = new Map(own.flatMap((kind) => kind.requests).map((request) => [request.path, request]));
    const below = { ...RESOURCES[resource], base: `/${resource}/proposals`, about: ` about ${resource}` };
    return {
      resource,
      propose: [...requests.values()].map((request) => proposeEndpoint(resource, response, request)),
      list: resource === 'admins' ? undefined : listProposalsEndpoint(resource, pageOf(proposal)),
      get: getProposalEndpoint(below, response),
      sign: signProposalEndpoint(below, response),
      execute: executeProposalEndpoint(below, response),
      proposals,
      response,
    };
  });
  const admins = byResource.find(({ resource }) => resource === 'admins');
  if (!admins) throw new Error('no operation for admins');
  // Not a union of the resources' unions: few generators of clients take one.
  const any = oneOf(
    'kind',
    'Proposal',
    byResource.flatMap(({ proposals }) => proposals),
  );
  const response = dataResponse(any);
  return {
    byResource,
    queuedAdmin: getQueuedAdminProposalEndpoint(admins.response),
    listAll: listAllProposalsEndpoint(pageOf(any)),
    get: getProposalEndpoint(OF_ANY_RESOURCE, response),
    sign: signProposalEndpoint(OF_ANY_RESOURCE, response),
    execute: executeProposalEndpoint(OF_ANY_RESOURCE, response),
  };
}
