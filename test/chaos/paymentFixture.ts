import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { createPublicClient, type Hex, http as rpcTransport, zeroAddress } from 'viem';
import type { Role } from '../../src/config';
import { requireRow } from '../../src/db/rows';
import { taskQueues } from '../../src/temporal/ids';
import { makeAccount, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { type ForgetfulNode, startForgetfulNode } from '../support/forgetfulNode';
import type { Answer, Ask, HttpClient } from '../support/http';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { startTestService, type TestOrganization, type TestService } from '../support/service';
import { fundOnLocalChain, networksFile, rpc, sharedStack, startOwnChain } from '../support/stack';
import { makePolicies } from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';
import { isTemporary } from './accountCreation';

/** Reverts in a block, but not when it is simulated: `if GASPRICE revert`. */
const PRICED_CODE: Hex = '0x3a600557005b60006000fd';
/** Always reverts: INVALID. */
const REVERTING_CODE: Hex = '0xfe';

const ROLES: readonly Role[] = ['api', 'worker', 'chain', 'signer'];

/** A failpoint that counts only once it is armed. */
export function unarmed(failpoint: string): string {
  return `${failpoint}@SIGUSR2`;
}

/** Policies of the fixture. */
export type PolicyName = 'auto' | 'approved' | 'calls';

/**
 * A service and a chain of their own, with a funded account. One role of the service is a separate process, which is
 * killed and restarted.
 */
export class PaymentFixture {
  private constructor(
    readonly api: TestService,
    /** What is killed. */
    readonly victim: ServiceProcess,
    readonly own: Awaited<ReturnType<typeof startOwnChain>>,
    /** What the service asks of its chain; the signer asks the chain itself. */
    readonly node: ForgetfulNode,
    readonly org: TestOrganization,
    readonly account: Shown,
    readonly policies: { readonly [name in PolicyName]: Shown },
    readonly contracts: { readonly priced: Hex; readonly reverting: Hex },
    readonly temporal: Client,
  ) {}

  /** Starts all parts; the victim with a failpoint that is not armed yet. */
  static async start(role: Role, failpoint: string): Promise<PaymentFixture> {
    const stops: (() => Promise<unknown>)[] = [];
    try {
      return await PaymentFixture.make(role, failpoint, stops);
    } catch (error) {
      for (const stop of stops.toReversed()) await stop();
      throw error;
    }
  }

  private static async make(
    role: Role,
    failpoint: string,
    stops: (() => Promise<unknown>)[],
  ): Promise<PaymentFixture> {
    const own = await startOwnChain(NETWORK_ID);
    stops.push(() => own.stop());
    const networks: { id: number }[] = JSON.parse(readFileSync(sharedStack().networksFile, 'utf8'));
    const { rpcUrl } = own.current;
    const [network] = networks.filter(({ id }) => id === NETWORK_ID);
    const node = await startForgetfulNode(rpcUrl);
    stops.push(() => node.stop());
    const file = networksFile([{ ...network, rpcUrl: node.url, signerRpcUrls: [rpcUrl] }]);
    const others = ROLES.filter((one) => one !== role || one === 'api');
    const api = await startTestService({ env: { ORGWALLET_ROLES: others.join(','), NETWORKS_FILE: file } });
    stops.push(() => api.stop());
    const victim = await startServiceProcess(api.env, { roles: [role], failpoint: unarmed(failpoint) });
    stops.push(() => victim.stop());
    const org = await api.createOrganization();
    const account = await makeAccount(api.http, org, { networkIds: [NETWORK_ID] });
    await fundOnLocalChain(rpcUrl, account.address);
    const contracts = { priced: anAddress() as Hex, reverting: anAddress() as Hex };
    await rpc(rpcUrl, 'anvil_setCode', [contracts.priced, PRICED_CODE]);
    await rpc(rpcUrl, 'anvil_setCode', [contracts.reverting, REVERTING_CODE]);
    const common = { networkId: NETWORK_ID, accountIds: null, initiatorSetting: null };
    const native = {
      transactionType: 'TOKEN_TRANSFER',
      tokenTransferCondition: {
        tokenAddress: zeroAddress,
        amountThreshold: '1000000',
        destinationAddresses: [],
      },
      limitation: {
        hours: 24,
        initiatorScope: 'ALL_ITEMS',
        sourceAccountScope: 'ALL_ITEMS',
        destinationScope: 'ALL_ITEMS',
      },
    };
    const [auto, approved, calls] = await makePolicies(
      api.http,
      org,
      { ...common, ...native, name: 'Any recipient', type: 'AUTO_APPROVAL' },
      {
        ...{ ...common, ...native, name: 'Approved by Alice', type: 'MANUAL_APPROVAL' },
        approverSetting: { type: 'user', memberId: org.alice.id },
      },
      { ...common, name: 'Anything', type: 'AUTO_APPROVAL', transactionType: 'ANY' },
    );
    const temporal = new Client({
      connection: Connection.lazy({ address: api.config.temporal.address }),
    });
    const policies = { auto, approved, calls };
    return new PaymentFixture(api, victim, own, node, org, account, policies, contracts, temporal);
  }

  get rpcUrl(): string {
    return this.own.current.rpcUrl;
  }

  get chain() {
    return createPublicClient({ transport: rpcTransport(this.rpcUrl) });
  }

  /** The first relayer of the network. */
  async relayer(): Promise<Hex> {
    const relayer = await this.api
      .db('relayers')
      .where({ network_id: BigInt(NETWORK_ID) })
      .first('address');
    return requireRow(relayer).address as Hex;
  }

  /** One pass of the reconciler, now. */
  async reconcile(): Promise<void> {
    await this.temporal.workflow.execute('reconcileWorkflow', {
      workflowId: `reconcile-${randomUUID()}`,
      taskQueue: taskQueues(this.api.config.temporal.taskQueue).workflows,
    });
  }

  async stop(): Promise<void> {
    await Promise.all([this.victim.stop(), this.temporal.connection.close()]);
    await this.api.stop();
    await this.node.stop();
    await this.own.stop();
  }
}

/** A request with its answer. Every repetition has the same idempotency key. */
export interface Asked {
  readonly ask: Ask;
  readonly answer: Answer;
}

/** Repeats one request until its answer is final, whichever process is killed meanwhile. */
export async function sendUntilAnswered(
  http: () => Pick<HttpClient, 'send'>,
  ask: Ask,
  limitMs = 90_000,
): Promise<Asked> {
  const repeatable = { ...ask, idempotencyKey: randomUUID() };
  const answer = await until(
    `${ask.path} is answered`,
    async () => {
      const given = await http().send(repeatable);
      if (isTemporary(given)) throw new Error(given.text);
      return given;
    },
    limitMs,
  );
  if (answer.status >= 300) throw new Error(`${ask.path} → ${answer.status} ${answer.text}`);
  return { ask: repeatable, answer };
}
