import type { ReactNode } from 'react';
import { type Organization, useOrganization } from '../api/useOrganization.ts';
import { ErrorNotice, Loading } from './States.tsx';

/** What needs the lists of the organization: they are read, or it says why they were not. */
export function WithOrganization({
  what,
  children,
}: {
  readonly what: string;
  readonly children: (organization: Organization) => ReactNode;
}) {
  const { organization, error, refetch } = useOrganization();
  return (
    <>
      {error ? <ErrorNotice error={error} retry={refetch} /> : null}
      {organization ? children(organization) : error ? null : <Loading what={what} />}
    </>
  );
}
