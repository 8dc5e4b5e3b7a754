import { getAccountEndpoint, getBalancesEndpoint, listAccountsEndpoint } from '../contract/accountContract';
import {
  createAddressBookEntryEndpoint,
  exportAddressBookEndpoint,
  getAddressBookEntryEndpoint,
  importAddressBookEndpoint,
  listAddressBookEndpoint,
  removeAddressBookEntryEndpoint,
  updateAddressBookEntryEndpoint,
} from '../contract/addressBookContract';
import { getAdminsEndpoint, listAdminsEndpoint } from '../contract/adminContract';
import { listAuditLogsEndpoint } from '../contract/auditLogContract';
import type { Endpoint } from '../contract/endpoint';
import { listEventsEndpoint } from '../contract/eventContract';
import { getGroupEndpoint, listGroupsEndpoint } from '../contract/groupContract';
import { getMemberEndpoint, listMembersEndpoint } from '../contract/memberContract';
import { listNetworksEndpoint } from '../contract/networkContract';
import { listPartsEndpoint } from '../contract/partContract';
import {
  evaluatePoliciesEndpoint,
  getPolicyEndpoint,
  listPoliciesEndpoint,
} from '../contract/policyContract';
import { getPolicyImpactEndpoint, previewPoliciesEndpoint } from '../contract/policyImpactContract';
import { describeProposals } from '../contract/proposalContract';
import { getRecipientEndpoint } from '../contract/recipientContract';
import { getRegistrationPayloadEndpoint, registerWalletEndpoint } from '../contract/registrationContract';
import {
  createTransactionEndpoint,
  executeTransactionEndpoint,
  getTransactionEndpoint,
  listTransactionsEndpoint,
  signTransactionEndpoint,
  simulateTransactionEndpoint,
} from '../contract/transactionContract';
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
  previewPoliciesEndpoint,
  getPolicyImpactEndpoint,
  listTransactionsEndpoint,
  getTransactionEndpoint,
  simulateTransactionEndpoint,
  createTransactionEndpoint,
  signTransactionEndpoint,
  executeTransactionEndpoint,
  listAdminsEndpoint,
  getAdminsEndpoint,
  listNetworksEndpoint,
  listPartsEndpoint,
  listAddressBookEndpoint,
  getAddressBookEntryEndpoint,
  createAddressBookEntryEndpoint,
  updateAddressBookEntryEndpoint,
  removeAddressBookEntryEndpoint,
  importAddressBookEndpoint,
  exportAddressBookEndpoint,
  getRecipientEndpoint,
  listAuditLogsEndpoint,
  listEventsEndpoint,
];
