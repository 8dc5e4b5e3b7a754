/** A function that makes a value when it is asked first, and answers the same afterwards. What `make` throws is thrown each time. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
