const LISTED = 10;

/** A list in a sentence: all of a short one; of a long one the first ten, and the number of the others. */
export function listed(texts: readonly string[], separator: string): string {
  const more = texts.length - LISTED;
  return texts.slice(0, LISTED).join(separator) + (more > 0 ? ` and ${more} more` : '');
}

/** An operation on one thing or several: `Remove member X`, `Remove 2 members: X, Y`. */
export function sentence(verb: string, noun: string, things: readonly string[], separator = ', '): string {
  return things.length === 1
    ? `${verb} ${noun} ${things[0]}`
    : `${verb} ${things.length} ${noun}s: ${things.join(separator)}`;
}
