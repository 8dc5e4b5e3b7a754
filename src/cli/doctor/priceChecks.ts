import type { Config } from '../../config';
import { createReadPrices } from '../../prices/prices';
import { count } from '../text';
import { type Finding, ok, warn } from './finding';

/** Whether the prices of PRICES_FILE or PRICES_URL give values; nothing without either. */
export async function checkPrices(config: Pick<Config, 'prices'>): Promise<Finding[]> {
  const part = 'prices';
  const prices = await createReadPrices(config)?.();
  if (!prices) return [];
  const { status, problem, list } = prices;
  if (problem !== null) {
    const missing = status === 'current' ? 'some values may be missing' : 'no value is shown';
    return [warn(part, problem, `correct the list of prices (docs/balances.md): ${missing} meanwhile`)];
  }
  return [
    ok(part, `${count(list?.prices.size ?? 0, 'price', 'prices')} in ${list?.currency}, of ${list?.at}`),
  ];
}
