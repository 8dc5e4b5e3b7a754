import { Client as PostgresClient } from 'pg';
import { type Comparison, compare } from './figures';
import { many, timed } from './measure';
import { makeOrganization } from './organization';
import { PaymentsClient } from './paymentsClient';
import { type BenchStack, startBenchStack } from './stack';

const AT_ONCE = 16;
const ROUNDS = 6;

interface Rates {
  readonly executions: readonly number[];
  readonly commits: readonly number[];
}

async function committed(stack: BenchStack): Promise<number> {
  const postgres = new PostgresClient({ connectionString: stack.databaseUrl });
  await postgres.connect();
  // Sessions that are idle have reported what they have committed.
  const { rows } = await postgres.query<{ xact_commit: string }>(
    'SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()',
  );
  await postgres.end();
  return Number(rows[0]?.xact_commit);
}

/** Executions begun together, round after round: how many per second, and how many commits of Postgres per second. */
async function ratesWith(perRole: number, say: (line: string) => void): Promise<Rates> {
  const stack = await startBenchStack(say, { perRole });
  try {
    const payments = await PaymentsClient.start(stack, await makeOrganization(stack));
    await payments.connect(AT_ONCE);
    const executions: number[] = [];
    const commits: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const created = await Promise.all(many(AT_ONCE, (call) => payments.create(call)));
      const requests = await Promise.all(created.map((one) => payments.executeRequest(one)));
      const before = await committed(stack);
      const ms = await timed(() =>
        Promise.all(requests.map((request, call) => payments.execute(request, call))),
      );
      // The first round warms up.
      if (round === 0) continue;
      executions.push((AT_ONCE * 1_000) / ms);
      commits.push((((await committed(stack)) - before) * 1_000) / ms);
    }
    payments.close();
    return { executions, commits };
  } finally {
    await stack.stop();
  }
}

/** Two processes of API, worker and chain worker each beside one; one signer in both. */
export async function measureProcesses(say: (line: string) => void): Promise<Comparison[]> {
  const one = await ratesWith(1, say);
  const two = await ratesWith(2, say);
  const pair = (what: keyof Rates) => ({ product: two[what], base: one[what] });
  return [
    compare(`executions, ${AT_ONCE} at once, two processes per role / one`, '/s', pair('executions')),
    compare(`commits meanwhile, two processes per role / one`, '/s', pair('commits')),
  ];
}
