import { z } from 'zod';
import { endpoint, type Tag } from './endpoint';
import { memberSummary } from './members';
import {
  envelope,
  networkId,
  pageOf,
  pageQuery,
  reasonInput,
  timestamp,
  transactionHash,
} from './primitives';

export const failure = z
  .object({
    code: z.enum(['rpc', 'reverted', 'funds', 'policy', 'budget', 'stale', 'timeout', 'closedByOperator']),
    message: z.string(),
    at: timestamp,
    attempt: z.int(),
    transactionHash: transactionHash.optional(),
  })
  .meta({ id: 'Failure' });

export const note = z.object({ at: timestamp, code: z.string(), message: z.string() }).meta({ id: 'Note' });

const deployment = z
  .object({
    accountId: z.string(),
    networkId,
    status: z.enum(['pending', 'completed', 'failed']),
    transactionHash: transactionHash.optional(),
    failure: failure.optional(),
    waitingFor: z.string().optional().meta({ description: 'What a pending deployment waits for, in words.' }),
  })
  .meta({ id: 'Deployment' });

export const signatureStatus = z.enum([
  'pendingInitiatorSignature',
  'pendingReviewSignatures',
  'approvalReady',
  'rejectionReady',
  'approvalAndRejectionReady',
  'expired',
]);

export const executionStatus = z
  .enum(['processing', 'completed', 'rejected', 'failed', 'blocked'])
  .nullable()
  .meta({ description: 'null: execution has not been tried.' });

const common = {
  id: z.string(),
  signatureStatus,
  executionStatus,
  threshold: z.int().min(1),
  approvals: z.array(memberSummary),
  rejections: z.array(memberSummary),
  createdAt: timestamp,
  expiresAt: timestamp,
  summary: z.string().meta({ description: 'What is asked, in one line of plain words. It is signed.' }),
  signingPayloads: z
    .object({
      approvePayload: z
        .string()
        .meta({ description: 'EIP-712 typed data as JSON text: sign it to approve.' }),
      rejectPayload: z.string().meta({ description: 'EIP-712 typed data as JSON text: sign it to reject.' }),
      initiatorPayload: z.string().optional(),
    })
    .optional()
    .meta({ description: 'Present while signatures can be collected.' }),
  result: z
    .object({
      resolution: z.enum(['approved', 'rejected']),
      resources: z.array(
        z.object({
          type: z.enum(['member', 'group', 'policy', 'account', 'admin']),
          id: z.string(),
          uri: z.string().optional(),
        }),
      ),
    })
    .optional()
    .meta({ description: 'Present after execution.' }),
  failure: failure.optional(),
  notes: z.array(note),
  deployments: z.array(deployment).optional(),
};

/** A resource whose changes are proposed. */
export type ProposalResource = 'members' | 'groups' | 'policies' | 'accounts' | 'admins';

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
  /** Which bodies are of this kind, where one path is for several kinds; absent: all. */
  readonly appliesTo?: (body: Body) => boolean;
}

/** What the contract has to know of one kind of operation. */
export interface KindContract {
  readonly resourceType: ProposalResource;
  readonly action: 'create' | 'update' | 'remove' | 'delete';
  // biome-ignore lint/suspicious/noExplicitAny: each request has a body of its own
  readonly requests: readonly ProposeRequest<any>[];
  /** Shape of the proposal's `data`. */
  readonly data: z.ZodType;
}

/** How a resource is called: its area, one of it, and its proposals' place. */
const RESOURCES: Record<ProposalResource, { tag: Tag; singular: string }> = {
  members: { tag: 'Members', singular: 'Member' },
  groups: { tag: 'Groups', singular: 'Group' },
  policies: { tag: 'Policies', singular: 'Policy' },
  accounts: { tag: 'Accounts', singular: 'Account' },
  admins: { tag: 'Admins', singular: 'Admin' },
};

/** Every resource whose changes are proposed. */
export const PROPOSAL_RESOURCES = Object.keys(RESOURCES) as ProposalResource[];

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function proposalOfKind({ resourceType, action, data }: KindContract) {
  const name = `${capital(resourceType)}${capital(action)}`;
  return z
    .object({
      ...common,
      resourceType: z.literal(resourceType),
      action: z.literal(action),
      data: data.meta({ id: `${name}Data` }),
    })
    .meta({ id: `${name}Proposal` });
}

const voteType = z.enum(['approve', 'reject']);

/** A signature as it is sent. */
export const signatureInput = z.string().meta({
  description: '0x hex of the ABI-encoded pair (address signer, bytes signature).',
});

export const signBody = z.strictObject({
  type: voteType,
  signature: signatureInput,
  reason: reasonInput.optional(),
  execute: z.boolean().default(false).meta({ description: 'Execute at once if the threshold is met.' }),
});

export const executeBody = z.strictObject({ type: voteType });

const status = z
  .enum(['open', 'closed'])
  .optional()
  .meta({ description: 'open: can still change; closed: the rest. Absent: all.' });

const proposalParams = { proposalId: 'prop' } as const;

type ProposalSchema = z.ZodType;

function signProposalEndpoint(resource: ProposalResource, proposal: ProposalSchema) {
  return endpoint({
    id: `sign${RESOURCES[resource].singular}Proposal`,
    tag: RESOURCES[resource].tag,
    method: 'post',
    path: `/${resource}/proposals/{proposalId}/signatures`,
    access: 'admin',
    summary: `Sign a proposal about ${resource}`,
    description:
      'Records a signature of an admin. The key that carries it need not belong to the signer. With `execute` the ' +
      'outcome is carried out at once if its threshold is met.',
    params: proposalParams,
    query: z.strictObject({}),
    body: signBody,
    response: envelope(proposal),
    status: 200,
    errors: ['invalidSignature', 'forbidden', 'notFound', 'proposalExpired'],
    exampleBody: { type: 'approve', signature: '0x…', execute: true },
  });
}

function executeProposalEndpoint(resource: ProposalResource, proposal: ProposalSchema) {
  return endpoint({
    id: `execute${RESOURCES[resource].singular}Proposal`,
    tag: RESOURCES[resource].tag,
    method: 'post',
    path: `/${resource}/proposals/{proposalId}/execute`,
    access: 'admin',
    summary: `Execute a proposal about ${resource}`,
    description:
      'Carries out approval or rejection once its threshold is met, and resumes an execution that failed. Waits up to ' +
      '10 seconds for the outcome.',
    params: proposalParams,
    query: z.strictObject({}),
    body: executeBody,
    response: envelope(proposal),
    status: 200,
    errors: ['forbidden', 'notFound', 'thresholdNotMet', 'proposalExpired'],
    exampleBody: { type: 'approve' },
  });
}

function getProposalEndpoint(resource: ProposalResource, proposal: ProposalSchema) {
  return endpoint({
    id: `get${RESOURCES[resource].singular}Proposal`,
    tag: RESOURCES[resource].tag,
    method: 'get',
    path: `/${resource}/proposals/{proposalId}`,
    access: 'read',
    summary: `Get a proposal about ${resource}`,
    params: proposalParams,
    query: z.strictObject({}),
    response: envelope(proposal),
    status: 200,
    errors: ['notFound'],
  });
}

function listProposalsEndpoint(resource: ProposalResource, proposal: ProposalSchema) {
  return endpoint({
    id: `list${RESOURCES[resource].singular}Proposals`,
    tag: RESOURCES[resource].tag,
    method: 'get',
    path: `/${resource}/proposals`,
    access: 'read',
    summary: `Get the proposals about ${resource}`,
    description: 'Newest first, 20 per page unless `limit` says otherwise.',
    params: {},
    query: z.strictObject({ ...pageQuery, status }),
    response: pageOf(proposal),
    status: 200,
    errors: [],
  });
}

function getQueuedAdminProposalEndpoint(proposal: ProposalSchema) {
  return endpoint({
    id: 'getQueuedAdminProposal',
    tag: 'Admins',
    method: 'get',
    path: '/admins/proposals',
    access: 'read',
    summary: 'Get the admin proposal that is queued',
    description: 'At most one is queued at a time; 404 when there is none.',
    params: {},
    query: z.strictObject({}),
    response: envelope(proposal),
    status: 200,
    errors: ['notFound'],
  });
}

function listAllProposalsEndpoint(proposal: ProposalSchema) {
  return endpoint({
    id: 'listProposals',
    tag: 'Proposals',
    method: 'get',
    path: '/proposals',
    access: 'read',
    summary: 'Get the proposals of all kinds',
    description: 'Newest first, 20 per page unless `limit` says otherwise.',
    params: {},
    query: z.strictObject({
      ...pageQuery,
      status,
      resourceType: z.enum(PROPOSAL_RESOURCES as [ProposalResource, ...ProposalResource[]]).optional(),
    }),
    response: pageOf(proposal),
    status: 200,
    errors: [],
  });
}

function proposeEndpoint(
  resource: ProposalResource,
  proposal: ProposalSchema,
  { appliesTo: _, ...request }: ProposeRequest<unknown>,
) {
  return endpoint({
    tag: RESOURCES[resource].tag,
    method: 'post',
    access: 'admin',
    params: {},
    query: z.strictObject({}),
    response: envelope(proposal),
    status: 201,
    errors: ['forbidden'],
    ...request,
  });
}

/** Every endpoint about proposals, made from the kinds of operation that there are. */
export function describeProposals(kinds: readonly KindContract[]) {
  const variants = new Map(kinds.map((kind) => [kind, proposalOfKind(kind)]));
  const byResource = PROPOSAL_RESOURCES.map((resource) => {
    const own = kinds.filter(({ resourceType }) => resourceType === resource);
    const [first, ...more] = own.flatMap((kind) => variants.get(kind) ?? []);
    if (!first) throw new Error(`there is no kind of operation on ${resource}`);
    const proposal = z
      .discriminatedUnion('action', [first, ...more])
      .meta({ id: `${capital(resource)}Proposal` });
    const requests = new Map(own.flatMap((kind) => kind.requests).map((request) => [request.path, request]));
    return {
      resource,
      propose: [...requests.values()].map((request) => proposeEndpoint(resource, proposal, request)),
      list: resource === 'admins' ? undefined : listProposalsEndpoint(resource, proposal),
      get: getProposalEndpoint(resource, proposal),
      sign: signProposalEndpoint(resource, proposal),
      execute: executeProposalEndpoint(resource, proposal),
      proposal,
    };
  });
  const admins = byResource.find(({ resource }) => resource === 'admins');
  if (!admins) throw new Error('there is no kind of operation on admins');
  return {
    byResource,
    queuedAdmin: getQueuedAdminProposalEndpoint(admins.proposal),
    listAll: listAllProposalsEndpoint(
      z.union(byResource.map(({ proposal }) => proposal)).meta({ id: 'Proposal' }),
    ),
  };
}
