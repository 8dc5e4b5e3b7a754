/** A name in quotes that it cannot close: what it says is never read as part of the sentence around it. */
export const quotedName = (name: string) => `“${name.replaceAll(/[“”]/g, '"')}”`;
