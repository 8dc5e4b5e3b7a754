/** Ends what the global set-up has started; after a crash of jest the watchdog does it. */
export default async function globalTeardown(): Promise<void> {
  await globalThis.orgwalletTestStack?.stop();
}
