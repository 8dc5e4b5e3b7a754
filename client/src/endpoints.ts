import type { operations } from './openapi.ts';

/** Endpoints of sessions: for browsers, which have a cookie in place of an API key. */
type OfSessions =
  | 'getSessionNonce'
  | 'startSession'
  | 'getSession'
  | 'endSession'
  | 'listSessions'
  | 'endOtherSession'
  | 'listApiKeys'
  | 'createApiKey'
  | 'revokeApiKey'
  | 'listChannels'
  | 'createChannel'
  | 'updateChannel'
  | 'removeChannel'
  | 'confirmChannel'
  | 'sendChannelCode'
  | 'testChannel';

/** The name of an endpoint for programs: its `operationId` in openapi.json. */
export type EndpointName = Exclude<keyof operations, OfSessions>;

/** Method and path of every endpoint for programs; `?`: it has a query beside its id. The compiler refuses a table that lacks one. */
export const ENDPOINTS = {
  listMembers: 'GET /members',
  getMember: 'GET /members/{id}',
  getRegistrationPayload: 'GET /members/registrations/payload',
  registerWallet: 'POST /members/registrations',
  proposeMembersCreate: 'POST /members/proposals/create',
  proposeMembersUpdate: 'POST /members/proposals/update',
  proposeMembersRemove: 'POST /members/proposals/remove',
  listMemberProposals: 'GET /members/proposals',
  getMemberProposal: 'GET /members/proposals/{id}',
  signMemberProposal: 'POST /members/proposals/{id}/signatures',
  executeMemberProposal: 'POST /members/proposals/{id}/execute',
  listGroups: 'GET /groups',
  getGroup: 'GET /groups/{id}',
  proposeGroupsCreate: 'POST /groups/proposals/create',
  proposeGroupsUpdate: 'POST /groups/proposals/update',
  proposeGroupsDelete: 'POST /groups/proposals/delete',
  listGroupProposals: 'GET /groups/proposals',
  getGroupProposal: 'GET /groups/proposals/{id}',
  signGroupProposal: 'POST /groups/proposals/{id}/signatures',
  executeGroupProposal: 'POST /groups/proposals/{id}/execute',
  listPolicies: 'GET /policies',
  getPolicy: 'GET /policies/{id}',
  evaluatePolicies: 'POST /policies/evaluate',
  previewPolicies: 'POST /policies/impact',
  getPolicyImpact: 'GET /policies/proposals/{id}/impact',
  proposePolicies: 'POST /policies/proposals',
  proposePoliciesAdd: 'POST /policies/proposals/add',
  proposePoliciesUpdate: 'POST /policies/proposals/update',
  proposePoliciesRemove: 'POST /policies/proposals/remove',
  listPolicyProposals: 'GET /policies/proposals',
  getPolicyProposal: 'GET /policies/proposals/{id}',
  signPolicyProposal: 'POST /policies/proposals/{id}/signatures',
  executePolicyProposal: 'POST /policies/proposals/{id}/execute',
  listAccounts: 'GET /accounts',
  getAccount: 'GET /accounts/{id}',
  getAccountBalances: 'GET /accounts/{id}/balances',
  getTotals: 'GET /balances',
  proposeAccountsCreate: 'POST /accounts/proposals/create',
  proposeAccountsUpdate: 'POST /accounts/proposals/update',
  listAccountProposals: 'GET /accounts/proposals',
  getAccountProposal: 'GET /accounts/proposals/{id}',
  signAccountProposal: 'POST /accounts/proposals/{id}/signatures',
  executeAccountProposal: 'POST /accounts/proposals/{id}/execute',
  listAdmins: 'GET /admins',
  getAdmins: 'GET /admins/{id}',
  proposeAdminsUpdate: 'POST /admins/proposals/update',
  getQueuedAdminProposal: 'GET /admins/proposals',
  getAdminProposal: 'GET /admins/proposals/{id}',
  signAdminProposal: 'POST /admins/proposals/{id}/signatures',
  executeAdminProposal: 'POST /admins/proposals/{id}/execute',
  listProposals: 'GET /proposals',
  getProposal: 'GET /proposals/{id}',
  signProposal: 'POST /proposals/{id}/signatures',
  executeProposal: 'POST /proposals/{id}/execute',
  listTransactions: 'GET /transactions',
  getTransaction: 'GET /transactions/{id}',
  simulateTransaction: 'GET /transactions/{id}/simulation',
  createTransaction: 'POST /transactions',
  changeReferences: 'POST /transactions/{id}/references',
  signTransaction: 'POST /transactions/{id}/signatures',
  executeTransaction: 'POST /transactions/{id}/execute',
  getRescueKit: 'GET /rescue-kit',
  listNetworks: 'GET /networks',
  listParts: 'GET /parts',
  listAddressBook: 'GET /address-book',
  getAddressBookEntry: 'GET /address-book/{id}',
  createAddressBookEntry: 'POST /address-book',
  updateAddressBookEntry: 'POST /address-book/{id}/update',
  removeAddressBookEntry: 'POST /address-book/{id}/remove',
  importAddressBook: 'POST /address-book/import',
  exportAddressBook: 'GET /address-book/export',
  getRecipient: 'GET /recipients/{id}?',
  listFees: 'GET /fees',
  listMovements: 'GET /movements',
  listAccountMovements: 'GET /accounts/{id}/movements?',
  getStatement: 'GET /accounts/{id}/statement?',
  listAuditLogs: 'GET /audit-logs',
  listEvents: 'GET /events',
  listWebhooks: 'GET /webhooks',
  getWebhook: 'GET /webhooks/{id}',
  createWebhook: 'POST /webhooks',
  updateWebhook: 'PATCH /webhooks/{id}',
  removeWebhook: 'DELETE /webhooks/{id}',
  getWebhookSecrets: 'GET /webhooks/{id}/secrets',
  rotateWebhook: 'POST /webhooks/{id}/rotate',
  testWebhook: 'POST /webhooks/{id}/test',
  resendEvents: 'POST /webhooks/{id}/resend',
  listWebhookDeliveries: 'GET /webhooks/{id}/deliveries?',
} as const satisfies Record<EndpointName, `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`>;

type Json = { content: { 'application/json': unknown } };
type Success<E extends EndpointName> = operations[E]['responses'] extends { 201: Json }
  ? operations[E]['responses'][201]
  : operations[E]['responses'] extends { 200: Json }
    ? operations[E]['responses'][200]
    : never;

/** The body of a response. */
export type ResponseOf<E extends EndpointName> =
  Success<E> extends { content: { 'application/json': infer Body } } ? Body : never;

/** What an endpoint returns: the `data` of its response. */
export type DataOf<E extends EndpointName> = ResponseOf<E> extends { data: infer Data } ? Data : never;

/** Fields that only responses have are accepted in requests, and not needed. */
type BodyOf<E extends EndpointName> = operations[E] extends {
  requestBody: { content: { 'application/json': infer Body } };
}
  ? Body
  : never;

/** The query of an endpoint. */
export type QueryOf<E extends EndpointName> = operations[E]['parameters'] extends { query: infer Query }
  ? Query
  : operations[E]['parameters'] extends { query?: infer Query }
    ? Exclude<Query, undefined>
    : never;

/** Endpoints whose list has pages. */
export type PagedEndpoint = {
  [E in EndpointName]: QueryOf<E> extends { cursor?: string } ? E : never;
}[EndpointName];

/** One row of a list. */
export type ItemOf<E extends EndpointName> = DataOf<E> extends readonly (infer Item)[] ? Item : never;

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, and the waiting before its next try. */
  readonly signal?: AbortSignal | undefined;
  /** How long the call may take with all its retries, in ms. */
  readonly timeoutMs?: number | undefined;
  /** How long an action may take with all its calls, retries and waits, in ms. */
  readonly totalTimeoutMs?: number | undefined;
  /** Of a POST: a UUID that was stored with the intent, so that the call can be repeated after a crash. Absent: a new one. */
  readonly idempotencyKey?: string | undefined;
}

type PathArguments<E extends EndpointName> = operations[E]['parameters'] extends { path: object }
  ? [id: string]
  : [];
type ContentArguments<E extends EndpointName> = [BodyOf<E>] extends [never]
  ? PathArguments<E> extends [string]
    ? [QueryOf<E>] extends [never]
      ? []
      : [query?: QueryOf<E>]
    : operations[E]['parameters'] extends { query: object }
      ? [query: QueryOf<E>]
      : [query?: QueryOf<E>]
  : [body: BodyOf<E>];

/** The arguments of an endpoint's method: the id in its path, its body or query, options. */
export type ArgumentsOf<E extends EndpointName> = [
  ...PathArguments<E>,
  ...ContentArguments<E>,
  options?: CallOptions,
];

/** One method for each endpoint. */
export type Methods = { readonly [E in EndpointName]: (...args: ArgumentsOf<E>) => Promise<DataOf<E>> };
