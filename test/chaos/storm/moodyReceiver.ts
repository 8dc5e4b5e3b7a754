import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Received, type Receiver, startReceiver } from '../../support/receiver';

/** How long it is not there, and how long it is between. */
const AWAY_MS = 3_000;
const THERE_MS = 8_000;

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** How it fails and lies, and how often of a hundred requests. */
const MOODS: readonly (readonly [share: number, answer: Answer])[] = [
  // 2xx, with a body that ends early or is broken: it has the event.
  [
    10,
    (response, { socket }) =>
      response.writeHead(200, { 'content-length': 9 }).write('x', () => socket.destroy()),
  ],
  [10, (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('{"error": 500')],
  [4, (response) => response.writeHead(500).end('broken')],
  [3, (response) => response.writeHead(302, { location: 'http://127.0.0.1/' }).end()],
  [3, (_, { socket }) => socket.destroy()],
  // Nothing, until the sender has waited for long enough.
  [1, () => undefined],
];
const ANSWERS: readonly Answer[] = MOODS.flatMap(([share, answer]) => Array<Answer>(share).fill(answer));
const OF = 100;

/** Not from the seed: what it draws depends on what comes, and the faults are drawn from the seed. */
const upTo = (most: number) => Math.random() * most;

/** An event, as far as it is compared. */
interface Taken {
  readonly id: string;
  readonly position: string;
  readonly hash: string;
  readonly previousHash: string;
}

/** A receiver of webhooks that hangs, lies, fails, dies and comes back, and keeps what it got. */
export class MoodyReceiver {
  /** Each event that it has answered with 2xx, once, in the order of the first of these answers. */
  readonly taken: Taken[] = [];
  /** Positions in the order in which they came first, whatever it has answered. */
  readonly seen: bigint[] = [];
  /** How many requests it has failed. */
  failed = 0;
  private readonly ids = new Set<string>();
  private isWell = false;
  private readonly dying: Promise<void>;

  private constructor(private receiver: Receiver) {
    this.listen();
    this.dying = this.dieAgainAndAgain();
  }

  static async start(): Promise<MoodyReceiver> {
    return new MoodyReceiver(await startReceiver());
  }

  get url(): string {
    return this.receiver.url;
  }

  /** From now on it is there, and takes everything. */
  async heal(): Promise<void> {
    this.isWell = true;
    await this.dying;
  }

  async stop(): Promise<void> {
    await this.heal();
    this.receiver.close();
  }

  private listen(): void {
    this.receiver.answer((received, response, request) => this.answer(received, response, request));
  }

  private answer({ event }: Received, response: ServerResponse, request: IncomingMessage): void {
    const position = BigInt(event.position);
    if (!this.seen.includes(position)) this.seen.push(position);
    const mood = this.isWell ? undefined : ANSWERS[Math.floor(upTo(OF))];
    if (mood) mood(response, request);
    else response.writeHead(204).end();
    if (response.statusCode >= 300 || !response.headersSent) {
      this.failed += 1;
      return;
    }
    if (this.ids.has(event.id)) return;
    this.ids.add(event.id);
    const { id, hash, previousHash } = event;
    this.taken.push({ id, position: event.position, hash, previousHash });
  }

  private async dieAgainAndAgain(): Promise<void> {
    const port = Number(new URL(this.receiver.url).port);
    while (!this.isWell) {
      await sleep(upTo(THERE_MS));
      if (this.isWell) return;
      this.receiver.close();
      await sleep(upTo(AWAY_MS));
      this.receiver = await startReceiver(port);
      this.listen();
    }
  }
}
