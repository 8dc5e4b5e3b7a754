import type { ReactNode } from 'react';
import { Page } from '../../ui/Page.tsx';
import { ErrorNotice, Loading } from '../../ui/States.tsx';
import { type Organization, useOrganization } from '../../useOrganization.ts';

/** A page with a form that needs the organization as it is. */
export function WithOrganization({
  title,
  lead,
  children,
}: {
  readonly title: string;
  readonly lead: string;
  readonly children: (organization: Organization) => ReactNode;
}) {
  const { organization, error, refetch } = useOrganization();
  return (
    <Page title={title} lead={lead}>
      {organization ? (
        children(organization)
      ) : error ? (
        <ErrorNotice error={error} retry={refetch} />
      ) : (
        <Loading what="the organization" />
      )}
    </Page>
  );
}
