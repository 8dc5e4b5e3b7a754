import { zeroAddress } from 'viem';
import { change, insist, read, type Shown } from './api';
import type { Answer, HttpClient } from './http';
import { signPayload, type TestMember, type TestOrganization } from './service';
import { NETWORK_ID } from './transactions';
import { until } from './until';

export const TRANSACTIONS = '/api/v1/transactions';

/** Path of a transaction, or of something below it. */
export function transactionPath(id: string, below = ''): string {
  return `${TRANSACTIONS}/${id}${below}`;
}

/** Makes policies and answers them, in their order. */
export async function makePolicies(
  http: HttpClient,
  org: TestOrganization,
  ...policies: readonly object[]
): Promise<Shown[]> {
  const { result } = await change(http, org, '/policies/proposals/add', { policies });
  return Promise.all(result.resources.map(({ uri }: Shown) => read(http, org.readKey, uri)));
}

/** Policies for payments of at most 1,000 wei by any member: approved automatically, and by Alice. */
export async function makePaymentPolicies(
  http: HttpClient,
  org: TestOrganization,
  networkId: number,
): Promise<{ auto: Shown; approved: Shown }> {
  const common = {
    networkId,
    accountIds: null,
    initiatorSetting: null,
    transactionType: 'TOKEN_TRANSFER',
    tokenTransferCondition: { tokenAddress: zeroAddress, amountThreshold: '1000', destinationAddresses: [] },
  };
  const [auto, approved] = await makePolicies(
    http,
    org,
    { ...common, name: 'Any recipient', type: 'AUTO_APPROVAL' },
    {
      ...{ ...common, name: 'Approved by Alice', type: 'MANUAL_APPROVAL' },
      approverSetting: { type: 'user', memberId: org.alice.id },
    },
  );
  return { auto, approved };
}

/** What asks for a transfer of 1 wei by Dave to somebody. */
export function aTransactionBody(
  org: TestOrganization,
  of: { account: { id: string }; policy: { id: string }; to: string },
  more: object = {},
) {
  return {
    accountId: of.account.id,
    initiatorWalletAddress: org.dave.wallet.address,
    networkId: NETWORK_ID,
    policyId: of.policy.id,
    description: '',
    to: of.to,
    value: '1',
    data: '0x',
    ...more,
  };
}

/** Creates a transaction. */
export async function createTransaction(
  http: HttpClient,
  org: TestOrganization,
  body: object,
): Promise<Shown> {
  const answer = await insist(http, { key: org.readKey, path: TRANSACTIONS, body });
  if (answer.status !== 201) throw new Error(`creating a transaction → ${answer.status} ${answer.text}`);
  return answer.body.data;
}

/** What a member sends who signs a transaction as it was shown. */
export async function signatureBody(
  transaction: Shown,
  member: TestMember,
  type: 'initiator' | 'approve' | 'reject',
  more: { execute?: boolean; reason?: string } = {},
) {
  const payload = transaction.signatureData[`${type}Payload`];
  if (!payload) throw new Error(`there is nothing to ${type} about ${transaction.id}`);
  return { type, signature: await signPayload(member, payload), ...more };
}

/** Signs a transaction as it was shown. */
export async function signTransaction(
  http: HttpClient,
  org: TestOrganization,
  transaction: Shown,
  member: TestMember,
  type: 'initiator' | 'approve' | 'reject',
  more: { execute?: boolean; reason?: string } = {},
): Promise<Answer> {
  const path = transactionPath(transaction.id, '/signatures');
  return http.send({
    key: org.readKey,
    path,
    body: await signatureBody(transaction, member, type, more),
  });
}

/** The same, sent again while a part is unavailable; it must be accepted. Returns the transaction. */
export async function signed(
  ...[http, org, transaction, member, type, more]: Parameters<typeof signTransaction>
) {
  const answer = await insist(http, {
    key: org.readKey,
    path: transactionPath(transaction.id, '/signatures'),
    body: await signatureBody(transaction, member, type, more),
  });
  if (answer.status !== 200) throw new Error(`signing ${transaction.id} → ${answer.status} ${answer.text}`);
  return answer.body.data as Shown;
}

/** Creates a transaction and lets its initiator, Dave, sign it. */
export async function initiate(http: HttpClient, org: TestOrganization, body: object): Promise<Shown> {
  return signed(http, org, await createTransaction(http, org, body), org.dave, 'initiator');
}

/** Asks for an execution. */
export function executeTransaction(
  http: HttpClient,
  org: TestOrganization,
  { id }: { id: string },
  type: 'approve' | 'reject' = 'approve',
): Promise<Answer> {
  return http.send({ key: org.readKey, path: transactionPath(id, '/execute'), body: { type } });
}

/** A transaction as it is now. */
export function readTransaction(
  http: HttpClient,
  org: TestOrganization,
  { id }: { id: string },
): Promise<Shown> {
  return read(http, org.readKey, transactionPath(id));
}

/** Waits until the execution of a transaction has an outcome. */
export function settledTransaction(
  http: HttpClient,
  org: TestOrganization,
  transaction: { id: string },
): Promise<Shown> {
  return until(`transaction ${transaction.id} is decided`, async () => {
    const found = await readTransaction(http, org, transaction);
    return ['completed', 'failed', 'rejected', 'blocked'].includes(found.executionStatus) && found;
  });
}
