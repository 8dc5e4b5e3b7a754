import { type Comparison, compare } from './figures';
import type { FloorClient } from './floor/client';
import { inTurn, many, ratesTogether, TOGETHER } from './measure';
import { type PaymentsClient, untilSent } from './paymentsClient';
import type { BenchStack } from './stack';

const EXECUTIONS_ALONE = { warmUp: 5, counted: 30 };
const RATE_AIM = { atLeast: 0.7 };

async function prepareExecutions(payments: PaymentsClient, count: number) {
  const created = await Promise.all(many(count, (call) => payments.create(call)));
  const requests = await Promise.all(created.map((one) => payments.executeRequest(one)));
  return requests.map((request) => (call: number) => payments.execute(request, call));
}

async function prepareFloors(floor: FloorClient, count: number) {
  const ids = await floor.createPayments(count);
  return ids.map((id) => () => floor.execute(id));
}

/** One execution after the other: the whole of each, and until its bytes are at the node. */
export async function measureAlone(
  stack: BenchStack,
  payments: PaymentsClient,
  floor: FloorClient,
): Promise<Comparison[]> {
  const total = EXECUTIONS_ALONE.warmUp + EXECUTIONS_ALONE.counted;
  // They are created together, each on a connection of its own.
  await payments.connect(total);
  const executions = await prepareExecutions(payments, total);
  const floors = await prepareFloors(floor, total);
  const nothing = (round: number) => Promise.reject(new Error(`there is no payment ${round}`));
  const taken = await inTurn(
    {
      product: (round) => executions[round]?.(0) ?? nothing(round),
      floor: (round) => floors[round]?.() ?? nothing(round),
    },
    EXECUTIONS_ALONE,
  );
  const sent = {
    product: await untilSent(stack, EXECUTIONS_ALONE.counted),
    base: await floor.untilSent(EXECUTIONS_ALONE.counted),
  };
  return [
    compare('execute, alone / floor', 'ms', { product: taken.product, base: taken.floor }),
    compare('threshold met to bytes at the node, alone / floor', 'ms', sent, { aim: { atMost: 1.5 } }),
  ];
}

/** Executions begun together: how many per second, and how soon their bytes are at the node. */
export async function measureTogether(
  stack: BenchStack,
  payments: PaymentsClient,
  floor: FloorClient,
): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const count of TOGETHER) {
    await payments.connect(count);
    const rates = await ratesTogether(count, {
      product: (calls) => prepareExecutions(payments, calls),
      floor: (calls) => prepareFloors(floor, calls),
      bare: async (calls) => many(calls, () => () => floor.bareLife()),
    });
    const { product } = rates;
    const sent = { product: await untilSent(stack, count), base: await floor.untilSent(count) };
    comparisons.push(
      compare(
        `executions, ${count} at once / floor`,
        '/s',
        { product, base: rates.floor },
        { aim: RATE_AIM },
      ),
      compare(`executions, ${count} at once / lives of an empty workflow`, '/s', {
        product,
        base: rates.bare,
      }),
      compare(`threshold met to bytes at the node, ${count} at once / floor`, 'ms', sent, {
        ...(count === 16 ? { aim: { atMost: 2 } } : {}),
      }),
    );
  }
  const [count] = TOGETHER;
  await payments.connect(count);
  const raw = await ratesTogether(count, {
    product: (calls) => prepareExecutions(payments, calls),
    bare: (calls) => floor.plainTransfers(calls),
  });
  const name = `executions, ${count} at once / plain transfers sent to anvil`;
  return [...comparisons, compare(name, '/s', { product: raw.product, base: raw.bare })];
}
