/** How many pages of candidates are looked through at most for one page of what is wanted. */
const MOST_READ = 10;

/** A page as it was read. */
interface ReadPage<Snapshot> {
  readonly snapshots: readonly Snapshot[];
  readonly hasMore: boolean;
}

/** A page of what is wanted: it may end before its limit, and be empty, while there is more. */
export interface FilteredPage<Snapshot> extends ReadPage<Snapshot> {
  /** Up to where candidates were looked at; absent: to the last of the page. */
  readonly reached?: bigint | undefined;
}

/**
 * A page of those that the database can only narrow down: what somebody may sign follows from rules. Looks at no more than
 * MOST_READ pages.
 */
export async function filteredPage<Snapshot extends { readonly record: { readonly position: bigint } }>(
  limit: number,
  read: (before: bigint | undefined) => Promise<ReadPage<Snapshot>>,
  isWanted: (snapshot: Snapshot) => boolean,
): Promise<FilteredPage<Snapshot>> {
  const found: Snapshot[] = [];
  let reached: bigint | undefined;
  let hasMore = true;
  for (let pages = 0; hasMore && pages < MOST_READ; pages += 1) {
    const candidates = await read(reached);
    ({ hasMore } = candidates);
    for (const [i, candidate] of candidates.snapshots.entries()) {
      reached = candidate.record.position;
      if (isWanted(candidate)) found.push(candidate);
      if (found.length === limit) {
        return { snapshots: found, hasMore: hasMore || i + 1 < candidates.snapshots.length, reached };
      }
    }
    // What is found takes more room than a page has, or may.
    if (found.length > 0 && candidates.snapshots.length < limit) break;
  }
  return { snapshots: found, hasMore, reached };
}
