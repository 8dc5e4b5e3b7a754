import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { adminsQuery } from '../../api/queries.ts';
import { Facts } from '../../ui/Facts.tsx';
import { MemberTable } from '../../ui/MemberTable.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { Loaded } from '../../ui/States.tsx';

/** Who approves proposals. */
export function AdminsPage() {
  const query = useQuery(adminsQuery);
  return (
    <Page
      title="Admins"
      lead="Admins approve proposals: changes of members, groups, policies, accounts and admins. Policies govern transactions."
    >
      <Loaded query={query} what="the admins">
        {({ members, threshold, onChain }) => (
          <>
            <Section title="Threshold" id="threshold">
              <div className="card">
                <Facts
                  rows={[
                    ['Approvals or rejections needed', `${threshold} of ${members.length} admins`],
                    [
                      'Without this service',
                      <Link key="rescue" to="/rescue">
                        {onChain.enabled
                          ? 'They can take every account over'
                          : 'Nobody can move the money of the accounts'}
                      </Link>,
                    ],
                    [
                      'Audit log',
                      <Link key="log" to="/audit" search={{ action: 'admins.updated' }}>
                        Changes of the admins
                      </Link>,
                    ],
                  ]}
                />
              </div>
            </Section>
            <Section title="Members" id="admins">
              <MemberTable caption="Admins" members={members} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}
