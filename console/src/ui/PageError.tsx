import { Link } from '@tanstack/react-router';
import { Page } from './Page.tsx';
import { ErrorNotice } from './States.tsx';

/** A page that could not be shown. The frame around it still works. */
export function PageError({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  return (
    <Page title="This page could not be shown">
      <ErrorNotice error={error} retry={reset} />
    </Page>
  );
}

export function NotFound() {
  return (
    <Page title="There is no such page">
      <p>
        <Link to="/">Go to what waits for you</Link>
      </p>
    </Page>
  );
}
