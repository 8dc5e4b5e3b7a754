import { once } from '../once';
import { type StandardFunction, standardFunctions } from './functions';

const SELECTOR_BYTES = 4;

const ENDING = 3;

/** What is looked for in bytes. */
interface Sought {
  /** Signatures by their selector, as a number. */
  readonly bySelector: ReadonlyMap<number, string>;
  /** 1 for the first two bytes of a selector: few places have to be looked up. */
  readonly beginnings: Uint8Array;
  /** By the last characters of their names: few texts with a parenthesis have to be compared. */
  readonly byEnding: ReadonlyMap<string, readonly { signature: string; nameLength: number }[]>;
}

/** Functions that only a policy that names them permits, and the one that is a token transfer. */
const sought = once((): Sought => {
  const functions = [...standardFunctions().values()].filter(
    ({ restricted, signature }) => restricted || signature === 'transfer(address,uint256)',
  );
  // Selectors that begin with two zeros are not sought: small numbers look like them, padded.
  const bySelector = new Map(
    functions
      .map(({ selector, signature }) => [Number(selector), signature] as const)
      .filter(([selector]) => selector > 0xffff),
  );
  const beginnings = new Uint8Array(2 ** 16);
  for (const selector of bySelector.keys()) beginnings[selector >>> 16] = 1;
  return { bySelector, beginnings, byEnding: byEndingOf(functions) };
});

function byEndingOf(functions: readonly StandardFunction[]): Sought['byEnding'] {
  const byEnding = new Map<string, { signature: string; nameLength: number }[]>();
  for (const { signature, abi } of functions) {
    const ending = abi.name.slice(-ENDING);
    byEnding.set(ending, [...(byEnding.get(ending) ?? []), { signature, nameLength: abi.name.length }]);
  }
  return byEnding;
}

/** The signatures whose selector is somewhere in the bytes, also where it is not aligned. */
function mentionedBySelector(bytes: Uint8Array): string[] {
  const { beginnings, bySelector } = sought();
  const found: string[] = [];
  let word = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    word = ((word << 8) | (bytes[i] ?? 0)) >>> 0;
    if (i + 1 < SELECTOR_BYTES || !beginnings[word >>> 16]) continue;
    const signature = bySelector.get(word);
    if (signature !== undefined) found.push(signature);
  }
  return found;
}

/** The signatures that are somewhere in the bytes as text, as governance contracts take functions. */
function mentionedByText(bytes: Uint8Array): string[] {
  const { byEnding } = sought();
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const found: string[] = [];
  for (let at = text.indexOf('('); at >= 0; at = text.indexOf('(', at + 1)) {
    for (const { signature, nameLength } of byEnding.get(text.slice(Math.max(0, at - ENDING), at)) ?? []) {
      if (at >= nameLength && text.startsWith(signature, at - nameLength)) found.push(signature);
    }
  }
  return found;
}

/**
 * The restricted functions and token transfers that bytes mention, by selector or by signature, at whatever place: each as
 * often as it is mentioned. Who calls the functions of a contract through another function of it has to write one of the two
 * somewhere, however the rest is packed. Not found is what is compressed or otherwise transformed, what the contract has stored
 * before, and what it makes itself.
 */
export function functionMentions(bytes: Uint8Array): readonly string[] {
  return [...mentionedBySelector(bytes), ...mentionedByText(bytes)];
}
