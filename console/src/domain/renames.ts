/** A name in a summary that is signed, and the present name of the same record. */
interface Rename {
  readonly before: string;
  readonly after: string;
}

/** A quoted name or, with a mark, its beginning, and in parentheses the ids, addresses or chain id of what has it: `"Treasury" (0x…)`. */
const NAMED = /("(?:[^"\\]|\\.)*")(…)?(?: \(([^()]*)\))?/g;
const SUBJECT = /\b(?:mem|grp|pol)_[0-9a-z]{26}\b|\b0x[0-9a-fA-F]{40}\b|^\d+$/g;

/**
 * The names in a summary that their records do not have any more. The summary is made again before the execution, with
 * the names of then: one that differs is refused as `stale`. `namesOf` gives the present names of an id, address or chain id.
 */
export function renamesIn(
  summary: string,
  namesOf: (subject: string) => readonly string[],
): readonly Rename[] {
  const found = [...summary.matchAll(NAMED)].flatMap(([, quoted = '""', cut, subjects = '']): Rename[] => {
    const before = JSON.parse(quoted) as string;
    const names = [...subjects.matchAll(SUBJECT)].flatMap(([subject]) => namesOf(subject));
    const [after] = names;
    const isSame = (name: string) => (cut ? name.startsWith(before) : name === before);
    return after === undefined || names.some(isSame) ? [] : [{ before: `${before}${cut ?? ''}`, after }];
  });
  return [...new Map(found.map((rename) => [`${rename.before}\n${rename.after}`, rename])).values()];
}
