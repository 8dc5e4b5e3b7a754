import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { adminsQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { hasMember } from '../../domain/eligibility.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { MemberTable } from '../../ui/MemberTable.tsx';
import { FormLink } from '../../ui/NextStep.tsx';
import { Page } from '../../ui/Page.tsx';
import { ProposeLink } from '../../ui/ProposeLink.tsx';
import { ShortId } from '../../ui/ShortText.tsx';
import { Empty, ErrorNotice } from '../../ui/States.tsx';
import type { Column } from '../../ui/Table.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';

type Member = Schema['Member'];

/** From so many members on, one looks for a name. */
const LONG_LIST = 12;

function columnsOf(
  { groups }: Organization,
  admins: Schema['Admins'] | undefined,
): readonly Column<Member>[] {
  const adminIds = new Set(admins?.members.map(({ id }) => id));
  const groupsOf = (id: string) =>
    groups.filter(({ members }) => hasMember(members, id)).map(({ name }) => name);
  return [
    {
      name: 'Role',
      cell: ({ id }) => (adminIds.has(id) ? <Badge tone="accent">admin</Badge> : admins ? 'member' : null),
    },
    { name: 'Groups', cell: ({ id }) => groupsOf(id).join(', ') || null },
    {
      name: 'Registered',
      cell: ({ registeredAt }) => (registeredAt ? 'yes' : <span className="muted">not yet</span>),
    },
    {
      name: 'More',
      cell: ({ id, name }) => (
        <span className="row">
          <ShortId id={id} of={`id of ${name}`} />
          <Link to="/audit" search={{ resourceId: id }}>
            Audit log<span className="hidden-visually"> of {name}</span>
          </Link>
          <ProposeLink to="/new/members" id={id} name={name} />
        </span>
      ),
    },
  ];
}

function Members({ organization }: { readonly organization: Organization }) {
  const { data: admins, error, refetch } = useQuery(adminsQuery);
  const [sought, setSought] = useState('');
  const text = sought.trim().toLowerCase();
  const { members } = organization;
  const found = members.filter(({ id, name, walletAddress }) =>
    [id, name, walletAddress].some((field) => field.toLowerCase().includes(text)),
  );
  return (
    <div className="stack">
      {error ? <ErrorNotice error={error} retry={() => void refetch()} /> : null}
      {members.length >= LONG_LIST ? (
        <TextField
          label="Search by name, address or id"
          type="search"
          value={sought}
          onChange={({ target }) => setSought(target.value)}
        />
      ) : null}
      {found.length === 0 ? (
        <Empty title={`No member matches “${sought}”`}>
          <Button onClick={() => setSought('')}>Show all members</Button>
        </Empty>
      ) : (
        <MemberTable caption="Members" members={found} more={columnsOf(organization, admins)} />
      )}
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
