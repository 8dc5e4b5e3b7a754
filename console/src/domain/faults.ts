/** What is wrong with which field. */
export type Faults = { readonly [field: string]: string };

/** Which field of a form was made into what the service names by a path. */
export type Places = readonly (readonly [path: RegExp, field: string])[];

/** Faults by the fields of a form: the first of each. What no place names keeps its path. */
export function placed(faults: Faults, places: Places): Faults {
  const found: { [field: string]: string } = {};
  for (const [path, message] of Object.entries(faults)) {
    const [pattern, field = path] = places.find(([one]) => one.test(path)) ?? [];
    found[pattern ? path.replace(pattern, field) : path] ??= message;
  }
  return found;
}
