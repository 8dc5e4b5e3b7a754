import type { Hashes } from '@orgwallet/client';
import { Copy } from './Copy.tsx';
import styles from './hash-list.module.css';

const HASHES = [
  ['domainHash', 'Domain hash'],
  ['messageHash', 'Message hash'],
  ['digest', 'Digest'],
] as const;

/** The hashes of a payload. */
export function HashList({ hashes }: { readonly hashes: Hashes }) {
  return (
    <dl className={styles.hashes}>
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
