import { Link } from '@tanstack/react-router';
import { useSession } from '../../api/useSession.ts';
import { hasMember } from '../../domain/eligibility.ts';
import { Address } from '../../ui/Address.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { ShortId } from '../../ui/ShortText.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';
import { Sessions } from './Sessions.tsx';

/** Who is signed in, and where else. */
export function YouPage() {
  const { member, organization: own, isAdmin } = useSession();
  return (
    <Page title="You" lead={`${member.name}, of ${own.name}.`}>
      <Section title="Your membership" id="membership">
        <div className="card">
          <WithOrganization what="your membership">
            {({ groups }) => {
              const mine = groups.filter(({ members }) => hasMember(members, member.id));
              return (
                <Facts
                  rows={[
                    ['Wallet', <Address key="wallet" address={member.walletAddress} />],
                    ['Role', isAdmin ? 'Admin' : 'Member'],
                    ['Groups', mine.length === 0 ? 'none' : mine.map(({ name }) => name).join(', ')],
                    ['Id', <ShortId key="id" id={member.id} of="your id" />],
                    ['Organization', <ShortId key="organization" id={own.id} of="id of the organization" />],
                    [
                      'Audit log',
                      <Link key="log" to="/audit" search={{ resourceId: member.id }}>
                        Changes of your membership
                      </Link>,
                    ],
                  ]}
                />
              );
            }}
          </WithOrganization>
        </div>
      </Section>
      <Section title="Sessions" id="sessions">
        <Sessions />
      </Section>
    </Page>
  );
}
