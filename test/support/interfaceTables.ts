/**
 * The tables of the interface page, with what was decided beside it, as data of its own. Nothing here comes from
 * src/contract or openapi.json: both are compared with it.
 */
import { fields, idOf, listOf, oneOf, orNull, type Shape } from './shapes';

export const BASE = '/api/v1';

/** HTTP status of each error code. */
export const ERROR_CODES = {
  validationError: 400,
  invalidSignature: 400,
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  gone: 410,
  thresholdNotMet: 422,
  proposalExpired: 422,
  idempotencyConflict: 422,
  upgradeRequired: 426,
  rateLimited: 429,
  internalError: 500,
  notReconciled: 503,
} as const;
type Code = keyof typeof ERROR_CODES;

const CONDITION_FAILURES = listOf(
  fields({
    condition: oneOf(
      ...['network', 'account', 'initiator', 'transactionType', 'token', 'amount', 'destination'],
      ...['contract', 'function', 'value', 'budget'],
    ),
    found: 'string',
    wanted: 'string',
  }),
);

/** The body of every error; `failures` where a policy does not let a transaction go. */
export const ERROR = fields({
  error: fields({
    code: oneOf(...Object.keys(ERROR_CODES)),
    message: 'string',
    'details?': fields({ 'field?': 'string', 'message?': 'string', 'failures?': CONDITION_FAILURES }),
  }),
  // At top level too, equal to those in `error`.
  code: 'string',
  message: 'string',
});

export const PAGINATION = fields({ cursor: 'string', hasMore: 'boolean' });

/** Results per page of a list that is always paged; transactions and events come a hundred at a time. */
export const PAGE_SIZE = { default: 20, minimum: 1, maximum: 100, ofTransactions: 100, ofEvents: 100 };

const RESOURCE_TYPES = ['members', 'groups', 'policies', 'accounts', 'admins'] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];
const ACTIONS = ['create', 'update', 'remove', 'delete'];

/** What one of a resource is called in a result, and the prefix of its id. */
export const SINGULAR: Record<ResourceType, { type: string; prefix: string }> = {
  members: { type: 'member', prefix: 'mem' },
  groups: { type: 'group', prefix: 'grp' },
  policies: { type: 'policy', prefix: 'pol' },
  accounts: { type: 'account', prefix: 'acc' },
  admins: { type: 'admin', prefix: 'adm' },
};

const MEMBER_TYPE = oneOf('user', 'api');
const WALLET_KIND = oneOf('key', 'contract');

const MEMBER_SUMMARY = fields({
  id: idOf('mem'),
  name: 'string',
  type: MEMBER_TYPE,
  walletAddress: 'address',
  walletKind: WALLET_KIND,
  'createdAt?': 'dateTime',
  'updatedAt?': 'dateTime',
});

const MEMBER = fields({
  id: idOf('mem'),
  name: 'string',
  type: MEMBER_TYPE,
  walletAddress: 'address',
  walletKind: WALLET_KIND,
  registeredAt: orNull('dateTime'),
  createdAt: 'dateTime',
  updatedAt: 'dateTime',
});

const GROUP = fields({
  id: idOf('grp'),
  name: 'string',
  members: listOf(MEMBER_SUMMARY),
  createdAt: 'dateTime',
  updatedAt: 'dateTime',
});

const ACCOUNT = fields({
  id: idOf('acc'),
  name: 'string',
  address: 'address',
  networks: listOf(
    fields({ id: 'integer', name: 'string', rescue: oneOf('ready', 'pending', 'none', 'takenOver') }),
  ),
  createdAt: 'dateTime',
  updatedAt: 'dateTime',
});

const ADMINS = fields({
  ...{ id: idOf('adm'), members: listOf(MEMBER_SUMMARY), threshold: 'integer' },
  onChain: fields({
    enabled: 'boolean',
    safe: 'address',
    networks: listOf(
      fields({
        networkId: 'integer',
        status: oneOf('missing', 'behind', 'current', 'diverged', 'independent', 'impossible', 'unknown'),
        owners: orNull(listOf('address')),
        threshold: orNull('integer'),
        sequence: orNull('integer'),
        since: 'dateTime',
        observedAt: 'dateTime',
        reason: orNull('string'),
      }),
    ),
  }),
});

const RESCUE_KIT = fields({
  type: oneOf('orgwallet-rescue-kit'),
  version: 'integer',
  createdAt: 'dateTime',
  organization: fields({ id: idOf('org'), name: 'string' }),
  sequence: 'integer',
  signingKey: 'address',
  sealKey: 'address',
  keeper: 'address',
  adminsSafe: 'address',
  admins: fields({
    threshold: 'integer',
    members: listOf(
      fields({ id: idOf('mem'), name: 'string', walletAddress: 'address', walletKind: WALLET_KIND }),
    ),
  }),
  networks: listOf(
    fields({
      networkId: 'integer',
      name: 'string',
      accounts: listOf(fields({ id: idOf('acc'), name: 'string', address: 'address' })),
      takeovers: listOf(
        fields({
          accounts: listOf('address'),
          to: 'address',
          value: 'digits',
          data: 'calldata',
          operation: 'integer',
          safeTxGas: 'digits',
          gas: 'digits',
        }),
      ),
      transactionBuilder: listOf('object'),
    }),
  ),
  head: fields({ state: 'string', sealHash: 'transactionHash', signature: 'string' }),
});

const ASSET = fields({
  id: 'string',
  symbol: 'string',
  name: orNull('string'),
  logoUrl: orNull('string'),
  decimals: orNull('integer'),
  tokenAddress: 'address',
});

const BALANCE = fields({
  networkId: 'integer',
  asset: ASSET,
  rawAmount: orNull('digits'),
  displayAmount: orNull('decimal'),
  'unavailable?': 'boolean',
});

const VALUE = fields({ amount: 'decimal', price: 'decimal', at: 'dateTime' });

const TOTALS = fields({
  prices: orNull(
    fields({
      status: oneOf('current', 'stale', 'broken', 'unavailable'),
      currency: orNull('string'),
      at: orNull('dateTime'),
      problem: orNull('string'),
      value: orNull('decimal'),
    }),
  ),
  totals: listOf(
    fields({
      networkId: 'integer',
      asset: ASSET,
      rawAmount: 'digits',
      displayAmount: 'decimal',
      value: orNull(VALUE),
      accounts: 'integer',
      blockNumber: 'integer',
      blockAt: 'dateTime',
      readAt: 'dateTime',
    }),
  ),
  missing: listOf(
    fields({
      networkId: 'integer',
      assetId: orNull('string'),
      accounts: 'integer',
      reason: oneOf('unavailable', 'failed', 'limit'),
    }),
  ),
});

/** What chain transactions cost together. */
const FEE_SUMS = {
  paid: 'digits',
  gasUsed: 'digits',
  dataFee: 'digits',
  chainTransactions: 'integer',
  unknown: 'integer',
} satisfies { [name: string]: Shape };

const FEE = fields({
  month: 'string',
  networkId: 'integer',
  accountId: orNull(idOf('acc')),
  policyId: orNull(idOf('pol')),
  kind: oneOf('transaction', 'cancellation', 'deployment', 'filler', 'upkeep'),
  asset: orNull(ASSET),
  displayAmount: orNull('decimal'),
  ...FEE_SUMS,
});

/** What executions wait for. */
const PART = fields({
  part: oneOf('temporal', 'worker', 'chainWorker', 'signer', 'network', 'relayers'),
  networkId: orNull('integer'),
  status: oneOf('up', 'slow', 'down', 'unknown'),
  reason: orNull('string'),
  lastSeen: orNull('dateTime'),
});

const NETWORK = fields({
  id: 'integer',
  name: 'string',
  'shortName?': 'string',
  nativeAsset: 'object',
  'explorerUrl?': 'string',
  'walletRpcUrl?': 'string',
});

const ADDRESS_BOOK_ENTRY = fields({
  id: idOf('adr'),
  name: 'string',
  address: 'address',
  networkId: orNull('integer'),
  createdAt: 'dateTime',
  updatedAt: 'dateTime',
});

const KNOWN = listOf(
  fields({
    type: oneOf('account', 'member', 'policy', 'addressBookEntry'),
    id: 'string',
    name: 'string',
    'networkId?': 'integer',
  }),
);

const RECIPIENT = fields({
  address: 'address',
  known: KNOWN,
  count: 'integer',
  firstAt: orNull('dateTime'),
  lastAt: orNull('dateTime'),
  lastTransactionId: orNull(idOf('txn')),
  lookAlikes: listOf(fields({ address: 'address', known: KNOWN, count: 'integer' })),
});

const MOVEMENT = fields({
  id: idOf('mov'),
  accountId: idOf('acc'),
  networkId: 'integer',
  direction: oneOf('in', 'out'),
  kind: oneOf('native', 'erc20', 'erc721', 'erc1155'),
  cause: oneOf('transfer', 'fee'),
  asset: ASSET,
  tokenId: orNull('digits'),
  rawAmount: 'digits',
  displayAmount: 'decimal',
  counterparty: fields({
    address: 'address',
    kind: oneOf('account', 'member', 'addressBookEntry', 'policy', 'none', 'unknown'),
    'id?': 'string',
    'name?': 'string',
  }),
  transactionHash: 'transactionHash',
  logIndex: 'integer',
  blockNumber: 'integer',
  blockAt: 'dateTime',
  status: oneOf('pending', 'confirmed', 'reversed'),
  'transactionId?': idOf('txn'),
  verified: 'boolean',
  marks: listOf(oneOf('zeroAmount', 'lookAlikeToken', 'lookAlikeCounterparty')),
});

const STATEMENT = fields({
  accountId: idOf('acc'),
  from: orNull('dateTime'),
  to: orNull('dateTime'),
  assets: listOf(
    fields({
      networkId: 'integer',
      asset: ASSET,
      fromBlock: 'integer',
      toBlock: 'integer',
      movements: 'integer',
      opening: orNull('digits'),
      in: 'digits',
      out: 'digits',
      fees: 'digits',
      closing: orNull('digits'),
      difference: orNull('string'),
      unexplained: listOf(fields({ fromBlock: 'integer', toBlock: 'integer', amount: 'string' })),
      'unproved?': oneOf('unreadable', 'pruned', 'unavailable'),
    }),
  ),
});

const SCOPE = oneOf('PER_ITEM', 'ALL_ITEMS');
/** A member has memberId and userId, a group has groupId. */
const SETTING = {
  type: oneOf('user', 'group'),
  'memberId?': idOf('mem'),
  'userId?': idOf('mem'),
  'groupId?': idOf('grp'),
};

/** What a policy says; the condition only on its own transactionType. Null only means any, or no maximum. */
const POLICY_FIELDS = {
  name: 'string',
  type: oneOf('AUTO_APPROVAL', 'MANUAL_APPROVAL'),
  transactionType: oneOf('TOKEN_TRANSFER', 'CONTRACT_INTERACTION', 'ANY'),
  networkId: 'integer',
  'description?': 'string',
  accounts: listOf(fields({ id: idOf('acc'), name: 'string', address: 'address' })),
  accountIds: orNull(listOf(idOf('acc'))),
  'limitation?': fields({
    hours: 'integer',
    initiatorScope: SCOPE,
    sourceAccountScope: SCOPE,
    destinationScope: SCOPE,
  }),
  initiatorSetting: orNull(fields(SETTING)),
  'approverSetting?': fields({ ...SETTING, 'threshold?': 'integer', excludeInitiator: 'boolean' }),
  'tokenTransferCondition?': fields({
    tokenAddress: orNull('address'),
    tokenSymbol: 'string',
    tokenName: 'string',
    'tokenLogoUrl?': 'string',
    tokenDecimals: orNull('integer'),
    amountThreshold: orNull('digits'),
    destinationAddresses: listOf('address'),
  }),
  'contractInteractionCondition?': orNull(
    listOf(
      fields({
        contractAddress: 'address',
        allowedFunctions: listOf('string'),
        functions: listOf(fields({ 'name?': 'string', selector: 'selector' })),
        maxValue: 'digits',
      }),
    ),
  ),
} satisfies { [name: string]: Shape };

export const POLICY = fields({
  id: idOf('pol'),
  ...POLICY_FIELDS,
  createdAt: 'dateTime',
  updatedAt: 'dateTime',
});

/** Which condition a policy has. */
export const CONDITION_OF: { readonly [transactionType: string]: string | undefined } = {
  TOKEN_TRANSFER: 'tokenTransferCondition',
  CONTRACT_INTERACTION: 'contractInteractionCondition',
};

const GROUP_DATA = fields({
  items: listOf(fields({ id: idOf('grp'), name: 'string', members: listOf(MEMBER_SUMMARY) })),
});
const POLICY_DATA = fields({ policies: listOf(fields({ id: idOf('pol'), ...POLICY_FIELDS })) });

/** Data of a proposal by kind. */
export const PROPOSAL_DATA: { readonly [resourceTypeAndAction: string]: Shape } = {
  'accounts/create': fields({ items: listOf(fields({ name: 'string', networkIds: listOf('integer') })) }),
  'accounts/update': fields({
    items: listOf(fields({ id: idOf('acc'), 'name?': 'string', 'networkIds?': listOf('integer') })),
  }),
  'members/create': fields({
    items: listOf(
      fields({ name: 'string', walletAddress: 'address', walletKind: WALLET_KIND, type: MEMBER_TYPE }),
    ),
  }),
  'members/update': fields({
    items: listOf(
      fields({ id: idOf('mem'), name: 'string', walletAddress: 'address', walletKind: WALLET_KIND }),
    ),
  }),
  'members/remove': fields({ items: listOf(MEMBER_SUMMARY) }),
  'groups/create': fields({ items: listOf(fields({ name: 'string', memberIds: listOf(idOf('mem')) })) }),
  'groups/update': GROUP_DATA,
  'groups/delete': GROUP_DATA,
  'policies/create': POLICY_DATA,
  'policies/update': POLICY_DATA,
  'policies/remove': POLICY_DATA,
  'admins/update': fields({
    members: listOf(
      fields({
        id: idOf('mem'),
        name: 'string',
        type: MEMBER_TYPE,
        walletAddress: 'address',
        walletKind: WALLET_KIND,
      }),
    ),
    threshold: 'integer',
  }),
};

/** Why an execution did not succeed; the last two are this service's own. */
const FAILURE = fields({
  code: oneOf(
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
  ),
  message: 'string',
  at: 'dateTime',
  attempt: 'integer',
  'transactionHash?': 'transactionHash',
  'retryable?': 'boolean',
  'resumes?': 'boolean',
});

const RESULT = fields({
  resolution: oneOf('approved', 'rejected'),
  resources: listOf(
    fields({
      type: oneOf(...Object.values(SINGULAR).map(({ type }) => type)),
      id: 'string',
      'uri?': 'string',
    }),
  ),
});

const PROPOSAL_FIELDS = {
  id: idOf('prop'),
  resourceType: oneOf(...RESOURCE_TYPES),
  action: oneOf(...ACTIONS),
  signatureStatus: oneOf(
    'pendingInitiatorSignature',
    'pendingReviewSignatures',
    'approvalReady',
    'rejectionReady',
    'approvalAndRejectionReady',
    'expired',
  ),
  executionStatus: orNull(oneOf('processing', 'completed', 'rejected', 'failed', 'blocked')),
  threshold: 'integer',
  approvals: listOf(MEMBER_SUMMARY),
  rejections: listOf(MEMBER_SUMMARY),
  createdAt: 'dateTime',
  expiresAt: 'wholeSeconds',
  data: 'object',
  'signingPayloads?': fields({
    approvePayload: 'string',
    rejectPayload: 'string',
    'initiatorPayload?': 'string',
  }),
  'result?': RESULT,
  'failure?': FAILURE,
  'deployments?': listOf(
    fields({
      networkId: 'integer',
      status: 'string',
      'transactionHash?': 'transactionHash',
      'failure?': FAILURE,
    }),
  ),
  notes: listOf(fields({ at: 'dateTime', code: 'string', message: 'string' })),
} satisfies { [name: string]: Shape };

/** A proposal of any kind; its data is looked at by kind. */
const PROPOSAL = fields(PROPOSAL_FIELDS);

const AUDIT_ENTRY = fields({
  id: idOf('log'),
  action: 'string',
  actor: fields({
    type: oneOf('member', 'operator', 'system'),
    id: 'string',
    name: 'string',
    walletAddress: 'addressOrEmpty',
  }),
  resourceType: 'string',
  resourceId: 'string',
  details: 'object',
  createdAt: 'dateTime',
  position: 'digits',
  previousHash: 'hash',
  hash: 'hash',
});

const EVENT = fields({
  position: 'digits',
  hash: 'hash',
  previousHash: 'hash',
  id: idOf('log'),
  organizationId: idOf('org'),
  type: 'string',
  occurredAt: 'dateTime',
  resource: fields({ type: 'string', id: 'string', 'uri?': 'string' }),
  actor: fields({
    type: oneOf('member', 'operator', 'system'),
    id: 'string',
    name: 'string',
    walletAddress: 'addressOrEmpty',
  }),
  data: 'object',
});

/** What a policy says to a transaction. Where there is a limitation, an amount or a count is left of it. */
const RECIPIENT_CODE = oneOf('contract', 'unknown');

const EVALUATION = fields({
  policy: fields({ id: idOf('pol'), name: 'string' }),
  allowed: 'boolean',
  failures: CONDITION_FAILURES,
  approvers: listOf(MEMBER_SUMMARY),
  threshold: 'integer',
  remaining: orNull(fields({ 'amount?': 'digits', 'count?': 'integer', until: 'dateTime' })),
  'recipientCode?': RECIPIENT_CODE,
});

const COUNT = 'integer' as const;
const IMPACT = fields({
  summary: 'string',
  transactions: COUNT,
  since: orNull('dateTime'),
  policies: listOf(
    fields({
      id: orNull(idOf('pol')),
      name: 'string',
      permitted: COUNT,
      refused: COUNT,
      newlyPermitted: COUNT,
      noLongerPermitted: COUNT,
      conditions: listOf(fields({ condition: 'string', transactions: COUNT })),
      changed: listOf(
        fields({
          transactionId: idOf('txn'),
          createdAt: 'dateTime',
          summary: 'string',
          description: 'string',
          permitted: 'boolean',
          failures: CONDITION_FAILURES,
        }),
      ),
    }),
  ),
});

/** How an endpoint answers: one thing, a list that pages when asked, a list that always does, or one that has no last page. */
type Form = 'one' | 'list' | 'page' | 'feed';

/** A row of the table of endpoints. */
export interface EndpointRow {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** Below /api/v1. */
  readonly path: string;
  /** R: any key of the organization; A: a key of an admin of type api. */
  readonly who: 'R' | 'A';
  readonly status: 200 | 201;
  readonly form: Form;
  /** Shape of `data`, or of each item of it. */
  readonly data: Shape;
  /** For proposals: whose, and which of their actions. */
  readonly proposals?: { readonly resources: readonly ResourceType[]; readonly actions: readonly string[] };
  readonly codes: readonly Code[];
}

const EVERYWHERE: readonly Code[] = [
  'validationError',
  'unauthorized',
  // A key may lack the scope.
  'forbidden',
  'upgradeRequired',
  'rateLimited',
  'internalError',
  'notReconciled',
];
const POST: readonly Code[] = [...EVERYWHERE, 'conflict', 'idempotencyConflict'];

function get(path: string, data: Shape, form: Form = 'one', more: readonly Code[] = []): EndpointRow {
  const codes = [...EVERYWHERE, ...(path.includes('{') ? (['notFound'] as const) : []), ...more];
  return { method: 'get', path, who: 'R', status: 200, form, data, codes };
}

const ACTIONS_OF: Record<ResourceType, readonly string[]> = {
  members: ['create', 'update', 'remove'],
  groups: ['create', 'update', 'delete'],
  policies: ['create', 'update', 'remove'],
  accounts: ['create', 'update'],
  admins: ['update'],
};

function propose(resource: ResourceType, word: string, ...actions: string[]): EndpointRow {
  return {
    method: 'post',
    path: `/${resource}/proposals${word}`,
    who: 'A',
    status: 201,
    form: 'one',
    data: PROPOSAL,
    proposals: { resources: [resource], actions },
    codes: POST,
  };
}

/** Reading, signing and executing one, below a path. */
function proposalBelow(base: string, proposals: NonNullable<EndpointRow['proposals']>): EndpointRow[] {
  const one = `${base}/{proposalId}`;
  const act = (word: string, codes: readonly Code[]): EndpointRow => ({
    method: 'post',
    path: `${one}/${word}`,
    who: 'A',
    status: 200,
    form: 'one',
    data: PROPOSAL,
    proposals,
    codes: [...POST, 'notFound', 'proposalExpired', ...codes],
  });
  return [
    { ...get(one, PROPOSAL), proposals },
    act('signatures', ['invalidSignature']),
    act('execute', ['thresholdNotMet']),
  ];
}

function proposalsOf(resource: ResourceType): EndpointRow[] {
  const proposals = { resources: [resource], actions: ACTIONS_OF[resource] };
  const base = `/${resource}/proposals`;
  const list = resource === 'admins' ? get(base, PROPOSAL, 'one', ['notFound']) : get(base, PROPOSAL, 'page');
  return [{ ...list, proposals }, ...proposalBelow(base, proposals)];
}

/** What can be said of any transaction. */
const TRANSACTION_FIELDS = {
  id: idOf('txn'),
  accountId: idOf('acc'),
  networkId: 'integer',
  description: 'string',
  to: 'address',
  value: 'digits',
  calldata: 'calldata',
  'replaces?': idOf('txn'),
  'externalId?': 'string',
  metadata: 'object',
  tags: listOf('string'),
  initiator: MEMBER_SUMMARY,
  policy: fields({ id: idOf('pol'), threshold: 'integer' }),
  signatureStatus: PROPOSAL_FIELDS.signatureStatus,
  executionStatus: PROPOSAL_FIELDS.executionStatus,
  threshold: 'integer',
  approvals: listOf(MEMBER_SUMMARY),
  rejections: listOf(MEMBER_SUMMARY),
  'signingPayloads?': fields({
    'approvePayload?': 'string',
    'rejectPayload?': 'string',
    'initiatorPayload?': 'string',
  }),
  signatureData: fields({
    status: PROPOSAL_FIELDS.signatureStatus,
    'approvePayload?': 'string',
    'rejectPayload?': 'string',
    'initiatorPayload?': 'string',
  }),
  'chain?': fields({ transactionHash: 'transactionHash', submittedAt: 'dateTime', confirmations: 'integer' }),
  'result?': fields({
    resolution: oneOf('approved', 'rejected'),
    'transactionHash?': 'transactionHash',
    'blockNumber?': 'integer',
    'executedAt?': 'dateTime',
    'fee?': 'digits',
  }),
  'fees?': fields(FEE_SUMS),
  'failure?': FAILURE,
  notes: PROPOSAL_FIELDS.notes,
  createdAt: 'dateTime',
  updatedAt: 'dateTime',
  expiresAt: 'wholeSeconds',
} satisfies { [name: string]: Shape };

/** A transaction of any type; its data is looked at by type. */
export const TRANSACTION = fields({
  ...TRANSACTION_FIELDS,
  type: oneOf('TOKEN_TRANSFER', 'CONTRACT_INTERACTION'),
  data: 'object',
});

/** Data of a transaction by type. */
export const TRANSACTION_DATA: { readonly [type: string]: Shape } = {
  TOKEN_TRANSFER: fields({
    destination: 'address',
    asset: ASSET,
    rawAmount: 'digits',
    displayAmount: 'decimal',
    networkId: 'integer',
  }),
  CONTRACT_INTERACTION: fields({
    toAddress: 'address',
    calldata: 'calldata',
    networkId: 'integer',
    value: 'digits',
    'functionName?': 'string',
    'functionParameters?': listOf(fields({ name: 'string', type: 'string', value: 'string' })),
  }),
};

const SIMULATION = fields({
  status: oneOf('succeeds', 'fails', 'unavailable'),
  'gas?': 'digits',
  'reason?': 'string',
  'blockNumber?': 'integer',
  'recipientCode?': RECIPIENT_CODE,
});

function transactionPost(word: string, status: 200 | 201, codes: readonly Code[]): EndpointRow {
  const path = `/transactions${word}`;
  return {
    method: 'post',
    path,
    who: 'R',
    status,
    form: 'one',
    data: TRANSACTION,
    codes: [...POST, ...codes],
  };
}

function addressBookPost(word: string, data: Shape, ...more: Code[]): EndpointRow {
  const path = `/address-book${word}`;
  return {
    method: 'post',
    path,
    who: 'A',
    status: 200,
    form: 'one',
    data,
    codes: [...POST, ...more],
  };
}

const WEBHOOK = fields({
  id: idOf('whk'),
  url: 'string',
  types: orNull(listOf('string')),
  description: 'string',
  enabled: 'boolean',
  status: oneOf('active', 'failing', 'disabled', 'paused'),
  reason: orNull(oneOf('request', 'failing', 'gone', 'operator', 'restored')),
  position: 'digits',
  attempts: 'integer',
  lastFailure: orNull('string'),
  nextAttemptAt: orNull('dateTime'),
  failingSince: orNull('dateTime'),
  createdAt: 'dateTime',
  updatedAt: 'dateTime',
});

const DELIVERY = fields({
  id: 'string',
  reason: oneOf('event', 'resend', 'test'),
  eventId: 'string',
  eventType: 'string',
  position: 'digits',
  attempt: 'integer',
  delivered: 'boolean',
  status: orNull('integer'),
  fault: orNull('string'),
  message: orNull('string'),
  answer: orNull('string'),
  durationMs: 'integer',
  createdAt: 'dateTime',
});

const WEBHOOK_SECRETS = fields({
  secrets: listOf(fields({ secret: 'string', until: orNull('dateTime') })),
  publicKey: 'string',
  organizationId: idOf('org'),
});

/** An endpoint of webhooks: for an admin, whatever it does. */
function webhooks(method: EndpointRow['method'], word: string, data: Shape, form: Form = 'one'): EndpointRow {
  const isTest = word.endsWith('/test');
  const codes = [
    ...(method === 'get' || isTest ? EVERYWHERE : POST),
    ...(word === '' ? [] : (['notFound'] as const)),
  ];
  return { method, path: `/webhooks${word}`, who: 'A', status: 200, form, data, codes };
}

/** Every endpoint that takes a key. */
export const ENDPOINTS: readonly EndpointRow[] = [
  get('/members', MEMBER, 'list'),
  get('/members/{id}', MEMBER),
  get('/groups', GROUP, 'list'),
  get('/groups/{id}', GROUP),
  get('/policies', POLICY, 'list'),
  get('/policies/{policyId}', POLICY),
  {
    method: 'post',
    path: '/policies/evaluate',
    who: 'R',
    status: 200,
    form: 'one',
    data: listOf(EVALUATION),
    // It stores nothing: no idempotency key is in conflict with it, but what is replaced already is.
    codes: [...EVERYWHERE, 'conflict'],
  },
  {
    method: 'post',
    path: '/policies/impact',
    who: 'R',
    status: 200,
    form: 'one',
    data: IMPACT,
    codes: [...EVERYWHERE, 'conflict'],
  },
  get('/policies/proposals/{proposalId}/impact', IMPACT, 'one', ['conflict', 'proposalExpired']),
  get('/accounts', ACCOUNT, 'list'),
  get('/accounts/{id}', ACCOUNT),
  get('/accounts/{id}/balances', listOf(BALANCE)),
  get('/balances', TOTALS),
  get('/admins', ADMINS),
  get('/admins/{id}', ADMINS),
  get('/rescue-kit', RESCUE_KIT, 'one', ['notFound']),
  get('/networks', listOf(NETWORK)),
  get('/parts', listOf(PART)),
  get('/address-book', ADDRESS_BOOK_ENTRY, 'list'),
  get('/address-book/{entryId}', ADDRESS_BOOK_ENTRY),
  get('/address-book/export', fields({ csv: 'string' })),
  addressBookPost('', ADDRESS_BOOK_ENTRY),
  addressBookPost('/{entryId}/update', ADDRESS_BOOK_ENTRY, 'notFound'),
  addressBookPost('/{entryId}/remove', ADDRESS_BOOK_ENTRY, 'notFound'),
  addressBookPost('/import', fields({ created: 'integer', updated: 'integer', unchanged: 'integer' })),
  get('/recipients/{recipientAddress}', RECIPIENT),
  get('/movements', MOVEMENT, 'page'),
  get('/accounts/{accountId}/movements', MOVEMENT, 'page'),
  get('/accounts/{accountId}/statement', STATEMENT, 'one', ['conflict']),
  propose('members', '/create', 'create'),
  propose('members', '/update', 'update'),
  propose('members', '/remove', 'remove'),
  propose('groups', '/create', 'create'),
  propose('groups', '/update', 'update'),
  propose('groups', '/delete', 'delete'),
  propose('policies', '', 'create', 'update'),
  propose('policies', '/add', 'create'),
  propose('policies', '/update', 'update'),
  propose('policies', '/remove', 'remove'),
  propose('accounts', '/create', 'create'),
  propose('accounts', '/update', 'update'),
  propose('admins', '/update', 'update'),
  ...RESOURCE_TYPES.flatMap(proposalsOf),
  {
    ...get('/proposals', PROPOSAL, 'page'),
    proposals: { resources: RESOURCE_TYPES, actions: ACTIONS },
  },
  ...proposalBelow('/proposals', { resources: RESOURCE_TYPES, actions: ACTIONS }),
  get('/members/registrations/payload', fields({ messageToSign: 'string' }), 'one', ['notFound']),
  {
    method: 'post',
    path: '/members/registrations',
    who: 'R',
    status: 200,
    form: 'one',
    data: fields({ walletAddress: 'address', registered: 'boolean', registeredAt: 'dateTime' }),
    codes: [...POST, 'invalidSignature'],
  },
  get('/transactions', TRANSACTION, 'page'),
  get('/transactions/{txId}', TRANSACTION),
  get('/transactions/{txId}/simulation', SIMULATION, 'one', ['conflict', 'proposalExpired']),
  transactionPost('', 201, []),
  transactionPost('/{txId}/references', 200, ['notFound']),
  transactionPost('/{txId}/signatures', 200, ['invalidSignature', 'notFound', 'proposalExpired']),
  transactionPost('/{txId}/execute', 200, ['notFound', 'thresholdNotMet', 'proposalExpired']),
  get('/fees', FEE, 'page'),
  get('/audit-logs', AUDIT_ENTRY, 'page'),
  get('/events', EVENT, 'feed', ['gone']),
  webhooks('get', '', listOf(WEBHOOK)),
  webhooks('post', '', WEBHOOK),
  webhooks('get', '/{webhookId}', WEBHOOK),
  webhooks('patch', '/{webhookId}', WEBHOOK),
  webhooks('delete', '/{webhookId}', WEBHOOK),
  webhooks('get', '/{webhookId}/secrets', WEBHOOK_SECRETS),
  webhooks('get', '/{webhookId}/deliveries', DELIVERY, 'page'),
  webhooks('post', '/{webhookId}/rotate', WEBHOOK),
  webhooks('post', '/{webhookId}/test', DELIVERY),
  webhooks('post', '/{webhookId}/resend', fields({ events: 'integer' })),
];

/** The error codes that the interface page itself lists, by endpoint. */
export const LISTED_CODES: { readonly [endpoint: string]: readonly Code[] } = {
  'post /accounts/proposals/{proposalId}/signatures': [
    'validationError',
    'invalidSignature',
    'unauthorized',
    'forbidden',
    'conflict',
    'proposalExpired',
    'idempotencyConflict',
    'upgradeRequired',
    'rateLimited',
    'internalError',
    'notReconciled',
  ],
  'get /accounts/proposals/{proposalId}': ['unauthorized', 'notFound'],
  'get /policies': ['unauthorized'],
  'get /policies/{policyId}': ['unauthorized', 'notFound'],
  'get /admins/proposals': ['unauthorized', 'notFound'],
};
