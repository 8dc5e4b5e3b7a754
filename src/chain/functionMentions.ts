import { STANDARD_FUNCTIONS, type StandardFunction } from './functions';

const SELECTOR_BYTES = 4;

/** Functions that only a policy that names them permits, and the one that is a token transfer. */
const SOUGHT: readonly StandardFunction[] = [...STANDARD_FUNCTIONS.values()].filter(
  ({ restricted, signature }) => restricted || signature === 'transfer(address,uint256)',
);

/** By selector, as a number. Those that begin with two zeros are not sought: small numbers look like them, padded. */
const BY_SELECTOR: ReadonlyMap<number, string> = new Map(
  SOUGHT.map(({ selector, signature }) => [Number(selector), signature] as const).filter(
    ([selector]) => selector > 0xffff,
  ),
);

/** 1 for the first two bytes of a selector: few places have to be looked up. */
const BEGINNINGS = new Uint8Array(2 ** 16);
for (const selector of BY_SELECTOR.keys()) BEGINNINGS[selector >>> 16] = 1;

const ENDING = 3;
/** By the last characters of their names: few texts with a parenthesis have to be compared. */
const BY_ENDING: ReadonlyMap<string, readonly { signature: string; nameLength: number }[]> = namesByEnding();

function namesByEnding(): Map<string, { signature: string; nameLength: number }[]> {
  const byEnding = new Map<string, { signature: string; nameLength: number }[]>();
  for (const { signature, abi } of SOUGHT) {
    const ending = abi.name.slice(-ENDING);
    byEnding.set(ending, [...(byEnding.get(ending) ?? []), { signature, nameLength: abi.name.length }]);
  }
  return byEnding;
}

/** The signatures whose selector is somewhere in the bytes, also where it is not aligned. */
function mentionedBySelector(bytes: Uint8Array): string[] {
  const found: string[] = [];
  let word = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    word = ((word << 8) | (bytes[i] ?? 0)) >>> 0;
    if (i + 1 < SELECTOR_BYTES || !BEGINNINGS[word >>> 16]) continue;
    const signature = BY_SELECTOR.get(word);
    if (signature !== undefined) found.push(signature);
  }
  return found;
}

/** The signatures that are somewhere in the bytes as text, as governance contracts take functions. */
function mentionedByText(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const found: string[] = [];
  for (let at = text.indexOf('('); at >= 0; at = text.indexOf('(', at + 1)) {
    for (const { signature, nameLength } of BY_ENDING.get(text.slice(Math.max(0, at - ENDING), at)) ?? []) {
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
