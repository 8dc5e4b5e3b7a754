import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { Button } from './Button.tsx';
import { ErrorNotice } from './States.tsx';

/** Reads the next page of a list. `count` rows of it are shown so far. */
export function More({
  query,
  count,
  what,
}: {
  readonly query: UseInfiniteQueryResult<unknown>;
  readonly count: string;
  readonly what: string;
}) {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage } = query;
  return (
    <div className="stack-small more">
      {isFetchNextPageError ? <ErrorNotice error={error} /> : null}
      <div className="row">
        {hasNextPage ? (
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Load more {what}
          </Button>
        ) : null}
        <p className="small muted" role="status">
          {count}
          {hasNextPage ? '' : ', and there are no more'}
        </p>
      </div>
    </div>
  );
}
