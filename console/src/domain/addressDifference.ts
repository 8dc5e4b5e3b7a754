/** A part of an address that another one has as well, or that it has not. */
interface AddressPart {
  readonly text: string;
  readonly differs: boolean;
}

/** An address in parts that are the same in another address at the same places, and parts that are not; case does not matter. */
export function addressDifference(address: string, other: string): readonly AddressPart[] {
  const parts: { text: string; differs: boolean }[] = [];
  for (const [i, digit] of [...address].entries()) {
    const differs = digit.toLowerCase() !== other[i]?.toLowerCase();
    const last = parts.at(-1);
    if (last?.differs === differs) last.text += digit;
    else parts.push({ text: digit, differs });
  }
  return parts;
}
