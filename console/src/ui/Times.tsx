import { dateTime } from '../text/time.ts';

/** Since when something is there, and when it was changed last. */
export function Times({ createdAt, updatedAt }: { readonly createdAt: string; readonly updatedAt: string }) {
  return (
    <>
      <time dateTime={createdAt}>{dateTime(createdAt)}</time>
      {updatedAt === createdAt ? null : (
        <span className="muted">
          , changed <time dateTime={updatedAt}>{dateTime(updatedAt)}</time>
        </span>
      )}
    </>
  );
}
