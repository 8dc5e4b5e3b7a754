import { Link } from '@tanstack/react-router';
import { Page } from './Page.tsx';

/** Something that is not, or no longer, in the organization; the audit log still has what was. */
export function RecordNotFound({ what, id }: { readonly what: string; readonly id: string }) {
  return (
    <Page title={`${what.charAt(0).toUpperCase()}${what.slice(1)} not found`}>
      <p>
        This organization has no {what} <code>{id}</code>. If it was removed,{' '}
        <Link to="/audit" search={{ resourceId: id }}>
          the audit log says when and by whom
        </Link>
        .
      </p>
    </Page>
  );
}
