import type { ReactNode } from 'react';
import type { Organization } from '../../api/useOrganization.ts';
import { NextStep } from '../../ui/NextStep.tsx';
import { Page } from '../../ui/Page.tsx';
import { Empty } from '../../ui/States.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';

/** The form, or what has to be there before it. */
function Ready({
  organization,
  children,
}: {
  readonly organization: Organization;
  readonly children: (organization: Organization) => ReactNode;
}) {
  if (organization.accounts.length === 0) {
    return (
      <Empty title="No account to send from">
        <p>An account is created once the admins have approved it.</p>
        <NextStep place={{ to: '/new/accounts' }} name="Create an account" />
      </Empty>
    );
  }
  if (organization.policies.length === 0) {
    return (
      <Empty title="No policy permits anything yet">
        <p>A policy says who may send what to whom. It permits payments once the admins have approved it.</p>
        <NextStep place={{ to: '/new/policies' }} name="Add a policy" />
      </Empty>
    );
  }
  return children(organization);
}

/** The page of a form that ends in a transaction. */
export function NewTransactionPage({
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
      <WithOrganization what="accounts and policies">
        {(organization) => <Ready organization={organization}>{children}</Ready>}
      </WithOrganization>
    </Page>
  );
}
