import { Fragment } from 'react';
import { shortAddress } from '../domain/address.ts';
import { AddressIcon } from './AddressIcon.tsx';
import styles from './address.module.css';
import { Copy } from './Copy.tsx';

/** Where an address is broken where it does not fit into a line: in its middle, never in the digits that are compared. */
const MIDDLE = 22;

/** The digits of an address: those that people compare first and last stand out. */
export const Digits = ({ address }: { readonly address: string }) => (
  <code className={styles.digits}>
    <span>
      <b>{address.slice(0, 6)}</b>
      {address.slice(6, MIDDLE)}
    </span>
    <wbr />
    <span>
      {address.slice(MIDDLE, -4)}
      <b>{address.slice(-4)}</b>
    </span>
  </code>
);

/** A whole address. */
export function Address({ address, copy = true }: { readonly address: string; readonly copy?: boolean }) {
  return (
    <span className={styles.address}>
      <AddressIcon address={address} /> <Digits address={address} />
      {copy ? <Copy text={address} of={`address ${shortAddress(address)}`} /> : null}
    </span>
  );
}

const SHORTENED = /(0x[0-9a-fA-F]+…[0-9a-fA-F]+)/;

/** A line of text in which no shortened address is broken. */
export const Unbroken = ({ text }: { readonly text: string }) =>
  text.split(SHORTENED).map((part, i) => {
    const key = `${i} ${part}`;
    // Every second part is one that the text was split by.
    return i % 2 === 0 ? (
      <Fragment key={key}>{part}</Fragment>
    ) : (
      <span key={key} className={styles.short}>
        {part}
      </span>
    );
  });

/** An address that is beside a name: its ends are enough. */
export function ShortAddress({ address }: { readonly address: string }) {
  return (
    <code className="muted" title={address}>
      {shortAddress(address)}
    </code>
  );
}
