import type { Schema, Transaction } from '@orgwallet/client';
import { sentAsset } from './sentAsset.ts';

/** What was paid of one asset, day by day. */
export interface PaidAsset {
  readonly networkId: number;
  readonly asset: Schema['Asset'];
  /** In the smallest unit. */
  readonly total: bigint;
  /** Of each day, the last one today. */
  readonly days: readonly bigint[];
}

/** The beginning of a day so many days before a time, where the browser is, in ms since 1970. */
export function startOfDay(time: number, daysBefore: number): number {
  const day = new Date(time);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() - daysBefore).getTime();
}

/** What transfers paid in the last days, today included, asset by asset: of what most transfers were first. */
export function paidPerDay(
  transactions: readonly Transaction[],
  now: number,
  days: number,
): readonly PaidAsset[] {
  const starts = Array.from({ length: days }, (_, n) => startOfDay(now, days - 1 - n));
  const assets = new Map<string, { paid: PaidAsset & { days: bigint[] }; count: number }>();
  for (const one of transactions) {
    if (one.type !== 'TOKEN_TRANSFER' || one.executionStatus !== 'completed') continue;
    const at = Date.parse(one.result?.executedAt ?? one.updatedAt);
    const day = starts.findLastIndex((start) => start <= at);
    if (day < 0) continue;
    const { networkId, rawAmount } = one.data;
    const asset = sentAsset(one);
    const key = `${networkId}:${asset.id}`;
    const found = assets.get(key) ?? {
      paid: { networkId, asset, total: 0n, days: Array<bigint>(days).fill(0n) },
      count: 0,
    };
    const amount = BigInt(rawAmount);
    found.paid.days[day] = (found.paid.days[day] ?? 0n) + amount;
    assets.set(key, { paid: { ...found.paid, total: found.paid.total + amount }, count: found.count + 1 });
  }
  return [...assets.values()].sort((one, two) => two.count - one.count).map(({ paid }) => paid);
}
