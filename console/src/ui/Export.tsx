import { useEffect, useRef, useState } from 'react';
import { type CsvColumn, csv } from '../text/csv.ts';
import { Button } from './Button.tsx';
import { download } from './download.ts';
import styles from './export.module.css';
import { ErrorNotice } from './States.tsx';

/** How many rows one file has at most: they are collected in the memory of the page. */
const MOST_ROWS = 50_000;

type State =
  | { readonly is: 'idle' }
  | { readonly is: 'reading'; readonly rows: number }
  | { readonly is: 'done'; readonly rows: number; readonly isWhole: boolean }
  | { readonly is: 'failed'; readonly error: unknown };

interface Props<Row> {
  /** What is written, such as `transactions`. */
  readonly what: string;
  readonly fileName: string;
  readonly columns: readonly CsvColumn<Row>[];
  /** Every row that is written, read while it is written. */
  readonly read: (signal: AbortSignal) => AsyncIterable<Row>;
}

function said(state: State, what: string): string {
  if (state.is === 'reading') return `${state.rows} read`;
  if (state.is !== 'done') return '';
  return state.isWhole
    ? `Saved ${state.rows} ${what}`
    : `Saved the newest ${state.rows} ${what}: a file holds no more`;
}

/** Saves all rows of a list as a CSV file, also those that are not on the page. */
export function Export<Row>({ what, fileName, columns, read }: Props<Row>) {
  const [state, setState] = useState<State>({ is: 'idle' });
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), []);

  const write = async () => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    setState({ is: 'reading', rows: 0 });
    try {
      const rows: Row[] = [];
      let isWhole = true;
      for await (const row of read(signal)) {
        if (rows.length === MOST_ROWS) {
          isWhole = false;
          break;
        }
        rows.push(row);
        if (rows.length % 100 === 0) setState({ is: 'reading', rows: rows.length });
      }
      download(fileName, 'text/csv', csv(columns, rows));
      setState({ is: 'done', rows: rows.length, isWhole });
    } catch (error) {
      setState(signal.aborted ? { is: 'idle' } : { is: 'failed', error });
    }
  };
  const isReading = state.is === 'reading';
  return (
    <div className="stack-small">
      <div className="row">
        <Button busy={isReading} onClick={() => void write()}>
          Save as CSV<span className="hidden-visually">: {what}</span>
        </Button>
        {isReading ? (
          <Button look="quiet" onClick={() => controller.current?.abort()}>
            Stop
          </Button>
        ) : null}
        <span role="status" className={`${styles.said} small muted`}>
          {said(state, what)}
        </span>
      </div>
      {state.is === 'failed' ? <ErrorNotice error={state.error} retry={() => void write()} /> : null}
    </div>
  );
}
