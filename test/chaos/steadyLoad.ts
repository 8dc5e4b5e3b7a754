import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, createPublicClient, http as rpcTransport } from 'viem';
import { mapLimit } from '../../src/mapLimit';
import type { Shown } from '../support/api';
import { anAddress } from '../support/builders';
import type { Answer, Ask } from '../support/http';
import type { TestOrganization, TestService } from '../support/service';
import { endpointOf } from '../support/stack';
import { aTransactionBody, signatureBody, TRANSACTIONS, transactionPath } from '../support/transactionApi';
import { until } from '../support/until';
import { expectSoundAudit } from '../workflows/world';

const LANES = 4;

/** The API processes as their load balancer knows them, who pays, and on which network. */
export interface Loaded {
  readonly apis: readonly TestService[];
  readonly org: TestOrganization;
  readonly payer: { readonly account: Shown; readonly policy: Shown };
  readonly networkId: number;
}

/** Payments of 1 wei, several at a time, through API processes that are ready; nothing is sent twice. */
export class SteadyLoad {
  /** What callers got that they must not get. */
  readonly errors: string[] = [];
  readonly paid: { readonly id: string; readonly to: Address }[] = [];
  private isRunning = false;
  private lanes: Promise<void>[] = [];

  /** `everyMs`: a lane begins a payment so often at most. */
  constructor(
    private readonly loaded: Loaded,
    private readonly everyMs = 0,
  ) {}

  start(): void {
    this.isRunning = true;
    const lane = async () => {
      while (this.isRunning) await Promise.all([this.pay(), sleep(this.everyMs)]);
    };
    this.lanes = Array.from({ length: LANES }, lane);
  }

  /** Ends when nothing is in flight. */
  async stop(): Promise<void> {
    this.isRunning = false;
    await Promise.all(this.lanes);
  }

  /** Sends a request through any API process that is ready; undefined after an error, which is noted. */
  async send(ask: Ask): Promise<Answer | undefined> {
    const api = await this.readyApi();
    try {
      const answer = await api.http.send(ask);
      if (answer.status < 300) return answer;
      this.errors.push(`${ask.path} → ${answer.status} ${answer.text}`);
    } catch (error) {
      this.errors.push(`${ask.path}: ${error}`);
    }
    return undefined;
  }

  /** No request has failed; every payment is paid, once, and the audit log verifies. */
  async expectPaidOnce(): Promise<void> {
    expect(this.errors).toEqual([]);
    const { org, networkId } = this.loaded;
    const { config, db } = await this.readyApi();
    const network = config.networks.find(({ id }) => id === networkId);
    const chain = createPublicClient({ transport: rpcTransport(network ? endpointOf(network) : '') });
    await mapLimit(LANES, this.paid, async ({ id, to }) => {
      await until(`${id} is paid`, async () => {
        const answer = await this.send({ key: org.readKey, path: transactionPath(id) });
        return answer?.body.data.executionStatus === 'completed';
      });
      expect(await chain.getBalance({ address: to })).toBe(1n);
    });
    await expectSoundAudit(db, org);
  }

  /** An API process that says that it is ready, as a load balancer finds it. */
  private readyApi(): Promise<TestService> {
    return until('an API process is ready', async () => {
      const asked = this.loaded.apis.map(async (api) => {
        const { ok } = await fetch(`http://127.0.0.1:${api.config.ops.port}/readyz`);
        return ok ? [api] : [];
      });
      const ready = (await Promise.all(asked.map((one) => one.catch(() => [])))).flat();
      return ready[Math.floor(Math.random() * ready.length)];
    });
  }

  /** Pays somebody new. */
  private async pay(): Promise<void> {
    const { org, payer, networkId } = this.loaded;
    const to = anAddress() as Address;
    const body = aTransactionBody(org, { ...payer, to }, { networkId });
    const created = await this.send({ key: org.readKey, path: TRANSACTIONS, body });
    if (!created) return;
    const transaction = created.body.data;
    this.paid.push({ id: transaction.id, to });
    await this.send({
      key: org.readKey,
      path: transactionPath(transaction.id, '/signatures'),
      body: await signatureBody(transaction, org.dave, 'initiator', { execute: true }),
    });
  }
}
