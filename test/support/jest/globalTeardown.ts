import { reportReached } from '../reached';

/**
 * Says what was reached of the contract, and ends what the global set-up has started; after a crash of jest the
 * watchdog does it.
 */
export default async function globalTeardown(): Promise<void> {
  const stack = globalThis.orgwalletTestStack;
  if (!stack) return;
  try {
    const line = reportReached();
    if (line) process.stderr.write(`${line}\n`);
  } finally {
    await stack.stop();
  }
}
