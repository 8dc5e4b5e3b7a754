import type { Hashes, Payloads } from '@orgwallet/client';
import { Copy } from '../../ui/Copy.tsx';
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

/** What the payloads say, made from their bytes alone, and the hashes that a hardware wallet shows for each. */
export function Bytes({ payloads }: { readonly payloads: Payloads }) {
  const [verified] = Object.values(payloads);
  const [, ...lines] = verified?.description.split('\n') ?? [];
  return (
    <div className="bytes">
      <p className="bytes-summary">
        <Sentence text={verified?.typedData.message.summary ?? ''} whole />
      </p>
      <details>
        <summary>All fields, decoded from the payload</summary>
        <pre>{lines.join('\n')}</pre>
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
