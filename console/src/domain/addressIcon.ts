/** A picture made from an address: the same one for the same digits, whatever their case. */
interface AddressIcon {
  readonly background: string;
  readonly color: string;
  readonly spot: string;
  /** Which of 8 × 8 fields have which colour: 0 is the background. Left and right mirror each other. */
  readonly fields: readonly (0 | 1 | 2)[];
}

const SIDE = 8;

/** Numbers below 2^32 that depend on every character of a text. Source: xmur3 and sfc32, public domain. */
function numbersFrom(text: string): () => number {
  let seed = 1_779_033_703 ^ text.length;
  for (let i = 0; i < text.length; i += 1) {
    seed = Math.imul(seed ^ text.charCodeAt(i), 3_432_918_353);
    seed = (seed << 13) | (seed >>> 19);
  }
  return () => {
    seed = Math.imul(seed ^ (seed >>> 16), 2_246_822_507);
    seed = Math.imul(seed ^ (seed >>> 13), 3_266_489_909);
    seed ^= seed >>> 16;
    return seed >>> 0;
  };
}

/** The picture of an address. Two that look alike have different ones: it depends on all digits. */
export function addressIcon(address: string): AddressIcon {
  const next = numbersFrom(address.toLowerCase());
  const hue = () => next() % 360;
  const [background, color, spot] = [
    `hsl(${hue()}, ${40 + (next() % 35)}%, ${72 + (next() % 16)}%)`,
    `hsl(${hue()}, ${55 + (next() % 35)}%, ${26 + (next() % 20)}%)`,
    `hsl(${hue()}, ${60 + (next() % 35)}%, ${40 + (next() % 20)}%)`,
  ];
  const kindOf = (number: number): 0 | 1 | 2 => {
    const part = number % 23;
    if (part < 10) return 0;
    return part < 20 ? 1 : 2;
  };
  const fields = Array.from({ length: SIDE }, () => {
    const half = Array.from({ length: SIDE / 2 }, () => kindOf(next()));
    return [...half, ...half.toReversed()];
  }).flat();
  return { background, color, spot, fields };
}

/** The fields of one colour as one SVG path, in a square of 8. */
export function pathOf({ fields }: AddressIcon, kind: 1 | 2): string {
  return fields
    .map((field, i) => (field === kind ? `M${i % SIDE} ${Math.floor(i / SIDE)}h1v1h-1z` : ''))
    .join('');
}
