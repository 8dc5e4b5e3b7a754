import type { Hashes, Message, Payloads } from '@orgwallet/client';
import { Copy } from '../../ui/Copy.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Sentence } from '../../ui/Sentence.tsx';
import './bytes.css';

const HASHES = [
  ['domainHash', 'Domain hash'],
  ['messageHash', 'Message hash'],
  ['digest', 'Digest'],
] as const;

/** The hashes of a payload. */
export function HashList({ hashes }: { readonly hashes: Hashes }) {
  return (
    <dl className="hashes">
      {HASHES.map(([hash, title]) => (
        <div key={hash}>
          <dt>
            {title} <Copy text={hashes[hash]} of={`the ${title.toLowerCase()}`} />
          </dt>
          <dd>
            <code>0x{hashes[hash].slice(2).replace(/(.{8})(?=.)/g, '$1 ')}</code>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const VOTES = [
  ['initiator', 'To sign as initiator'],
  ['approve', 'To approve'],
  ['reject', 'To reject'],
] as const;

/** From which bytes of a message on a device fails, as its users report. Source: docs/signatures.md. */
const FAILURES: readonly (readonly [number, string])[] = [
  [7_500, 'a BitBox02 with old firmware (from 7.5 KB on)'],
  [16_000, 'a Ledger (16 KB)'],
  [20_000, 'a Trezor (20 KB)'],
];
/** What a Ledger Nano shows of a field. */
const MAX_FIELD_BYTES = 252;

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

/** What a hardware wallet does not show of a message, or not sign. */
function DeviceLimits({ message }: { readonly message: Message }) {
  const bytes = bytesOf(message.data ?? '');
  const field = message.proposalId ? bytes : Math.max(0, bytes / 2 - 1);
  const all = message.summary.reduce((sum, line) => sum + bytesOf(line), field);
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

/** What the payloads say, made from their bytes alone, and the hashes that a hardware wallet shows for each. */
export function Bytes({ payloads }: { readonly payloads: Payloads }) {
  const [verified] = Object.values(payloads);
  const [, ...fields] = verified?.description.split('\n') ?? [];
  const lines = verified?.typedData.message.summary ?? [];
  return (
    <div className="bytes">
      <ul className="bytes-summary">
        {lines.map((line, i) => (
          <li key={`${i} ${line}`}>
            <Sentence text={line} whole />
          </li>
        ))}
      </ul>
      {verified ? <DeviceLimits message={verified.typedData.message} /> : null}
      <details>
        <summary>All fields, decoded from the payload</summary>
        <pre>{fields.join('\n')}</pre>
      </details>
      <details>
        <summary>Hashes to compare with a hardware wallet</summary>
        {VOTES.map(([vote, title]) => {
          const hashes = payloads[vote];
          return hashes ? (
            <div key={vote}>
              <h3>{title}</h3>
              <HashList hashes={hashes} />
            </div>
          ) : null;
        })}
      </details>
    </div>
  );
}
