import type { WorkflowHandle } from '@temporalio/client';
import { createPublicClient, http as rpcTransport, zeroAddress } from 'viem';
import { requireRow } from '../../src/db/rows';
import type { TransactionState } from '../../src/domain/transactionState';
import { approvalWorkflowId } from '../../src/temporal/ids';
import { approvalMessages } from '../../src/temporal/messages';
import { makeAccount, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import type { TestOrganization, TestService } from '../support/service';
import { fundOnLocalChain, networksFile, rpc, startOwnChain } from '../support/stack';
import {
  aTransactionBody,
  createTransaction,
  makePolicies,
  readTransaction,
  signed,
} from '../support/transactionApi';
import { until } from '../support/until';
import { startWorld, type World } from './world';

/** A service on a chain of its own, with an organization that has a funded account. */
export interface TransactionWorld extends World {
  readonly networkId: number;
  readonly url: string;
  readonly org: TestOrganization;
  readonly account: Shown;
  /** Lets anybody send up to 1,000 wei an hour by themselves. */
  readonly policy: Shown;
  readonly relayer: string;
}

/** The messages of a transaction's workflow. */
export const messages = approvalMessages<TransactionState>();

/** A policy of native currency to anybody, within 1,000 wei an hour. */
export function sending(networkId: number, change: object = {}) {
  return {
    name: 'Coins to anybody',
    type: 'AUTO_APPROVAL',
    transactionType: 'TOKEN_TRANSFER',
    networkId,
    accountIds: null,
    initiatorSetting: null,
    limitation: {
      hours: 1,
      initiatorScope: 'ALL_ITEMS',
      sourceAccountScope: 'ALL_ITEMS',
      destinationScope: 'ALL_ITEMS',
    },
    tokenTransferCondition: {
      tokenAddress: zeroAddress,
      amountThreshold: '1000',
      destinationAddresses: [],
    },
    ...change,
  };
}

/** A funded account on a network, and a policy under which it sends to anybody; `change`: of that policy. */
export async function makePayer(
  { http, config }: TestService,
  org: TestOrganization,
  networkId: number,
  change: object = {},
): Promise<{ account: Shown; policy: Shown }> {
  const account = await makeAccount(http, org, { networkIds: [networkId] });
  const [policy] = await makePolicies(http, org, sending(networkId, change));
  const signerUrl = config.networks.find(({ id }) => id === networkId)?.signerRpcUrls[0];
  await fundOnLocalChain(signerUrl ?? '', account.address);
  return { account, policy };
}

/** Starts such a world; the chain has this id, and its workers ask the endpoint that `through` gives for its own. */
export async function startTransactionWorld(
  networkId: number,
  env: NodeJS.ProcessEnv = {},
  through: (url: string) => Promise<string> = async (url) => url,
): Promise<TransactionWorld> {
  const own = await startOwnChain(networkId);
  const url = own.current.rpcUrl;
  const file = networksFile([
    { id: networkId, name: 'Own', rpcUrl: await through(url), signerRpcUrls: [url] },
  ]);
  const world = await startWorld({
    env: { NETWORKS_FILE: file, SIGNER_NETWORK: String(networkId), ...env },
  });
  const org = await world.createOrganization();
  const { account, policy } = await makePayer(world, org, networkId);
  const { address: relayer } = requireRow(
    await world
      .db('relayers')
      .where({ network_id: BigInt(networkId) })
      .first(),
  );
  return {
    ...world,
    networkId,
    url,
    org,
    account,
    policy,
    relayer,
    async stop() {
      await world.stop();
      await own.stop();
    },
  };
}

/** A transfer of 1 wei to somebody new, created. */
export async function created(world: TransactionWorld, more: object = {}): Promise<Shown> {
  const { account, policy, networkId } = world;
  const body = aTransactionBody(world.org, { account, policy, to: anAddress() }, { networkId, ...more });
  return createTransaction(world.http, world.org, body);
}

/** The same, its execution asked for with the initiator's signature. */
export async function begun(world: TransactionWorld, more: object = {}): Promise<Shown> {
  const { http, org } = world;
  return signed(http, org, await created(world, more), org.dave, 'initiator', { execute: true });
}

/** What has arrived where a transaction goes, in wei. */
export async function received({ url }: TransactionWorld, { to }: Shown): Promise<bigint> {
  return createPublicClient({ transport: rpcTransport(url) }).getBalance({ address: to });
}

/** The workflow of a transaction. */
export function workflowOfTransaction(
  { temporal, org }: Pick<TransactionWorld, 'temporal' | 'org'>,
  { id }: Shown,
): WorkflowHandle {
  return temporal.workflow.getHandle(
    approvalWorkflowId({ subject: 'transaction', organizationId: org.id, id: id }),
  );
}

/** What the audit log says has been done about a transaction. */
export async function actionsOf({ db }: TransactionWorld, { id }: Shown): Promise<string[]> {
  return db('audit_log').where({ resource_id: id }).orderBy('position').pluck('action');
}

/** What has become of its reservations, in their order. */
export async function usageOf({ db }: TransactionWorld, { id }: Shown): Promise<string[]> {
  return db('policy_usage').where({ transaction_id: id }).orderBy('id').pluck('status');
}

/** Waits until a transaction has that outcome. */
export async function reached(world: TransactionWorld, { id }: Shown, status: string): Promise<Shown> {
  return until(`${id} is ${status}`, async () => {
    const found = await readTransaction(world.http, world.org, { id });
    return found.executionStatus === status && found;
  });
}

/** Waits until something of a transaction is on its way. */
export async function sent(world: TransactionWorld, { id }: Shown): Promise<Shown> {
  return until(`${id} has been sent`, async () => {
    const found = await readTransaction(world.http, world.org, { id });
    return found.chain !== undefined && found;
  });
}

/** Waits until the empty call that is to take a transaction's nonce is on its way. */
export async function cancellationSent({ db }: TransactionWorld, { id }: Shown): Promise<void> {
  await until('its cancellation has been sent', async () => {
    const rows = await db('chain_envelopes')
      .join('chain_attempts', 'chain_attempts.id', 'attempt_id')
      .where({ transaction_id: id, kind: 'cancellation' })
      .whereNotNull('sent_at');
    return rows.length > 0;
  });
}

/** Sets the balance of the relayer, in wei. */
export async function setRelayerFunds({ url, relayer }: TransactionWorld, wei: bigint): Promise<void> {
  await rpc(url, 'anvil_setBalance', [relayer, `0x${wei.toString(16)}`]);
}

/** Runs some work while the chain makes no blocks. */
export async function withoutBlocks({ url }: TransactionWorld, work: () => Promise<void>): Promise<void> {
  await rpc(url, 'evm_setAutomine', [false]);
  try {
    await work();
  } finally {
    await rpc(url, 'evm_setAutomine', [true]);
    await rpc(url, 'anvil_mine', ['0x3']);
  }
}
