import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client as PostgresClient } from 'pg';
import { zeroAddress } from 'viem';
import { fundOnLocalChain } from '../../tools/dev/localChain';
import { HttpsConnection, requestBytes } from './connection';
import { approval, type BenchOrganization } from './organization';
import type { BenchStack } from './stack';

const POLL_MS = 50;
/** Between two looks at an execution: looking takes time from those that are looked at. */
const LOOK_MS = 400;
const NETWORK_ID = 31_337;

// biome-ignore lint/suspicious/noExplicitAny: a resource as it was answered
type Shown = any;

function aPolicy(name: string) {
  return {
    ...{ name, type: 'AUTO_APPROVAL', transactionType: 'TOKEN_TRANSFER', networkId: NETWORK_ID },
    ...{ accountIds: null, initiatorSetting: null },
    tokenTransferCondition: {
      ...{ tokenAddress: zeroAddress, amountThreshold: String(10n ** 21n), destinationAddresses: [] },
    },
    limitation: {
      ...{ hours: 24, initiatorScope: 'ALL_ITEMS' },
      ...{ sourceAccountScope: 'ALL_ITEMS', destinationScope: 'ALL_ITEMS' },
    },
  };
}

/** An account that pays native currency under a policy that approves by itself. */
export class PaymentsClient {
  private connections: readonly HttpsConnection[] = [];

  private constructor(
    private readonly stack: BenchStack,
    private readonly organization: BenchOrganization,
  ) {}

  private account: Shown;
  private policy: Shown;

  /** Makes the account and the policy. */
  static async start(stack: BenchStack, organization: BenchOrganization): Promise<PaymentsClient> {
    const client = new PaymentsClient(stack, organization);
    await client.connect(1);
    for (const address of await relayersOf(stack)) await fundOnLocalChain(stack.rpcUrl(NETWORK_ID), address);
    const items = [{ name: 'Payer', networkIds: [NETWORK_ID] }];
    client.account = await client.carryOut('accounts', 'create', { items });
    await fundOnLocalChain(stack.rpcUrl(NETWORK_ID), client.account.address);
    client.policy = await client.addPolicies(1);
    return client;
  }

  /** Adds policies that permit every transfer, and returns the first. */
  addPolicies(count: number): Promise<Shown> {
    const policies = Array.from({ length: count }, () => aPolicy(`Any recipient ${randomUUID()}`));
    return this.carryOut('policies', 'add', { policies });
  }

  /** Opens connections and asks once on each. */
  async connect(count: number): Promise<void> {
    this.close();
    const { httpsPorts, ca } = this.stack;
    this.connections = await Promise.all(
      Array.from({ length: count }, (_, i) =>
        HttpsConnection.open(httpsPorts[i % httpsPorts.length] ?? 0, ca),
      ),
    );
    await Promise.all(this.connections.map((_, i) => this.get('/api/v1/networks', i)));
  }

  close(): void {
    for (const connection of this.connections) connection.close();
  }

  private async send(request: Buffer, connection: number): Promise<Shown> {
    const answer = await this.connections[connection]?.sendAgain(request);
    if (!answer || answer.status >= 300) throw new Error(`answered ${answer?.status}: ${answer?.body}`);
    return JSON.parse(answer.body).data;
  }

  /** Reads something that there is. */
  get(path: string, connection = 0): Promise<Shown> {
    return this.send(requestBytes({ path, key: this.organization.key }), connection);
  }

  private post(path: string, body: object, connection = 0): Promise<Shown> {
    return this.send(requestBytes({ path: `/api/v1${path}`, key: this.organization.key, body }), connection);
  }

  /** Lets two admins approve a change, and answers what it made. */
  async carryOut(resource: string, action: string, body: object): Promise<Shown> {
    const proposal = await this.post(`/${resource}/proposals/${action}`, body);
    const path = `/${resource}/proposals/${proposal.id}`;
    for (const wallet of this.organization.wallets.slice(0, 2)) {
      const signature = await approval(wallet, proposal.signingPayloads.approvePayload);
      await this.post(`${path}/signatures`, { type: 'approve', signature });
    }
    await this.post(`${path}/execute`, { type: 'approve' });
    for (;;) {
      const { executionStatus, result, failure } = await this.get(`/api/v1${path}`);
      if (executionStatus === 'completed') return this.get(result.resources[0].uri);
      if (failure) throw new Error(JSON.stringify(failure));
      await sleep(POLL_MS);
    }
  }

  private get initiator() {
    const [wallet] = this.organization.wallets;
    if (!wallet) throw new Error('there is no wallet');
    return wallet;
  }

  /** A payment, or what `change` makes of it. */
  transactionBody(change: object = {}): object {
    return {
      accountId: this.account.id,
      initiatorWalletAddress: this.initiator.address,
      networkId: NETWORK_ID,
      policyId: this.policy.id,
      ...{ description: '', to: '0x00000000000000000000000000000000000a11ce', value: '1', data: '0x' },
      ...change,
    };
  }

  createRequest(): Buffer {
    const body = this.transactionBody();
    return requestBytes({ path: '/api/v1/transactions', key: this.organization.key, body });
  }

  create(connection = 0, request = this.createRequest()): Promise<Shown> {
    return this.send(request, connection);
  }

  async executeRequest({ id, signatureData }: Shown): Promise<Buffer> {
    const signature = await approval(this.initiator, signatureData.initiatorPayload);
    return requestBytes({
      path: `/api/v1/transactions/${id}/signatures`,
      key: this.organization.key,
      body: { type: 'initiator', signature, execute: true },
    });
  }

  /** Sends the initiator's signature with `execute`, and waits until it is completed. */
  async execute(request: Buffer, connection = 0): Promise<void> {
    let shown = await this.send(request, connection);
    while (shown.executionStatus !== 'completed') {
      if (shown.executionStatus !== 'processing') throw new Error(JSON.stringify(shown));
      await sleep(LOOK_MS);
      shown = await this.get(`/api/v1/transactions/${shown.id}`, connection);
    }
  }
}

async function query(stack: BenchStack, text: string): Promise<Shown[]> {
  const postgres = new PostgresClient({ connectionString: stack.databaseUrl });
  await postgres.connect();
  const { rows } = await postgres.query(text);
  await postgres.end();
  return rows;
}

async function relayersOf(stack: BenchStack): Promise<string[]> {
  const rows = await query(stack, `SELECT address FROM relayers WHERE network_id = ${NETWORK_ID}`);
  return rows.map(({ address }) => address);
}

/** Milliseconds from the beginning of each execution until its first bytes were at the node, newest first. */
export async function untilSent(stack: BenchStack, count: number): Promise<number[]> {
  const rows = await query(
    stack,
    `SELECT extract(epoch FROM min(e.sent_at) - min(u.reserved_at)) * 1000 AS ms
     FROM policy_usage u JOIN chain_attempts c ON c.transaction_id = u.transaction_id
     JOIN chain_envelopes e ON e.attempt_id = c.id
     WHERE e.sent_at IS NOT NULL GROUP BY c.id ORDER BY min(u.reserved_at) DESC LIMIT ${count}`,
  );
  return rows.map(({ ms }) => Number(ms));
}
