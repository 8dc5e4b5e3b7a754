import { summaryText } from '../domain/summary';

const LISTED = 10;

/** A list in a message: all of a short one; of a long one the first ten, and the number of the others. */
export function listed(texts: readonly string[], separator: string): string {
  const more = texts.length - LISTED;
  return texts.slice(0, LISTED).join(separator) + (more > 0 ? ` and ${more} more` : '');
}

/** `1 member`, `2 members`, `2 policies`. */
export function counted(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${count} ${noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;
}

/**
 * The summary of an operation on one thing or several, each in lines of its own: `Remove member X`, or `Remove 2 members`
 * and a line for each. `besides` is said of several in the first line.
 */
export function operationSummary(
  verb: string,
  noun: string,
  things: readonly (readonly [string, ...(readonly string[])])[],
  besides = '',
): string {
  const [first, ...others] = things;
  if (first && others.length === 0) {
    const [line, ...more] = first;
    return dataSummary(`${verb} ${noun} ${line}`, more);
  }
  return summaryText([`${verb} ${counted(things.length, noun)}${besides}`], things, 'data');
}

/** A summary of one line, and of others that `data` has as well. */
export function dataSummary(first: string, others: readonly string[]): string {
  return summaryText(
    [first],
    others.map((line) => [line]),
    'data',
  );
}
