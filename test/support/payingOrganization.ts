import { createPublicClient, type Hex, http as rpcTransport } from 'viem';
import { requireRow } from '../../src/db/rows';
import { openKeystore } from '../../src/signer/keys/keystore';
import { makeAccount, type Shown } from './api';
import { anAddress } from './builders';
import type { ServiceProcess } from './process';
import { connectAsOwner, fundRelayers, makeOrganization, type TestOrganization } from './service';
import { endpointOf, fundOnLocalChain } from './stack';
import {
  aTransactionBody,
  executeTransaction,
  initiate,
  makePaymentPolicies,
  settledTransaction,
} from './transactionApi';
import { NETWORK_ID } from './transactions';

/** An organization whose account has funds, with the policies of `makePaymentPolicies` to pay from it. */
export interface PayingOrganization {
  readonly org: TestOrganization;
  readonly account: Shown;
  readonly policies: Awaited<ReturnType<typeof makePaymentPolicies>>;
}

/** The chain on which such organizations pay. */
export function paymentChain({ config }: Pick<ServiceProcess, 'config'>) {
  const rpcUrl = endpointOf(requireRow(config.networks.find(({ id }) => id === NETWORK_ID)));
  return { rpcUrl, client: createPublicClient({ transport: rpcTransport(rpcUrl) }) };
}

/** Makes one at a service that runs as processes, with their keystore and their login to the tables. */
export async function makePayingOrganization(
  service: Pick<ServiceProcess, 'env' | 'config' | 'http'>,
): Promise<PayingOrganization> {
  const { env, config, http } = service;
  const db = connectAsOwner(env, 2);
  try {
    await fundRelayers(db, config);
    const passphrase = env.KEYSTORE_PASSPHRASE ?? '';
    const keystore = await openKeystore({ file: config.keystore.file, passphrase });
    const org = await makeOrganization(db, { keystore });
    const account = await makeAccount(http, org, { networkIds: [NETWORK_ID] });
    await fundOnLocalChain(paymentChain(service).rpcUrl, account.address);
    return { org, account, policies: await makePaymentPolicies(http, org, NETWORK_ID) };
  } finally {
    await db.destroy();
  }
}

/** A new organization at such a service pays one wei, which arrives. */
export async function payOnce(service: Pick<ServiceProcess, 'env' | 'config' | 'http'>): Promise<void> {
  const { http } = service;
  const { org, account, policies } = await makePayingOrganization(service);
  const to = anAddress() as Hex;
  const body = aTransactionBody(org, { account, policy: policies.auto, to });
  const transaction = await initiate(http, org, body);
  await executeTransaction(http, org, transaction);
  expect(await settledTransaction(http, org, transaction)).toMatchObject({ executionStatus: 'completed' });
  expect(await paymentChain(service).client.getBalance({ address: to })).toBe(1n);
}
