import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { wordsOf } from '../text/errors.ts';
import { Button } from './Button.tsx';
import { Copy } from './Copy.tsx';
import { Notice } from './Notice.tsx';
import styles from './states.module.css';

/** Something is being read. What it is, is read out; the bars only keep its place. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <div className={styles.loading} role="status">
      <span className="hidden-visually">Loading {what}…</span>
      <span className={styles.bar} />
      <span className={styles.bar} />
      <span className={styles.bar} />
    </div>
  );
}

/** There is nothing of this kind, and what could be done about it. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p className={styles.emptyTitle}>{title}</p>
      {children}
    </div>
  );
}

/** An error in words, with the id under which the service's log has it. */
export function ErrorNotice({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const { title, message, advice, requestId } = wordsOf(error);
  return (
    <Notice tone="danger" title={title} urgent>
      <p>{message}</p>
      {advice ? <p>{advice}</p> : null}
      {requestId ? (
        <p className="small">
          Request id <code>{requestId}</code> <Copy text={requestId} of="the request id" />
        </p>
      ) : null}
      {retry ? <Button onClick={retry}>Try again</Button> : null}
    </Notice>
  );
}

/** What was read, or why it was not: what was read before stays while it is read again. */
export function Loaded<T>({
  query,
  what,
  children,
}: {
  readonly query: UseQueryResult<T>;
  readonly what: string;
  readonly children: (data: T) => ReactNode;
}) {
  const { data, error, refetch } = query;
  if (data === undefined) {
    return error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading what={what} />;
  }
  return (
    <>
      {error ? <ErrorNotice error={error} retry={() => void refetch()} /> : null}
      {children(data)}
    </>
  );
}
