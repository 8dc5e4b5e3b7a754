const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * What keeps a text from being stored, or undefined: Postgres has no NUL in `text` and `jsonb`, and UTF-8 has no lone
 * surrogates.
 */
export function unstorablePart(text: string): string | undefined {
  if (text.includes('\0')) return 'the NUL character (U+0000)';
  if (LONE_SURROGATE.test(text)) return 'a lone surrogate';
  return undefined;
}
