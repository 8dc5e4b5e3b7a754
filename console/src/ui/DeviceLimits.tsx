import { Notice } from './Notice.tsx';

/** From which bytes of a message on a device fails, as its users report. Source: docs/hardware-wallets.md. */
const FAILURES: readonly (readonly [number, string])[] = [
  [7_500, 'a BitBox02 with old firmware (from 7.5 KB on)'],
  [16_000, 'a Ledger (16 KB)'],
  [20_000, 'a Trezor (20 KB)'],
];
/** What a Ledger Nano shows of a field. */
const MAX_FIELD_BYTES = 252;

/** What a hardware wallet does not show of a message, or not sign. In bytes: its longest field, and all that a device gets. */
export function DeviceLimits({ field, all }: { readonly field: number; readonly all: number }) {
  const failing = FAILURES.filter(([from]) => all >= from).map(([, device]) => device);
  if (failing.length > 0) {
    return (
      <Notice tone="warning" title="Too large for some hardware wallets">
        <p>
          This has {(all / 1_000).toFixed(1)} KB. Users report that these fail: {failing.join(', ')}. Others
          show the beginning of the data only. Compare the hashes below with those on the device.
        </p>
      </Notice>
    );
  }
  if (field <= MAX_FIELD_BYTES) return null;
  return (
    <p className="muted">
      A hardware wallet may cut the data, which has {field} bytes: compare the hashes below with those that it
      shows.
    </p>
  );
}
