interface Queue {
  running: number;
  readonly waiting: (() => void)[];
}

/** A call did not start before its deadline. */
export class LimiterTimeout extends Error {
  override readonly name = 'LimiterTimeout';
}

/** Runs at most `limit` calls with the same key at once; the others wait, in the order they came. */
export class KeyedLimiter {
  private readonly queues = new Map<string, Queue>();

  constructor(private readonly limit: number) {}

  /**
   * Runs a call as soon as the limit allows. `deadline` is a time of `performance.now()` (null: none); throws
   * LimiterTimeout after it.
   */
  async run<T>(key: string, deadline: number | null, call: () => Promise<T>): Promise<T> {
    const release = await this.take(key, deadline);
    try {
      return await call();
    } finally {
      release();
    }
  }

  /** Takes a slot as soon as the limit allows; returns what gives it back, once. Throws LimiterTimeout after `deadline`. */
  async take(key: string, deadline: number | null): Promise<() => void> {
    const queue = this.queues.get(key) ?? { running: 0, waiting: [] };
    this.queues.set(key, queue);
    if (queue.running < this.limit) queue.running += 1;
    else await this.slot(queue, deadline);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.release(key, queue);
    };
  }

  private release(key: string, queue: Queue): void {
    const next = queue.waiting.shift();
    if (next) {
      next();
      return;
    }
    queue.running -= 1;
    if (queue.running === 0) this.queues.delete(key);
  }

  /** A finished call passes its slot on. */
  private slot(queue: Queue, deadline: number | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const giveUp = () => {
        queue.waiting.splice(queue.waiting.indexOf(start), 1);
        reject(new LimiterTimeout('not started before its deadline'));
      };
      const timer =
        deadline === null ? undefined : setTimeout(giveUp, Math.max(0, deadline - performance.now()));
      queue.waiting.push(start);
    });
  }
}
