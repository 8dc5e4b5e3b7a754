/** A name in quotes that it cannot close: what it says is never read as part of the sentence around it. */
export const quotedName = (name: string) => `“${name.replaceAll(/[“”]/g, '"')}”`;

/** A name as it is; in quotes where it could be read as more than one, or as what follows it. */
export const plainName = (name: string) => (/[,;“”"]/.test(name) ? quotedName(name) : name);
