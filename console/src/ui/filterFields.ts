/** What the fields of filters need: what is looked for, which is in the address of the page, and how another choice changes it. */
export function filterFields<Field extends string>(
  search: { readonly [field in Field]?: string },
  change: (fields: { readonly [field in Field]?: string }) => void,
) {
  const set = (name: Field, value: string) => change({ [name]: value } as { [field in Field]?: string });
  return {
    /** Of a `RecordField`; `none` is what it says while nothing is chosen. */
    choice: (name: Field, none = 'all') => ({
      none,
      value: search[name] ?? '',
      onChange: (id: string) => set(name, id),
    }),
    /** Of a `TextField`. */
    day: (name: Field) => ({
      type: 'date',
      value: search[name] ?? '',
      onChange: ({ target }: { readonly target: { readonly value: string } }) => set(name, target.value),
    }),
  };
}
