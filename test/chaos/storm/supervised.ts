import type { ServiceProcess } from '../../support/process';
import { until } from '../../support/until';

/** A process of the service under a supervisor, which starts it again whenever it has ended. */
export class Supervised {
  private isUp = true;
  private isOver = false;
  private mayStart = Promise.resolve();
  private letStart: () => void = () => undefined;
  private readonly keeping: Promise<void>;

  constructor(
    readonly name: string,
    readonly process: ServiceProcess,
  ) {
    this.keeping = this.keep();
  }

  /** From now on it is not started again, until `release`. */
  hold(): void {
    this.mayStart = new Promise((resolve) => {
      this.letStart = resolve;
    });
  }

  /** SIGKILL. It is started again at once unless it is held. */
  async kill(): Promise<void> {
    this.isUp = false;
    await this.process.kill();
  }

  /** Resolves when it has ended by itself. */
  ended(): Promise<unknown> {
    return until(`${this.name} has ended`, async () => !this.isUp);
  }

  /** Lets it start, and waits until it runs. */
  async release(): Promise<void> {
    this.letStart();
    await until(`${this.name} runs`, async () => this.isUp, 180_000);
  }

  /** Stops it in an orderly way, for good. */
  async stop(): Promise<void> {
    this.isOver = true;
    this.letStart();
    await this.process.stop();
    await this.keeping;
  }

  private async keep(): Promise<void> {
    for (;;) {
      await this.process.died();
      this.isUp = false;
      await this.mayStart;
      while (!this.isUp && !this.isOver) await this.startOnce();
      if (this.isOver) return;
    }
  }

  /** A start fails while a part that it needs is unavailable; the next one follows. */
  private async startOnce(): Promise<void> {
    try {
      await this.process.start();
      this.isUp = true;
    } catch (error) {
      console.info(`${this.name} does not start: ${(error as Error).message}`);
    }
  }
}
