/** An object with every field of another: an absent one is undefined, and none is forgotten. */
export type EveryField<T> = {
  readonly [Field in keyof T]-?: T[Field] | (Record<never, never> extends Pick<T, Field> ? undefined : never);
};

/** The object whose fields these are: those that are undefined are absent. */
export function withoutAbsent<T extends object>(fields: EveryField<T>): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
