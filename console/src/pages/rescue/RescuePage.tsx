import type { Schema } from '@orgwallet/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { adminsQuery } from '../../api/queries.ts';
import { followAdminsSafe } from '../../api/rescueKit.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { useSession } from '../../api/useSession.ts';
import { Address } from '../../ui/Address.tsx';
import buttonStyles from '../../ui/button.module.css';
import { classes } from '../../ui/classes.ts';
import { Facts } from '../../ui/Facts.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { Empty, Loaded } from '../../ui/States.tsx';
import { WithOrganization } from '../../ui/WithOrganization.tsx';
import { AdminsSafeWarnings } from './AdminsSafeWarnings.tsx';
import { Exceptions } from './Exceptions.tsx';
import { KitSection } from './KitSection.tsx';
import { NetworksTable } from './NetworksTable.tsx';

/** Nobody but the service can move the money. */
function Off() {
  const { isAdmin } = useSession();
  return (
    <Empty title="The admins' Safe is off">
      <p>Without this service nobody can move the money of the accounts. The admins can change that.</p>
      {isAdmin ? (
        <Link to="/new/admins" className={classes(buttonStyles.button, buttonStyles.primary)}>
          Propose to switch it on
        </Link>
      ) : (
        <p>Ask an admin to propose it.</p>
      )}
    </Empty>
  );
}

function On({
  admins,
  organization,
}: {
  readonly admins: Schema['Admins'];
  readonly organization: Organization;
}) {
  return (
    <>
      <AdminsSafeWarnings admins={admins} organization={organization} />
      <KitSection />
      <Section title="Networks" id="networks">
        <NetworksTable admins={admins} organization={organization} />
      </Section>
      <Section title="Accounts" id="accounts">
        <Exceptions organization={organization} />
      </Section>
      <Section title="The admins' Safe" id="safe">
        <div className="card">
          <Facts
            rows={[
              ['Address', <Address key="address" address={admins.onChain.safe} />],
              ['Must sign', `${admins.threshold} of ${admins.members.length} admins`],
              ['Money', 'It holds none. Send nothing to this address.'],
              [
                'Signatures',
                'This service never asks for a signature of the admins’ Safe. Whoever does wants your accounts.',
              ],
            ]}
          />
        </div>
      </Section>
    </>
  );
}

/** What the admins can do when this service is gone, and what they need for it. */
export function RescuePage() {
  const admins = useQuery(adminsQuery);
  useEffect(followAdminsSafe, []);
  return (
    <Page
      title="Without this service"
      lead="The admins can take every account over themselves, with a saved file and their wallets. Nothing of this service has to run for it."
    >
      <WithOrganization what="the accounts">
        {(organization) => (
          <Loaded query={admins} what="the admins">
            {(data) => (data.onChain.enabled ? <On admins={data} organization={organization} /> : <Off />)}
          </Loaded>
        )}
      </WithOrganization>
    </Page>
  );
}
