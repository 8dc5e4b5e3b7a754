import { Button } from './Button.tsx';
import { ErrorNotice } from './States.tsx';

/** Reads the next page of a list. `count` rows of it are shown so far. */
export function More({
  hasMore,
  isReading,
  error,
  count,
  what,
  onMore,
}: {
  readonly hasMore: boolean;
  readonly isReading: boolean;
  /** Why the next page was not read. */
  readonly error: unknown;
  readonly count: string;
  readonly what: string;
  readonly onMore: () => void;
}) {
  return (
    <div className="stack-small more">
      {error ? <ErrorNotice error={error} /> : null}
      <div className="row">
        {hasMore ? (
          <Button busy={isReading} onClick={onMore}>
            Load more {what}
          </Button>
        ) : null}
        <p className="small muted" role="status">
          {count}
          {hasMore ? '' : ', and there are no more'}
        </p>
      </div>
    </div>
  );
}
