import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { adminsQuery } from '../../queries.ts';
import { Facts } from '../../ui/Facts.tsx';
import { MemberTable } from '../../ui/MemberTable.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { Loaded } from '../../ui/States.tsx';

/** Who decides about the organization itself. */
export function AdminsPage() {
  const query = useQuery(adminsQuery);
  return (
    <Page
      title="Admins"
      lead="They decide about members, groups, policies, accounts and themselves. Policies decide about transactions."
    >
      <Loaded query={query} what="the admins">
        {({ members, threshold }) => (
          <>
            <Section title="How they decide" id="threshold">
              <div className="card">
                <Facts
                  rows={[
                    ['Threshold', `${threshold} of ${members.length} admins approve or reject`],
                    [
                      'Changes',
                      <Link key="log" to="/audit" search={{ action: 'admins.updated' }}>
                        In the audit log
                      </Link>,
                    ],
                  ]}
                />
              </div>
            </Section>
            <Section title="Who they are" id="admins">
              <MemberTable caption="Admins" members={members} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}
