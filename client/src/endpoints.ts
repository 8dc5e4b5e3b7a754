import type { operations } from './openapi.ts';

/** The name of an endpoint: its `operationId` in openapi.json. */
export type Operation = keyof operations;

/** Method and path of every endpoint. The compiler refuses a table that lacks one. */
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
  listTransactions: 'GET /transactions',
  getTransaction: 'GET /transactions/{id}',
  createTransaction: 'POST /transactions',
  signTransaction: 'POST /transactions/{id}/signatures',
  executeTransaction: 'POST /transactions/{id}/execute',
  listNetworks: 'GET /networks',
  listAuditLogs: 'GET /audit-logs',
} as const satisfies Record<Operation, `${'GET' | 'POST'} /${string}`>;

type Json = { content: { 'application/json': unknown } };
type Success<O extends Operation> = operations[O]['responses'] extends { 201: Json }
  ? operations[O]['responses'][201]
  : operations[O]['responses'] extends { 200: Json }
    ? operations[O]['responses'][200]
    : never;

/** The body of a response. */
export type ResponseOf<O extends Operation> =
  Success<O> extends { content: { 'application/json': infer Body } } ? Body : never;

/** What an endpoint returns: the `data` of its response. */
export type DataOf<O extends Operation> = ResponseOf<O> extends { data: infer Data } ? Data : never;

/** Fields that only responses have are accepted in requests, and not needed. */
type BodyOf<O extends Operation> = operations[O] extends {
  requestBody: { content: { 'application/json': infer Body } };
}
  ? Body
  : never;

/** The query of an endpoint. */
export type QueryOf<O extends Operation> = operations[O]['parameters'] extends { query: infer Query }
  ? Query
  : operations[O]['parameters'] extends { query?: infer Query }
    ? Exclude<Query, undefined>
    : never;

/** Endpoints whose list has pages. */
export type PagedOperation = {
  [O in Operation]: QueryOf<O> extends { cursor?: string } ? O : never;
}[Operation];

/** One row of a list. */
export type ItemOf<O extends Operation> = DataOf<O> extends readonly (infer Item)[] ? Item : never;

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, and the waiting before its next attempt. */
  readonly signal?: AbortSignal;
  /** How long the call may take with all its attempts. */
  readonly timeoutMs?: number;
  /** Of a POST: a UUID that was stored with the intent, so that the call can be repeated after a crash. Absent: a new one. */
  readonly idempotencyKey?: string;
}

type PathArguments<O extends Operation> = operations[O]['parameters'] extends { path: object }
  ? [id: string]
  : [];
type ContentArguments<O extends Operation> = [BodyOf<O>] extends [never]
  ? PathArguments<O> extends [string]
    ? []
    : operations[O]['parameters'] extends { query: object }
      ? [query: QueryOf<O>]
      : [query?: QueryOf<O>]
  : [body: BodyOf<O>];

/** The arguments of an endpoint's method: the id in its path, its body or query, options. */
export type ArgumentsOf<O extends Operation> = [
  ...PathArguments<O>,
  ...ContentArguments<O>,
  options?: CallOptions,
];

/** One method for each endpoint. */
export type Methods = { readonly [O in Operation]: (...args: ArgumentsOf<O>) => Promise<DataOf<O>> };
