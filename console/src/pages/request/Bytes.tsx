import type { Verified } from '@orgwallet/client';
import { Copy } from '../../ui/Copy.tsx';
import './bytes.css';

const HASHES = [
  ['domainHash', 'Domain hash'],
  ['messageHash', 'Message hash'],
  ['digest', 'Digest'],
] as const;

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
        <dl className="hashes">
          {HASHES.map(([hash, title]) => (
            <div key={hash}>
              <dt>
                {title} <Copy text={verified[hash]} of={`the ${title.toLowerCase()}`} />
              </dt>
              <dd>
                <code>
                  {verified[hash]
                    .replace(/(.{2})(.{8})/, '$1$2 ')
                    .replace(/([0-9a-f]{8})(?=[0-9a-f])/g, '$1 ')}
                </code>
              </dd>
            </div>
          ))}
        </dl>
      </details>
    </div>
  );
}
