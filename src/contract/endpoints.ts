import {
  createAccountsEndpoint,
  getAccountEndpoint,
  getBalancesEndpoint,
  listAccountsEndpoint,
  updateAccountsEndpoint,
} from './accounts';
import { getAdminsEndpoint, listAdminsEndpoint } from './admins';
import { listAuditLogsEndpoint } from './auditLogs';
import type { Endpoint } from './endpoint';
import { getMemberEndpoint, listMembersEndpoint } from './members';
import { listNetworksEndpoint } from './networks';
import {
  executeProposalEndpoint,
  getProposalEndpoint,
  listAllProposalsEndpoint,
  listProposalsEndpoint,
  PROPOSAL_RESOURCES,
  signProposalEndpoint,
} from './proposals';

/** Where all of them live. */
export const BASE_PATH = '/api/v1';

/** Every endpoint of the interface. */
export const endpoints: readonly Endpoint[] = [
  createAccountsEndpoint,
  updateAccountsEndpoint,
  ...PROPOSAL_RESOURCES.flatMap((resource) => [
    listProposalsEndpoint(resource),
    getProposalEndpoint(resource),
    signProposalEndpoint(resource),
    executeProposalEndpoint(resource),
  ]),
  listAllProposalsEndpoint,
  listAccountsEndpoint,
  getAccountEndpoint,
  getBalancesEndpoint,
  listMembersEndpoint,
  getMemberEndpoint,
  listAdminsEndpoint,
  getAdminsEndpoint,
  listNetworksEndpoint,
  listAuditLogsEndpoint,
];
