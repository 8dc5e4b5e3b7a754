import { randomUUID } from 'node:crypto';
import { proposalPath, read, type Shown } from '../../support/api';
import { anAddress } from '../../support/builders';
import type { Ask } from '../../support/http';
import { signingAsk } from '../../support/service';
import { aTransactionBody, signatureBody, TRANSACTIONS, transactionPath } from '../../support/transactionApi';
import { until } from '../../support/until';
import { type Asked, sendUntilAnswered } from '../paymentFixture';
import type { Payer, StormWorld } from './world';

/** How long anything may take after the last fault has ended. */
const LIMIT_MS = 60_000;
/** A limit that is longer than any fault with its recovery: `settled` reports what hangs before it is reached. */
const NEVER_MS = 10 * 60_000;
/** Every so many works of a lane are an organization operation, or a payment under the narrow policy. */
const OPERATION_EVERY = 6;
const NARROW_EVERY = 4;

/** Something that a client wants, from its first request to its outcome. */
interface Work {
  readonly what: string;
  readonly payer: Payer;
  readonly begunAt: number;
  endedAt?: number;
  /** What the service has acknowledged of it. */
  readonly asked: Asked[];
  outcome?: string;
}

export interface PaymentWork extends Work {
  readonly networkId: number;
  readonly to: string;
  readonly narrow: boolean;
  id?: string;
}

interface GroupWork extends Work {
  readonly name: string;
}

/** Clients of several organizations, each of which repeats a request until it is acknowledged. */
export class Load {
  readonly payments: PaymentWork[] = [];
  readonly groups: GroupWork[] = [];
  /** Answers and outcomes that a client must not get. */
  readonly errors: string[] = [];
  private lanes: Promise<void>[] = [];
  private isStopping = false;
  private isAborted = false;

  constructor(private readonly world: StormWorld) {}

  /** Starts lanes per organization and network. */
  start(): void {
    const { networkIds, lanes } = this.world.options;
    const perNetwork = networkIds.flatMap((id) => Array.from({ length: lanes }, () => id));
    this.lanes = this.world.payers.flatMap((payer) => perNetwork.map((id) => this.lane(payer, id)));
  }

  /** Waits until as many payments have ended as there are lanes. */
  async flows(): Promise<void> {
    await until('payments are made', async () => {
      return this.payments.filter(({ endedAt }) => endedAt !== undefined).length >= this.lanes.length;
    });
  }

  /** Lets every lane finish what it has begun. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.lanes);
  }

  /** Ends every lane where it is. */
  abort(): void {
    this.isAborted = true;
    this.isStopping = true;
  }

  /** Waits until everything that was begun before that moment has ended. */
  async settled(before: number): Promise<void> {
    await until(
      'everything has ended that was begun before',
      async () => {
        if (this.errors.length > 0) return true;
        const open = [...this.payments, ...this.groups].filter(
          ({ begunAt, endedAt }) => begunAt < before && endedAt === undefined,
        );
        if (open.length === 0) return true;
        throw new Error(
          open.map(({ what, outcome }) => `${what} is ${outcome ?? 'not answered'}`).join('\n'),
        );
      },
      LIMIT_MS,
    );
  }

  /** One payment on a network, from now on; fails when it takes too long. */
  async probe(networkId: number): Promise<void> {
    const payer = this.world.payers[Math.floor(Math.random() * this.world.payers.length)] as Payer;
    let done = false;
    const paying = this.pay(payer, networkId, false).finally(() => {
      done = true;
    });
    await until(`a payment on network ${networkId} completes`, async () => done, LIMIT_MS);
    await paying;
  }

  private async lane(payer: Payer, networkId: number): Promise<void> {
    const isFirst = networkId === this.world.options.networkIds[0];
    for (let count = 1; !this.isStopping; count += 1) {
      if (count % OPERATION_EVERY === 2) await this.makeGroup(payer);
      else await this.pay(payer, networkId, isFirst && count % NARROW_EVERY === 0);
    }
  }

  /** Pays 1 wei to somebody new. */
  private async pay(payer: Payer, networkId: number, narrow: boolean): Promise<void> {
    const { org, account } = payer;
    const policy = narrow ? payer.narrow : payer.wide.get(networkId);
    const to = anAddress();
    const work: PaymentWork = {
      ...{ what: `a payment on network ${networkId} to ${to}`, payer, networkId, to, narrow },
      ...{ begunAt: performance.now(), asked: [] },
    };
    this.payments.push(work);
    await this.noted(work, async () => {
      const body = aTransactionBody(org, { account, policy, to }, { networkId });
      const created = await this.send(work, { key: org.readKey, path: TRANSACTIONS, body });
      work.id = created.id;
      await this.send(work, {
        key: org.readKey,
        path: transactionPath(created.id, '/signatures'),
        body: await signatureBody(created, org.dave, 'initiator', { execute: true }),
      });
      await this.follow(work, transactionPath(created.id));
    });
  }

  private async makeGroup(payer: Payer): Promise<void> {
    const { org } = payer;
    const name = `Group ${randomUUID()}`;
    const work: GroupWork = { what: name, payer, name, begunAt: performance.now(), asked: [] };
    this.groups.push(work);
    await this.noted(work, async () => {
      const body = { items: [{ name, memberIds: [org.dave.id] }] };
      const path = '/api/v1/groups/proposals/create';
      const proposal = await this.send(work, { key: org.adminKey, path, body });
      await this.send(work, await signingAsk(org.adminKey, proposal, org.alice));
      await this.send(work, await signingAsk(org.adminKey, proposal, org.bob, 'approve', { execute: true }));
      await this.follow(work, proposalPath(proposal.id, '', 'groups'));
    });
  }

  /** Notes how a work ends. */
  private async noted(work: Work, run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (!this.isAborted) this.errors.push(`${work.what}: ${(error as Error).message}`);
    }
    work.endedAt = performance.now();
  }

  /** Sends a mutation until it is acknowledged, to whichever API process. */
  private async send(work: Work, ask: Ask): Promise<Shown> {
    const http = () => {
      if (this.isAborted) return { send: () => this.giveUp() };
      return this.world.api.http;
    };
    const asked = await sendUntilAnswered(http, ask, NEVER_MS);
    work.asked.push(asked);
    return asked.answer.body.data;
  }

  /** What an aborted lane gets: an answer that ends it. */
  private giveUp() {
    return Promise.resolve({ status: 599, headers: {}, text: 'aborted', body: undefined });
  }

  /** Waits for the outcome; what failed because a part was unavailable is executed again, as its client would do. */
  private async follow(work: Work, path: string): Promise<void> {
    const { readKey } = work.payer.org;
    await until(
      `${work.what} has an outcome`,
      async () => {
        if (this.isAborted) return true;
        const shown = await read(this.world.api.http, readKey, path);
        work.outcome = shown.executionStatus;
        if (shown.executionStatus === 'failed') {
          work.outcome = `failed: ${JSON.stringify(shown.failure)}`;
          await this.retry(work, path, shown);
        }
        return ['completed', 'blocked', 'rejected'].includes(shown.executionStatus);
      },
      NEVER_MS,
    );
  }

  private async retry(work: Work, path: string, { failure, resourceType }: Shown): Promise<void> {
    if (failure?.retryable === false) return;
    const { adminKey, readKey } = work.payer.org;
    const key = resourceType === undefined ? readKey : adminKey;
    // Another answer says that it runs already, or that a part is unavailable.
    await this.world.api.http.send({ key, path: `${path}/execute`, body: { type: 'approve' } });
  }
}
