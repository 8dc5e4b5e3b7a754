import { Fragment } from 'react';
import { isAddressText } from '../domain/address.ts';
import { Digits } from './Address.tsx';
import { ShortId, ShortText } from './ShortText.tsx';

const ID = /^[a-z]+_[0-9a-z]{26}$/;
/** Addresses, ids, and names in quotes. */
const PARTS = /(0x[0-9a-fA-F]{40}\b|\b[a-z]+_[0-9a-z]{26}\b|“[^“”]*”|"(?:[^"\\]|\\.)*")/;

/**
 * A sentence of which every address and id can be read whole and copied, and no name changes how the words around it are
 * read. `whole` shows addresses in full.
 */
export function Sentence({ text, whole = false }: { readonly text: string; readonly whole?: boolean }) {
  return text.split(PARTS).map((part, i) => {
    const key = `${i} ${part}`;
    // Every second part is one that the text was split by.
    if (i % 2 === 0) return <Fragment key={key}>{part}</Fragment>;
    if (ID.test(part)) return <ShortId key={key} id={part} of="id" />;
    if (!isAddressText(part)) return <bdi key={key}>{part}</bdi>;
    return whole ? <Digits key={key} address={part} /> : <ShortText key={key} text={part} of="address" />;
  });
}
