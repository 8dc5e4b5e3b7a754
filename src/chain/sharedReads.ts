interface Read<T> {
  readonly at: number;
  readonly value: Promise<T>;
  hasFailed: boolean;
}

/** Reads what many ask for once: the same for everybody who asks in the same moment. */
export class SharedReads<T> {
  private readonly latest = new Map<string, Read<T>>();

  /** How long a read, and a failure, is shared, in milliseconds. */
  constructor(
    private readonly freshMs: number,
    private readonly failureMs = freshMs,
  ) {}

  /**
   * What `read` returns, or has returned a moment ago and not before `since` (of `performance.now()`). Throws what it
   * throws.
   */
  read(key: string, read: () => Promise<T>, since = 0): Promise<T> {
    const known = this.fresh(key, since);
    if (known) return known;
    const at = performance.now();
    return this.keep(key, at, read());
  }

  /** What was read a moment ago, and not before `since`; undefined where nothing was. */
  fresh(key: string, since = 0): Promise<T> | undefined {
    const known = this.latest.get(key);
    return known && known.at >= since && this.isFresh(known) ? known.value : undefined;
  }

  /** Notes what was learned otherwise, as if it had been read now. */
  note(key: string, value: T): void {
    void this.keep(key, performance.now(), Promise.resolve(value));
  }

  private keep(key: string, at: number, value: Promise<T>): Promise<T> {
    const read: Read<T> = { at, value, hasFailed: false };
    value.catch(() => {
      read.hasFailed = true;
    });
    // The newest last: what is stale is at the beginning.
    this.latest.delete(key);
    this.latest.set(key, read);
    this.forgetStale();
    return value;
  }

  private isFresh({ at, hasFailed }: Read<T>): boolean {
    return performance.now() - at < (hasFailed ? this.failureMs : this.freshMs);
  }

  private forgetStale(): void {
    const before = performance.now() - this.freshMs;
    for (const [key, { at }] of this.latest) {
      if (at > before) return;
      this.latest.delete(key);
    }
  }
}
