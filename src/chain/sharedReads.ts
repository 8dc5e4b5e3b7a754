/** Reads what many ask for once: the same for everybody who asks in the same moment. */
export class SharedReads<T> {
  private readonly latest = new Map<string, { readonly at: number; readonly value: Promise<T> }>();

  /** `freshMs`: for how long what was read is given to others, failures too. */
  constructor(private readonly freshMs: number) {}

  /**
   * What `read` returns, or has returned a moment ago and not before `since` (of `performance.now()`). Throws what it
   * throws.
   */
  read(key: string, read: () => Promise<T>, since = 0): Promise<T> {
    const known = this.fresh(key, since);
    if (known) return known;
    const at = performance.now();
    const value = read();
    // The newest last: what is stale is at the beginning.
    this.latest.delete(key);
    this.latest.set(key, { at, value });
    this.forgetStale();
    return value;
  }

  /** What was read a moment ago, and not before `since`; undefined where nothing was. */
  fresh(key: string, since = 0): Promise<T> | undefined {
    const known = this.latest.get(key);
    const isFresh = known && known.at >= since && performance.now() - known.at < this.freshMs;
    return isFresh ? known.value : undefined;
  }

  private forgetStale(): void {
    const before = performance.now() - this.freshMs;
    for (const [key, { at }] of this.latest) {
      if (at > before) return;
      this.latest.delete(key);
    }
  }
}
