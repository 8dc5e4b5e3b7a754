import { randomUUID } from 'node:crypto';
import { makeOrganization } from './organization';
import { PaymentsClient } from './paymentsClient';
import { costliest } from './profileFile';
import { type BenchStack, startBenchStack } from './stack';

const AT_ONCE = 16;
const COUNT = 320;
const CHANGES = 40;
const IDLE_MS = 10_000;
const FUNCTIONS = 12;

/** The processor time of each part per piece of work, beyond what it uses while nothing is asked of it. */
class Costs {
  private idle = new Map<string, number>();
  private readonly rows: string[][] = [];
  private readonly functions: string[] = [];

  constructor(private readonly stack: BenchStack) {}

  private get parts(): string[] {
    return [...this.idle.keys()];
  }

  private async used(work: () => Promise<unknown>): Promise<{ ms: number; by: Map<string, number> }> {
    const before = this.stack.processorMs();
    const startedAt = performance.now();
    await work();
    const ms = performance.now() - startedAt;
    const by = new Map(
      [...this.stack.processorMs()].map(([part, now]) => [part, now - (before.get(part) ?? 0)]),
    );
    return { ms, by };
  }

  /** What each part uses per millisecond while nothing is asked. */
  async measureIdle(): Promise<void> {
    const { ms, by } = await this.used(() => new Promise((resolve) => setTimeout(resolve, IDLE_MS)));
    this.idle = new Map(
      [...by].filter(([part]) => !part.includes('floor')).map(([part, used]) => [part, used / ms]),
    );
  }

  /** Measures a piece of work that is done so often, and then what its functions cost while it is done once more. */
  async measure(what: string, count: number, work: () => Promise<unknown>): Promise<void> {
    const { ms, by } = await this.used(work);
    const each = this.parts.map((part) => ((by.get(part) ?? 0) - (this.idle.get(part) ?? 0) * ms) / count);
    const total = each.reduce((sum, one) => sum + one, 0);
    this.rows.push([
      what,
      ...[...each, total].map((one) => one.toFixed(1)),
      ((count * 1_000) / ms).toFixed(1),
    ]);
    for (const [part, cpuProfile] of await this.stack.profiled(work)) {
      this.functions.push(`\n${what}, ${part}: microseconds each`);
      for (const { name, microseconds } of costliest(cpuProfile, FUNCTIONS))
        this.functions.push(`${(microseconds / count).toFixed(0).padStart(8)}  ${name}`);
    }
  }

  text(): string {
    const heads = ['ms of processor time', ...this.parts, 'together', 'per second'];
    return [...[heads, ...this.rows].map((row) => row.join(' | ')), ...this.functions, ''].join('\n');
  }
}

/** Does a piece of work often, some at once. */
async function often(count: number, work: (lane: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async (index: number) => {
    while (next < count) {
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => lane(index)));
}

async function measureAll(stack: BenchStack, costs: Costs): Promise<void> {
  const payments = await PaymentsClient.start(stack, await makeOrganization(stack));
  await payments.connect(AT_ONCE);
  // biome-ignore lint/suspicious/noExplicitAny: transactions as they were answered
  const created: any[] = [];
  const create = async (lane: number) => created.push(await payments.create(lane));
  const execute = async (lane: number) =>
    payments.execute(await payments.executeRequest(created.pop()), lane);
  await often(AT_ONCE * 2, create);
  await often(AT_ONCE * 2, execute);
  await costs.measureIdle();
  // What is measured is done twice: with the processor's clock, and profiled.
  await costs.measure('create a transaction', COUNT, () => often(COUNT, create));
  const path = `/api/v1/transactions/${created[0].id}`;
  await costs.measure('read one again, unchanged', COUNT * 10, () =>
    often(COUNT * 10, (lane) => payments.get(path, lane)),
  );
  await costs.measure('sign and execute it', COUNT, () => often(COUNT, execute));
  await costs.measure('a whole payment: both', COUNT, () =>
    often(COUNT, async (lane) => {
      await create(lane);
      await execute(lane);
    }),
  );
  await costs.measure('create a group, with 2 signatures', CHANGES, async () => {
    for (let number = 0; number < CHANGES; number += 1) {
      await payments.carryOut('groups', 'create', {
        items: [{ name: `Group ${randomUUID()}`, memberIds: [] }],
      });
    }
  });
  payments.close();
}

/**
 * Shows the processor time of each part per piece of work, and what the service's processes spend it on (Linux). The
 * threads of workflows are in the time and not in the functions. A payment is done with one confirmation.
 */
export async function profile(say: (line: string) => void): Promise<string> {
  const stack = await startBenchStack(say, { perRole: 1, confirmations: 1, preload: 'profiler' });
  try {
    const costs = new Costs(stack);
    await measureAll(stack, costs);
    return costs.text();
  } finally {
    await stack.stop();
  }
}
