import { ShortText } from './ShortText.tsx';

/** A sentence of which every address can be read whole and copied. */
export function Sentence({ text }: { readonly text: string }) {
  return text.split(/(0x[0-9a-fA-F]{40})/).map((part, i) =>
    // Every second part is an address: it is what the text was split by.
    i % 2 === 1 ? <ShortText key={`${i} ${part}`} text={part} of="address" /> : part,
  );
}
