import { Link } from '@tanstack/react-router';
import { Page } from './Page.tsx';

/** Something that is not, or no longer, in the organization; the audit log still knows what was. */
export function Gone({ what, id }: { readonly what: string; readonly id: string }) {
  return (
    <Page title={`There is no such ${what}`}>
      <p>
        The organization has no {what} <code>{id}</code> now. If it had one,{' '}
        <Link to="/audit" search={{ resourceId: id }}>
          the audit log says what became of it
        </Link>
        .
      </p>
    </Page>
  );
}
