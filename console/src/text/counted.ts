import { plainName } from '../domain/quotedName.ts';

/** `1 approval`, `2 approvals`. */
export const counted = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;

/** The first names, and how many there are besides: `Alice, Bob and 3 more`. */
export function firstNames(things: readonly { readonly name: string }[], most = 4): string {
  const names = things.slice(0, most).map(({ name }) => plainName(name));
  const others = things.length - names.length;
  return `${names.join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}
