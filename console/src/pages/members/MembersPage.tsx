import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { adminsQuery, lastSignaturesQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { hasMember } from '../../domain/eligibility.ts';
import { firstNames } from '../../text/counted.ts';
import { dateTime } from '../../text/time.ts';
import { AddressIcon } from '../../ui/AddressIcon.tsx';
import { Badge } from '../../ui/Badge.tsx';
import iconsStyles from '../../ui/icons.module.css';
import { List, type ListFilter } from '../../ui/List.tsx';
import { FormLink } from '../../ui/NextStep.tsx';
import { Page } from '../../ui/Page.tsx';
import { ProposeLink } from '../../ui/ProposeLink.tsx';
import { ShortText } from '../../ui/ShortText.tsx';
import { ErrorNotice } from '../../ui/States.tsx';
import type { Columns } from '../../ui/Table.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';

/** A member, with what other lists say of them. */
interface Row {
  readonly member: Schema['Member'];
  readonly isAdmin: boolean;
  readonly groups: readonly Schema['Group'][];
  /** When they last signed a request; empty: not recently. */
  readonly signedAt: string;
}

const typeOf = ({ type }: Schema['Member']) => (type === 'user' ? 'person' : 'bot');

const COLUMNS: Columns<Row> = [
  {
    name: 'Name',
    sortBy: ({ member }) => member.name,
    cell: ({ member: { name, walletAddress } }) => (
      <span className={iconsStyles.withIcon}>
        <AddressIcon address={walletAddress} />
        {name}
      </span>
    ),
  },
  {
    name: 'Role',
    sortBy: ({ member, isAdmin }) => `${typeOf(member)}${isAdmin ? ' admin' : ''}`,
    cell: ({ member, isAdmin }) => (
      <span className="row">
        {typeOf(member)}
        {isAdmin ? <Badge tone="accent">admin</Badge> : null}
      </span>
    ),
  },
  {
    name: 'Wallet',
    cell: ({ member: { name, walletAddress, walletKind } }) => (
      <span>
        <ShortText text={walletAddress} of={`wallet of ${name}`} />
        {walletKind === 'contract' ? <span className="muted small"> contract</span> : null}
      </span>
    ),
  },
  { name: 'Groups', cell: ({ groups }) => firstNames(groups) || null },
  {
    name: 'Last signature',
    sortBy: ({ signedAt }) => signedAt,
    cell: ({ signedAt }) =>
      signedAt === '' ? (
        <span className="muted">not recently</span>
      ) : (
        <time dateTime={signedAt}>{dateTime(signedAt)}</time>
      ),
  },
  {
    name: 'More',
    cell: ({ member: { id, name } }) => (
      <span className="row">
        <Link to="/audit" search={{ resourceId: id }}>
          Audit log<span className="hidden-visually"> of {name}</span>
        </Link>
        <ProposeLink to="/new/members" id={id} name={name} />
      </span>
    ),
  },
];

const filtersOf = ({ groups }: Organization): readonly ListFilter<Row>[] => [
  {
    label: 'Group',
    options: groups.map(({ id, name }) => ({ value: id, name })),
    has: (row, value) => row.groups.some(({ id }) => id === value),
  },
  {
    label: 'Role',
    options: [
      { value: 'admin', name: 'admins' },
      { value: 'user', name: 'people' },
      { value: 'api', name: 'bots' },
    ],
    has: ({ member, isAdmin }, value) => (value === 'admin' ? isAdmin : member.type === value),
  },
];

function Members({ organization }: { readonly organization: Organization }) {
  const { data: admins, error, refetch } = useQuery(adminsQuery);
  const { data: signatures } = useQuery(lastSignaturesQuery);
  const rows = useMemo(
    () =>
      organization.members.map(
        (member): Row => ({
          member,
          isAdmin: hasMember(admins?.members ?? [], member.id),
          groups: organization.groups.filter(({ members }) => hasMember(members, member.id)),
          signedAt: signatures?.get(member.id) ?? '',
        }),
      ),
    [organization, admins, signatures],
  );
  return (
    <div className="stack">
      {error ? <ErrorNotice error={error} retry={() => void refetch()} /> : null}
      <List
        what="members"
        caption="Members"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ member }) => member.id}
        textOf={({ member: { id, name, walletAddress } }) => `${name} ${walletAddress} ${id}`}
        searchLabel="Search by name, address or id"
        filters={filtersOf(organization)}
      />
    </div>
  );
}

/** Who belongs to the organization. */
export function MembersPage() {
  return (
    <Page
      title="Members"
      lead="People and bots with a wallet. Policies say what each may initiate or approve."
      actions={<FormLink place={{ to: '/new/members' }} name="New member" />}
    >
      <WithOrganization what="the members">
        {(organization) => <Members organization={organization} />}
      </WithOrganization>
    </Page>
  );
}
