import { getAccountEndpoint, getBalancesEndpoint, listAccountsEndpoint } from '../contract/accounts';
import { getAdminsEndpoint, listAdminsEndpoint } from '../contract/admins';
import { listAuditLogsEndpoint } from '../contract/auditLogs';
import type { Endpoint } from '../contract/endpoint';
import { getGroupEndpoint, listGroupsEndpoint } from '../contract/groups';
import { getMemberEndpoint, listMembersEndpoint } from '../contract/members';
import { listNetworksEndpoint } from '../contract/networks';
import { evaluatePoliciesEndpoint, getPolicyEndpoint, listPoliciesEndpoint } from '../contract/policies';
import { describeProposals } from '../contract/proposals';
import { getRegistrationPayloadEndpoint, registerWalletEndpoint } from '../contract/registrations';
import {
  createTransactionEndpoint,
  executeTransactionEndpoint,
  getTransactionEndpoint,
  listTransactionsEndpoint,
  signTransactionEndpoint,
  simulateTransactionEndpoint,
} from '../contract/transactions';
import { operations } from '../operations';

/** The endpoints about proposals, generated from the kinds of operation. */
export const proposals = describeProposals(operations);

/** Every endpoint of the interface. */
export const endpoints: readonly Endpoint[] = [
  ...proposals.byResource.flatMap(({ propose, list, get, sign, execute }) => [
    ...propose,
    ...(list ? [list] : []),
    get,
    sign,
    execute,
  ]),
  proposals.queuedAdmin,
  proposals.listAll,
  proposals.get,
  proposals.sign,
  proposals.execute,
  listAccountsEndpoint,
  getAccountEndpoint,
  getBalancesEndpoint,
  listMembersEndpoint,
  getMemberEndpoint,
  getRegistrationPayloadEndpoint,
  registerWalletEndpoint,
  listGroupsEndpoint,
  getGroupEndpoint,
  listPoliciesEndpoint,
  getPolicyEndpoint,
  evaluatePoliciesEndpoint,
  listTransactionsEndpoint,
  getTransactionEndpoint,
  simulateTransactionEndpoint,
  createTransactionEndpoint,
  signTransactionEndpoint,
  executeTransactionEndpoint,
  listAdminsEndpoint,
  getAdminsEndpoint,
  listNetworksEndpoint,
  listAuditLogsEndpoint,
];
