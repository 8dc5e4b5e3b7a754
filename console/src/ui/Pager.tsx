import { useState } from 'react';
import { type PageSizes, useNarrow } from '../state/narrow.ts';
import { Button } from './Button.tsx';
import { ErrorNotice } from './States.tsx';

/** A part of a list, and how to get to the others. */
interface Pages {
  /** The first row that is shown, from 0 on. */
  readonly first: number;
  readonly size: number;
  /** How many rows there are, as far as they have been read. */
  readonly count: number;
  readonly onTurn: (first: number) => void;
}

/** More rows than have been read. */
interface Rest {
  readonly hasMore: boolean;
  readonly isReading: boolean;
  /** Why they were not read. */
  readonly error: unknown;
  readonly read: () => Promise<unknown>;
}

const NO_REST: Rest = { hasMore: false, isReading: false, error: null, read: async () => undefined };

/** Turns the pages of a list; at the end of what has been read it reads what follows. */
export function Pager({
  pages,
  what,
  rest = NO_REST,
}: {
  readonly pages: Pages;
  /** What the rows are, such as `entries`. */
  readonly what: string;
  readonly rest?: Rest;
}) {
  const { first, size, count, onTurn } = pages;
  const isLast = first + size >= count;
  const next = async () => {
    if (first + size * 2 > count && rest.hasMore) {
      // What could not be read is said above.
      const reading = rest.read().catch(() => undefined);
      if (isLast) await reading;
    }
    // A page that is not full yet is filled by what was read.
    if (first + size <= count) onTurn(first + size);
  };
  const last = Math.min(first + size, count);
  return (
    <div className="stack-small">
      {rest.error ? <ErrorNotice error={rest.error} retry={() => void rest.read()} /> : null}
      <nav className="row" aria-label={`Pages of ${what}`}>
        {first > 0 ? <Button onClick={() => onTurn(Math.max(0, first - size))}>Previous</Button> : null}
        {isLast && !rest.hasMore ? null : (
          <Button busy={rest.isReading} onClick={() => void next()}>
            Next
          </Button>
        )}
        <p className="small muted" role="status">
          {count === 0
            ? `No ${what}`
            : `${first + 1} to ${last} of ${count}${rest.hasMore ? ' or more' : ''} ${what}`}
        </p>
      </nav>
    </div>
  );
}

/** Of a page that has one list. */
const LIST: PageSizes = { narrow: 6, wide: 20 };

/** The rows of a list that are shown. `key` is what they depend on: with another one the list begins anew. */
export function usePages<Row>(
  rows: readonly Row[],
  key = '',
  sizes: PageSizes = LIST,
): { readonly shown: readonly Row[]; readonly pages: Pages } {
  const size = useNarrow() ? sizes.narrow : sizes.wide;
  const [at, setAt] = useState({ key, first: 0 });
  const wanted = at.key === key ? at.first : 0;
  // Rows may have gone since: the last page is never empty.
  const first = wanted < rows.length ? wanted : Math.max(0, Math.floor((rows.length - 1) / size) * size);
  return {
    shown: rows.slice(first, first + size),
    pages: { first, size, count: rows.length, onTurn: (next) => setAt({ key, first: next }) },
  };
}
