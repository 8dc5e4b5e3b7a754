import type { Hashes, Verified } from '@orgwallet/client';
import { Copy } from '../../ui/Copy.tsx';
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

/** What a payload says, made from its bytes alone, and the hashes that a hardware wallet shows. */
export function Bytes({ verified }: { readonly verified: Verified }) {
  const [head, ...lines] = verified.description.split('\n');
  return (
    <div className="bytes">
      <p className="bytes-summary">{verified.typedData.message.summary}</p>
      <details>
        <summary>Every field, read from the bytes</summary>
        <p className="mono">{head}</p>
        <pre>{lines.join('\n')}</pre>
      </details>
      <details>
        <summary>Compare with a hardware wallet</summary>
        <HashList hashes={verified} />
      </details>
    </div>
  );
}
