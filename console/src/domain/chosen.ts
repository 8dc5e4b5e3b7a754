/** The one that is chosen by its id; before there is a choice, the only one. Another one never takes the place of a chosen one. */
export function chosenOf<T extends { readonly id: string | number }>(
  list: readonly T[],
  chosen: string,
): T | undefined {
  if (chosen === '') return list.length === 1 ? list[0] : undefined;
  return list.find(({ id }) => String(id) === chosen);
}
