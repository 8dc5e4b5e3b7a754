import { setTimeout as sleep } from 'node:timers/promises';
import { RUN_SEED, random } from '../../support/random';
import { budgetFaults, expectNothingLost } from './checks';
import { type Fault, twoAtOnce } from './faults';
import { Load } from './load';
import type { MoodyReceiver } from './moodyReceiver';
import type { StormWorld } from './world';

/** A fault with the time that it lasts. */
interface Strike {
  readonly fault: Fault;
  readonly lastsMs: number;
}

/** How soon everything went on after a fault had ended. */
interface Recovery {
  readonly name: string;
  /** Until a payment that was begun after it completed, on the slowest network. */
  readonly recoveredMs: number;
  /** Until everything had ended that was begun before its end. */
  readonly settledMs: number;
}

function shuffled<T>(all: readonly T[]): T[] {
  const left = [...all];
  return all.map(() => left.splice(random(left.length), 1)[0] as T);
}

/** Faults that come in pairs: of two parts, the second one begins by itself. */
function drawPair(faults: readonly Fault[]): Fault {
  const single = faults.filter(({ part }) => part !== 'everything');
  const first = single[random(single.length)] as Fault;
  const others = single.filter(({ part, needsLoad }) => part !== first.part && !needsLoad);
  return twoAtOnce(first, others[random(others.length)] as Fault);
}

/** Draws rounds of all faults, each round in another order, with some pairs; the same seed draws the same. */
export function drawStrikes(
  faults: readonly Fault[],
  { rounds = 1, pairs = 0, mostMs = Number.MAX_SAFE_INTEGER } = {},
): Strike[] {
  const round = () => shuffled([...faults, ...Array.from({ length: pairs }, () => drawPair(faults))]);
  return Array.from({ length: rounds }, round)
    .flat()
    .map((fault) => ({ fault, lastsMs: random(Math.min(fault.mostMs, mostMs) + 1) }));
}

const seconds = (ms: number) => (ms / 1_000).toFixed(1);

/** Recovery per kind of fault, worst first. */
function tableOf(recoveries: readonly Recovery[]): string {
  const kinds = new Map<string, Recovery[]>();
  for (const one of recoveries) {
    const kind = one.name.replace(/^two at once: .*/, 'two at once');
    kinds.set(kind, [...(kinds.get(kind) ?? []), one]);
  }
  const worst = (of: readonly Recovery[], which: 'recoveredMs' | 'settledMs') =>
    Math.max(...of.map((one) => one[which]));
  return [...kinds]
    .sort(([, one], [, two]) => worst(two, 'settledMs') - worst(one, 'settledMs'))
    .map(
      ([name, of]) =>
        `${name}: ${of.length} times, recovered within ${seconds(worst(of, 'recoveredMs'))} s, settled within ${seconds(worst(of, 'settledMs'))} s`,
    )
    .join('\n');
}

/** Strikes a service under load, and checks that nothing is lost, repeated or stuck. */
export class Storm {
  private readonly load: Load;
  private readonly recoveries: Recovery[] = [];
  private readonly lines: string[] = [];
  private strikes = 0;
  private readonly begunAt = performance.now();

  constructor(private readonly world: StormWorld) {
    this.load = new Load(world);
  }

  /** Strikes one after the other until the time is over, each after the recovery from the one before. */
  async strikeInTurn(strikes: readonly Strike[], limitMs: number): Promise<void> {
    for (const strike of strikes) {
      if (performance.now() - this.begunAt > limitMs) return;
      await this.strike(strike);
      await this.recover(strike.fault.name);
    }
    throw new Error(`${strikes.length} faults do not last for ${limitMs} ms`);
  }

  /** Strikes without a pause for recovery, which comes after the last one. */
  async strikeAtOnce(strikes: readonly Strike[]): Promise<void> {
    for (const strike of strikes) await this.strike(strike);
    await this.recover('all of them');
  }

  /** Runs a storm under load; the logs of a failed one are kept. */
  async run(strike: () => Promise<void>): Promise<void> {
    try {
      this.load.start();
      await this.load.flows();
      await strike();
      await this.load.stop();
      const repeated = await expectNothingLost(this.world, this.load);
      console.info(`${this.summary()}, ${repeated} requests repeated\n${tableOf(this.recoveries)}`);
    } catch (error) {
      this.load.abort();
      const { message } = error as Error;
      const told = [message, `TEST_SEED=${RUN_SEED}`, ...this.lines, `logs: ${this.world.keepLogs()}`];
      throw new Error(told.join('\n'), { cause: error });
    }
  }

  private summary(): string {
    const { payments, groups } = this.load;
    const sum = (of: (receiver: MoodyReceiver) => number) =>
      this.world.payers.reduce((total, { receiver }) => total + of(receiver), 0);
    return [
      `${this.strikes} faults in ${seconds(performance.now() - this.begunAt)} s`,
      `${payments.length} payments, ${groups.length} organization operations`,
      `${sum(({ taken }) => taken.length)} events sent through ${sum(({ failed }) => failed)} failures of receivers`,
    ].join(', ');
  }

  private async strike({ fault, lastsMs }: Strike): Promise<void> {
    this.lines.push(
      `${seconds(performance.now() - this.begunAt)} s: ${fault.name}, ${fault.part}, ${seconds(lastsMs)} s`,
    );
    this.strikes += 1;
    await fault.begin();
    await sleep(lastsMs);
    await fault.end();
  }

  private async recover(name: string): Promise<void> {
    const { networkIds } = this.world.options;
    const endedAt = performance.now();
    const since = () => performance.now() - endedAt;
    const [recoveredMs, settledMs] = await Promise.all([
      Promise.all(networkIds.map((id) => this.load.probe(id))).then(since),
      this.load.settled(endedAt).then(since),
    ]);
    this.recoveries.push({ name, recoveredMs, settledMs });
    this.lines.push(`  recovered after ${seconds(recoveredMs)} s, settled after ${seconds(settledMs)} s`);
    const faults = [...this.load.errors, ...(await budgetFaults(this.world))];
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }
}
