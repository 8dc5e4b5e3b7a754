import { randomUUID } from 'node:crypto';
import { encodeFunctionData, erc20Abi } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { closeApproval } from '../../src/approvals/closing';
import { requireRow } from '../../src/db/rows';
import { change, proposeChange, read, type Shown } from './api';
import { has, type Json } from './document';
import { sendFromFunder } from './funder';
import type { HttpClient } from './http';
import { BASE, type ResourceType } from './interfaceTables';
import type { TestMember, TestOrganization, TestService } from './service';
import { sharedStack } from './stack';
import { createTransaction, initiate } from './transactionApi';
import { until } from './until';

const NATIVE_CURRENCY = `0x${'0'.repeat(40)}`;
const NETWORK = 31337;

/** An organization that has some of everything that a request can name. */
export interface Furnished {
  readonly org: TestOrganization;
  readonly accounts: readonly Shown[];
  readonly groups: readonly Shown[];
  readonly policies: readonly Shown[];
  /** Names of addresses. */
  readonly addressBook: readonly Shown[];
  /** Where its events are sent to: disabled. */
  readonly webhooks: readonly Shown[];
  /** The id of one of the first account that failed for good. */
  readonly failedId: string;
  /** New ones, that nobody has signed. */
  readonly transactions: readonly Shown[];
}

/** The same before its transactions are made. */
type WithoutTransactions = Omit<Furnished, 'transactions' | 'addressBook' | 'webhooks'>;

const newName = () => `N ${randomUUID()}`;
/** The address of a new key. */
export const newAddress = () => privateKeyToAddress(generatePrivateKey());

/** A policy that names nothing of its organization. */
const anyPolicy = () => ({
  name: newName(),
  type: 'AUTO_APPROVAL',
  transactionType: 'ANY',
  networkId: NETWORK,
  accountIds: null,
  initiatorSetting: null,
});

/** Policies of all variants, which between them use every field of a request. */
function policiesOf({ org, accounts, groups }: Pick<Furnished, 'org' | 'accounts' | 'groups'>): Json[] {
  const [account, group] = [accounts[0].id, groups[0].id];
  const limitation = {
    hours: 24,
    initiatorScope: 'PER_ITEM',
    sourceAccountScope: 'ALL_ITEMS',
    destinationScope: 'PER_ITEM',
  };
  return [
    {
      ...anyPolicy(),
      description: 'Small payments',
      transactionType: 'TOKEN_TRANSFER',
      accountIds: [account],
      limitation,
      initiatorSetting: { type: 'user', memberId: org.dave.id },
      tokenTransferCondition: {
        tokenAddress: NATIVE_CURRENCY,
        tokenDecimals: 18,
        amountThreshold: '1000',
        destinationAddresses: [newAddress()],
      },
    },
    {
      ...anyPolicy(),
      type: 'MANUAL_APPROVAL',
      transactionType: 'CONTRACT_INTERACTION',
      accountIds: [account],
      initiatorSetting: { type: 'group', groupId: group },
      approverSetting: { type: 'group', groupId: group, threshold: 1, excludeInitiator: true },
      contractInteractionCondition: [
        { contractAddress: newAddress(), allowedFunctions: ['mint(address,uint256)'], maxValue: '5' },
      ],
    },
    {
      ...anyPolicy(),
      type: 'MANUAL_APPROVAL',
      initiatorSetting: { type: 'user', userId: org.dave.id },
      approverSetting: { type: 'user', memberId: org.carol.id },
    },
    {
      ...anyPolicy(),
      type: 'MANUAL_APPROVAL',
      approverSetting: { type: 'user', userId: org.carol.id },
    },
  ];
}

/** Good bodies of every endpoint that proposes, and of every dry run; each can be proposed while the others are open. */
const BODIES: { readonly [operationId: string]: (own: Furnished) => Json[] } = {
  proposeMembersCreate: () => [{ items: [{ name: newName(), walletAddress: newAddress(), type: 'user' }] }],
  proposeMembersUpdate: ({ org }) => [
    { items: [{ id: org.dave.id, name: newName(), walletAddress: newAddress() }] },
  ],
  proposeMembersRemove: ({ org }) => [{ ids: [org.otherBot.id] }],
  proposeGroupsCreate: ({ org }) => [{ items: [{ name: newName(), memberIds: [org.dave.id] }] }],
  proposeGroupsUpdate: ({ org, groups }) => [
    {
      items: [
        { id: groups[1].id, name: newName(), memberUpdates: [{ action: 'addMember', id: org.carol.id }] },
      ],
    },
  ],
  proposeGroupsDelete: ({ groups }) => [{ items: [{ id: groups[2].id }] }],
  proposePolicies: (own) => [
    { policies: [...policiesOf(own), { ...policiesOf(own)[1], id: own.policies[4].id }] },
  ],
  proposePoliciesAdd: (own) => policiesOf(own).map((policy) => ({ policies: [policy] })),
  proposePoliciesUpdate: (own) => [
    { policies: policiesOf(own).map((policy, i) => ({ ...policy, id: own.policies[i].id })) },
  ],
  proposePoliciesRemove: ({ policies }) => [{ policyIds: [policies[5].id] }],
  proposeAccountsCreate: () => [{ items: [{ name: newName(), networkIds: [NETWORK] }] }],
  proposeAccountsUpdate: ({ accounts }) => [
    { items: [{ id: accounts[0].id, name: newName(), networkIds: [31338] }] },
  ],
  proposeAdminsUpdate: ({ org }) => [
    {
      updates: [{ action: 'addMember', id: org.dave.id }],
      threshold: 3,
      onChain: { enabled: true },
    },
  ],
  createTransaction: (own) => [newTransactionOf(own)],
  changeReferences: () => [{ metadata: { costCenter: '4712' }, tags: ['rent', 'May'] }],
  evaluatePolicies: (own) => [transactionOf(own)],
  previewPolicies: (own) => bodiesFor('proposePolicies', own),
  testWebhook: () => [{}],
};

/** A transaction of an organization, with everything that can be said about one under any policy. */
export const transactionOf = ({
  org,
  accounts,
  failedId,
}: Pick<Furnished, 'org' | 'accounts' | 'failedId'>): Json => ({
  accountId: accounts[0].id,
  initiatorWalletAddress: org.dave.wallet.address,
  networkId: NETWORK,
  description: 'Rent',
  to: newAddress(),
  value: '1',
  data: '0x',
  replaces: failedId,
});

/** The same under a policy that permits it. */
export const newTransactionOf = (own: WithoutTransactions): Json => ({
  ...transactionOf(own),
  externalId: newName(),
  metadata: { costCenter: '4711' },
  tags: ['rent'],
  policyId: own.policies[0].id,
});

/** Good bodies for an endpoint that proposes. Throws for an endpoint that has none here: it is new, write them. */
export function bodiesFor(operationId: string, own: Furnished): Json[] {
  const bodies = BODIES[operationId];
  if (!bodies) throw new Error(`test/support/furnished.ts has no body for ${operationId}`);
  return bodies(own);
}

/** A proposal about each resource that needs nothing but the members that every organization has. */
const SIMPLE: Record<ResourceType, (org: TestOrganization) => [string, object]> = {
  members: () => ['/members/proposals/create', { items: [{ name: newName(), walletAddress: newAddress() }] }],
  groups: () => ['/groups/proposals/create', { items: [{ name: newName(), memberIds: [] }] }],
  policies: () => ['/policies/proposals/add', { policies: [anyPolicy()] }],
  accounts: () => ['/accounts/proposals/create', { items: [{ name: newName(), networkIds: [NETWORK] }] }],
  admins: () => ['/admins/proposals/update', { updates: [], threshold: 1 }],
};

/** The resources that the document has proposals about. */
export const resourceTypes = (Object.keys(SIMPLE) as ResourceType[]).filter((resource) =>
  has(`get${singular(resource)}Proposal`),
);

function singular(resource: ResourceType): string {
  const word = resource === 'policies' ? 'policy' : resource.slice(0, -1);
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** The resource that a path about proposals is for: a certain one where it is for all. */
export function resourceOf(path: string): ResourceType {
  if (path.startsWith('/proposals/')) return 'admins';
  const resource = resourceTypes.find((one) => path.startsWith(`/${one}/proposals`));
  if (!resource) throw new Error(`${path} is not about proposals of one resource`);
  return resource;
}

/** Proposes something about a resource. */
export function proposeSomething(
  http: HttpClient,
  org: TestOrganization,
  resource: ResourceType,
): Promise<Shown> {
  return proposeChange(http, org, ...SIMPLE[resource](org));
}

/** Makes an account, groups, policies and transactions in a new organization. */
export async function furnish(
  { http, db }: Pick<TestService, 'http' | 'db'>,
  org: TestOrganization,
): Promise<Furnished> {
  const [accounts, groups] = await Promise.all([
    change(http, org, '/accounts/proposals/create', {
      items: [1, 2].map(() => ({ name: newName(), networkIds: [NETWORK] })),
    }),
    change(http, org, '/groups/proposals/create', {
      items: [[org.dave, org.alice], [org.dave], []].map((members: TestMember[]) => ({
        name: newName(),
        memberIds: members.map(({ id }) => id),
      })),
    }),
  ]);
  const resources = ({ result }: Shown): Shown[] => result.resources;
  const own = { org, accounts: resources(accounts), groups: resources(groups) };
  await receive(http, own);
  const policies = resources(
    await change(http, org, '/policies/proposals/add', { policies: Array.from({ length: 6 }, anyPolicy) }),
  );
  const {
    replaces: _,
    externalId: __,
    ...replacingNone
  } = newTransactionOf({ ...own, policies, failedId: '' });
  const failedId = await makeFailed({ http, db }, org, replacingNone);
  const named = await Promise.all(
    [1, 2].map(() =>
      http.send({
        key: org.adminKey,
        path: `${BASE}/address-book`,
        body: { name: newName(), address: newAddress() },
      }),
    ),
  );
  // What replaces it is left to a test: one can.
  const transactions = await Promise.all([1, 2].map(() => createTransaction(http, org, replacingNone)));
  const webhook = { url: 'http://127.0.0.1:9/', enabled: false };
  const hooked = await http.send({ key: org.adminKey, path: '/api/v1/webhooks', body: webhook });
  const webhooks = [hooked.body.data];
  // Two attempts, so that their list has two pages.
  for (const { id } of [...webhooks, ...webhooks]) {
    await http.send({ key: org.adminKey, path: `/api/v1/webhooks/${id}/test`, body: {} });
  }
  return {
    ...own,
    policies,
    failedId,
    transactions,
    webhooks,
    addressBook: named.map(({ body }) => body.data),
  };
}

/** Sends tokens to the first account, twice, and waits until both are confirmed: a page of one has another behind it. */
async function receive(http: HttpClient, { org, accounts }: Pick<Furnished, 'org' | 'accounts'>) {
  const { rpcUrl, token } = requireRow(sharedStack().chains.find(({ chainId }) => chainId === NETWORK));
  const { address } = await read(http, org.readKey, `${BASE}/accounts/${accounts[0].id}`);
  for (const amount of [1n, 2n]) {
    const args = [address, amount] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
    await sendFromFunder(rpcUrl, { to: token.address, data });
  }
  const path = `${BASE}/movements?status=confirmed`;
  await until('both transfers are confirmed', async () => {
    const { body } = await http.send({ key: org.readKey, path });
    return body.data.length === 2;
  });
}

/** The id of a transaction that was made and is closed as failed, so that another one can replace it. */
export async function makeFailed(
  { http, db }: Pick<TestService, 'http' | 'db'>,
  org: TestOrganization,
  body: Json,
): Promise<string> {
  const { id } = await initiate(http, org, body);
  const failed = { subject: 'transaction', organizationId: org.id, id } as const;
  await closeApproval(db, failed, { reason: 'not wanted', mayClose: () => true });
  return id;
}

/** The id of a record of an organization, of the kind that another id is. */
export function idLike(
  example: string,
  { org, accounts, groups, policies, transactions, addressBook, webhooks }: Furnished,
): string {
  if (example.startsWith('0x')) return org.dave.wallet.address;
  const byPrefix: { [prefix: string]: string | undefined } = {
    mem: org.dave.id,
    acc: accounts[0].id,
    grp: groups[0].id,
    pol: policies[0].id,
    txn: transactions[0].id,
    adm: org.adminsId,
    adr: addressBook[0].id,
    whk: webhooks[0].id,
  };
  const id = byPrefix[example.split('_')[0] ?? ''];
  if (!id) throw new Error(`there is no record with an id like ${example}`);
  return id;
}

/** True for the operations that propose. */
/** Whether an operation stores nothing: no idempotency key is in conflict with it. */
export const isDryRun = ({ method, codes }: { method: string; codes: readonly string[] }) =>
  method !== 'get' && !codes.includes('idempotencyConflict');
/** Whether an operation makes a request that waits for signatures. */
export const proposesSomething = ({ method, success }: { method: string; success: number }) =>
  method === 'post' && success === 201;

/** Path of a proposal, or of something below it. */
export const placeOf = ({ resourceType, id }: Shown, below = '') =>
  `${BASE}/${resourceType}/proposals/${id}${below}`;
