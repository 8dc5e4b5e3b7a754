import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { groupsQuery } from '../../api/queries.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { MemberTable } from '../../ui/MemberTable.tsx';
import { FormLink, NextStep } from '../../ui/NextStep.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { ProposeLink } from '../../ui/ProposeLink.tsx';
import { ShortId } from '../../ui/ShortText.tsx';
import { Empty } from '../../ui/States.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';

const CREATE = { to: '/new/groups' } as const;

function Uses({ id, policies }: { readonly id: string; readonly policies: Organization['policies'] }) {
  const using = policies.filter(({ initiatorSetting, approverSetting }) =>
    [initiatorSetting, approverSetting].some(
      (setting) => setting?.type === 'group' && setting.groupId === id,
    ),
  );
  if (using.length === 0) return <p className="small muted">No policy names this group.</p>;
  return (
    <ul className="row small">
      <li className="muted">Named in</li>
      {using.map((policy) => (
        <li key={policy.id}>
          <Link to="/policies/$id" params={{ id: policy.id }}>
            {policy.name}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function GroupSection({
  group,
  organization,
}: {
  readonly group: Schema['Group'];
  readonly organization: Organization;
}) {
  const { id, name, members } = group;
  return (
    <Section
      title={name}
      id={id}
      aside={
        <div className="row small">
          <ShortId id={id} of={`id of ${name}`} />
          <ProposeLink to="/new/groups" id={id} name={name} />
          <Link to="/audit" search={{ resourceId: id }}>
            Audit log<span className="hidden-visually"> of {name}</span>
          </Link>
        </div>
      }
    >
      <div className="stack-small">
        <MemberTable caption={`Members of ${name}`} members={members} />
        <Uses id={id} policies={organization.policies} />
      </div>
    </Section>
  );
}

/** Named sets of members, which policies use. */
export function GroupsPage() {
  const { data: groups = [] } = useQuery(groupsQuery);
  return (
    <Page
      title="Groups"
      lead="Named sets of members. Policies say what a group may initiate or approve."
      actions={groups.length > 0 ? <FormLink place={CREATE} name="New group" /> : null}
    >
      <WithOrganization what="the groups">
        {(organization) =>
          organization.groups.length === 0 ? (
            <Empty title="No groups">
              <p>A group lets several members initiate or approve. A policy can also name single members.</p>
              <NextStep place={CREATE} name="Create a group" />
            </Empty>
          ) : (
            organization.groups.map((group) => (
              <GroupSection key={group.id} group={group} organization={organization} />
            ))
          )
        }
      </WithOrganization>
    </Page>
  );
}
