import type { ReactNode } from 'react';
import type { Organization } from '../../api/useOrganization.ts';
import { Page } from '../../ui/Page.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';

/** The page of a form that ends in a proposal. */
export function ProposalPage({
  title,
  lead,
  children,
}: {
  readonly title: string;
  readonly lead: string;
  readonly children: (organization: Organization) => ReactNode;
}) {
  return (
    <Page title={title} lead={lead}>
      <WithOrganization what="the organization">{children}</WithOrganization>
    </Page>
  );
}
