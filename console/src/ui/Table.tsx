import type { ReactNode } from 'react';
import styles from './table.module.css';

/** A column: its heading, and what it shows of a row. */
export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  /** Amounts stand below each other by their last digit. */
  readonly align?: 'end';
  /** What the rows are sorted by; absent: not by this column. */
  readonly sortBy?: (row: Row) => string | number;
}

export type Columns<Row> = readonly [Column<Row>, ...Column<Row>[]];

interface Props<Row> {
  /** What the rows are; only read out. */
  readonly caption: string;
  readonly columns: Columns<Row>;
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** The name of the column that the rows are sorted by, after `-` where the last comes first. */
  readonly sortedBy?: string;
}

function sortOf(name: string, sortedBy: string | undefined): 'ascending' | 'descending' | undefined {
  if (sortedBy === name) return 'ascending';
  return sortedBy === `-${name}` ? 'descending' : undefined;
}

/** Rows of facts; on narrow screens each row is a card. The first column names its row. */
export function Table<Row>({ caption, columns, rows, rowKey, sortedBy }: Props<Row>) {
  const [first, ...others] = columns;
  return (
    <div className={styles.tableFrame}>
      <table className={styles.table}>
        <caption className="hidden-visually">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, align }) => (
              <th key={name} scope="col" data-align={align} aria-sort={sortOf(name, sortedBy)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              <th scope="row">{first.cell(row)}</th>
              {others.map(({ name, cell, align }) => (
                <td key={name} data-name={name} data-align={align}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
