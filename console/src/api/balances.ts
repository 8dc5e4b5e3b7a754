import { queryClient } from './client.ts';
import { inBackground } from './connection.ts';

/**
 * A part of the service that stops makes no event, nor does what no log shows: what is shown is read again so often, in ms.
 */
const EVERY_MS = 20_000;
/** When a payment that was just sent is looked for, in ms. */
const SOON_MS = [2_000, 5_000, 10_000, 15_000];

function readAgain(): void {
  if (document.visibilityState === 'hidden') return;
  inBackground.set(true);
  for (const key of ['balances', 'parts']) void queryClient.invalidateQueries({ queryKey: [key] });
}

/** Reads the balances that are shown again from time to time, while the page is visible. Returns how to end it. */
export function followBalances(): () => void {
  const timer = setInterval(readAgain, EVERY_MS);
  return () => clearInterval(timer);
}

/** Looks soon, and several times, for a payment that was just sent to an account. */
export function expectPayment(): void {
  for (const ms of SOON_MS) setTimeout(readAgain, ms);
}
