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
import { listFeesEndpoint } from '../contract/feeContract';
import { getGroupEndpoint, listGroupsEndpoint } from '../contract/groupContract';
import { getMemberEndpoint, listMembersEndpoint } from '../contract/memberContract';
import { listAccountMovementsEndpoint, listMovementsEndpoint } from '../contract/movementContract';
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
import { getRescueKitEndpoint } from '../contract/rescueContract';
import { getStatementEndpoint } from '../contract/statementContract';
import { getTotalsEndpoint } from '../contract/totalsContract';
import {
  changeReferencesEndpoint,
  createTransactionEndpoint,
  executeTransactionEndpoint,
  getTransactionEndpoint,
  listTransactionsEndpoint,
  signTransactionEndpoint,
  simulateTransactionEndpoint,
} from '../contract/transactionContract';
import {
  createWebhookEndpoint,
  getWebhookEndpoint,
  getWebhookSecretsEndpoint,
  listWebhookDeliveriesEndpoint,
  listWebhooksEndpoint,
  removeWebhookEndpoint,
  resendEventsEndpoint,
  rotateWebhookEndpoint,
  testWebhookEndpoint,
  updateWebhookEndpoint,
} from '../contract/webhookContract';
import type { Scope } from '../domain/keyRights';
import { operations } from '../operations';

/** The endpoints about proposals, generated from the kinds of operation. */
export const proposals = describeProposals(operations);

/** Every endpoint of the interface, with the scope that it needs of an API key. */
const declared: readonly (readonly [Scope, Endpoint])[] = [
  ...proposals.byResource.flatMap(({ propose, list, get, sign, execute }) => [
    ...propose.map((one) => ['propose', one] as const),
    ...(list ? [['read', list] as const] : []),
    ['read', get] as const,
    ['propose', sign] as const,
    ['propose', execute] as const,
  ]),
  ['read', proposals.queuedAdmin],
  ['read', proposals.listAll],
  ['read', proposals.get],
  ['propose', proposals.sign],
  ['propose', proposals.execute],
  ['read', listAccountsEndpoint],
  ['read', getAccountEndpoint],
  ['read', getBalancesEndpoint],
  ['read', getTotalsEndpoint],
  ['read', listMembersEndpoint],
  ['read', getMemberEndpoint],
  ['request', getRegistrationPayloadEndpoint],
  ['request', registerWalletEndpoint],
  ['read', listGroupsEndpoint],
  ['read', getGroupEndpoint],
  ['read', listPoliciesEndpoint],
  ['read', getPolicyEndpoint],
  ['read', evaluatePoliciesEndpoint],
  ['read', previewPoliciesEndpoint],
  ['read', getPolicyImpactEndpoint],
  ['read', listTransactionsEndpoint],
  ['read', getTransactionEndpoint],
  ['read', simulateTransactionEndpoint],
  ['request', createTransactionEndpoint],
  ['request', changeReferencesEndpoint],
  ['request', signTransactionEndpoint],
  ['request', executeTransactionEndpoint],
  ['read', listAdminsEndpoint],
  ['read', getAdminsEndpoint],
  ['read', getRescueKitEndpoint],
  ['read', listNetworksEndpoint],
  ['read', listPartsEndpoint],
  ['read', listAddressBookEndpoint],
  ['read', getAddressBookEntryEndpoint],
  ['propose', createAddressBookEntryEndpoint],
  ['propose', updateAddressBookEntryEndpoint],
  ['propose', removeAddressBookEntryEndpoint],
  ['propose', importAddressBookEndpoint],
  ['read', exportAddressBookEndpoint],
  ['read', getRecipientEndpoint],
  ['read', listFeesEndpoint],
  ['read', listMovementsEndpoint],
  ['read', listAccountMovementsEndpoint],
  ['read', getStatementEndpoint],
  ['read', listAuditLogsEndpoint],
  ['read', listEventsEndpoint],
  ['webhooks', listWebhooksEndpoint],
  ['webhooks', getWebhookEndpoint],
  ['webhooks', getWebhookSecretsEndpoint],
  ['webhooks', listWebhookDeliveriesEndpoint],
  ['webhooks', createWebhookEndpoint],
  ['webhooks', updateWebhookEndpoint],
  ['webhooks', removeWebhookEndpoint],
  ['webhooks', rotateWebhookEndpoint],
  ['webhooks', testWebhookEndpoint],
  ['webhooks', resendEventsEndpoint],
];

/** Every endpoint of the interface. */
export const endpoints: readonly Endpoint[] = declared.map(([, one]) => one);

const scopes = new Map(declared.map(([scope, one]) => [one, scope]));

/** What an endpoint needs of an API key. Throws for one that is not declared here. */
export function scopeOf(one: Endpoint): Scope {
  const scope = scopes.get(one);
  if (scope === undefined) throw new Error(`${one.id} is not in src/api/endpoints.ts`);
  return scope;
}
