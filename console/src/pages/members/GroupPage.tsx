import { Link, useParams } from '@tanstack/react-router';
import type { Organization } from '../../api/useOrganization.ts';
import { Facts } from '../../ui/Facts.tsx';
import { MemberTable } from '../../ui/MemberTable.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { ProposeLink } from '../../ui/ProposeLink.tsx';
import { RecordNotFound } from '../../ui/RecordNotFound.tsx';
import { recordFacts } from '../../ui/recordFacts.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';

function Uses({ id, policies }: { readonly id: string; readonly policies: Organization['policies'] }) {
  const using = policies.filter(({ initiatorSetting, approverSetting }) =>
    [initiatorSetting, approverSetting].some(
      (setting) => setting?.type === 'group' && setting.groupId === id,
    ),
  );
  if (using.length === 0) return <span className="muted">no policy</span>;
  return (
    <ul className="row">
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

/** One group: who is in it, and which policies name it. */
export function GroupPage() {
  const { id } = useParams({ from: '/groups/$id' });
  return (
    <WithOrganization what="the group">
      {({ groups, policies }) => {
        const group = groups.find((one) => one.id === id);
        if (!group) return <RecordNotFound what="group" id={id} />;
        const { name, members } = group;
        return (
          <Page
            title={name}
            lead={<Link to="/groups">All groups</Link>}
            actions={<ProposeLink to="/new/groups" id={id} name={name} look="plain" />}
          >
            <Section title="Group" id="group">
              <div className="card">
                <Facts
                  rows={[
                    ['Named in', <Uses key="uses" id={id} policies={policies} />],
                    ...recordFacts('group', group),
                  ]}
                />
              </div>
            </Section>
            <Section title="Members" id="members">
              <MemberTable caption={`Members of ${name}`} members={members} />
            </Section>
          </Page>
        );
      }}
    </WithOrganization>
  );
}
