/**
 * What a transaction is known by in the records of others: for people and programs to find it by. It is not signed, and no rule
 * depends on it.
 */
export interface References {
  /** Unique in its organization, for ever; null: none. */
  readonly externalId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** In the order in which they were given. */
  readonly tags: readonly string[];
}

/** What can be changed of references. */
export type ReferenceChange = Partial<Pick<References, 'metadata' | 'tags'>>;

/** The references of a transaction that was given none. */
export const NO_REFERENCES: References = { externalId: null, metadata: {}, tags: [] };

/** The most metadata of a transaction: pairs, and bytes of them as JSON. */
export const MAX_METADATA = { pairs: 20, bytes: 4_096 };
