import type { Schema } from '@orgwallet/client';
import { assetText, shortAmountText } from '../domain/amounts.ts';
import { quotedName } from '../domain/quotedName.ts';

type Movement = Schema['Movement'];

/** How far a movement is. */
export const MOVEMENT_STATUSES: {
  readonly [status in Schema['MovementStatus']]: {
    readonly text: string;
    readonly tone: 'accent' | 'good' | 'danger';
  };
} = {
  pending: { text: 'Pending', tone: 'accent' },
  confirmed: { text: 'Confirmed', tone: 'good' },
  reversed: { text: 'Reversed', tone: 'danger' },
};

/** What a movement may have been made to be mistaken for. */
export const MOVEMENT_MARKS: { readonly [mark in Schema['MovementMark']]: string } = {
  zeroAmount: 'nothing moved: may imitate a counterparty',
  lookAlikeToken: 'looks like a token that you know',
  lookAlikeCounterparty: 'looks like an address that you know',
};

/** Whom something came from or went to, without the address. */
export function counterpartyName({ counterparty, direction }: Pick<Movement, 'counterparty' | 'direction'>) {
  const { kind, name } = counterparty;
  if (kind === 'none') return direction === 'in' ? 'minted' : 'burned';
  if (name === undefined) return undefined;
  return kind === 'policy' ? `named in ${quotedName(name)}` : name;
}

/** An NFT by its number, which may have 78 digits. */
export function tokenIdText(tokenId: string): string {
  return tokenId.length > 12 ? `#${tokenId.slice(0, 6)}…${tokenId.slice(-4)}` : `#${tokenId}`;
}

/** An amount that may be negative, with its sign. */
export function signedText(
  raw: string,
  asset: Schema['Asset'],
  write: (raw: string | bigint, decimals: number | null) => string = shortAmountText,
): string {
  const sign = raw.startsWith('-') ? '−' : '+';
  return `${raw === '0' ? '' : sign}${assetText(raw.replace('-', ''), asset, write)}`;
}

/** Why a statement is not compared with the chain. */
export const UNPROVED: { readonly [reason in Schema['Unproved']]: string } = {
  unreadable: 'the token returns no balance',
  pruned: 'the node has no state of these blocks',
  unavailable: 'the network does not answer',
};
