import { z } from 'zod';
import { type Endpoint, endpoint, type Tag } from './endpoint';
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

const note = z.object({ at: timestamp, code: z.string(), message: z.string() }).meta({ id: 'Note' });

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

const accountsCreateData = z
  .object({ items: z.array(z.object({ name: z.string(), networkIds: z.array(networkId) })) })
  .meta({ id: 'AccountsCreateData' });

const accountsUpdateData = z
  .object({
    items: z.array(
      z.object({ id: z.string(), name: z.string().optional(), networkIds: z.array(networkId).optional() }),
    ),
  })
  .meta({ id: 'AccountsUpdateData' });

const common = {
  id: z.string(),
  signatureStatus: z.enum([
    'pendingInitiatorSignature',
    'pendingReviewSignatures',
    'approvalReady',
    'rejectionReady',
    'approvalAndRejectionReady',
    'expired',
  ]),
  executionStatus: z
    .enum(['processing', 'completed', 'rejected', 'failed', 'blocked'])
    .nullable()
    .meta({ description: 'null: execution has not been tried.' }),
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

const accountsCreateProposal = z
  .object({
    ...common,
    resourceType: z.literal('accounts'),
    action: z.literal('create'),
    data: accountsCreateData,
  })
  .meta({ id: 'AccountsCreateProposal' });

const accountsUpdateProposal = z
  .object({
    ...common,
    resourceType: z.literal('accounts'),
    action: z.literal('update'),
    data: accountsUpdateData,
  })
  .meta({ id: 'AccountsUpdateProposal' });

/** The proposals of each resource. One more kind of operation is one more entry here. */
export const proposalsOf = {
  accounts: z
    .discriminatedUnion('action', [accountsCreateProposal, accountsUpdateProposal])
    .meta({ id: 'AccountsProposal' }),
};

/** A resource whose changes are proposed. */
export type ProposalResource = keyof typeof proposalsOf;

/** Every resource whose changes are proposed. */
export const PROPOSAL_RESOURCES = Object.keys(proposalsOf) as ProposalResource[];

const anyProposal = proposalsOf.accounts;

const TAG_OF: Record<ProposalResource, Tag> = { accounts: 'Accounts' };

/** `accounts` → `Account`, for the names of operations. */
function singular(resource: ProposalResource): string {
  return { accounts: 'Account' }[resource];
}

const voteType = z.enum(['approve', 'reject']);

export const signBody = z.strictObject({
  type: voteType,
  signature: z.string().meta({
    description: '0x hex of the ABI-encoded pair (address signer, bytes signature).',
  }),
  reason: reasonInput.optional(),
  execute: z.boolean().default(false).meta({ description: 'Execute at once if the threshold is met.' }),
});

export const executeBody = z.strictObject({ type: voteType });

const status = z
  .enum(['open', 'closed'])
  .optional()
  .meta({ description: 'open: can still change; closed: the rest. Absent: all.' });

const proposalParams = { proposalId: 'prop' } as const;

/** Signs a proposal of a resource. */
export function signProposalEndpoint(resource: ProposalResource) {
  return endpoint({
    id: `sign${singular(resource)}Proposal`,
    tag: TAG_OF[resource],
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
    response: envelope(proposalsOf[resource]),
    status: 200,
    errors: ['invalidSignature', 'forbidden', 'notFound', 'proposalExpired'],
    exampleBody: { type: 'approve', signature: '0x…', execute: true },
  });
}

/** Executes a proposal of a resource. */
export function executeProposalEndpoint(resource: ProposalResource) {
  return endpoint({
    id: `execute${singular(resource)}Proposal`,
    tag: TAG_OF[resource],
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
    response: envelope(proposalsOf[resource]),
    status: 200,
    errors: ['forbidden', 'notFound', 'thresholdNotMet', 'proposalExpired'],
    exampleBody: { type: 'approve' },
  });
}

/** One proposal of a resource. */
export function getProposalEndpoint(resource: ProposalResource) {
  return endpoint({
    id: `get${singular(resource)}Proposal`,
    tag: TAG_OF[resource],
    method: 'get',
    path: `/${resource}/proposals/{proposalId}`,
    access: 'read',
    summary: `Get a proposal about ${resource}`,
    params: proposalParams,
    query: z.strictObject({}),
    response: envelope(proposalsOf[resource]),
    status: 200,
    errors: ['notFound'],
  });
}

/** The proposals of a resource, page by page. */
export function listProposalsEndpoint(resource: ProposalResource) {
  return endpoint({
    id: `list${singular(resource)}Proposals`,
    tag: TAG_OF[resource],
    method: 'get',
    path: `/${resource}/proposals`,
    access: 'read',
    summary: `Get the proposals about ${resource}`,
    description: 'Newest first, 20 per page unless `limit` says otherwise.',
    params: {},
    query: z.strictObject({ ...pageQuery, status }),
    response: pageOf(proposalsOf[resource]),
    status: 200,
    errors: [],
  });
}

export const listAllProposalsEndpoint = endpoint({
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
    resourceType: z.enum(['members', 'groups', 'policies', 'accounts', 'admins']).optional(),
  }),
  response: pageOf(anyProposal),
  status: 200,
  errors: [],
});

/** Declares the endpoint that proposes one kind of change. */
export function proposeEndpoint<Body extends z.ZodType>(
  resource: ProposalResource,
  declaration: Pick<Endpoint, 'id' | 'path' | 'summary' | 'description' | 'exampleBody'> & { body: Body },
) {
  return endpoint({
    tag: TAG_OF[resource],
    method: 'post',
    access: 'admin',
    params: {},
    query: z.strictObject({}),
    response: envelope(proposalsOf[resource]),
    status: 201,
    errors: ['forbidden'],
    ...declaration,
  });
}
