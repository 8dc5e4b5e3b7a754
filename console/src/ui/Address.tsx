import { shortAddress } from '../domain/address.ts';
import { AddressIcon } from './AddressIcon.tsx';
import styles from './address.module.css';
import { Copy } from './Copy.tsx';

/** A whole address: the digits that people compare first and last stand out. */
export function Address({ address, copy = true }: { readonly address: string; readonly copy?: boolean }) {
  return (
    <span className={styles.address}>
      <AddressIcon address={address} />{' '}
      <code>
        <b>{address.slice(0, 6)}</b>
        {address.slice(6, -4)}
        <b>{address.slice(-4)}</b>
      </code>
      {copy ? <Copy text={address} of={`address ${shortAddress(address)}`} /> : null}
    </span>
  );
}

/** An address that is beside a name: its ends are enough. */
export function ShortAddress({ address }: { readonly address: string }) {
  return (
    <code className="muted" title={address}>
      {shortAddress(address)}
    </code>
  );
}
