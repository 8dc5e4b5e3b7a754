import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { groupsQuery } from '../../api/queries.ts';
import { firstNames } from '../../text/counted.ts';
import { List } from '../../ui/List.tsx';
import { FormLink, NextStep } from '../../ui/NextStep.tsx';
import { Page } from '../../ui/Page.tsx';
import { ProposeLink } from '../../ui/ProposeLink.tsx';
import { Empty, Loaded } from '../../ui/States.tsx';
import type { Columns } from '../../ui/Table.tsx';

type Group = Schema['Group'];

const CREATE = { to: '/new/groups' } as const;
const COLUMNS: Columns<Group> = [
  {
    name: 'Group',
    sortBy: ({ name }) => name,
    cell: ({ id, name }) => (
      <Link to="/groups/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    name: 'Size',
    sortBy: ({ members }) => members.length,
    cell: ({ members }) => members.length,
  },
  { name: 'Members', cell: ({ members }) => firstNames(members) || null },
  { name: 'More', cell: ({ id, name }) => <ProposeLink to="/new/groups" id={id} name={name} /> },
];

/** Named sets of members, which policies use. */
export function GroupsPage() {
  const query = useQuery(groupsQuery);
  return (
    <Page
      title="Groups"
      lead="Named sets of members. Policies say what a group may initiate or approve."
      actions={query.data?.length ? <FormLink place={CREATE} name="New group" /> : null}
    >
      <Loaded query={query} what="the groups">
        {(groups) =>
          groups.length === 0 ? (
            <Empty title="No groups">
              <p>A group lets several members initiate or approve. A policy can also name single members.</p>
              <NextStep place={CREATE} name="Create a group" />
            </Empty>
          ) : (
            <List
              what="groups"
              caption="Groups"
              columns={COLUMNS}
              rows={groups}
              rowKey={({ id }) => id}
              textOf={({ id, name, members }) => `${name} ${id} ${members.map((one) => one.name).join(' ')}`}
              searchLabel="Search by name, member or id"
            />
          )
        }
      </Loaded>
    </Page>
  );
}
