/** Code points that are not seen, or that change how those around them are: controls, ignorable, blank and unassigned ones. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{1d159}]/gu;

/** The first code point of a text that is not seen, or that changes how others are; undefined where there is none. */
export function unseenIn(text: string): string | undefined {
  return text.match(UNSEEN)?.[0];
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** A text on one line: what cannot be seen in it is escaped. */
export function visible(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/**
 * A text that somebody else chose, such as a name or the symbol of a token, as a JSON text on one line: it cannot be read
 * as part of the sentence around it. What cannot be seen is escaped.
 */
export function quoted(text: string): string {
  return visible(JSON.stringify(text));
}
