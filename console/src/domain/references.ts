import type { Transaction } from '@orgwallet/client';

type Metadata = Transaction['metadata'];

/** The tags in a text: what is between commas. */
export const tagsIn = (text: string): string[] =>
  text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');

/** Tags as somebody types them. */
export const tagsText = (tags: readonly string[]): string => tags.join(', ');

/** Metadata as somebody types it: a pair on each line. */
export const metadataText = (metadata: Metadata): string =>
  Object.entries(metadata)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

/** The metadata in a text, or what is wrong with a line of it. */
export function readMetadata(text: string): { readonly metadata: Metadata } | { readonly error: string } {
  const metadata = new Map<string, string>();
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim();
    if (colon < 0 || name === '') return { error: `Line ${i + 1} is not a name, a colon and a value.` };
    if (metadata.has(name)) return { error: `Line ${i + 1}: ${name} is there twice.` };
    metadata.set(name, line.slice(colon + 1).trim());
  }
  return { metadata: Object.fromEntries(metadata) };
}
