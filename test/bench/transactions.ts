import { setTimeout as sleep } from 'node:timers/promises';
import { Client as PostgresClient } from 'pg';
import { type Hex, zeroAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { newId } from '../../src/db/ids';
import type { Limitation, Policy } from '../../src/domain/policy';
import { evaluate } from '../../src/domain/policyEngine';
import { fundOnLocalChain } from '../../tools/dev/localChain';
import { rpc } from '../../tools/dev/rpc';
import type { BareClient } from './clients';
import { HttpsConnection, requestBytes } from './connection';
import { type Comparison, compare, type Figure, figure } from './figures';
import { CALLS, inTurn, timed, WARM_UP } from './measure';
import { approval, type BenchOrganization } from './organization';
import type { BenchStack } from './stack';

const ROUNDS = { warmUp: 1, counted: 5 };
const ALONE = 30;
const POLICIES = 100;
const POLL_MS = 50;
/** Between two looks at an execution: looking takes time from those that are looked at. */
const LOOK_MS = 400;
const MOST_AGAIN = 10;
/** An execution is much more than one message: fewer of them are begun together. */
const TOGETHER = 16;
const NETWORK_ID = 31_337;

// biome-ignore lint/suspicious/noExplicitAny: a resource as it was answered
type Shown = any;

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
    const policy = {
      ...{
        name: 'Any recipient',
        type: 'AUTO_APPROVAL',
        transactionType: 'TOKEN_TRANSFER',
        networkId: NETWORK_ID,
      },
      ...{ accountIds: null, initiatorSetting: null },
      tokenTransferCondition: {
        ...{ tokenAddress: zeroAddress, amountThreshold: String(10n ** 21n), destinationAddresses: [] },
      },
      limitation: {
        ...{ hours: 24, initiatorScope: 'ALL_ITEMS' },
        ...{ sourceAccountScope: 'ALL_ITEMS', destinationScope: 'ALL_ITEMS' },
      },
    };
    client.policy = await client.carryOut('policies', 'add', { policies: [policy] });
    return client;
  }

  /** Opens connections and asks once on each. */
  async connect(count: number): Promise<void> {
    this.close();
    const { httpsPort, ca } = this.stack;
    this.connections = await Promise.all(
      Array.from({ length: count }, () => HttpsConnection.open(httpsPort, ca)),
    );
    await Promise.all(this.connections.map((_, i) => this.get('/api/v1/networks', i)));
  }

  close(): void {
    for (const connection of this.connections) connection.close();
  }

  /** Sends a request, and the same again while it is answered that a part is too busy: that is in the time, too. */
  private async send(request: Buffer, connection: number): Promise<Shown> {
    let answer = await this.connections[connection]?.send(request);
    for (let again = 0; answer?.status === 500 && again < MOST_AGAIN; again += 1) {
      await sleep(POLL_MS);
      answer = await this.connections[connection]?.send(request);
    }
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

  createRequest(): Buffer {
    const body = {
      accountId: this.account.id,
      initiatorWalletAddress: this.initiator.address,
      networkId: NETWORK_ID,
      policyId: this.policy.id,
      ...{ description: '', to: '0x00000000000000000000000000000000000a11ce', value: '1', data: '0x' },
    };
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

/** Milliseconds from the beginning of each execution to its first bytes at the node, newest first. */
async function untilHandedOver(stack: BenchStack, count: number): Promise<number[]> {
  const rows = await query(
    stack,
    `SELECT extract(epoch FROM min(e.sent_at) - min(u.reserved_at)) * 1000 AS ms
     FROM policy_usage u JOIN chain_attempts c ON c.transaction_id = u.transaction_id
     JOIN chain_envelopes e ON e.attempt_id = c.id
     WHERE e.sent_at IS NOT NULL GROUP BY c.id ORDER BY min(u.reserved_at) DESC LIMIT ${count}`,
  );
  return rows.map(({ ms }) => Number(ms));
}

/** So many per second, each round of `TOGETHER` begun together; both sides in turn. */
async function ratesInTurn(
  product: () => Promise<((call: number) => Promise<unknown>)[]>,
  bare: () => Promise<((call: number) => Promise<unknown>)[]>,
): Promise<{ product: number[]; bare: number[] }> {
  const rates = { product: [] as number[], bare: [] as number[] };
  for (let round = -ROUNDS.warmUp; round < ROUNDS.counted; round += 1) {
    for (const [side, prepare] of [
      ['product', product],
      ['bare', bare],
    ] as const) {
      const calls = await prepare();
      await sleep(300);
      const ms = await timed(() => Promise.all(calls.map((call, index) => call(index))));
      if (round >= 0) rates[side].push((calls.length * 1_000) / ms);
      await sleep(300);
    }
  }
  return rates;
}

function many<T>(make: (index: number) => T): T[] {
  return Array.from({ length: TOGETHER }, (_, index) => make(index));
}

/** Plain transfers of one wallet, signed beforehand, each until it is in a block. */
async function rawSends(rpcUrl: string): Promise<(() => Promise<unknown>)[]> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  await fundOnLocalChain(rpcUrl, wallet.address);
  const signed = await Promise.all(
    many((nonce) =>
      wallet.signTransaction({
        ...{ type: 'eip1559', chainId: NETWORK_ID, nonce, to: zeroAddress, value: 1n, gas: 21_000n },
        ...{ maxFeePerGas: 100n * 10n ** 9n, maxPriorityFeePerGas: 1n },
      }),
    ),
  );
  return signed.map((bytes) => async () => {
    const hash = await rpc<Hex>(rpcUrl, 'eth_sendRawTransaction', [bytes]);
    while ((await rpc(rpcUrl, 'eth_getTransactionReceipt', [hash])) === null) await sleep(5);
  });
}

/** Executions at once beside the life of a workflow that does nothing, and beside what the chain alone can take. */
export async function measureExecutions(
  stack: BenchStack,
  payments: PaymentsClient,
  bare: BareClient,
): Promise<Comparison[]> {
  await payments.connect(TOGETHER);
  const executions = async () => {
    const created = await Promise.all(many((call) => payments.create(call)));
    const requests = await Promise.all(created.map((one) => payments.executeRequest(one)));
    return requests.map((request) => (call: number) => payments.execute(request, call));
  };
  const lives = async () => many(() => () => bare.live(2));
  const aim = { atLeast: 0.5 };
  const name = `${TOGETHER} at once`;
  const executed = await ratesInTurn(executions, lives);
  const whole = await ratesInTurn(
    async () =>
      many(() => async (call: number) => {
        const created = await payments.create(call);
        await payments.execute(await payments.executeRequest(created), call);
      }),
    lives,
  );
  const raw = await ratesInTurn(executions, () => rawSends(stack.rpcUrl(NETWORK_ID)));
  return [
    compare(`executions, ${name} / lives of an empty workflow`, '/s', executed, { aim }),
    compare(`transactions from POST to completed, ${name} / the same`, '/s', whole, { aim }),
    compare(`executions, ${name} / plain transfers sent to anvil`, '/s', raw),
  ];
}

/** How soon bytes are handed to the node once the threshold is met. */
export async function measureHandOver(stack: BenchStack, payments: PaymentsClient): Promise<Figure[]> {
  await payments.connect(TOGETHER);
  for (let call = 0; call < ALONE; call += 1) {
    await payments.execute(await payments.executeRequest(await payments.create()));
  }
  const alone = await untilHandedOver(stack, ALONE);
  const created = await Promise.all(many((call) => payments.create(call)));
  const requests = await Promise.all(created.map((one) => payments.executeRequest(one)));
  await Promise.all(requests.map((request, call) => payments.execute(request, call)));
  const together = await untilHandedOver(stack, TOGETHER);
  return [
    figure('threshold met to bytes handed to the node, alone', 'ms', alone),
    figure(`threshold met to bytes handed to the node, ${TOGETHER} at once`, 'ms', together),
  ];
}

/** Creating a transaction beside the least that a workflow's start can be. */
export async function measureTransact(payments: PaymentsClient, bare: BareClient): Promise<Comparison> {
  await payments.connect(1);
  const pair = await inTurn(
    { warmUp: WARM_UP, counted: CALLS },
    { product: () => payments.create(), bare: () => bare.startWithUpdate() },
  );
  return compare('POST /transactions, alone / executeUpdateWithStart', 'ms', pair, { aim: { atMost: 1.2 } });
}

/** How many policies per second say whether they let a transaction go, 100 of them asked about each transaction. */
export async function measureEvaluation(): Promise<Figure> {
  const anAddress = () => privateKeyToAccount(generatePrivateKey()).address;
  const member = {
    id: newId('mem'),
    name: 'Dave',
    walletAddress: anAddress(),
    type: 'user' as const,
    walletKind: 'key' as const,
  };
  const account = { id: newId('acc'), networkIds: [NETWORK_ID] };
  const destination = anAddress();
  const limitation: Limitation = {
    hours: 24,
    initiatorScope: 'PER_ITEM',
    sourceAccountScope: 'ALL_ITEMS',
    destinationScope: 'ALL_ITEMS',
  };
  const policies = Array.from({ length: POLICIES }, (_, index): Policy => {
    const common = {
      ...({ id: newId('pol'), name: `Policy ${index}`, type: 'AUTO_APPROVAL' } as const),
      ...{ networkId: NETWORK_ID, initiatorSetting: null },
      accountIds: [newId('acc'), account.id],
      ...(index % 2 === 0 ? { limitation } : {}),
    };
    if (index % 4 === 0) {
      const rule = {
        ...{ contractAddress: destination, allowedFunctions: ['0x12345678'], maxValue: '0' },
        functions: [{ selector: '0x12345678' }],
      };
      return {
        ...common,
        transactionType: 'CONTRACT_INTERACTION',
        contractInteractionCondition: [rule],
      };
    }
    return {
      ...common,
      transactionType: 'TOKEN_TRANSFER',
      tokenTransferCondition: {
        ...{ tokenAddress: zeroAddress, tokenSymbol: 'ETH', tokenName: 'Ether' },
        ...{ tokenDecimals: 18, amountThreshold: String(index) },
        destinationAddresses: [anAddress(), destination],
      },
    };
  });
  const context = {
    account,
    members: new Map([[member.id, member]]),
    groups: new Map(),
    grantsAllowance: () => false,
    tokenFault: null,
    usage: { amount: 7n, executions: 3, oldestBlockAt: new Date(), at: new Date() },
  };
  const transaction = {
    ...{ networkId: NETWORK_ID, accountId: account.id, initiatorId: member.id },
    content: { type: 'TOKEN_TRANSFER', tokenAddress: zeroAddress, destination, amount: 40n },
  } as Parameters<typeof evaluate>[1];
  const rates: number[] = [];
  for (let round = -2; round < 10; round += 1) {
    const transactions = 500;
    const ms = await timed(async () => {
      for (let one = 0; one < transactions; one += 1) {
        for (const policy of policies) evaluate(policy, transaction, context);
      }
    });
    if (round >= 0) rates.push((transactions * POLICIES * 1_000) / ms);
  }
  return figure(`policy evaluations, ${POLICIES} policies`, '/s', rates);
}
