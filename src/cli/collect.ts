/** Collects the values of an option that may be given again. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
