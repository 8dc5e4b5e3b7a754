import {
  type ColumnDef,
  getCoreRowModel,
  getFilteredRowModel,
  getSortedRowModel,
  useReactTable,
} from '@tanstack/react-table';
import { useMemo, useState } from 'react';
import { Button } from './Button.tsx';
import { SelectField, TextField } from './Field.tsx';
import styles from './filters.module.css';
import { Pager, usePages } from './Pager.tsx';
import { Empty } from './States.tsx';
import { type Column, type Columns, Table } from './Table.tsx';

/** A choice of some rows of a list. */
export interface ListFilter<Row> {
  readonly label: string;
  readonly options: readonly { readonly value: string; readonly name: string }[];
  readonly has: (row: Row, value: string) => boolean;
}

interface Props<Row> {
  /** What the rows are, such as `members`. */
  readonly what: string;
  readonly caption: string;
  /** The list begins sorted by the first of them that can be sorted. */
  readonly columns: Columns<Row>;
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** What a row is found by. */
  readonly textOf: (row: Row) => string;
  /** The label of the search, such as `Search by name`. */
  readonly searchLabel: string;
  readonly filters?: readonly ListFilter<Row>[];
}

/** From so many rows on, one looks for one of them. */
const LONG_LIST = 8;

const definitionOf = <Row,>({ name, sortBy }: Column<Row>): ColumnDef<Row> => ({
  id: name,
  accessorFn: (row) => sortBy?.(row) ?? '',
  enableSorting: sortBy !== undefined,
  sortingFn: (one, other, id) =>
    String(one.getValue(id)).localeCompare(String(other.getValue(id)), undefined, { numeric: true }),
});

const NO_FILTERS = {} as { readonly [label: string]: string };

/** Rows of facts that are searched, filtered, sorted and paged in the browser. */
export function List<Row>({
  what,
  caption,
  columns,
  rows,
  rowKey,
  textOf,
  searchLabel,
  filters = [],
}: Props<Row>) {
  const sortable = columns.filter(({ sortBy }) => sortBy);
  const [sort, setSort] = useState(sortable[0]?.name ?? '');
  const [sought, setSought] = useState('');
  const [chosen, setChosen] = useState(NO_FILTERS);
  const data = useMemo(
    () => rows.filter((row) => filters.every(({ label, has }) => !chosen[label] || has(row, chosen[label]))),
    [rows, filters, chosen],
  );
  const definitions = useMemo(() => columns.map(definitionOf), [columns]);
  const table = useReactTable<Row>({
    data,
    columns: definitions,
    state: {
      globalFilter: sought.trim().toLowerCase(),
      sorting: sort === '' ? [] : [{ id: sort.replace(/^-/, ''), desc: sort.startsWith('-') }],
    },
    globalFilterFn: ({ original }, _, text) => textOf(original).toLowerCase().includes(text),
    getColumnCanGlobalFilter: () => true,
    // Pages are `usePages`: a change of the data does not lead back to the first one.
    autoResetAll: false,
    getCoreRowModel: getCoreRowModel(),
    getFilteredRowModel: getFilteredRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  const found = table.getRowModel().rows.map(({ original }) => original);
  const { shown, pages } = usePages(found, JSON.stringify([sort, sought, chosen]));
  const clear = () => {
    setSought('');
    setChosen(NO_FILTERS);
  };
  return (
    <div className="stack">
      {rows.length >= LONG_LIST ? (
        <search className={styles.filters}>
          <TextField
            label={searchLabel}
            type="search"
            value={sought}
            onChange={({ target }) => setSought(target.value)}
          />
          {filters.map(({ label, options }) => (
            <SelectField
              key={label}
              label={label}
              value={chosen[label] ?? ''}
              onChange={({ target }) => setChosen({ ...chosen, [label]: target.value })}
            >
              <option value="">all</option>
              {options.map(({ value, name }) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </SelectField>
          ))}
          <SelectField label="Sort by" value={sort} onChange={({ target }) => setSort(target.value)}>
            {sortable.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
            {sortable.map(({ name }) => (
              <option key={`-${name}`} value={`-${name}`}>
                {name}, descending
              </option>
            ))}
          </SelectField>
        </search>
      ) : null}
      {shown.length === 0 ? (
        <Empty title={`No ${what} match`}>
          <Button onClick={clear}>Show all {what}</Button>
        </Empty>
      ) : (
        <Table caption={caption} columns={columns} rows={shown} rowKey={rowKey} sortedBy={sort} />
      )}
      {found.length > pages.size ? <Pager pages={pages} what={what} /> : null}
    </div>
  );
}
