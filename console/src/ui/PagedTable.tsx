import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ComponentProps, ReactNode } from 'react';
import { Pager } from './Pager.tsx';
import { ErrorNotice, Loading } from './States.tsx';
import { Table } from './Table.tsx';

type Shown<Row> = Pick<ComponentProps<typeof Table<Row>>, 'caption' | 'columns' | 'rows' | 'rowKey'>;

/** A table of a list that is read page by page. */
export function PagedTable<Row, Page>({
  query,
  loading,
  what,
  pages,
  empty,
  ...table
}: Shown<Row> & {
  readonly query: UseInfiniteQueryResult<InfiniteData<Page>>;
  /** What is read, such as `the history`. */
  readonly loading: string;
  /** What the rows are, such as `transactions`. */
  readonly what: string;
  readonly pages: ComponentProps<typeof Pager>['pages'];
  /** What stands there when there is no row. */
  readonly empty: ReactNode;
}) {
  const { data, error, isFetchNextPageError } = query;
  return (
    <>
      {error && !isFetchNextPageError ? (
        <ErrorNotice error={error} retry={() => void query.refetch()} />
      ) : null}
      {query.isPending ? <Loading what={loading} /> : null}
      {table.rows.length > 0 ? <Table {...table} /> : null}
      {data && pages.count === 0 ? empty : null}
      {pages.count > 0 ? (
        <Pager
          what={what}
          pages={pages}
          rest={{
            hasMore: query.hasNextPage,
            isReading: query.isFetchingNextPage,
            error: isFetchNextPageError ? error : null,
            read: () => query.fetchNextPage({ throwOnError: true }),
          }}
        />
      ) : null}
    </>
  );
}
