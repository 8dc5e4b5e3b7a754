import type { Api } from './api.ts';
import type { CallOptions, ItemOf } from './endpoints.ts';
import { pause } from './exchange.ts';
import { Matcher, match } from './expectation.ts';

/** What came in or went out of an account. */
export type Movement = ItemOf<'listMovements'>;

/** The deposit that is waited for. */
export interface ExpectedDeposit {
  /** The account: its id, or the record that was read. */
  readonly account: string | { readonly id: string };
  /** The `id` of its asset: `<networkId>:<tokenAddress>`, the zero address for the native currency. */
  readonly asset: string;
  /** So much at least, in the smallest unit. */
  readonly amount: bigint;
  /** Only from this address. */
  readonly from?: string | undefined;
  /** Only in blocks at or after this time: that of the request that is being paid. */
  readonly after: Date;
}

/** How it is waited for. */
export interface DepositOptions extends Pick<CallOptions, 'signal'> {
  /** Throws NoDeposit after so long; an hour by default. */
  readonly timeoutMs?: number;
  /** 2 seconds by default. */
  readonly everyMs?: number;
}

/** No such deposit was confirmed in time. It may come later. */
export class NoDeposit extends Error {
  override readonly name = 'NoDeposit';
}

/** Compares a movement with what was asked for: the service may not have filtered by it. Throws PayloadMismatch. */
function matchDeposit(
  { asset, amount, from, after }: ExpectedDeposit,
  accountId: string,
  { asset: moved, rawAmount, blockAt, counterparty, ...found }: Movement,
): void {
  const isEnough = new Matcher(
    `at least ${amount}`,
    (got) => /^\d+$/.test(String(got)) && BigInt(String(got)) >= amount,
  );
  const isLater = new Matcher(
    `not before ${after.toISOString()}`,
    (got) => Date.parse(String(got)) >= after.getTime(),
  );
  match('accountId', accountId, found.accountId);
  match('asset.id', asset.toLowerCase(), moved.id.toLowerCase());
  match('rawAmount', isEnough, rawAmount);
  match('direction', 'in', found.direction);
  match('status', 'confirmed', found.status);
  match('blockAt', isLater, blockAt);
  if (from !== undefined) match('counterparty.address', from, counterparty.address);
}

/**
 * Waits until a deposit is confirmed: the first one of the asset, with at least the amount, in one movement. Throws NoDeposit,
 * ApiError where the service refuses, PayloadMismatch for another movement than was asked for, and the reason of the signal.
 */
export async function waitForDeposit(
  api: Api,
  { account, asset, amount, from, after }: ExpectedDeposit,
  { signal, timeoutMs = 3_600_000, everyMs = 2_000 }: DepositOptions = {},
): Promise<Movement> {
  const accountId = typeof account === 'string' ? account : account.id;
  const query = {
    ...{ accountId, assetId: asset, minimum: String(amount), from: after.toISOString(), limit: 1 },
    ...({ direction: 'in', status: 'confirmed', order: 'oldest' } as const),
    ...(from === undefined ? {} : { counterparty: from }),
  };
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { data } = await api.page('listMovements', query, { signal });
    const [found] = data;
    if (found) {
      matchDeposit({ account, asset, amount, from, after }, accountId, found);
      return found;
    }
    if (performance.now() + everyMs > deadline) {
      throw new NoDeposit(
        `no deposit of ${amount} of ${asset} is confirmed on ${accountId} after ${timeoutMs} ms`,
      );
    }
    await pause(everyMs, signal);
  }
}
