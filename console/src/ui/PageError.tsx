import { Link } from '@tanstack/react-router';
import { watchedFetch } from '../api/connection.ts';
import { Button } from './Button.tsx';
import { Notice } from './Notice.tsx';
import { Page } from './Page.tsx';
import { ErrorNotice } from './States.tsx';

/** What browsers, and the build's own loader, say when a part of the page is not there. */
const NOT_LOADED = /dynamically imported module|module script failed|preload CSS/;

/** Loads everything again once the service answers: it may have another version of the page by then. */
async function loadAgain(): Promise<void> {
  const answered = await watchedFetch(location.href, { method: 'HEAD' }).catch(() => undefined);
  if (answered) location.reload();
}

/** A page that could not be shown. The frame around it still works. */
export function PageError({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  const isNotLoaded = error instanceof Error && NOT_LOADED.test(error.message);
  return (
    <Page title="This page could not be shown">
      {isNotLoaded ? (
        <Notice tone="warning" title="A part of the page could not be loaded" urgent>
          <p>The service is unavailable, or has a new version of this page. What you typed is kept.</p>
          <Button onClick={() => void loadAgain()}>Reload</Button>
        </Notice>
      ) : (
        <ErrorNotice error={error} retry={reset} />
      )}
    </Page>
  );
}

/** The page at an address that leads nowhere. */
export function NotFound() {
  return (
    <Page title="Page not found">
      <p>
        <Link to="/">Go to Home</Link>
      </p>
    </Page>
  );
}
