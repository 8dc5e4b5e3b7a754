import { addressIcon, pathOf } from '../domain/addressIcon.ts';
import styles from './icons.module.css';

/** A picture of an address, beside it: who knows it sees that it is another one. It says nothing that the address does not. */
export function AddressIcon({ address }: { readonly address: string }) {
  const icon = addressIcon(address);
  return (
    <svg data-icon className={styles.iconOfAddress} viewBox="0 0 8 8" aria-hidden="true" focusable="false">
      <rect width="8" height="8" fill={icon.background} />
      <path d={pathOf(icon, 1)} fill={icon.color} />
      <path d={pathOf(icon, 2)} fill={icon.spot} />
    </svg>
  );
}
