interface Line {
  running: number;
  readonly waiting: (() => void)[];
}

/** A call did not get its turn before its deadline. */
export class TurnNotCome extends Error {
  override readonly name = 'TurnNotCome';
}

/** Lets `width` calls with the same key run at once; the others wait for their turn, in the order they came. */
export class Turnstile {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly width: number) {}

  /** Runs a call when its turn comes. `deadline` is in milliseconds since 1970; throws TurnNotCome after it. */
  async pass<T>(key: string, deadline: number, call: () => Promise<T>): Promise<T> {
    const line = this.lines.get(key) ?? { running: 0, waiting: [] };
    this.lines.set(key, line);
    if (line.running < this.width) line.running += 1;
    else await this.turn(line, deadline);
    try {
      return await call();
    } finally {
      const next = line.waiting.shift();
      if (next) {
        next();
      } else {
        line.running -= 1;
        if (line.running === 0) this.lines.delete(key);
      }
    }
  }

  /** The one who leaves hands over its place. */
  private turn(line: Line, deadline: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(
        () => {
          line.waiting.splice(line.waiting.indexOf(enter), 1);
          reject(new TurnNotCome(`no turn before ${new Date(deadline).toISOString()}`));
        },
        Math.max(0, deadline - Date.now()),
      );
      line.waiting.push(enter);
    });
  }
}
