import { randomUUID } from 'node:crypto';
import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { Pool } from 'pg';
import { type Address, type Hex, zeroAddress } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { executionGas } from '../../../src/chain/gas';
import { deploymentCall, deriveAccount } from '../../../src/chain/safeAccount';
import { executionCall, type SafeTransaction, safeTransactionHash } from '../../../src/chain/safeTransaction';
import { fundOnLocalChain } from '../../../tools/dev/localChain';
import { rpc } from '../../../tools/dev/rpc';
import { floorPool, storeEnvelopes, untilSent } from './database';
import {
  bareLife,
  bareUpdate,
  bareWorkflow,
  createUpdate,
  executeUpdate,
  floorApproval,
  floorPayment,
  signUpdate,
} from './workflows';

const DEPLOYMENT_GAS = 1_000_000n;
const MAX_FEE = 100n * 10n ** 9n;
/** What the transfer of an account to an address without code may use. */
const TRANSFER_GAS = 50_000n;

export interface FloorParts {
  readonly client: Client;
  readonly taskQueue: string;
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  readonly networkId: number;
}

/** A wallet that sends transactions signed beforehand, one nonce after the other. */
class Relayer {
  private nonce = 0;

  constructor(
    private readonly wallet: PrivateKeyAccount,
    private readonly networkId: number,
  ) {}

  sign(call: { to: Address; data?: Hex; gas: bigint; value?: bigint }): Promise<Hex> {
    const { networkId: chainId, nonce } = this;
    this.nonce += 1;
    const fees = { maxFeePerGas: MAX_FEE, maxPriorityFeePerGas: 1n };
    return this.wallet.signTransaction({ type: 'eip1559', chainId, nonce, ...fees, ...call });
  }
}

/** The floors, and what is barer than they are, as a client sees them. */
export class FloorClient {
  private readonly pool: Pool;

  constructor(private readonly parts: FloorParts) {
    this.pool = floorPool(parts.databaseUrl);
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  private start(workflow: typeof bareWorkflow, workflowId: string) {
    return new WithStartWorkflowOperation(workflow, {
      workflowId,
      taskQueue: this.parts.taskQueue,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
    });
  }

  private async createWith(workflow: typeof floorApproval): Promise<string> {
    const workflowId = randomUUID();
    await this.parts.client.workflow.executeUpdateWithStart(createUpdate, {
      updateId: randomUUID(),
      startWorkflowOperation: this.start(workflow, workflowId),
    });
    return workflowId;
  }

  /** Stores a request that waits for signatures; returns its id. */
  create(): Promise<string> {
    return this.createWith(floorApproval);
  }

  async sign(workflowId: string, signature: number): Promise<void> {
    const handle = this.parts.client.workflow.getHandle(workflowId);
    await handle.executeUpdate(signUpdate, { updateId: randomUUID(), args: [signature] });
  }

  /** Stores payments of an account of their own, with the bytes that execute them; returns their ids. */
  async createPayments(count: number): Promise<string[]> {
    const ids = await Promise.all(Array.from({ length: count }, () => this.createWith(floorPayment)));
    const bytes = await this.signPayments(count);
    await storeEnvelopes(this.pool, new Map(ids.map((id, index) => [id, bytes[index] as Hex])));
    return ids;
  }

  private async signPayments(count: number): Promise<Hex[]> {
    const { rpcUrl, networkId } = this.parts;
    const wallet = privateKeyToAccount(generatePrivateKey());
    const relayer = new Relayer(wallet, networkId);
    const account = deriveAccount(wallet.address, randomUUID());
    const address = account.address as Address;
    for (const funded of [wallet.address, address]) await fundOnLocalChain(rpcUrl, funded);
    const deployment = await relayer.sign({ ...deploymentCall(account), gas: DEPLOYMENT_GAS });
    await rpc(rpcUrl, 'eth_sendRawTransaction', [deployment]);
    const signed: Hex[] = [];
    for (let nonce = 0n; nonce < count; nonce += 1n) {
      const payment: SafeTransaction = {
        ...{ networkId, account: address, to: '0x00000000000000000000000000000000000a11ce' },
        ...{ value: 1n, data: '0x', safeTxGas: TRANSFER_GAS, nonce },
      };
      const call = executionCall(payment, await wallet.sign({ hash: safeTransactionHash(payment) }));
      signed.push(await relayer.sign({ ...call, gas: executionGas(payment) }));
    }
    return signed;
  }

  /** Carries out a payment, from the message that executes it to its end. */
  async execute(id: string): Promise<void> {
    const handle = this.parts.client.workflow.getHandle(id);
    await handle.executeUpdate(executeUpdate, { updateId: randomUUID() });
    await handle.result();
  }

  /** Milliseconds from the beginning of each execution until its bytes were at the node, newest first. */
  untilSent(count: number): Promise<number[]> {
    return untilSent(this.pool, count);
  }

  /** Starts the barest workflow with an update. */
  async bareStart(): Promise<string> {
    const workflowId = randomUUID();
    await this.parts.client.workflow.executeUpdateWithStart(bareUpdate, {
      updateId: randomUUID(),
      startWorkflowOperation: this.start(bareWorkflow, workflowId),
    });
    return workflowId;
  }

  async bareUpdate(workflowId: string): Promise<void> {
    const handle = this.parts.client.workflow.getHandle(workflowId);
    await handle.executeUpdate(bareUpdate, { updateId: randomUUID() });
  }

  /** The whole life of a workflow that ends when it has got two updates. */
  async bareLife(): Promise<void> {
    const workflowId = randomUUID();
    const start = new WithStartWorkflowOperation(bareLife, {
      ...{ workflowId, args: [2], taskQueue: this.parts.taskQueue },
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
    });
    await this.parts.client.workflow.executeUpdateWithStart(bareUpdate, {
      updateId: randomUUID(),
      startWorkflowOperation: start,
    });
    await this.bareUpdate(workflowId);
    await this.parts.client.workflow.getHandle(workflowId).result();
  }

  /** Transfers of one wallet, signed beforehand, each until it is in a block. */
  async plainTransfers(count: number): Promise<(() => Promise<void>)[]> {
    const { rpcUrl, networkId } = this.parts;
    const wallet = privateKeyToAccount(generatePrivateKey());
    await fundOnLocalChain(rpcUrl, wallet.address);
    const relayer = new Relayer(wallet, networkId);
    const transfer = { to: zeroAddress, value: 1n, gas: 21_000n } as const;
    const signed = await Promise.all(Array.from({ length: count }, () => relayer.sign(transfer)));
    return signed.map((bytes) => async () => {
      const hash = await rpc(rpcUrl, 'eth_sendRawTransaction', [bytes]);
      while ((await rpc(rpcUrl, 'eth_getTransactionReceipt', [hash])) === null)
        await new Promise((resolve) => setTimeout(resolve, 5));
    });
  }
}
