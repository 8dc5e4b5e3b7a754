import type { ComponentProps } from 'react';
import { Pager, usePages } from './Pager.tsx';
import { Table } from './Table.tsx';

/** A table of rows that have all been read, page by page. */
export function TablePages<Row>({
  what,
  ...table
}: ComponentProps<typeof Table<Row>> & {
  /** What the rows are, such as `API keys`. */
  readonly what: string;
}) {
  const { shown, pages } = usePages(table.rows);
  return (
    <div className="stack">
      <Table {...table} rows={shown} />
      {table.rows.length > pages.size ? <Pager what={what} pages={pages} /> : null}
    </div>
  );
}
